"""Finds the block or table cell that a new comment is about."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import TableCellTarget
from presscheck.documents.nodes.comment_targets import CellIds, cell_words, find_block_key, find_cell, has_block
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.shared_calls import changed_nodes
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.documents.diff.segments import TableRow
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.model import ReviewModel
    from presscheck.tui.screens.review.context import ReviewContext

ROW = -1
"""Means the whole row, in place of the column of a cell."""


class CommentTargets:
    """The targets of comments on pages.

    Args:
        model: the change request.
        context: the screen.
    """

    def __init__(self, model: ReviewModel, context: ReviewContext) -> None:
        self._model, self._context = model, context

    async def choose_cell(self, row: TableRow) -> int | None:
        """The column of a cell that the user chooses; None if nothing was chosen."""
        if len(row.cells) < 2:
            return ROW
        choices = [Choice(str(ROW), "the whole row")]
        for column, cell in enumerate(row.cells):
            head = row.heads[column] if column < len(row.heads) else ""
            choices.append(Choice(str(column), sanitize(cell) or "(empty cell)", sanitize(head)))
        picker = Picker("Comment on which cell?", choices, self._context.style_for, ranked=False)
        chosen = await self._context.ask(picker)
        return int(chosen[0]) if chosen else None

    async def find_block(self, item: ChangedItem, text: str, target: dict[str, Any]) -> None:
        """Find the key of the block with this text; without it, the quote alone names the place."""
        with contextlib.suppress(PresscheckError):
            if key := find_block_key(await self._document(item.id), text):
                target["node"] = key

    async def find_cell(self, item: ChangedItem, cells: list[str], column: int, target: dict[str, Any]) -> None:
        """Find the ids of a cell in the row with these cells; without them, the quote alone names the place."""
        with contextlib.suppress(PresscheckError):
            if ids := find_cell(await self._document(item.id), cells, column):
                target["table_cell"] = TableCellTarget(record=ids.record, definition=ids.definition)

    async def keep_what_is_there(self, page_id: str, target: dict[str, Any]) -> None:
        """Remove a block or cell that is not on the page any more: the quote alone names the place then."""
        with contextlib.suppress(PresscheckError):
            document, cell = await self._document(page_id), target.get("table_cell")
            if "node" in target and not has_block(document, target["node"]):
                del target["node"]
            if cell and not cell_words(document, CellIds(cell.record, cell.definition)):
                del target["table_cell"]

    async def _document(self, page_id: str) -> dict[str, Any]:
        path = self._model.path
        call = changed_nodes(path["space_id"], path["change_request_id"], page_id)
        return (await self._context.engine.read(call, priority=PREFETCH)).document or {}


def strip_markup(text: str) -> str:
    """A line of Markdown without the markup at its start and end."""
    return text.lstrip("#>-*+ |").rstrip(" |")
