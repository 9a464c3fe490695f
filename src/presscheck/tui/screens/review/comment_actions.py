"""Comment commands of a review: comment on a line or a table cell, and act on the thread under the cursor."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import TableCellTarget
from presscheck.documents.diff.segments import table_row_at
from presscheck.documents.diff.suggestion_targets import cell_target, find_target
from presscheck.documents.nodes.comment_targets import CellIds, cell_words, find_block_key, find_cell, has_block
from presscheck.documents.pages.comment_text import (
    block_at,
    deleted_words,
    format_suggestion,
    line_to_quote,
    normalize_text,
    quote,
    quote_cell,
    quote_deleted,
    quote_range,
    split_quote,
    strip_markup,
)
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.shared_calls import changed_nodes
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.comments.actions import PageComment, ThreadActions
from presscheck.tui.screens.page.editor import edit_page
from presscheck.tui.screens.review.prose_findings import comment_about
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.documents.diff.block_pairs import SegmentPair
    from presscheck.documents.diff.segments import TableRow
    from presscheck.documents.git_format.findings import Finding
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.tui.screens.review.session import ReviewSession

ROW = -1
"""Selects the whole row in place of a column."""
NO_CELL_SUGGESTION = "another cell reads the same: comment on the whole row to suggest a change"
"""Shown if the quote of a cell does not identify the cell, so that a suggestion would change another cell."""


SEVERAL_BLOCKS = "a suggestion changes one block: comment on its lines alone"


class CommentTargets:
    """The search for the block or table cell that a comment refers to.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._model, self._screen = session.model, session.screen

    async def choose_cell(self, row: TableRow) -> int | None:
        """Ask for a cell of a table row. Return the column of the cell, `ROW` for the whole row, or None if canceled.

        A row with a single cell is commented as a whole, without a question.
        """
        if len(row.cells) < 2:
            return ROW
        choices = [Choice(str(ROW), "the whole row")]
        for column, cell in enumerate(row.cells):
            head = row.heads[column] if column < len(row.heads) else ""
            choices.append(Choice(str(column), sanitize(cell) or "(empty cell)", sanitize(head)))
        chosen = await choose(self._screen, "Comment on which cell?", choices)
        return int(chosen) if chosen else None

    async def find_block(self, comment: PageComment, text: str) -> None:
        """Find the block of the page that has this text, and store it in the comment.

        If it cannot be found, the quote alone marks the place of the comment.
        """
        with contextlib.suppress(PresscheckError):
            if key := find_block_key(await self._document(comment.page_id), text):
                comment.nodes["node"] = key

    async def find_cell(self, comment: PageComment, cells: list[str], column: int) -> None:
        """Find the table cell in the row of the page that has these cells, and store it in the comment.

        If it cannot be found, the quote alone marks the place of the comment.
        """
        with contextlib.suppress(PresscheckError):
            if ids := find_cell(await self._document(comment.page_id), cells, column):
                comment.nodes["table_cell"] = TableCellTarget(record=ids.record, definition=ids.definition)

    async def remove_missing(self, comment: PageComment) -> None:
        """Remove the block or table cell from a comment if the page no longer has it.

        The quote alone marks the place of the comment then.
        """
        with contextlib.suppress(PresscheckError):
            nodes = comment.nodes
            document, cell = await self._document(comment.page_id), nodes.get("table_cell")
            if "node" in nodes and not has_block(document, nodes["node"]):
                del nodes["node"]
            if cell and not cell_words(document, CellIds(cell.record, cell.definition)):
                del nodes["table_cell"]

    async def _document(self, page_id: str) -> dict[str, Any]:
        path = self._model.path
        call = changed_nodes(path["space_id"], path["change_request_id"], page_id)
        return (await self._screen.engine.read(call, priority=PREFETCH)).document or {}


