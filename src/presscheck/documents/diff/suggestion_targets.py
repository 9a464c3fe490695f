"""The text of a page that a suggestion replaces: the block that a thread quotes, or a cell of a table in it."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.documents.diff.segments import table_cell_spans, table_row_at
from presscheck.documents.markdown.block_splitter import Block, split_blocks
from presscheck.documents.pages.comment_text import (
    CELL_SEPARATOR,
    block_at,
    find_quoted_cell,
    find_quoted_line,
    parse_suggestion,
    replace_block,
    suggestion_problem,
)

NOT_FOR_A_CELL = "a table cell holds text only: no lists, code blocks or tables"
_bare_bar = re.compile(r"(?<!\\)\|")


class Cell(NamedTuple):
    """A cell of a table: its line in the page, its column, and where its text stands in the line."""

    line: int
    column: int
    start: int
    end: int


class SuggestionTarget(NamedTuple):
    """What a suggestion replaces: a block, or one cell of a table in it."""

    block: Block
    cell: Cell | None = None

    @property
    def text(self) -> str:
        """The text that is replaced, as Markdown."""
        if self.cell is None:
            return self.block.text
        return self.block.text.split("\n")[self.cell.line - self.block.start_line][self.cell.start : self.cell.end]


def find_target(about: str, markdown: str) -> SuggestionTarget | None:
    """Returns what a suggestion in a thread with this quote replaces; None if it is gone, or not one cell alone."""
    markdown = markdown.replace("\r\n", "\n")
    line = find_quoted_line(about, enumerate(markdown.split("\n")))
    block = block_at(markdown, line) if line is not None else None
    if line is None or block is None:
        return None
    # the quote of a whole row has the bars between its cells
    row = table_row_at(markdown, line) if CELL_SEPARATOR in about and not _bare_bar.search(about) else None
    if row is None or len(row.cells) < 2:
        return SuggestionTarget(block)
    column = find_quoted_cell(about, row.cells, row.heads)
    return cell_target(markdown, line, column) if column is not None else None


def cell_target(markdown: str, line: int, column: int) -> SuggestionTarget | None:
    """Returns a cell as what a suggestion replaces; None if there is no such cell.

    Args:
        markdown: the page.
        line: the line of its row; the delimiter row counts as the one above.
        column: its column, from 0.
    """
    block, row = block_at(markdown, line), table_row_at(markdown, line)
    if block is None or row is None or column >= len(row.cells):
        return None
    lines = markdown.split("\n")
    number = line if lines[line].endswith(row.text) else line - 1
    if not lines[number].endswith(row.text):  # such as a table in a list that is indented with tabs
        return None
    indent = len(lines[number]) - len(row.text)
    start, end = table_cell_spans(row.text)[column]
    return SuggestionTarget(block, Cell(number, column, indent + start, indent + end))


def cell_problem(words: str) -> str | None:
    """Returns why a suggested text cannot stand in a table cell, or None."""
    is_text = "\n" not in words or all(block.kind == "paragraph" for block in split_blocks(words))
    return None if is_text else NOT_FOR_A_CELL


def cell_suggestion_problem(comment: str) -> str | None:
    """Returns why a suggestion in a comment on a table cell cannot be used, or None."""
    suggestion = parse_suggestion(comment)
    return suggestion_problem(comment) or (cell_problem(suggestion.words) if suggestion else None)


def cell_text(words: str) -> str:
    """Returns a text as it stands in a table cell: on one line, bars escaped."""
    lines = [line.strip() for line in words.strip().split("\n")]
    return _bare_bar.sub(r"\\|", "<br>".join(lines))


def replace_target(markdown: str, target: SuggestionTarget, words: str) -> str:
    """Replaces a block, or the text of a cell; the other cells and the shape of the table stay as they are."""
    if target.cell is None:
        return replace_block(markdown, target.block, words)
    lines, cell, text = markdown.replace("\r\n", "\n").split("\n"), target.cell, cell_text(words)
    line = lines[cell.line]
    before, after = line[: cell.start], line[cell.end :]
    if not before.rstrip().endswith("|") and not text[:1].isalpha():  # such as an empty text, or a bullet
        before = f"{before}| "
    if not text and not after.strip():  # nor would the last cell be one without a bar behind it
        after = " |"
    if text.endswith("\\") and after.startswith("|"):
        text += " "
    lines[cell.line] = f"{before}{text}{after}"
    return "\n".join(lines)
