"""Suggestions: writing, reading, and applying them to their targets."""

from __future__ import annotations

from tests.table import each_case

from presscheck.documents.diff.segments import table_cell_spans, table_cells, table_row_at
from presscheck.documents.diff.suggestion_targets import (
    NOT_FOR_A_CELL,
    cell_suggestion_problem,
    cell_target,
    find_target,
    replace_target,
)
from presscheck.documents.pages.comment_text import (
    block_at,
    format_suggestion,
    parse_suggestion,
    quote_cell,
    replace_block,
    split_quote,
    suggestion_problem,
    without_fingerprint,
)

PAGE = "# Tokens\n\nA token belongs to one project.\nIt expires.\n\n```sh\nlogin\n```\n\n* one\n* two\n"


@each_case("line", [0, 2, 3, 5, 7, 9, 10])
def test_unchanged_suggestion_changes_nothing(line: int) -> None:
    block = block_at(PAGE, line)
    assert block is not None
    found = parse_suggestion(f"> A token\n\nWhy not so?\n\n{format_suggestion(block.text)}\nThanks.")
    assert found is not None and found.words == block.text
    assert replace_block(PAGE, block, found.words) == PAGE


def test_suggestion_replaces_the_block() -> None:
    block = block_at(PAGE, 3)
    assert block is not None
    found = parse_suggestion("```suggestion\nA token is for one project.\n\nIt expires in a year.\n```")
    assert found is not None
    assert replace_block(PAGE, block, found.words) == PAGE.replace(
        "A token belongs to one project.\nIt expires.", "A token is for one project.\n\nIt expires in a year."
    )


def test_empty_suggestion_removes_the_block() -> None:
    block = block_at(PAGE, 9)
    found = parse_suggestion("```suggestion\n```")
    assert block is not None and found is not None
    assert replace_block(PAGE, block, found.words) == PAGE.replace("* one\n* two\n", "")


def test_no_block_at_blank_lines_and_beyond_the_page() -> None:
    assert block_at(PAGE, 1) is None
    assert block_at(PAGE, 99) is None


@each_case("comment", ["no block", "```\nsuggestion\n```", "```suggestion\nnever closed", "`suggestion`"])
def test_comments_without_suggestion(comment: str) -> None:
    assert parse_suggestion(comment) is None


def test_text_of_a_suggestion_is_found_in_the_comment() -> None:
    comment = f"> A token\n\nWhy?\n{format_suggestion('It expires.')}Thanks"
    found = parse_suggestion(comment)
    assert found is not None
    assert (comment[found.start : found.end], found.before, found.after) == (
        "It expires.",
        "> A token\n\nWhy?\n",
        "\nThanks",
    )


@each_case(
    ("comment", "problem"),
    [
        ("```suggestion\nIt expires.\n```", None),
        ("   ```suggestion\nIt expires.\n   ````", None),
        ("````suggestion\n```sh\nlogin\n```\n````\n", None),
        ("`suggestion` and ```suggestion``` in a line", None),
        ("> ```suggestion\n> quoted\n\nNo.", None),
        ("```suggestion\nIt expires.", "the suggestion has no end"),
        ("```suggestion\nIt expires.```", "the suggestion has no end"),
        ("````suggestion\nIt expires.\n```", "the suggestion has no end"),
        ("My words```suggestion\nIt expires.\n```", "must start a line of its own"),
        ("```suggestion\none\n```\n\n```suggestion\ntwo", "the suggestion has no end"),
    ],
)
def test_broken_suggestion_has_a_reason(comment: str, problem: str | None) -> None:
    found = suggestion_problem(comment)
    assert found is None if problem is None else found and problem in found


def test_fingerprint_of_earlier_versions_is_left_out() -> None:
    assert without_fingerprint("a\n```suggestion 0a1b2c3d\nx\n```\nb") == "a\n```suggestion\nx\n```\nb"
    assert without_fingerprint("```sh x\ny\n```") == "```sh x\ny\n```"


