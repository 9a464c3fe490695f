"""Continuation of a stored draft of a review in the composer, once its page or thread is loaded."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.engine.drafts import APPROVAL, CHANGES, message_id
from presscheck.errors import NotFound, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import with_keys
from presscheck.tui.comments.drafts import IS_SENT
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.request_actions import RequestActions

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.review.threads import Message
    from presscheck.tui.screens.review.session import ReviewSession

COMMANDS = {
    "whole": "comment_on_all",
    APPROVAL: "approve",
    CHANGES: "request_changes",
}
"""The commands that open the composer, by name of the draft."""


class _WaitingDraft(NamedTuple):
    name: str
    target: str
    title: str
    key: str


class DraftContinuation:
    """A stored draft that is opened once its page or thread is loaded.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._comments, self._requests = CommentActions(session), RequestActions(session)
        self.waiting: _WaitingDraft | None = None
        """The draft that waits for its page or thread."""

    def start(self, name: str, target: str, title: str) -> None:
        """Open a draft in the composer once its page or thread is loaded, unless the user presses another key first.

        Args:
            name: the kind of draft, without ids.
            target: the id of the page, comment or outbox row that the draft belongs to.
            title: the title of the page that the draft belongs to.
        """
        self.waiting = _WaitingDraft(name, target, title, self._screen.last_key)
        self.proceed()

    def proceed(self) -> None:
        """Open the waiting draft if its page or thread is loaded. Drop it if the user has pressed another key."""
        waiting, request = self.waiting, self._model.request
        if waiting is None or request is None or self._screen.is_leaving:
            return
        if self._screen.last_key != waiting.key:
            self.waiting = None
        elif waiting.name in COMMANDS:
            self.waiting = None
            self._session.run_command(COMMANDS[waiting.name])
        elif waiting.name == "page":
            self._open_comment(waiting, is_loaded=self._model.changes is not None)
        elif waiting.name == "subject":
            self.waiting = None
            self._screen.run(self._requests.edit_subject(request.subject))
        elif waiting.name == "description":
            self.waiting = None
            self._requests.edit_description()
        else:
            self._open_message(waiting)

    def _open_comment(self, waiting: _WaitingDraft, *, is_loaded: bool) -> None:
        """Open a draft comment, at its line if the page is still changed. Do nothing while the page is loading."""
        missing = self._screen.engine.missing_reason(GetChangeRequestChanges)
        if not is_loaded and not missing:
            return
        comment = self._comments.threads.stored_comment(waiting.target, sanitize(waiting.title))
        page = self._session.show_page(comment.page_id)
        if page == "loading":
            return
        self.waiting = None
        markdown = self._session.go_to_quote(comment.quote) if page == "shown" else None
        self._comments.continue_comment(comment, markdown)

    def _open_message(self, waiting: _WaitingDraft) -> None:
        """Open a draft reply, or the draft edit of a message, if its thread is loaded.

        If the edited message is not loaded, load the replies of all threads.
        """
        if waiting.name == "reply":
            if thread := self._model.discussion.thread(waiting.target):
                self.waiting = None
                self._comments.threads.reply(thread)
            return
        threads = self._model.discussion.threads()
        for thread in threads:
            message = next((each for each in thread.messages if _is_about(each, waiting)), None)
            if message:
                self.waiting = None
                self._comments.threads.compose_edit(thread, message)
                return
        if waiting.name == "pending" and not self._is_unsent(waiting):
            sent = self._session.drafts.take_sent(int(waiting.target))
            if sent is None:
                self._give_up()
                return
            self.waiting = waiting._replace(name="message", target=message_id(sent))
            self._screen.run(partial(self._check, self.waiting, sent))
            self.proceed()
            return
        self._session.loader.load_replies([thread for thread in threads if thread.reply_count])

    def _is_unsent(self, waiting: _WaitingDraft) -> bool:
        return any(str(entry.id) == waiting.target for entry in self._model.discussion.pending())

    async def _check(self, waiting: _WaitingDraft, message: Operation[Any]) -> None:
        """Stop waiting for a sent message if it was deleted."""
        with suppress(PresscheckError):  # after other errors, the message may still be loaded
            try:
                await self._screen.engine.read(message)
            except NotFound:
                if self.waiting is waiting:
                    self._give_up()

    def _give_up(self) -> None:
        self.waiting = None
        self._screen.notify(with_keys(IS_SENT))


def _is_about(message: Message, waiting: _WaitingDraft) -> bool:
    """Return whether a draft is an edit of this message."""
    if waiting.name == "pending":
        return message.pending is not None and str(message.pending.row) == waiting.target
    return message.id == waiting.target
