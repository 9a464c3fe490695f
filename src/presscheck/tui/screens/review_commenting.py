"""Beginning a thread: on the words under the cursor, on a cell of a table, on a page, on the whole."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import Document, PostComment, TableCellTarget
from presscheck.desk.asking import NEXT
from presscheck.desk.page_questions import changed_nodes
from presscheck.documents.display_text import display_text
from presscheck.documents.nodes.targets import cell_ids, key_of
from presscheck.documents.pieces import cells_of
from presscheck.documents.quotes import quote, quote_cell
from presscheck.errors import PresscheckError
from presscheck.tui.screens.review_page import line_at, suggestion_at
from presscheck.tui.screens.review_speaking import Speaking
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.tui.screens.review_changes import Changed

ROW = -1
"""Stands for all of a row, where else the column of a cell stands."""


class Commenting(Speaking):
    """Comment on something."""

    async def command_comment(self) -> None:
        """Comment on what is under the cursor, or on the whole request where no page is shown."""
        thing = self.thing
        if thing is None or thing.noun != "page":
            self.command_comment_on_all()
        elif self.query_one("#change").has_focus:
            await self._comment_here(thing)
        else:
            self._comment_on(thing, f"Comment on {thing.title}", {})

    def command_comment_on_all(self) -> None:
        """Comment on the whole request."""
        self.write(
            "Comment on the whole request",
            "whole",
            lambda text: PostComment(**self.known.path, body=Document(markdown=text)),
        )

    async def _comment_here(self, thing: Changed) -> None:
        """Comment on the words under the cursor; in a row of a table it is asked which cell is meant."""
        cursor = self.query_one("#change", RowList).cursor
        at, lines = line_at(self.laid, self.page, cursor), self.page.after.split("\n")
        words = bare(lines[at]) if at is not None else ""
        title, target = f"Comment on {thing.title}", dict[str, Any]()
        column = await self._which_cell(lines, at) if at is not None else ROW
        if column is None:
            return
        if column == ROW:
            self.run(self._find_block(thing, words, target))
            suggestion = suggestion_at(self.laid, self.page, cursor)
            self._comment_on(thing, title, target, quote(display_text(words)), suggestion)
        else:
            cells = cells_of(lines[at or 0])
            self.run(self._find_cell(thing, cells, column, target))
            self._comment_on(thing, title, target, quote_cell([display_text(cell) for cell in cells], column))

    async def _which_cell(self, lines: list[str], at: int) -> int | None:
        """The column of the cell that is meant, asked for where it is a row of a table; None where that is left."""
        cells = cells_of(lines[at]) if _is_row(lines[at]) else []
        if len(cells) < 2:
            return ROW
        first = at
        while first and _is_row(lines[first - 1]):
            first -= 1
        heads = cells_of(lines[first]) if first < at else []
        choices = [Choice(str(ROW), "the whole row")]
        for number, cell in enumerate(cells):
            head = heads[number] if number < len(heads) else ""
            choices.append(Choice(str(number), display_text(cell) or "(an empty cell)", display_text(head)))
        chosen = await self.ask(Picker("What is it about?", choices, self.style_for, ranked=False))
        return int(chosen[0]) if chosen else None

    def _comment_on(
        self, thing: Changed, title: str, target: dict[str, Any], begin: str = "", suggestion: str = ""
    ) -> None:
        """Let a comment on a page be written; `target` is what it is about beside the page, as far as it is found."""
        self.write(
            title,
            f"page {thing.id}",
            lambda text: PostComment(**self.known.path, page=thing.id, **target, body=Document(markdown=text)),
            begin=begin,
            suggestion=suggestion,
        )

    async def _find_block(self, thing: Changed, words: str, target: dict[str, Any]) -> None:
        """Find what the service calls the block with these words; without it, the quote alone says where."""
        with contextlib.suppress(PresscheckError):
            if key := key_of(await self._document(thing), words):
                target["node"] = key

    async def _find_cell(self, thing: Changed, cells: list[str], column: int, target: dict[str, Any]) -> None:
        """Find what the service calls a cell of the row with these cells; without it, the quote alone says where."""
        with contextlib.suppress(PresscheckError):
            if ids := cell_ids(await self._document(thing), cells, column):
                target["table_cell"] = TableCellTarget(record=ids.record, definition=ids.definition)

    async def _document(self, thing: Changed) -> dict[str, Any]:
        path = self.known.path
        question = changed_nodes(path["space_id"], path["change_request_id"], thing.id)
        return (await self.desk.read(question, priority=NEXT)).document or {}


def bare(text: str) -> str:
    """The words of a line of Markdown without the signs that it begins and ends with."""
    return text.lstrip("#>-*+ |").rstrip(" |")


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")
