"""Conflict markers in a text: which are recognized, and how conflicts are resolved."""

from datetime import UTC

from tests.table import each_case

from presscheck.documents.diff.page_diff import Mode, compare, difference_lines
from presscheck.documents.diff.segments import split_segments
from presscheck.documents.merge.conflict_blocks import (
    Side,
    conflict_at,
    conflict_blocks,
    damaged_marker,
    draft_name,
    fence_after,
    resolve,
    unresolved_conflicts,
)
from presscheck.documents.merge.text import merge_text
from presscheck.text.phrases import exact
from presscheck.text.styled_text import plain

BASE, OURS, THEIRS = (
    "Before.\n\nIt burns.\n\nAfter.\n",
    "Before.\n\nIt glows.\n\nAfter.\n",
    "Before.\n\nHot!\n\nAfter.\n",
)
MERGED = merge_text(BASE, OURS, THEIRS).text
IN_CODE = "```text\n<<<<<<< change request\nours\n=======\ntheirs\n>>>>>>> live\n```\n"


def test_conflicts_of_a_merge_are_found() -> None:
    [block] = conflict_blocks(MERGED)
    assert (block.ours, block.theirs) == (("It glows.",), ("Hot!",))
    assert (block.first, block.last, block.in_code) == (2, 6, False)
    assert block.is_from_merge
    assert conflict_at(MERGED, 4) == block
    assert [conflict_at(MERGED, line) for line in (1, 2, 6, 7)] == [None, block, block, None]


@each_case(("side", "text"), [("ours", OURS), ("theirs", THEIRS)])
def test_taking_a_side_yields_its_text(side: Side, text: str) -> None:
    assert resolve(MERGED, conflict_blocks(MERGED)[0], side) == text


def test_taking_both_sides_keeps_paragraphs_and_items_separate() -> None:
    both = resolve(MERGED, conflict_blocks(MERGED)[0], "both")
    assert both == "Before.\n\nIt glows.\n\nHot!\n\nAfter.\n"
    items = "* one\n<<<<<<< a\n* two\n=======\n* deux\n>>>>>>> b\n"
    assert resolve(items, conflict_blocks(items)[0], "both") == "* one\n* two\n* deux\n"


def test_common_ancestor_is_not_a_side() -> None:
    text = "<<<<<<< mine\na\n||||||| base\nb\n=======\nc\n>>>>>>> yours\n"
    [block] = conflict_blocks(text)
    assert (block.ours, block.theirs, block.our_name, block.their_name) == (("a",), ("c",), "mine", "yours")


@each_case(
    "text",
    [
        "Title\n=======\n\nText.",
        "<<<<<<< a\nours\n=======\nno end",
        "<<<<<<< a\nours\n>>>>>>> b",
        "<<<<<<< a\nours\n||||||| base\n>>>>>>> b",
        "=======\n>>>>>>> b",
        ">>>>>>> b\n<<<<<<< a",
        "Say `<<<<<<<` and `>>>>>>>`.",
        "<<<<<<<< eight\n=======\n>>>>>>>> eight",
    ],
)
def test_incomplete_markers_are_not_a_conflict(text: str) -> None:
    assert conflict_blocks(text) == []


BLOCK = ["Before.", "<<<<<<< Noor, draft of 12:03", "It glows.", "=======", "Hot!", ">>>>>>> live", "After."]


@each_case(
    ("line", "damaged"),
    [
        (1, "e<<<<<<< Noor, draft of 12:03"),
        (1, "<<<<edit<<< Noor, draft of 12:03"),
        (1, "<<<<<< Noor, draft of 12:03"),
        (1, "  <<<< <<< Noor, draft of 12:03"),
        (3, "e======="),
        (3, "===e===="),
        (3, "======"),
        (3, "=======e"),
        (5, ">>>>>>live"),
        (5, "jj>>>>>>> live"),
    ],
)
def test_damaged_marker_is_reported_and_completes_its_conflict(line: int, damaged: str) -> None:
    text = "\n".join([*BLOCK[:line], damaged, *BLOCK[line + 1 :]])
    [block] = conflict_blocks(text)
    assert (block.first, block.last, block.ours, block.theirs) == (1, 5, ("It glows.",), ("Hot!",))
    assert block.damaged == (line,)
    assert str(damaged_marker(text)) == f"line {line + 1} is a damaged conflict marker"
    assert resolve(text, block, "theirs") == "Before.\nHot!\nAfter."


