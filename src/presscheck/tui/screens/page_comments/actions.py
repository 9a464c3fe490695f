"""What can be done with a comment on live content: reply, resolve, react, edit, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.comments import (
    DeleteSpaceComment,
    Document,
    PostSpaceComment,
    PostSpaceReply,
    UpdateSpaceComment,
)
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.emoji import reaction_change, reaction_choices
from presscheck.tui.screens.review.renderer import first_words, one_line, who_resolves
from presscheck.tui.screens.undo import NOT_DISCARDED
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from presscheck.engine.review.threads import Discussion, Message, Thread
    from presscheck.tui.screens.page_comments.drafts import LiveDrafts
    from presscheck.tui.ui.screen import BaseScreen

FIRST_ONLY = "only your comments can be changed here: the service changes no replies outside change requests"
"""Why nothing in a thread can be changed in which only replies are the user's."""


class LiveCommentActions:
    """The actions on the threads of live content.

    Args:
        context: the screen.
        discussion: the threads.
        drafts: composes and sends.
    """

    def __init__(self, context: BaseScreen, discussion: Discussion, drafts: LiveDrafts) -> None:
        self._context, self._discussion, self._drafts = context, discussion, drafts

    def comment_on_page(
        self, page: str, title: str, *, target: dict[str, Any] | None = None, quoted: str = "", done: str = ""
    ) -> None:
        """Compose a comment on a page.

        Args:
            page: its id.
            title: its title, as display text.
            target: filled with the block that it is about, while the user writes.
            quoted: the quote of the text that it is about, with which the comment begins.
            done: the message once the engine accepted it.
        """
        place: dict[str, Any] = {} if target is None else target

        def comment(text: str) -> PostSpaceComment:
            # a draft that was started at another line of the page stays there
            node = place if text.startswith(quoted) else {}
            body = Document(markdown=text)
            return PostSpaceComment(space_id=self._drafts.space_id, page=page, **node, body=body)

        self._drafts.compose(
            f"Comment on {title or 'the page'}",
            f"page {page}",
            comment,
            initial=quoted,
            about={"page": title},
            done=done,
        )

    def comment_on_space(self) -> None:
        """Compose a comment on the whole space."""
        self._drafts.compose(
            "Comment on the whole space",
            "whole",
            lambda text: PostSpaceComment(space_id=self._drafts.space_id, body=Document(markdown=text)),
        )

    def reply_reason(self, thread: Thread | None) -> str | None:
        """Why a thread has no replies or reactions now; None if it can have them."""
        if thread is None:
            return "no comment here"
        return "that comment is not sent yet" if thread.first.pending else self._drafts.disabled_reason()

    def resolve_reason(self, thread: Thread | None) -> str | None:
        """Why a thread can neither be resolved nor reopened now."""
        reason = self.reply_reason(thread)
        if reason or thread is None or thread.may_resolve:
            return reason
        return f"only {who_resolves([thread])} can {'reopen' if thread.resolved else 'resolve'} it"

    def edit_reason(self, thread: Thread | None) -> str | None:
        """Why nothing in a thread can be edited now."""
        return self._change_reason(thread, "may_edit", "edit")

    def delete_reason(self, thread: Thread | None) -> str | None:
        """Why nothing in a thread can be deleted now."""
        return self._change_reason(thread, "may_delete", "delete")

    def _change_reason(self, thread: Thread | None, permission: str, verb: str) -> str | None:
        if thread is None:
            return "no comment here"
        if reason := self._drafts.disabled_reason():
            return reason
        if _changeable(thread, permission):
            return None
        own = any(message.author == "you" for message in thread.replies)
        return FIRST_ONLY if own else f"you can only {verb} your own comments"

    def reply(self, thread: Thread) -> None:
        """Reply to a thread."""
        self.reply_to(thread.id, thread.first.author)

    def reply_to(self, comment: str, author: str) -> None:
        """Reply to a comment, by its id and the name of its author."""
        where = {"space_id": self._drafts.space_id, "comment_id": comment}
        self._drafts.compose(
            f"Reply to {author}" if author else "Reply",
            f"reply {comment}",
            lambda text: PostSpaceReply(**where, body=Document(markdown=text)),
            about={"author": author, "comment": comment},
        )

    def toggle_resolved(self, thread: Thread) -> None:
        """Resolve a thread, or reopen it."""
        self._drafts.send(self._update(thread.id, resolved=not thread.resolved))

    async def react(self, thread: Thread) -> None:
        """Add a reaction to the first comment of a thread, or remove it."""
        own = thread.first.own_reactions
        chosen = await self._context.ask(Picker("React", reaction_choices(own), ranked=False))
        if chosen:
            self._drafts.send(self._update(thread.id, **reaction_change(chosen[0], own)))

    async def edit(self, thread: Thread) -> None:
        """Edit the comment, or a message of the thread that is not sent yet."""
        message = await self._choose("Edit which?", _changeable(thread, "may_edit"))
        if message and message.pending:
            self.edit_pending(message.pending.row, message.text)
        elif message:
            self.edit_comment(message.id, message.text)

    def edit_comment(self, comment: str, text: str) -> None:
        """Edit a comment, by its id."""
        self._drafts.compose(
            "Edit your comment",
            f"message {comment}",
            lambda typed: self._update(comment, body=Document(markdown=typed)),
            initial=text,
            about={"comment": comment},
        )

    def edit_pending(self, row: int, text: str) -> bool:
        """Edit a message in the outbox, by its row; returns whether it is still there."""
        entry = next((entry for entry in self._discussion.pending() if entry.id == row), None)
        if entry is None or entry.call is None:
            return False
        call = entry.call
        self._drafts.compose(
            "Edit your comment",
            f"pending {row}",
            lambda typed: call.model_copy(update={"body": Document(markdown=typed)}),
            initial=text,
            rewrites=row,
        )
        return True

    async def delete(self, thread: Thread) -> None:
        """Delete the comment with its replies, or discard a message that is not sent yet; asks first."""
        message = await self._choose("Delete which?", _changeable(thread, "may_delete"))
        if message is None:
            return
        lines: list[Line] = [(Span(one_line(message)),)]
        if message.pending:
            lines.append((Span("It will not be sent; the history keeps its text.", "waiting"),))
            if await self._confirm("Discard this comment?", lines, "Discard"):
                is_dropped = self._context.engine.drop(message.pending.row)
                self._context.notify(f"discarded {first_words(message)}" if is_dropped else NOT_DISCARDED)
            return
        if thread.reply_count:
            lines.append((Span(f"Replies that are deleted too: {thread.reply_count}.", "waiting"),))
        owner = "your" if message.author == "you" else f"{message.author}'s"
        if await self._confirm(f"Delete {owner} comment?", lines, "Delete"):
            call = DeleteSpaceComment(space_id=self._drafts.space_id, comment_id=thread.id)
            self._drafts.delete(call, first_words(message))

    def _update(self, comment: str, **values: Any) -> UpdateSpaceComment:
        return UpdateSpaceComment(space_id=self._drafts.space_id, comment_id=comment, **values)

    async def _confirm(self, title: str, lines: list[Line], verb: str) -> bool:
        return bool(await self._context.ask(ConfirmDialog(title, lines, verb)))

    async def _choose(self, title: str, messages: Sequence[Message]) -> Message | None:
        """One of some messages, chosen by the user if there are several."""
        if len(messages) < 2:
            return messages[0] if messages else None
        choices = [Choice(message.id, f"{message.author}  {one_line(message)}") for message in reversed(messages)]
        chosen = await self._context.ask(Picker(title, choices, ranked=False))
        return next((message for message in messages if chosen and message.id == chosen[0]), None)


def _changeable(thread: Thread, permission: str) -> list[Message]:
    """The messages of a thread that can be changed: the comment, and what is not being sent yet."""
    unsent = [one for one in thread.messages if one.pending and one.pending.state != "sending"]
    first = [] if thread.first.pending or not getattr(thread.first, permission) else [thread.first]
    return [*first, *unsent]
