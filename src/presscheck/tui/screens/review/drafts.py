"""Drafts and writes of a review: a text is a draft until the engine accepts it; each write is tracked until sent."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import MergeChangeRequest, MergeResult, Review, ReviewStatus, SubmitReview
from presscheck.api.comments import PostComment, PostReply, UpdateComment, UpdateReply
from presscheck.engine.members import people_in
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.merge_readiness import join_names
from presscheck.errors import NotSupported, PresscheckError, StoreError
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.page_editor import draft_key
from presscheck.tui.widgets.composer import Composer

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.writes.pending_writes import PendingWrite
    from presscheck.tui.screens.review.context import ReviewContext

VERDICT_TEXTS: dict[ReviewStatus, str] = {"approved": "Approved. ", "changes-requested": "Changes requested: "}
"""The start of a comment that replaces a review, for a service without reviews."""
REVIEW_DRAFT = "verdict"
"""The start of the names of drafts of reviews; earlier versions stored it too."""
HOLD = 3
"""Seconds during which a comment can be undone before it is sent."""


class ReviewDrafts:
    """Composes texts, keeps their drafts, and sends the writes of a review.

    Args:
        model: the change request.
        context: the screen.
    """

    def __init__(self, model: ReviewModel, context: ReviewContext) -> None:
        self._model, self._context = model, context
        self._outbox = context.engine.outbox
        self._collects: tuple[str, bool] | None = None

    def disabled_reason(self) -> str | None:
        """Why nothing can be written."""
        if self._context.engine.status.read_only:
            return "this profile is read-only"
        return None if self._model.request else "the change request is not loaded yet"

    @property
    def collects(self) -> bool:
        """Whether a review was started: comments are held until it is submitted."""
        key = self._review_key
        if self._collects is None or self._collects[0] != key:
            self._collects = (key, bool(self._outbox.recall(key)))
        return self._collects[1]

    def collect(self, *, starts: bool) -> None:
        """Start a review, or end it."""
        self._outbox.remember(self._review_key, "begun" if starts else None)
        self._collects = None
        self._context.redraw()

    @property
    def _review_key(self) -> str:
        return f"review of {self._model.path['change_request_id']}"

    def key(self, name: str) -> str:
        """The key of a draft."""
        return draft_key(self._model.path["change_request_id"], name)

    def key_of_call(self, call: Any) -> str:
        """The key of the draft with the text of a write."""
        if isinstance(call, PostReply):
            return self.key(f"reply {call.comment_id}")
        if isinstance(call, UpdateComment | UpdateReply):
            return self.key(f"message {getattr(call, 'comment_reply_id', call.comment_id)}")
        if isinstance(call, SubmitReview):
            return self.key(f"{REVIEW_DRAFT} {call.status}")
        return self.key(f"page {call.page}" if getattr(call, "page", None) else "whole")

    def unsend(self, row: int, *, prefix: str = "") -> bool:
        """Undo a write that was not sent: its text, after a prefix, is a draft again; returns whether it was undone."""
        call: Any = self._context.engine.unsend(row)
        if call is None:
            return False
        body = getattr(call, "body", None) or getattr(call, "comment", None)
        text = prefix + ((body.markdown or "") if body else "")
        if text:
            self._outbox.save_draft(self.key_of_call(call), text)
        return True

    def compose(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any] | None],
        *,
        initial: str = "",
        suggestion: str = "",
        may_be_empty: bool = False,
        submits: bool = False,
    ) -> None:
        """Open the composer; its text is a draft until the engine accepts it.

        Args:
            title: the title of the composer.
            name: the name of the draft.
            call: makes a write of the text; None if there is nothing to send.
            initial: the initial text.
            suggestion: the text that one key inserts, to suggest a change of the page.
            may_be_empty: whether an empty text can be sent.
            submits: whether it submits the review, with all comments that were held.
        """
        if self.collects and not submits:
            title = f"{title}, in your review"
        key = self.key(name)

        def submit(text: str) -> None:
            self._write(call(text), submits=submits)
            with contextlib.suppress(StoreError):  # the write is accepted, so a draft that stays does no harm
                self._outbox.save_draft(key, "")

        def save(text: str) -> None:
            self._outbox.save_draft(key, "" if text == initial else text)

        self._context.app_context.push_screen(
            Composer(
                title,
                self._outbox.draft(key) or initial,
                save,
                self._context.style_for,
                people=self._people,
                submit=submit,
                may_be_empty=may_be_empty,
                suggestion=suggestion,
            )
        )

    def send(self, call: Operation[Any]) -> bool:
        """Send a write through the engine; returns whether the engine accepted it."""
        try:
            self._write(call)
        except PresscheckError as error:
            self._context.app_context.show_error(error)
            return False
        return True

    async def _people(self) -> list[str]:
        """The names of all who can be mentioned."""
        organization = self._model.space.organization if self._model.space else None
        if organization is None:
            return []
        people = await people_in(self._context.engine, organization, self._model.people())
        return [sanitize(person.user.display_name) for person in people]

    def _write(self, call: Operation[Any] | None, *, submits: bool = False) -> None:
        """Send a write through the engine; with `submits`, all held comments are sent before it.

        Raises:
            PresscheckError: the engine did not accept it.
        """
        engine = self._context.engine
        rows = self._model.discussion.collected() if submits else ()
        if call:
            is_held = bool(rows) or (self.collects and isinstance(call, PostComment | PostReply) and not submits)
            ticket = engine.write(call, hold=HOLD if engine.may_wait(type(call)) else 0, collect=is_held)
            self._context.run(self._follow(ticket))
            rows = (*rows, ticket.id)
        if submits:
            engine.release(rows, hold=HOLD)
            self.collect(starts=False)
        else:
            self._context.redraw()

    async def _follow(self, ticket: PendingWrite[Any]) -> None:
        revision = self._model.request.revision if self._model.request else ""
        try:
            answer = await ticket.landed()
            if isinstance(answer, Review) and revision and answer.revision not in ("", revision):
                await self._warn_about_unread_changes(revision, answer.revision)
        except PresscheckError as error:
            if isinstance(error, NotSupported) and isinstance(ticket.call, SubmitReview):
                self.unsend(ticket.id, prefix=VERDICT_TEXTS[ticket.call.status])
            self._context.app_context.show_error(error)
            return
        if isinstance(answer, MergeResult):
            self._context.notify(_merge_message(answer, is_merge=isinstance(ticket.call, MergeChangeRequest)))
        self._context.redraw()

    async def _warn_about_unread_changes(self, read: str, reviewed: str) -> None:
        """Show which changes the review also covers: the service takes the newest revision."""
        changes = await changes_between(self._context.engine, self._model.space_id, read, reviewed)
        titles = [item.title for item in changed_items(changes.changes)]
        self._context.notify(f"your review also covers changes made just before it arrived: {join_names(titles)}")


def _merge_message(result: MergeResult, *, is_merge: bool) -> str:
    """The message after a merge or an update."""
    if result.result == "conflicts":
        done = "merged" if is_merge else "updated"
        return f"{done} with conflicts: check the pages that both sides changed"
    return "merged" if is_merge else "updated from main"
