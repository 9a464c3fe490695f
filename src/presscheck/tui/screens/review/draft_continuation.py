"""Opens a stored draft of a review in the composer, as soon as what it is about is loaded."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.engine.drafts import APPROVAL, CHANGES
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.review.threads import Message, Thread
    from presscheck.tui.screens.review.comment_actions import CommentActions
    from presscheck.tui.screens.review.context import ReviewContext
    from presscheck.tui.screens.review.request_actions import RequestActions

COMMANDS = {
    "whole": "comment_on_all",
    APPROVAL: "approve",
    CHANGES: "request_changes",
}
"""The commands that open the composer with each draft."""


class _Wanted(NamedTuple):
    name: str
    target: str
    title: str
    key: str


class DraftContinuation:
    """Continues one draft.

    Args:
        model: the change request.
        context: the screen.
        comments: composes comments.
        requests: edits subject and description.
        run_command: runs a command of the screen by its name.
        load_replies: loads the replies of threads.
        show_page: selects a page; returns whether its text is `shown`, still `loading`, or not there (`missing`).
        show_quote: goes to the line that the draft of a comment quotes on the selected page; returns its text.
    """

    def __init__(
        self,
        model: ReviewModel,
        context: ReviewContext,
        comments: CommentActions,
        requests: RequestActions,
        run_command: Callable[[str], None],
        load_replies: Callable[[list[Thread]], None],
        show_page: Callable[[str], Literal["shown", "loading", "missing"]],
        show_quote: Callable[[str], str],
    ) -> None:
        self._model, self._context, self._comments, self._requests = model, context, comments, requests
        self._run_command, self._load_replies = run_command, load_replies
        self._show_page, self._show_quote = show_page, show_quote
        self.wanted: _Wanted | None = None
        """The draft that is not opened yet."""

    def start(self, name: str, target: str, title: str) -> None:
        """Open a draft; see `ReviewScreen.show_draft`."""
        self.wanted = _Wanted(name, target, title, self._context.last_key)
        self.proceed()

    def proceed(self) -> None:
        """Open the draft if what it is about is loaded; give up if the user has pressed another key."""
        wanted, request = self.wanted, self._model.request
        if wanted is None or request is None or self._context.is_leaving:
            return
        if self._context.last_key != wanted.key:
            self.wanted = None
        elif wanted.name in COMMANDS:
            self.wanted = None
            self._run_command(COMMANDS[wanted.name])
        elif wanted.name == "page":
            self._open_comment(wanted, is_loaded=self._model.changes is not None)
        elif wanted.name == "subject":
            self.wanted = None
            self._context.run(self._requests.edit_subject(request.subject))
        elif wanted.name == "description":
            self.wanted = None
            self._requests.edit_description()
        else:
            self._open_message(wanted)

    def _open_comment(self, wanted: _Wanted, *, is_loaded: bool) -> None:
        """Go to the line that a comment is about, once the page is loaded, and open it there."""
        missing = self._context.engine.missing_reason(GetChangeRequestChanges)
        if not is_loaded and not missing:
            return
        page = self._show_page(wanted.target)
        if page == "loading":
            return
        self.wanted = None
        markdown = self._show_quote(wanted.target) if page == "shown" else None
        self._comments.continue_comment(wanted.target, sanitize(wanted.title) or "the page", markdown)

    def _open_message(self, wanted: _Wanted) -> None:
        """Open a reply or the edit of a message, if its thread is loaded."""
        if wanted.name == "reply":
            if thread := self._model.discussion.thread(wanted.target):
                self.wanted = None
                self._comments.reply(thread)
            return
        threads = self._model.discussion.threads()
        for thread in threads:
            message = next((each for each in thread.messages if _is_about(each, wanted)), None)
            if message:
                self.wanted = None
                self._comments.edit(thread, message)
                return
        self._load_replies([thread for thread in threads if thread.reply_count])


def _is_about(message: Message, wanted: _Wanted) -> bool:
    """Whether a draft is the edit of this message."""
    if wanted.name == "pending":
        return message.pending is not None and str(message.pending.row) == wanted.target
    return message.id == wanted.target
