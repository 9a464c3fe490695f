"""A table of Markdown or HTML as cells of styled runs, before layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from presscheck.documents.markdown.parser import outermost
from presscheck.text.styled_text import Span

if TYPE_CHECKING:
    from presscheck.documents.markdown.parser import Token, Tokens

Cell = Sequence[Span]
Row = list[Cell]


@dataclass
class Table:
    """Cells of styled runs. A card table (`cards`) shows each row as a card, with a title and optionally a link.

    `kinds` are the types of columns without text, such as `checkbox`, by column number. A card links to the first link
    in the column `target`; its picture is the first link in the column `cover`.
    """

    head: Row = field(default_factory=list[Cell])
    rows: list[Row] = field(default_factory=list[Row])
    aligns: list[str] = field(default_factory=list[str])
    cards: bool = False
    hidden: set[int] = field(default_factory=set[int])
    kinds: dict[int, str] = field(default_factory=dict[int, str])
    target: int | None = None
    cover: int | None = None

    def link_in(self, row: Row, column: int | None) -> tuple[str, Cell]:
        """Return the first link in a cell of a row, or an empty string, and the runs after it."""
        cell = row[column] if column is not None and column < len(row) else ()
        parts = [(link, [*runs]) for link, runs in groupby(cell, lambda span: span.link or "")]
        for (link, _), (_, after) in pairwise((*parts, ("", []))):
            if link:
                return link, after
        return "", ()

    def visible(self, row: Row) -> Row:
        """Return the cells of a row without hidden columns."""
        return [cell for number, cell in enumerate(row) if number not in self.hidden]


def read_table(inner: Tokens, runs: Callable[[Token], Cell]) -> Table:
    """Read the tokens of a pipe table; `runs` converts the inline text of a cell."""
    table = Table()
    for part, rows in outermost(inner):
        for _, cells in outermost(rows):
            row = [runs(within[0]) for _, within in outermost(cells)]
            if part.type == "thead_open":
                table.head = [*row]
                table.aligns = [str(cell.attrs.get("style", "")).rpartition(":")[2] for cell, _ in outermost(cells)]
            else:
                table.rows.append([*row])
    return table
