"""Conflicts in a drawn page: both sides are in one block at their place, and conflicts in code stay text."""

from tests.table import each_case

from presscheck.documents.diff.segments import split_segments
from presscheck.documents.merge.conflict_blocks import cut_conflicts
from presscheck.documents.terminal.controls import Controls
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.text.styled_text import plain, width


def conflict(ours: str, theirs: str, our_name: str = "change request", their_name: str = "live") -> str:
    lines = [f"<<<<<<< {our_name}", ours, "=======", theirs, f">>>>>>> {their_name}"]
    return "\n".join(line for line in lines if line)


def page_of(markdown: str, columns: int = 60, controls: Controls | None = None) -> PageLines:
    page = PageLines(markdown, columns, title="Limits", controls=controls or Controls(), conflict_hint="e edits there")
    page.advance(10)
    return page


def texts(page: PageLines) -> list[str]:
    return [plain(line).rstrip() for line in page.lines]


def test_both_sides_of_a_conflict_are_one_block() -> None:
    page = page_of(f"## Ask\n\nAbove.\n{conflict('Ask **us**.', 'Do not.')}\nBelow.")
    assert texts(page)[2:] == [
        "⚠ 1 conflict · e edits there",
        "",
        "",
        "Ask",
        "",
        "Above.",
        "",
        "▍ Conflict 1 of 1: both sides changed this text",
        "▍ change request",
        "▍ Ask us.",
        "▍ main",
        "▍ Do not.",
        "",
        "Below.",
    ]
    assert [(part.text, part.level) for part in page.headings] == [("Limits", 1), ("Ask", 2), ("Conflict 1 of 1", 3)]
    assert texts(page)[page.headings[2].line].startswith("▍ Conflict 1")
    assert page.source_of(page.headings[2].line + 2) == "Ask **us**.", "as it is written, not as it was cut"


@each_case(
    ("markdown", "shown"),
    [
        (f"- one\n{conflict('- two', '- zwei')}\n- three", ["• one", "▍ • two", "▍ • zwei", "• three"]),
        (
            f'{{% hint style="info" %}}\nIn\n{conflict("a", "")}\nend\n{{% endhint %}}',
            ["▍ ▍ a", "▍ ▍ (no text)", "▍ end"],
        ),
        (
            f"| a | b |\n|---|---|\n| 1 | 2 |\n{conflict('| 3 | 4 |', '| 5 | 6 |')}\n| 7 | 8 |",
            ["▍ 3  4", "▍ 5  6", "7  8"],
        ),
        (f"> one\n{conflict('> two', '> zwei')}\n> three", ["│ one", "▍ │ two", "▍ │ zwei", "│ three"]),
        (
            f"{conflict('## Two', '## Zwei', 'HEAD', 'main')}",
            ["▍ HEAD", "▍ Two", "▍ main", "▍ Zwei"],
        ),
    ],
)
def test_conflict_is_drawn_at_its_place(markdown: str, shown: list[str]) -> None:
    page = page_of(markdown)
    lines = texts(page)
    at = -1
    for text in shown:
        at = lines.index(text, at + 1)
    assert not any(mark in line for line in lines for mark in ("<<<<", "====", ">>>>", "conflict-", "|---"))
    for columns in (1, 5, 12, 40):
        assert all(width(line) <= columns for line in page_of(markdown, columns).lines)


def test_html_split_by_a_conflict_is_shown_as_source() -> None:
    rows = conflict("<tr><td>y</td></tr>", "<tr><td>z</td></tr>")
    page = page_of(f"<table><tr><td>x</td></tr>\n{rows}\n</table>\n\nBelow.")
    shown = "\n".join(texts(page))
    assert "Conflict 1 of 1" in shown
    assert all(
        line in shown for line in ("<tr><td>y</td></tr>", "=======", "<tr><td>z</td></tr>", "</table>", "Below.")
    )
    assert [part.text for part in page.headings] == ["Limits", "Conflict 1 of 1"]


def test_conflicts_in_code_stay_text() -> None:
    example = conflict("mine", "yours", "HEAD", "main")
    page = page_of(f"Git writes:\n\n```\n{example}\n```\n\nand you choose.")
    shown = "\n".join(texts(page))
    assert all(line in shown for line in example.split("\n"))
    assert "Conflict" not in shown
    assert "conflict ·" not in shown
    assert [part.text for part in page.headings] == ["Limits"]


def test_jumps_find_conflicts_in_folded_sections() -> None:
    controls = Controls()
    page = page_of(f"## Ask\n\nAbove.\n\n{conflict('a', 'b')}\n\n## Next\n\n{conflict('c', 'd')}", controls=controls)
    before = [part.text for part in page.headings]
    assert before == ["Limits", "Ask", "Conflict 1 of 2", "Next", "Conflict 2 of 2"]
    assert [page.conflict_at(page.headings[number].line + 1) for number in (0, 1, 2, 3, 4)] == [0, 0, 0, 0, 1]
    page.fold_all(is_folded=True)
    page.advance(10)
    assert [part.text for part in page.headings] == before
    assert [part.text for part in page.headings if part.is_hidden] == ["Conflict 1 of 2", "Conflict 2 of 2"]
    assert page.conflict_at(page.headings[0].line) == 0
    assert page.reveal(page.headings[4].block)
    page.advance(10)
    assert "▍ c" in texts(page)


def test_conflict_in_a_tab_is_found_when_the_tab_is_shown() -> None:
    first = '{% tab title="A" %}\nfirst\n{% endtab %}'
    second = '{% tab title="B" %}\nfew\n' + conflict("a", "b") + "\nwords\n{% endtab %}"
    page = page_of(f"{{% tabs %}}\n{first}\n{second}\n{{% endtabs %}}")
    assert "▍ a" not in "\n".join(texts(page))
    [tab] = [mark for line in range(len(page.lines)) for mark in page.marks(line) if mark.kind == "tabs"][:1]
    assert page.headings[1].text == "Conflict 1 of 1"
    assert page.set(f"\0set {tab.key} 1")
    line = texts(page)[page.headings[1].line]
    assert "Conflict 1 of 1: both sides" in line
    assert len(page.headings) == 2


def test_diff_and_page_split_conflicts_alike() -> None:
    markdown = f"Above.\r\n{conflict('a', 'b')}\n- x\n{conflict('- y', '- z')}".replace("\n", "\r\n").replace(
        "\r\r", "\r"
    )
    cut = cut_conflicts(markdown)
    segments = [(part.line, part.size) for part in split_segments(markdown) if part.kind == "conflict"]
    blocks = [
        (part.start_line, part.text.count("\n") + 1) for part in page_of(markdown).blocks if part.kind == "conflict"
    ]
    assert segments == blocks == [(part.first, part.size) for part in cut.conflicts]
    assert len(cut.text.split("\n")) == len(markdown.split("\n"))
    assert cut_conflicts("no\n<<<<<<< a\nconflict") == ("no\n<<<<<<< a\nconflict", ())