@each_case(
    ("line", "damaged", "fault"),
    [
        (1, "", "line 6 is a conflict marker without its other markers"),
        (1, "It glowed before.<<<<<<< Noor", "line 2 is a damaged conflict marker"),
        (3, "Both of them. =======", "line 2 is a conflict marker without its other markers"),
        (5, "Hot! Very hot.>>>>>>> live", "line 6 is a damaged conflict marker"),
    ],
)
def test_text_next_to_a_marker_is_not_part_of_it(line: int, damaged: str, fault: str) -> None:
    text = "\n".join([*BLOCK[:line], damaged, *BLOCK[line + 1 :]])
    assert conflict_blocks(text) == []
    assert str(damaged_marker(text)) == fault


@each_case(
    "text",
    [
        "\n".join(BLOCK),
        "Title\n=====\n\n> > > deep",
        "Say `<<<<<<<` and `` >>>>>>> ``.",
        "```\n<<<<<<< HEAD\n```\n\n```\n>>>>>> main\n```",
        "Sizes: 1 << 2 << 3 << 4 << 5 << 6",
        "<<<<<<<< eight signs",
        "Map<A<B<C<D>>>> and `cin >> a >> b`",
        "<<<< Previous | Next >>>>",
    ],
)
def test_other_text_is_not_a_damaged_marker(text: str) -> None:
    assert damaged_marker(text) is None


def test_existing_markers_of_a_page_are_not_reported() -> None:
    page = "How Git marks it:\n\n<<<<<<< HEAD\n\nand so on."
    assert damaged_marker(page)
    assert damaged_marker(f"{page}\nMore.", page) is None
    assert damaged_marker(f"{page}\n<<<<<<< Noor", page) == (5, True)


def test_damaged_marker_in_code_is_reported_if_a_merge_wrote_it() -> None:
    code = IN_CODE.replace("<<<<<<< change", "<<<<<< change")
    [block] = unresolved_conflicts(code)
    assert (block.in_code, block.damaged) == (True, (1,))
    assert damaged_marker(code) == (1, False)
    assert damaged_marker(IN_CODE.replace("=======", "")) == (1, True)
    assert damaged_marker(code.replace("change request", "HEAD").replace("live", "main")) is None


def test_damaged_start_ends_the_conflict_before_it() -> None:
    text = "\n".join([*BLOCK, *BLOCK]).replace("<<<<<<< Noor", "e<<<<<<< Noor")
    assert [block.first for block in conflict_blocks(text)] == [1, 8]


def test_heading_in_a_conflict_is_not_a_divider() -> None:
    text = "\n".join([*BLOCK[:2], "Glow", "=====", *BLOCK[2:]])
    [block] = conflict_blocks(text)
    assert block.ours == ("Glow", "=====", "It glows.")
    assert damaged_marker(text) is None


def test_second_divider_is_text() -> None:
    [block] = conflict_blocks("<<<<<<< a\none\n=======\ntwo\n=======\nthree\n>>>>>>> b")
    assert (block.ours, block.theirs, block.size) == (("one",), ("two", "=======", "three"), 7)


def test_conflict_after_code_is_found() -> None:
    assert [block.in_code for block in conflict_blocks(f"{IN_CODE}{MERGED}")] == [True, False]
    assert fence_after("", ["```", "x", "```"]) == ""
    assert fence_after("", ["~~~~", "~~~", "```", "~~~~ x"]) == "~~~~"


@each_case(
    ("ours", "theirs", "both"),
    [
        ("a\n", "b", "a\n\nb"),
        ("a", "\nb", "a\n\nb"),
        ("a", "b", "a\n\nb"),
        ("> a", "> b", "> a\n> b"),
        ("> a", "b", "> a\n\nb"),
    ],
)
def test_both_sides_have_one_blank_line_between_them(ours: str, theirs: str, both: str) -> None:
    text = f"<<<<<<< x\n{ours}\n=======\n{theirs}\n>>>>>>> y\n"
    assert resolve(text, conflict_blocks(text)[0], "both") == f"{both}\n"


