from __future__ import annotations

import re

from tests.documents.page_samples import AFTER, BEFORE, Writer
from tests.table import each_case

from presscheck.documents.diff.segments import Segment, line_segments, split_segments, table_cells


def kinds(text: str) -> list[str]:
    return [one.kind for one in split_segments(text)]


def test_items_with_content() -> None:
    text = "1. one\n   - two\n\n     more\n\n     ```sh\n     make\n     ```\n1. three\n   lazy\n"
    assert [(one.kind, one.mark, one.text, one.line, "".join(one.within)) for one in split_segments(text)] == [
        ("item", "1.", "one", 0, ""),
        ("item", "-", "two", 1, "   "),
        ("paragraph", "", "more", 3, "     "),
        ("fence", "sh", "```sh", 5, "     "),
        ("code", "", "make", 6, "     "),
        ("item", "2.", "three\nlazy", 8, ""),
    ]


def test_item_that_starts_with_code() -> None:
    assert kinds("- ```\n  a\n  ```\n- b") == ["item", "fence", "code", "item"]


def test_bullets_restart_the_numbering() -> None:
    assert [one.mark for one in split_segments("1. a\n1. b\n- c\n7. d\n7. e")] == ["1.", "2.", "-", "7.", "8."]


def test_tags_contain_their_blocks() -> None:
    text = '{% hint style="danger" %}\nBe careful.\n\n> Quoted.\n{% endhint %}\n\n{% embed url="https://a.example" %}\n'
    assert [(one.kind, one.within, one.opener) for one in split_segments(text)] == [
        ("tag", (), -1),
        ("paragraph", ("hint-danger",), -1),
        ("paragraph", ("hint-danger", "quote"), -1),
        ("end", (), 0),
        ("embed", (), -1),
    ]


def test_steps_are_numbered() -> None:
    step = "{% step %}\n## Do\n{% tabs %}\n{% tab title='x' %}\nnow\n{% endtab %}\n{% endtabs %}\n{% endstep %}\n"
    text = f"{{% stepper %}}\n{step}{step}{{% endstepper %}}\n\n{{% stepper %}}\n{step}{{% endstepper %}}\n"
    assert [one.mark for one in split_segments(text) if one.text == "{% step %}"] == ["1", "2", "1"]


def test_alert_is_a_hint() -> None:
    for text in ("> [!NOTE]\n> Look.", ">[!NOTE] Look."):
        assert [(one.kind, one.mark, one.text) for one in split_segments(text)] == [
            ("tag", "note", "[!NOTE]"),
            ("paragraph", "", "Look."),
        ]


def test_equal_keys_for_equal_reading() -> None:
    pairs = [
        ("one\ntwo", "one two"),
        ("- a", "* a"),
        ("1. a", "2. a"),
        ("| a |b |\n|--|:-:|\n|c|d|", "|a|b|\n| ------ | :----: |\n| c | d |"),
        ("```\na  \n```", "```\na\n```"),
    ]
    for one, other in pairs:
        assert [piece.key for piece in split_segments(one)] == [piece.key for piece in split_segments(other)]
    for one, other in [("- a", "1. a"), ("- b\n  - a", "- b\n- a"), ("# a", "## a"), ("|a|\n|-|", "|a|\n|:-|")]:
        assert [piece.key for piece in split_segments(one)] != [piece.key for piece in split_segments(other)]


def test_table_cells() -> None:
    assert table_cells(r"| a | b \| c |") == ["a", r"b \| c"]
    assert table_cells("a|b") == ["a", "b"]


def lost(text: str) -> list[str]:
    """Return lines, other than fences, that belong to no piece, and words of pieces that are not on their lines."""
    lines = text.split("\n")
    found: list[str] = []
    covered: set[int] = set()
    for one in split_segments(text):
        covered |= {*range(one.line, one.line + one.size)}
        source = set(re.findall(r"\w+", " ".join(lines[one.line : one.line + one.size])))
        found += [word for word in re.findall(r"\w+", one.text) if word not in source]
    missed = [line for number, line in enumerate(lines) if number not in covered and line.strip(" >\t")]
    return found + [line for line in missed if not re.fullmatch(r"\s*(```+|~~~+|---|\.\.\.)\w*", line)]


@each_case("text", [BEFORE, AFTER, "---\ntitle: x\n---\n\n# a\n\n\tcode\n\n    more", "- a\n\t- b\n\n\t  c"])
def test_no_line_is_lost(text: str) -> None:
    assert lost(text) == []


@each_case("seed", range(60))
def test_random_page_keeps_all_lines_in_order(seed: int) -> None:
    writer = Writer(seed)
    text = writer.edited(writer.page(), 20)
    assert lost(text) == []
    places = [one.line for one in split_segments(text)]
    assert places == sorted(places)


def test_line_segments() -> None:
    assert line_segments("a\n\nb\n\n") == [Segment("line", "a", 0), Segment("line", "", 1), Segment("line", "b", 2)]