class CommentActions:
    """The comment commands of a review.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._view, self._drafts = session.view, session.drafts
        self._targets, self.threads = CommentTargets(session), ThreadActions(session.drafts)

    def reason_comment(self) -> str | None:
        """Return why no comment can be written at the cursor: the line is folded, or nothing can be written now."""
        if self._view.is_in_change and self._view.is_on_fold:
            return f"{key_for('open')} shows these lines: comment on one of them"  # a fold has no text to quote
        return self._drafts.disabled_reason()

    def reason_comment_on_all(self) -> str | None:
        """Return why no comment on the whole change request can be written now."""
        return self._drafts.disabled_reason()

    async def command_comment(self) -> None:
        """Comment on the line under the cursor, on the selected page, or on the change request."""
        item = self._view.item
        if item is None or item.noun != "page":
            self.command_comment_on_all()
        elif self._view.is_in_change:
            await self._comment_on_line(item)
        else:
            self.threads.comment(PageComment(item.id, item.title))

    def command_comment_on_all(self) -> None:
        """Comment on the whole change request."""
        self.threads.comment_on_all()

    def reason_edit(self) -> str | None:
        """Return why the message under the cursor or, unless it is the user's own, the page cannot be edited."""
        if self._is_on_own_message:
            return self._drafts.disabled_reason()
        return self._session.edit_page_reason(can_wait=True)

    async def command_edit(self) -> None:
        """Edit the message under the cursor, or else the page."""
        item, thread = self._view.item, self._view.thread
        if thread and self._is_on_own_message:
            await self.threads.edit(thread, self._view.message)
        elif item:
            await edit_page(self._screen, self._model.path, item.id)

    def reason_edit_other(self) -> str | None:
        """Return why the selected page cannot be edited, as `edit_page_reason` does."""
        return self._session.edit_page_reason(can_wait=True)

    async def command_edit_other(self) -> None:
        """Edit the page in the editor that is not the default: external instead of built-in, or the reverse."""
        if item := self._view.item:
            await edit_page(self._screen, self._model.path, item.id, uses_other_editor=True)

    @property
    def _is_on_own_message(self) -> bool:
        """Whether the cursor is on a thread with a message that the user may edit."""
        thread = self._view.thread if self._view.is_in_change and self._view.is_on_thread else None
        return thread is not None and bool(self.threads.editable(thread))

    async def _comment_on_line(self, item: ChangedItem) -> None:
        """Comment on the marked range, or on the line under the cursor. In a table, ask for the cell first."""
        if numbers := self._view.text_range:
            self._view.clear_range()
            if self._comment_on_range(item, *numbers):
                return
        if finding := self._view.finding:
            self._comment_on_finding(item, finding)
            return
        if deleted := self._view.deleted_block:
            self._comment_on_deleted(item, deleted)
            return
        line, after = self._view.text_line, self._view.page.after
        row = table_row_at(after, line) if line is not None else None
        column = await self._targets.choose_cell(row) if row else ROW
        if column is None:
            return
        if row and column != ROW:
            cells, headings = map(sanitize, row.cells), map(sanitize, row.heads)
            about = split_quote(quote_cell([*cells], column, [*headings]))[0]
            comment = PageComment(item.id, item.title, about)
            comment.is_cell = True
            cell = cell_target(after, line, column) if line is not None else None
            if cell and find_target(about, after) == cell:
                comment.suggestion = format_suggestion(cell.text)
            else:
                comment.suggestion_reason = NO_CELL_SUGGESTION
            self._find(comment, self._targets.find_cell(comment, row.cells, column))
        else:
            lines = after.split("\n")
            line = line if line is None else line_to_quote(lines, line)
            text = strip_markup(row.text if row else lines[line] if line is not None else "")
            about = split_quote(quote(sanitize(text)))[0]
            number = sum(strip_markup(above) == text for above in lines[: line or 0]) if about else 0
            comment = PageComment(item.id, item.title, about, number)
            comment.suggestion = self._view.suggestion
            self._find(comment, self._targets.find_block(comment, text))
        self.threads.comment(comment)

    def _comment_on_finding(self, item: ChangedItem, finding: Finding) -> None:
        """Comment on the line of a finding of a prose check, with its replacement as a suggestion, or its message."""
        after = self._view.page.after
        lines = after.replace("\r\n", "\n").split("\n")
        line = line_to_quote(lines, finding.line - 1)
        text = strip_markup(lines[line])
        about = split_quote(quote(sanitize(text)))[0]
        comment = PageComment(item.id, item.title, about, sum(strip_markup(above) == text for above in lines[:line]))
        block = block_at(after, line)
        comment.suggestion = format_suggestion(block.text) if block else ""
        comment.text = comment_about(finding, after)
        self._find(comment, self._targets.find_block(comment, text))
        self.threads.comment(comment)

    def _comment_on_range(self, item: ChangedItem, first: int, last: int) -> bool:
        """Comment on the lines `first` to `last` of the new text.

        Return False if fewer than two of the lines have words.
        """
        after = self._view.page.after
        lines = [sanitize(strip_markup(line)) for line in after.split("\n")]
        with_words = [number for number in range(first, last + 1) if normalize_text(lines[number])]
        if len(with_words) < 2:
            return False
        first, last = with_words[0], with_words[-1]
        about = split_quote(quote_range(lines[first], lines[last]))[0]
        number = sum(line == lines[first] for line in lines[:first])
        comment = PageComment(item.id, item.title, about, number)
        block = block_at(after, last)
        if block and block == block_at(after, first):
            comment.suggestion = format_suggestion(block.text)
        else:
            comment.suggestion_reason = SEVERAL_BLOCKS
        self._find(comment, self._targets.find_block(comment, lines[last]))
        self.threads.comment(comment)
        return True

    def _comment_on_deleted(self, item: ChangedItem, block: SegmentPair) -> None:
        """Comment on a block of the old text, quoting its first line with words.

        The quote is struck through unless the block was moved. If the line has no words, only show a message.
        """
        before, lines = block.before, self._view.page.before.split("\n")
        if before is None:
            return
        first = line_to_quote(lines, before.line)
        text = strip_markup(before.text.strip().split("\n")[0] if first == before.line else lines[first])
        quoted = (quote if block.kind == "moved" else quote_deleted)(sanitize(text))
        if not quoted:
            self._screen.notify("this deleted line has no words to quote: comment on a line near it")
            return
        number = sum(text == strip_markup(above) for above in lines[:first])
        self.threads.comment(PageComment(item.id, item.title, split_quote(quoted)[0], number))

    def continue_comment(self, comment: PageComment, markdown: str | None) -> None:
        """Continue a draft comment on a page.

        Args:
            comment: the draft.
            markdown: the current text of the page, for a suggestion; None if it is not loaded.
        """
        if comment.nodes:
            self._find(comment, self._targets.remove_missing(comment))
        can_suggest = comment.quote and markdown and not deleted_words(comment.quote)
        target = find_target(comment.quote, markdown or "") if can_suggest else None
        comment.suggestion = format_suggestion(target.text) if target else ""
        self.threads.comment(comment)

    def _find(self, comment: PageComment, search: Awaitable[None]) -> None:
        """Run a search for a comment's block or cell while the user writes, and store the result with the draft."""

        async def find() -> None:
            await search
            self._drafts.store_nodes(comment.name, comment.nodes)

        self._screen.run(find)