def test_start_marker_restarts_the_conflict() -> None:
    [block] = conflict_blocks("<<<<<<< a\nlost\n<<<<<<< b\nours\n=======\ntheirs\n>>>>>>> c")
    assert (block.first, block.ours) == (2, ("ours",))


def test_name_of_a_draft() -> None:
    at = "2026-03-14T12:03:00.000Z"
    assert draft_name("Noor\nHaddad", at, UTC) == f"Noor Haddad, draft of {exact(at, UTC)}"
    assert draft_name(" ", at, UTC).startswith("somebody, draft of 2026")


def test_windows_line_ends_are_supported() -> None:
    text = MERGED.replace("\n", "\r\n")
    assert [block.our_name for block in conflict_blocks(text)] == ["change request"]
    assert resolve(text, conflict_blocks(text)[0], "ours") == OURS.replace("\n", "\r\n")


def test_example_in_code_counts_only_if_an_update_wrote_it() -> None:
    assert unresolved_conflicts(MERGED)
    assert unresolved_conflicts(IN_CODE)
    assert unresolved_conflicts(IN_CODE, "```text\nno conflict\n```\n")
    assert not unresolved_conflicts(IN_CODE, IN_CODE), "the live page has the same example"
    of_git = IN_CODE.replace("change request", "HEAD")
    assert not unresolved_conflicts(of_git), "somebody explains Git"
    assert not unresolved_conflicts(of_git.replace("```", "~~~"))
    assert not unresolved_conflicts("No conflict at all."), "nothing to find"


def test_conflict_in_code_is_inside_the_fence() -> None:
    base, ours, theirs = (f"```sh\nmake {word}\n```\n" for word in ("one", "two", "three"))
    text = merge_text(base, ours, theirs).text
    [block] = unresolved_conflicts(text, theirs)
    assert block.in_code
    assert resolve(text, block, "ours") == ours


def test_conflict_in_a_tag_is_one_segment() -> None:
    text = f'# Page\n\n{{% hint style="info" %}}\n{MERGED}{{% endhint %}}\n'
    found = [(piece.kind, piece.line, piece.size, piece.within) for piece in split_segments(text)]
    assert ("conflict", 5, 5, ("hint-info",)) in found
    assert ("end", 12, 1, ()) in found


def test_conflict_within_a_segment_loses_no_words() -> None:
    text = f"<table><tbody><tr><td>\n{MERGED}</td></tr></tbody></table>\n"
    words = " ".join(piece.text for piece in split_segments(text))
    assert all(word in words for word in ("It glows.", "Hot!", "<<<<<<<", "</table>"))


@each_case("mode", ["prose", "split"])
def test_both_sides_are_drawn(mode: Mode) -> None:
    rendered = difference_lines(compare(THEIRS, MERGED), 100, mode=mode)
    text = "\n".join(plain(line) for line in rendered.lines)
    assert "Conflict: both sides changed this text" in text
    assert text.index("ours  change request") < text.index("It glows.") < text.index("theirs  main")
    assert "<<<<<<<" not in text
    assert "=======" not in text
    assert any("Conflict:" in plain(rendered.lines[line]) for line in rendered.changes), "] goes to it"
    assert {rendered.anchors[number] for number, line in enumerate(rendered.lines) if "ours" in plain(line)} == {2}


def test_source_shows_the_markers() -> None:
    lines = difference_lines(compare(THEIRS, MERGED), 100, mode="source").lines
    assert any("<<<<<<< change request" in plain(line) for line in lines)


def test_changed_conflict_is_drawn_before_and_after() -> None:
    later = MERGED.replace("It glows.", "It glows brightly.")
    for mode in ("prose", "split"):
        text = "\n".join(plain(line) for line in difference_lines(compare(MERGED, later), 100, mode=mode).lines)
        assert text.count("Conflict: both sides") == 2
