"""Comment commands of a review: comment on a block or a cell, reply, resolve, react, edit (also pages) and delete."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.comments import (
    DeleteComment,
    DeleteReply,
    Document,
    PostComment,
    PostReply,
    TableCellTarget,
    UpdateComment,
    UpdateReply,
)
from presscheck.documents.diff.segments import table_row_at
from presscheck.documents.diff.suggestion_targets import cell_suggestion_problem, cell_target, find_target
from presscheck.documents.nodes.comment_targets import CellIds, cell_words, find_block_key, find_cell, has_block
from presscheck.documents.pages.comment_text import (
    format_suggestion,
    quote,
    quote_cell,
    quote_lines,
    split_quote,
    suggestion_problem,
)
from presscheck.engine.reads.scheduler import PREFETCH
from presscheck.engine.shared_calls import changed_nodes
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.emoji import reaction_change, reaction_choices
from presscheck.tui.screens.page.editor import edit_page
from presscheck.tui.screens.review.renderer import first_words, one_line, who_resolves
from presscheck.tui.screens.undo import NOT_DISCARDED
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.documents.diff.segments import TableRow
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.threads import Message, PendingChange, Thread
    from presscheck.tui.screens.review.session import ReviewSession

ROW = -1
"""Means the whole row, in place of the column of a cell."""
NO_CELL_SUGGESTION = "another cell reads the same: comment on the whole row to suggest a change"
"""Why a comment on a cell has no suggestion: its quote would lead to another one, or to none."""
OTHER_DRAFT = "this draft is about another place: send or empty it to write a suggestion here"
"""Why a draft that was started elsewhere on the page has no suggestion."""


class CommentTargets:
    """The targets of comments on pages.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._model, self._screen = session.model, session.screen

    async def choose_cell(self, row: TableRow) -> int | None:
        """The column of a cell that the user chooses; None if nothing was chosen."""
        if len(row.cells) < 2:
            return ROW
        choices = [Choice(str(ROW), "the whole row")]
        for column, cell in enumerate(row.cells):
            head = row.heads[column] if column < len(row.heads) else ""
            choices.append(Choice(str(column), sanitize(cell) or "(empty cell)", sanitize(head)))
        picker = Picker("Comment on which cell?", choices, ranked=False)
        chosen = await self._screen.ask(picker)
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
        return (await self._screen.engine.read(call, priority=PREFETCH)).document or {}


def strip_markup(text: str) -> str:
    """A line of Markdown without the markup at its start and end."""
    return text.lstrip("#>-*+ |").rstrip(" |")


