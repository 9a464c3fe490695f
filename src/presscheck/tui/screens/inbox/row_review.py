"""The actions of a review on a row of the inbox, without opening the review."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.comments import PostComment, PostReply
from presscheck.engine.inbox.preview import read_preview
from presscheck.engine.review.model import ReviewModel
from presscheck.errors import PresscheckError
from presscheck.text.phrases import ago, now
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.comments.actions import ThreadActions
from presscheck.tui.comments.rows import label_of
from presscheck.tui.screens.review.drafts import ReviewDrafts
from presscheck.tui.screens.review.merge_actions import MergeActions
from presscheck.tui.screens.review.request_actions import RequestActions
from presscheck.tui.screens.review.request_session import RequestSession
from presscheck.tui.screens.review.verdict_actions import VerdictActions
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.operation import Operation
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.screens.inbox.session import Inbox


class RowDrafts(ReviewDrafts):
    """The drafts and writes of a row: titles name the change request, and the cursor moves on after a write.

    Args:
        inbox: the inbox.
        model: the change request.
        name: the name of the change request, as display text.
    """

    def __init__(self, inbox: Inbox, model: ReviewModel, name: str) -> None:
        super().__init__(model, inbox.screen)
        self._inbox, self._name = inbox, name

    @override
    def named(self, words: str) -> str:
        return f"{self._name}: {words}"

    @override
    def accepted(self, call: Operation[Any] | None) -> None:
        engine = self.screen.engine
        if isinstance(call, PostComment | PostReply) and self.review.is_started:
            self.screen.notify(self.named("held for your review"))
        elif call is None or engine.may_wait(type(call)):
            self.screen.notify(
                self.named(f"{'sent' if engine.status.online else 'pending'} ({key_for('unsend')} to undo)")
            )
        self._inbox.row_was_sent(self)


class RowReview(RequestSession):
    """The change request of a row, with the handlers of the review commands.

    Args:
        inbox: the inbox.
        request: the change request.
    """

    def __init__(self, inbox: Inbox, request: ChangeRequest) -> None:
        model = ReviewModel(inbox.screen.engine, request.space, request.id)
        model.set_request(request)
        super().__init__(model, RowDrafts(inbox, model, inbox.model.name(request)))
        self._request = request
        self._threads = ThreadActions(self.drafts)
        self._verdicts = VerdictActions(self)

    def command_handlers(self) -> Iterable[object]:
        """Return the objects that handle the commands of a review."""
        return self, self._verdicts, MergeActions(self), RequestActions(self)

    async def warnings(self) -> list[str]:
        """Load the change request, and return the warnings about its approval, or the error if it cannot be loaded."""
        try:
            await self.load()
        except PresscheckError as error:
            return [sanitize(error.message)]
        return self._verdicts.warnings()

    def reason_comment(self) -> str | None:
        """Return why no comment can be written: the profile is read-only, or the change request is not loaded."""
        return self.drafts.disabled_reason()

    def command_comment(self) -> None:
        """Comment on the change request."""
        self._threads.comment_on_all()

    def reason_reply(self) -> str | None:
        """Return why no reply can be written: there is no open comment, or the drafts are disabled."""
        return self.drafts.disabled_reason() if self._open_threads() else "no open comment to reply to"

    async def command_reply(self) -> None:
        """Reply to an open thread of the preview. If there are several, ask which."""
        threads = self._open_threads()
        choices = [Choice(thread.id, label_of(thread.first), self._place_of(thread)) for thread in threads]
        chosen = threads[0].id if len(threads) == 1 else await choose(self.screen, self._title, choices)
        for thread in threads:
            if thread.id == chosen:
                self._threads.reply(thread)

    def _place_of(self, thread: Thread) -> str:
        """Return the age and the page of a thread, as the preview shows them."""
        items = read_preview(self.screen.engine, self._request).items or ()
        title = next((sanitize(item.title) for item in items if item.id == thread.page), "")
        return " · ".join(filter(None, (ago(thread.first.posted_at, now()), title and f"on {title}")))

    @property
    def _title(self) -> str:
        return self.drafts.named("Reply to which comment?")

    def _open_threads(self) -> Sequence[Thread]:
        """Return the open threads that are loaded, in the order of the preview."""
        comments = read_preview(self.screen.engine, self._request).threads or ()
        threads = (self.model.discussion.thread(comment.id) for comment in comments)
        return [thread for thread in threads if thread]