TABLE = r"""# Kinds

| Kind | Lasts | Renewed | Pattern | 備考 |
| --- | :-: | --- | --- | --- |
| Tokens | 90 days | yes | `a \| b` | 更新は自動 |
| Keys | 90 days | yes | yes |  |
| Menu | Settings › Keys | ✓ | ✗ | **bold** \| thin |

> Lease | Term
> --- | ---
> Yearly | a day
"""
CELLS = [(line, column) for line, size in ((2, 5), (4, 5), (5, 5), (6, 5), (8, 2), (10, 2)) for column in range(size)]


def about_cell(markdown: str, line: int, column: int) -> str:
    """Return the quote of a comment on a cell."""
    row = table_row_at(markdown, line)
    assert row is not None
    return split_quote(quote_cell(row.cells, column, row.heads))[0]


@each_case(("line", "column"), CELLS)
def test_suggestion_for_a_cell_changes_only_that_cell(line: int, column: int) -> None:
    target = find_target(about_cell(TABLE, line, column), TABLE)
    assert target == cell_target(TABLE, line, column), "another cell is quoted the same"
    assert target is not None and replace_target(TABLE, target, target.text) == TABLE, "the text as it is"
    for words, expected in (
        ("30 days", "30 days"),
        ("a | b\\\\", r"a \| b\\"),
        ("`x \\| y`", r"`x \| y`"),
        (" 九十日\n 自動 ", "九十日<br>自動"),
        ("- 90", "- 90"),
        ("", ""),
    ):
        lines = replace_target(TABLE, target, words).split("\n")
        row, was = table_row_at("\n".join(lines), line), table_row_at(TABLE, line)
        assert row is not None and was is not None
        assert row.cells == [*was.cells[:column], expected, *was.cells[column + 1 :]]
        others = [(text, before) for text, before in zip(lines, TABLE.split("\n"), strict=True) if text != before]
        assert len(others) <= 1


def test_suggestion_for_a_cell_is_text() -> None:
    assert cell_suggestion_problem("```suggestion\n- 90 days\n```") is None
    assert cell_suggestion_problem("```suggestion\n90 days\nor more\n```") is None
    assert cell_suggestion_problem("```suggestion\nDays:\n\n- 90\n- 30\n```") == NOT_FOR_A_CELL
    assert cell_suggestion_problem("```suggestion\n| Kind |\n| --- |\n| Keys |\n```") == NOT_FOR_A_CELL
    assert cell_suggestion_problem("```suggestion\n90 days") is not None, "it has no end"


def test_missing_or_ambiguous_cell_is_not_a_target() -> None:
    assert find_target("Menu › ✓", TABLE) is not None
    assert find_target("Menu › ✓", TABLE.replace("✓", "?")) is None
    assert find_target("Keys › yes", TABLE) is None, "two cells of the row have this text"
    whole = find_target("Menu | Settings › Keys | ✓", TABLE)
    assert whole is not None and whole.cell is None, "the quote of a whole row is for its table"
    assert find_target("Settings › Keys", "| Path |\n| --- |\n| Settings › Keys |") is not None
    assert find_target("Keys › 90 days", TABLE.replace("\n", "\r\n")) == find_target("Keys › 90 days", TABLE)


ROWS = ["| a | b |", "a | b", "|a|b\\|", "| |  x  | c \\| d|", "||", "  |漢|`a \\| b` |  ", "a | ", "|"]


@each_case("row", ROWS)
def test_cell_spans_match_the_texts_of_the_cells(row: str) -> None:
    assert [row[start:end] for start, end in table_cell_spans(row)] == table_cells(row)


def test_quote_of_several_blocks_is_not_a_target() -> None:
    page = "A token lasts\na day.\n\nA key stays.\n"
    assert find_target("A key stays.", page) is not None
    assert find_target("A token lasts … A key stays.", page) is None
    within = find_target("A token lasts … a day.", page)
    assert within is not None
    assert within.text == "A token lasts\na day."
