"""The text that a suggestion replaces: the block that a thread quotes, or a table cell in it."""

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
    find_quoted_range,
    parse_suggestion,
    replace_block,
    suggestion_problem,
)

NOT_FOR_A_CELL = "a table cell holds text only: no lists, code blocks or tables"
_bare_bar = re.compile(r"(?<!\\)\|")


class Cell(NamedTuple):
    """A table cell: its line in the page, its column, and the offsets of its text in the line."""

    line: int
    column: int
    start: int
    end: int


class SuggestionTarget(NamedTuple):
    """The text that a suggestion replaces: a block, or one table cell in it."""

    block: Block
    cell: Cell | None = None

    @property
    def text(self) -> str:
        """The current text, as Markdown."""
        if self.cell is None:
            return self.block.text
        return self.block.text.split("\n")[self.cell.line - self.block.start_line][self.cell.start : self.cell.end]


def find_target(about: str, markdown: str) -> SuggestionTarget | None:
    """Return the text that a suggestion in a thread replaces.

    Args:
        about: the quote of the thread.
        markdown: the page.

    Returns:
        The block or cell, or None if the quoted text is gone, spans several blocks, or matches several cells.
    """
    markdown = markdown.replace("\r\n", "\n")
    lines = list(enumerate(markdown.split("\n")))
    line = find_quoted_line(about, lines)
    block = block_at(markdown, line) if line is not None else None
    if line is None or block is None:
        return None
    numbers = find_quoted_range(about, lines)
    if numbers and numbers[1] == line and block_at(markdown, numbers[0]) != block:
        return None
    # the quote of a whole row contains the bars between its cells
    row = table_row_at(markdown, line) if CELL_SEPARATOR in about and not _bare_bar.search(about) else None
    if row is None or len(row.cells) < 2:
        return SuggestionTarget(block)
    column = find_quoted_cell(about, row.cells, row.heads)
    return cell_target(markdown, line, column) if column is not None else None


def cell_target(markdown: str, line: int, column: int) -> SuggestionTarget | None:
    """Return a table cell as the target of a suggestion, or None if the cell is not found.

    Args:
        markdown: the page.
        line: the line of the row; the delimiter row counts as the row above it.
        column: the column, from 0.
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
    """Return why a text cannot be the content of a table cell, or None."""
    is_text = "\n" not in words or all(block.kind == "paragraph" for block in split_blocks(words))
    return None if is_text else NOT_FOR_A_CELL


def cell_suggestion_problem(comment: str) -> str | None:
    """Return why the suggestion in a comment on a table cell cannot be used, or None."""
    suggestion = parse_suggestion(comment)
    return suggestion_problem(comment) or (cell_problem(suggestion.words) if suggestion else None)


def cell_text(words: str) -> str:
    """Return a text as the source of a table cell: on one line, with bars escaped."""
    lines = [line.strip() for line in words.strip().split("\n")]
    return _bare_bar.sub(r"\\|", "<br>".join(lines))


def replace_target(markdown: str, target: SuggestionTarget, words: str) -> str:
    """Return a page with the target replaced: a block, or the text of a cell. The rest of the table stays as it is."""
    if target.cell is None:
        return replace_block(markdown, target.block, words)
    lines, cell, text = markdown.replace("\r\n", "\n").split("\n"), target.cell, cell_text(words)
    line = lines[cell.line]
    before, after = line[: cell.start], line[cell.end :]
    # a bar needs a blank before an empty text or a bullet
    if not before.rstrip().endswith("|") and not text[:1].isalpha():
        before = f"{before}| "
    if not text and not after.strip():  # the last cell needs a bar behind it if it is empty
        after = " |"
    if text.endswith("\\") and after.startswith("|"):
        text += " "
    lines[cell.line] = f"{before}{text}{after}"
    return "\n".join(lines)
