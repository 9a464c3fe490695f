"""Actions on comments: write, reply, resolve, react, edit and delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.api.comments import DeleteReply, Document, UpdateReply
from presscheck.documents.diff.suggestion_targets import cell_suggestion_problem
from presscheck.documents.pages.comment_text import (
    deleted_words,
    format_suggestion,
    quote_lines,
    split_quote,
    suggestion_problem,
)
from presscheck.engine.drafts import comment_name
from presscheck.engine.review.threads import LIVE
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.comments.rows import first_words, label_of, one_line, who_resolves
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from presscheck.api.operation import Operation
    from presscheck.engine.review.threads import Message, PendingChange, Thread
    from presscheck.tui.comments.drafts import CommentDrafts

REACTIONS = (
    ("1f44d", "👍", "thumbs up"),
    ("1f44e", "👎", "thumbs down"),
    ("1f389", "🎉", "hooray"),
    ("1f604", "😄", "laugh"),
    ("2764", "❤", "heart"),
    ("1f680", "🚀", "rocket"),
    ("1f440", "👀", "eyes"),
    ("1f615", "😕", "confused"),
)
"""Reactions as triples: the code point in the API, the emoji, and its name."""
NOT_DISCARDED = "not discarded: it is already sent, or is being sent"
"""The message if a change was sent while the user was asked whether to discard it."""
FIRST_ONLY = "only your comments can be changed here: the service changes no replies outside change requests"
"""The reason shown in a live thread in which only replies belong to the user."""


class PageComment:
    """A new comment on a page, or on a text of the page.

    Args:
        page_id: the page.
        title: the title of the page, as display text.
        quote: the commented text, as `split_quote` returns it; empty for the whole page.
        number: how many earlier lines have the same text.

    Attributes:
        name: the name of the draft.
        nodes: the commented block or cell, found by a look-up while the user writes.
        suggestion: the text that the command `suggest` inserts, to suggest a change of the page.
        suggestion_reason: why nothing can be suggested.
        is_cell: whether the comment is about a cell of a table.
        text: the initial text below the quote.
    """

    def __init__(self, page_id: str, title: str, quote: str = "", number: int = 0) -> None:
        self.page_id, self.title, self.quote = page_id, title, quote
        self.name = comment_name(page_id, quote, number)
        self.nodes: dict[str, Any] = {}
        self.suggestion = self.suggestion_reason = self.text = ""
        self.is_cell = False

    @property
    def heading(self) -> str:
        """The title of the composer."""
        page = self.title or "the page"
        if deleted := deleted_words(self.quote):
            return f"Comment on deleted text of {page}: “{deleted}”"
        if self.quote:
            return f"Comment on {page}: “{self.quote}”"
        return f"Comment on a text of {page}" if self.nodes else f"Comment on {page}"


class ThreadActions:
    """The actions on the threads of a change request, or of live content.

    Args:
        drafts: composes and sends comments.
    """

    def __init__(self, drafts: CommentDrafts) -> None:
        self._drafts, self._screen, self._discussion = drafts, drafts.screen, drafts.discussion

    def comment(self, comment: PageComment, done: Callable[[], str] | None = None) -> None:
        """Compose a comment on a page. `done` returns the message to show after the engine accepted the comment."""

        def call(text: str) -> Operation[Any]:
            # if the user replaced the quote, it no longer matches the block or cell
            nodes = comment.nodes if split_quote(text)[0] in ("", comment.quote) else {}
            return self._discussion.post(text, comment.page_id, **nodes)

        self._drafts.compose(
            comment.heading,
            comment.name,
            call,
            initial=quote_lines(comment.quote) + comment.text,
            suggestion=comment.suggestion,
            suggestion_reason=comment.suggestion_reason,
            validate=cell_suggestion_problem if comment.is_cell else suggestion_problem,
            about={"page": comment.title, "quote": comment.quote},
            nodes=comment.nodes,
            done=done,
        )

    def stored_comment(self, target: str, title: str) -> PageComment:
        """Restore an unsent comment on a page from its draft.

        Args:
            target: the id of the page. For a comment on a text, a blank and a hash of the text follow.
            title: the title of the page, as display text.
        """
        name = f"page {target}"
        quote = self._drafts.stored_about(name).get("quote") or split_quote(self._drafts.saved(name))[0]
        comment = PageComment(target.partition(" ")[0], title, quote)
        comment.name, comment.nodes = name, self._drafts.nodes_of(name)
        comment.is_cell = "table_cell" in comment.nodes
        return comment

    def comment_on_all(self) -> None:
        """Compose a comment on the whole change request or space."""
        whole = "the whole space" if self._is_live else "the change request"
        self._drafts.compose(f"Comment on {whole}", "whole", self._discussion.post)

    def reply_reason(self, thread: Thread | None) -> str | None:
        """Return why the user can neither reply to a thread nor edit its unsent comment now, or None."""
        if thread and thread.first.pending and thread.first.pending.state != "sending":
            return self._drafts.disabled_reason()
        return self.react_reason(thread)

    def react_reason(self, thread: Thread | None) -> str | None:
        """Return why the user cannot react to a thread now, or None."""
        if thread is None:
            return (
                "no comment here" if self._is_live else f"no thread here: {key_for('next_thread')} goes to the next one"
            )
        return "that comment is not sent yet" if thread.first.pending else self._drafts.disabled_reason()

    def resolve_reason(self, thread: Thread | None) -> str | None:
        """Return why a thread can neither be resolved nor reopened now, or None."""
        reason = self.react_reason(thread)
        if reason or thread is None or thread.may_resolve:
            return reason
        return f"only {who_resolves([thread])} can {'reopen' if thread.resolved else 'resolve'} it"

    def edit_reason(self, thread: Thread | None) -> str | None:
        """Return why no message of a thread can be edited now, or None."""
        if thread and self.editable(thread):
            return self._drafts.disabled_reason()
        return self.react_reason(thread) or self._not_yours(thread, "edit")

    def delete_reason(self, thread: Thread | None, message: Message | None = None) -> str | None:
        """Return why no message can be deleted now, or None; `message` is the message under the cursor."""
        if message and message.pending and message.pending.state == "sending":
            return "it is being sent"
        if thread and self.deletable(thread):
            return self._drafts.disabled_reason()
        if thread and any(message.may_delete for message in thread.messages) and not self._is_live:
            return self._screen.engine.missing_reason(DeleteReply)
        return self.react_reason(thread) or self._not_yours(thread, "delete")

    def _not_yours(self, thread: Thread | None, verb: str) -> str:
        has_replies = thread is not None and any(message.author == "you" for message in thread.replies)
        return FIRST_ONLY if self._is_live and has_replies else f"you can only {verb} your own comments"

    def editable(self, thread: Thread) -> list[Message]:
        """Return the messages of a thread that the user may edit."""
        return self._changeable(thread, lambda message: message.may_edit, UpdateReply)

    def deletable(self, thread: Thread) -> list[Message]:
        """Return the messages of a thread that the user may delete or discard."""
        return self._changeable(thread, lambda message: message.may_delete, DeleteReply)

    def reply(self, thread: Thread) -> None:
        """Reply to a thread. A comment that is not sent yet is edited, because it cannot have replies."""
        if thread.first.pending:
            self.compose_edit(thread, thread.first)
            return
        self.reply_to(thread.id, thread.first.author, first_words(thread.first))

    def reply_to(self, comment: str, author: str, words: str) -> None:
        """Reply to a comment by its id.

        Args:
            comment: the id of the comment.
            author: the name of its author, for the title; may be empty.
            words: its first words, for the title; may be empty.
        """
        person = "yourself" if author == "you" else author
        self._drafts.compose(
            f"Reply to {person}{f': {words}' if words else ''}" if author else "Reply",
            f"reply {comment}",
            lambda text: self._discussion.reply(comment, text),
            about={"author": author, "comment": comment, "words": words},
        )

    def toggle_resolved(self, thread: Thread) -> None:
        """Resolve a thread, or reopen it."""
        self._drafts.send(self._discussion.update(thread.id, thread.id, resolved=not thread.resolved))

    def resolve(self, comments: Iterable[str], *, resolved: bool) -> None:
        """Resolve or reopen threads, given the ids of their first comments. Skip threads in that state."""
        threads = [thread for comment in comments if (thread := self._discussion.thread(comment))]
        self._drafts.send_together(
            self._discussion.update(thread.id, thread.id, resolved=resolved)
            for thread in threads
            if thread.resolved is not resolved
        )

    async def react(self, thread: Thread, message: Message | None = None) -> None:
        """Add or remove a reaction to `message` or, if that is not possible, to a message that the user chooses."""
        messages = self._changeable(thread, lambda message: message.pending is None, UpdateReply)
        sent = [candidate for candidate in messages if candidate.pending is None]
        message = await self._choose("React to which?", sent, message)
        if message is None:
            return
        own = message.own_reactions
        choices = [
            Choice(code, f"{emoji}  {name}", "yours: remove" if code in own else "") for code, emoji, name in REACTIONS
        ]
        chosen = await choose(self._screen, "React", choices)
        if chosen:
            change = "removed_reactions" if chosen in own else "added_reactions"
            self._drafts.send(self._discussion.update(thread.id, message.id, **{change: (chosen,)}))

    async def edit(self, thread: Thread, message: Message | None = None) -> None:
        """Edit `message` if the user may edit it, or a message that the user chooses.

        Ask for a confirmation before editing another user's message.
        """
        message = await self._choose("Edit which?", self.editable(thread), message)
        if message is None:
            return
        if not message.pending and message.author != "you":
            noun = "comment" if message is thread.first else "reply"
            warning = f"{message.author} wrote this: your text replaces it, under the same name, marked as edited."
            lines: list[Line] = [one_line(message), (Span(warning, "waiting"),)]
            if not await confirm(self._screen, f"Edit {message.author}'s {noun}?", lines, "Edit"):
                return
        self.compose_edit(thread, message)

    def compose_edit(self, thread: Thread, message: Message) -> None:
        """Edit a message; an unsent message keeps its position in the outbox."""
        if message.pending:
            self.edit_pending(message.pending.row, message.text)
            return
        noun = "comment" if message is thread.first else "reply"
        self._drafts.compose(
            f"Edit {_owner(message)} {noun}",
            f"message {message.id}",
            lambda text: (
                None
                if text.strip() == message.text.strip()
                else self._discussion.update(thread.id, message.id, body=Document(markdown=text))
            ),
            initial=message.text,
            suggestion="" if thread.suggested_for is None else format_suggestion(thread.suggested_for),
            validate=cell_suggestion_problem if thread.about_cell else suggestion_problem,
            about={"comment": thread.id, "author": "" if message.author == "you" else message.author},
        )

    def edit_comment(self, comment: str, author: str) -> None:
        """Continue the edit of a comment, given its id. `author` is empty for the user's own comments."""
        self._drafts.compose(
            f"Edit {author}'s comment" if author else "Edit your comment",
            f"message {comment}",
            lambda text: self._discussion.update(comment, comment, body=Document(markdown=text)),
            about={"comment": comment, "author": author},
        )

    def edit_pending(self, row: int, text: str = "") -> bool:
        """Edit the message in an outbox row; a held message stays held. Return False if it is no longer unsent."""
        entry = next((entry for entry in self._discussion.pending() if entry.id == row), None)
        if entry is None or entry.call is None:
            return False
        call = entry.call
        self._drafts.compose(
            "Edit your comment",
            f"pending {row}",
            lambda typed: (
                None if typed.strip() == text.strip() else call.model_copy(update={"body": Document(markdown=typed)})
            ),
            initial=text,
            rewrites=row,
        )
        return True

    async def delete(self, thread: Thread, message: Message | None = None) -> None:
        """Delete `message` if the user may delete it, or a message that the user chooses, after a confirmation.

        A comment is deleted with its replies; an unsent message is discarded.
        """
        message = await self._choose("Delete which?", self.deletable(thread), message)
        if message is None:
            return
        if message.pending:
            await self._discard(message, message.pending)
            return
        is_first = message is thread.first
        lines: list[Line] = [one_line(message)]
        if is_first and thread.reply_count:
            lines.append((Span(f"Replies that are deleted too: {thread.reply_count}.", "waiting"),))
        title = f"Delete {_owner(message)} {'comment' if is_first else 'reply'}?"
        if await confirm(self._screen, title, lines, "Delete"):
            self._drafts.delete(self._discussion.delete(thread.id, message.id), first_words(message))

    async def _discard(self, message: Message, change: PendingChange) -> None:
        lines: list[Line] = [
            one_line(message),
            (Span("It will not be sent; the history keeps its text.", "waiting"),),
        ]
        title = "Discard this pending comment?" if change.state == "collected" else "Discard this comment?"
        if await confirm(self._screen, title, lines, "Discard"):
            is_dropped = self._screen.engine.drop(change.row)
            self._screen.notify(f"discarded {first_words(message)}" if is_dropped else NOT_DISCARDED)

    @property
    def _is_live(self) -> bool:
        return self._discussion.request_id == LIVE

    def _changeable(
        self, thread: Thread, is_permitted: Callable[[Message], bool], for_replies: type[Operation[Any]]
    ) -> list[Message]:
        """Return the messages that can be changed, without replies if the service cannot change replies.

        Unsent messages can be changed unless they are being sent.
        """
        messages: list[Message] = []
        for message in thread.messages:
            if message.pending:
                if message.pending.state != "sending":
                    messages.append(message)
            elif is_permitted(message) and (message is thread.first or self._has(for_replies)):
                messages.append(message)
        return messages

    def _has(self, for_replies: type[Operation[Any]]) -> bool:
        return not self._is_live and self._screen.engine.missing_reason(for_replies) is None

    async def _choose(self, title: str, messages: Sequence[Message], cursor: Message | None) -> Message | None:
        """Return `cursor` if it is among `messages`, else the only message, else the message that the user chooses.

        Return None if there are no messages, or the user cancels.
        """
        if cursor in messages:
            return cursor
        if len(messages) < 2:
            return messages[0] if messages else None
        choices = [Choice(message.id, label_of(message)) for message in reversed(messages)]
        chosen = await choose(self._screen, title, choices)
        return next((message for message in messages if chosen and message.id == chosen), None)


def _owner(message: Message) -> str:
    return "your" if message.author == "you" else f"{message.author}'s"