class CommentActions:
    """Handles the comment commands.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._view, self._drafts = session.view, session.drafts
        self._targets = CommentTargets(session)

    def reason_comment(self) -> str | None:
        """Why no comment can be written here."""
        if self._view.is_in_change and self._view.is_on_fold:
            return "enter shows these lines: comment on one of them"  # its quote would be that of another line
        return self._drafts.disabled_reason()

    def reason_comment_on_all(self) -> str | None:
        """Why no comment can be written."""
        return self._drafts.disabled_reason()

    async def command_comment(self) -> None:
        """Comment on the line under the cursor, on the selected page, or on the change request."""
        item = self._view.item
        if item is None or item.noun != "page":
            self.command_comment_on_all()
        elif self._view.is_in_change:
            await self._comment_on_line(item)
        else:
            self._compose_on_page(item.id, item.title, {})

    def command_comment_on_all(self) -> None:
        """Comment on the whole change request."""
        self._drafts.compose(
            "Comment on the change request",
            "whole",
            lambda text: PostComment(**self._model.path, body=Document(markdown=text)),
        )

    def reason_reply(self) -> str | None:
        """Why there is no reply."""
        return self.reply_reason(self._view.thread)

    def reason_resolve(self) -> str | None:
        """Why the thread under the cursor can neither be resolved nor reopened."""
        return self.resolve_reason(self._view.thread)

    reason_react = reason_reply

    def reply_reason(self, thread: Thread | None) -> str | None:
        """Why a thread has no replies or reactions now; None if it can have them."""
        if thread is None:
            return "no thread here: t goes to the next one"
        if thread.first.pending:
            return "that comment is not sent yet: reply once it is"
        return self._drafts.disabled_reason()

    def resolve_reason(self, thread: Thread | None) -> str | None:
        """Why a thread can neither be resolved nor reopened now."""
        reason = self.reply_reason(thread)
        if reason or thread is None or thread.may_resolve:
            return reason
        return f"only {who_resolves([thread])} can {'reopen' if thread.resolved else 'resolve'} it"

    def command_reply(self) -> None:
        """Reply to the thread under the cursor."""
        if thread := self._view.thread:
            self.reply(thread)

    def reply(self, thread: Thread) -> None:
        """Reply to a thread."""
        where = {**self._model.path, "comment_id": thread.id}
        self._drafts.compose(
            f"Reply to {thread.first.author}",
            f"reply {thread.id}",
            lambda text: PostReply(**where, body=Document(markdown=text), format="markdown"),
            about={"author": thread.first.author, "comment": thread.id},
        )

    def command_resolve(self) -> None:
        """Resolve the thread under the cursor, or reopen it."""
        if thread := self._view.thread:
            self.toggle_resolved(thread)

    def toggle_resolved(self, thread: Thread) -> None:
        """Resolve a thread, or reopen it."""
        self._drafts.send(UpdateComment(**self._model.path, comment_id=thread.id, resolved=not thread.resolved))

    async def command_react(self) -> None:
        """Add a reaction to a message, or remove it."""
        thread = self._view.thread
        message = await self._choose_message("React to which?", self._possible(UpdateReply, lambda _: True))
        if thread is None or message is None:
            return
        chosen = await self._pick("React", reaction_choices(message.own_reactions))
        if chosen:
            self._drafts.send(self._update(thread, message, **reaction_change(chosen, message.own_reactions)))

    def reason_delete(self) -> str | None:
        """Why nothing can be deleted."""
        if self._view.message and self._view.message.pending:
            return None if self._pending_message else "it is being sent"
        thread = self._view.thread
        own = [message for message in thread.messages if message.may_delete] if thread else []
        if thread and not own:
            return "you can only delete your own comments"
        if own and not self._possible(DeleteReply, own.__contains__):
            return self._screen.engine.missing_reason(DeleteReply)
        return self.reason_reply()

    async def command_delete(self) -> None:
        """Delete one of the user's messages, after a confirmation; a comment is deleted with its replies."""
        if self._pending_message:
            await self._discard(*self._pending_message)
            return
        thread = self._view.thread
        messages = self._possible(DeleteReply, lambda message: message.may_delete)
        message = await self._choose_message("Delete which?", messages)
        if thread is None or message is None:
            return
        is_first = message is thread.first
        lines: list[Line] = [(Span(one_line(message)),)]
        if is_first and thread.reply_count:
            lines.append((Span(f"Replies that are deleted too: {thread.reply_count}.", "waiting"),))
        owner = "your" if message.author == "you" else f"{message.author}'s"
        title = f"Delete {owner} {'comment' if is_first else 'reply'}?"
        if await self._screen.ask(ConfirmDialog(title, lines, "Delete")):
            where = {**self._model.path, "comment_id": thread.id}
            call = DeleteComment(**where) if is_first else DeleteReply(**where, comment_reply_id=message.id)
            self._drafts.delete(call, first_words(message))

    def reason_edit(self) -> str | None:
        """Why neither the page nor a message can be edited."""
        return self._drafts.disabled_reason() if self._is_on_own_message else self._session.edit_page_reason()

    async def command_edit(self) -> None:
        """Edit the user's message under the cursor, or else the page."""
        item = self._view.item
        if self._is_on_own_message:
            await self._edit_message()
        elif item:
            await edit_page(self._screen, self._model.path, item.id)

    @property
    def _is_on_own_message(self) -> bool:
        """Whether the cursor is on a thread with a message that the user may edit."""
        if self._pending_message:
            return True
        thread = self._view.thread if self._view.is_in_change and self._view.is_on_thread else None
        return thread is not None and bool(self._possible(UpdateReply, lambda message: message.may_edit))

    async def _edit_message(self) -> None:
        """Edit one of the user's messages in the thread under the cursor; one that is not sent stays in its place."""
        if self._pending_message:
            self._edit_pending(*self._pending_message)
            return
        thread = self._view.thread
        messages = self._possible(UpdateReply, lambda message: message.may_edit)
        message = await self._choose_message("Edit which?", messages)
        if thread and message:
            self.edit(thread, message)

    def edit(self, thread: Thread, message: Message) -> None:
        """Edit a message; one that is not sent stays in its place."""
        if message.pending:
            self._edit_pending(message, message.pending)
            return
        self._drafts.compose(
            "Edit your comment" if message is thread.first else "Edit your reply",
            f"message {message.id}",
            lambda text: self._update(thread, message, body=Document(markdown=text)),
            initial=message.text,
            suggestion="" if thread.suggested_for is None else format_suggestion(thread.suggested_for),
            validate=cell_suggestion_problem if thread.about_cell else suggestion_problem,
            about={"comment": thread.id},
        )

    @property
    def _pending_message(self) -> tuple[Message, PendingChange] | None:
        """The message under the cursor, if it is in the outbox and not being sent."""
        message = self._view.message
        change = message.pending if message else None
        return (message, change) if message and change and change.state != "sending" else None

    def _edit_pending(self, message: Message, change: PendingChange) -> None:
        """Edit a message in the outbox; it keeps its state, such as being held for a review."""
        entry = next((entry for entry in self._model.discussion.pending() if entry.id == change.row), None)
        if entry is None or entry.call is None:
            return
        call = entry.call
        self._drafts.compose(
            "Edit your comment",
            f"pending {change.row}",
            lambda text: call.model_copy(update={"body": Document(markdown=text)}),
            initial=message.text,
            rewrites=change.row,
        )

    async def _discard(self, message: Message, change: PendingChange) -> None:
        """Discard a message in the outbox, after a confirmation."""
        lines: list[Line] = [
            (Span(one_line(message)),),
            (Span("It will not be sent; the history keeps its text.", "waiting"),),
        ]
        title = "Discard this pending comment?" if change.state == "collected" else "Discard this comment?"
        if await self._screen.ask(ConfirmDialog(title, lines, "Discard")):
            is_dropped = self._screen.engine.drop(change.row)
            self._screen.notify(f"discarded {first_words(message)}" if is_dropped else NOT_DISCARDED)

    async def _comment_on_line(self, item: ChangedItem) -> None:
        """Comment on the line under the cursor; in a row of a table, ask for the cell."""
        line, after = self._view.text_line, self._view.page.after
        suggestion, target = self._view.suggestion, dict[str, Any]()
        row = table_row_at(after, line) if line is not None else None
        column = await self._targets.choose_cell(row) if row else ROW
        if column is None:
            return
        if row and column != ROW:
            self._find(item.id, target, self._targets.find_cell(item, row.cells, column, target))
            cells, headings = map(sanitize, row.cells), map(sanitize, row.heads)
            quoted = quote_cell([*cells], column, [*headings])
            cell = cell_target(after, line, column) if line is not None else None
            is_found = cell is not None and find_target(split_quote(quoted)[0], after) == cell
            suggestion = format_suggestion(cell.text) if cell and is_found else ""
            reason = "" if suggestion else NO_CELL_SUGGESTION
            self._compose_on_page(item.id, item.title, target, quoted, suggestion, reason, cell_suggestion_problem)
        else:
            text = row.text if row else after.split("\n")[line] if line is not None else ""
            text = strip_markup(text)
            self._find(item.id, target, self._targets.find_block(item, text, target))
            self._compose_on_page(item.id, item.title, target, quote(sanitize(text)), suggestion)

    def quote_of_draft(self, page_id: str) -> str:
        """The words that the draft of a comment on a page quotes; empty if there are none."""
        return split_quote(self._drafts.saved(f"page {page_id}"))[0]

    def continue_comment(self, page_id: str, title: str, markdown: str | None) -> None:
        """Continue a comment on a page, about the block or cell that it was started at.

        Args:
            page_id: the page.
            title: its title, as display text.
            markdown: its text now, for a suggestion; None if it is not known.
        """
        name = f"page {page_id}"
        about, target = split_quote(self._drafts.saved(name))[0], self._drafts.place_of(name)
        is_cell = "table_cell" in target
        if target:
            self._find(page_id, target, self._targets.keep_what_is_there(page_id, target))
        found = find_target(about, markdown) if about and markdown else None
        self._compose_on_page(
            page_id,
            title,
            target,
            quote_lines(about),
            format_suggestion(found.text) if found else "",
            validate=cell_suggestion_problem if is_cell else suggestion_problem,
        )

    def _find(self, page_id: str, target: dict[str, Any], search: Awaitable[None]) -> None:
        """Find the block or cell of a comment while the user writes, and store it with the draft."""

        async def find() -> None:
            await search
            self._drafts.store_place(f"page {page_id}", target)

        self._screen.run(find)

    def _compose_on_page(
        self,
        page_id: str,
        title: str,
        target: dict[str, Any],
        initial: str = "",
        suggestion: str = "",
        suggestion_reason: str = "",
        validate: Callable[[str], str | None] = suggestion_problem,
    ) -> None:
        """Compose a comment on a page; `target` is filled with the block or cell while the user writes."""
        name, about = f"page {page_id}", split_quote(initial)[0]
        if suggestion and split_quote(self._drafts.saved(name) or initial)[0] != about:
            suggestion, suggestion_reason = "", OTHER_DRAFT

        def comment(text: str) -> PostComment:
            # a draft that was started at another place of the page stays there
            place = target if split_quote(text)[0] in ("", about) else self._drafts.place_of(name)
            return PostComment(**self._model.path, page=page_id, **place, body=Document(markdown=text))

        self._drafts.compose(
            f"Comment on {title}",
            name,
            comment,
            initial=initial,
            suggestion=suggestion,
            suggestion_reason=suggestion_reason,
            validate=validate,
            about={"page": title},
            place=lambda text: target if split_quote(text)[0] in ("", about) else None,
        )

    def _update(self, thread: Thread, message: Message, **values: Any) -> Operation[Any]:
        where = {**self._model.path, "comment_id": thread.id}
        if message is thread.first:
            return UpdateComment(**where, **values)  # pyrefly: ignore[bad-argument-type]
        return UpdateReply(**where, comment_reply_id=message.id, **values)  # pyrefly: ignore[bad-argument-type]

    def _possible(self, for_replies: type[Operation[Any]], is_chosen: Callable[[Message], bool]) -> list[Message]:
        """The chosen messages of the thread under the cursor; without replies if the service cannot change them."""
        thread = self._view.thread
        has_replies = self._screen.engine.missing_reason(for_replies) is None
        messages = thread.messages if thread else ()
        return [
            message
            for message in messages
            if is_chosen(message) and (has_replies or (thread and message is thread.first))
        ]

    async def _choose_message(self, title: str, messages: Sequence[Message]) -> Message | None:
        """The message under the cursor, or one that the user chooses if there are several; no pending one."""
        sent = [message for message in messages if message.pending is None]
        if self._view.message in sent:
            return self._view.message
        if len(sent) < 2:
            return sent[0] if sent else None
        choices = [Choice(message.id, f"{message.author}  {one_line(message)}") for message in reversed(sent)]
        chosen = await self._pick(title, choices)
        return next((message for message in sent if message.id == chosen), None)

    async def _pick(self, title: str, choices: Sequence[Choice]) -> str | None:
        picker = Picker(title, choices, ranked=False)
        chosen = await self._screen.ask(picker)
        return chosen[0] if chosen else None
