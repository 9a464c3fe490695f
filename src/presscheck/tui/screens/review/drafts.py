"""Drafts and writes of a review: comments, and the texts that submit the review."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from presscheck.api.change_requests import MergeChangeRequest, MergeResult, Review, ReviewStatus, SubmitReview
from presscheck.api.comments import PostComment, PostReply
from presscheck.engine.drafts import REVIEW_DRAFT, draft_about
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.merge_readiness import join_names
from presscheck.engine.review.pending_review import PendingReview, draft_key
from presscheck.errors import NotSupported, PresscheckError
from presscheck.store.drafts import DraftSlot
from presscheck.tui.commands import key_for
from presscheck.tui.comments import drafts
from presscheck.tui.comments.drafts import CommentDrafts
from presscheck.tui.ui.ask import prompt

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.api.spaces import Space
    from presscheck.api.users import User
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.writes.pending_writes import PendingWrite
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen import BaseScreen

VERDICT_TEXTS: dict[ReviewStatus, str] = {"approved": "Approved. ", "changes-requested": "Changes requested: "}
"""Start of the comment that replaces a review if the service has no reviews."""


class ReviewDrafts(CommentDrafts):
    """The drafts and writes of a change request: comments, and the texts that submit a review.

    Args:
        model: the change request.
        screen: the screen that shows dialogs and messages.
    """

    def __init__(self, model: ReviewModel, screen: BaseScreen) -> None:
        super().__init__(screen, model.discussion)
        self._model = model
        self._review: PendingReview | None = None

    @override
    def disabled_reason(self) -> str | None:
        if self.screen.engine.status.read_only:
            return "this profile is read-only"
        return None if self._model.request else "the change request is not loaded yet"

    @property
    def review(self) -> PendingReview:
        """The pending review. Once it is started, comments are held until it is submitted."""
        request_id = self._model.path["change_request_id"]
        if self._review is None or self._review.request_id != request_id:
            self._review = PendingReview(self.screen.engine, request_id)
        return self._review

    @override
    def loaded_space(self) -> Space | None:
        return self._model.space

    @override
    def key(self, name: str) -> str:
        return draft_key(self._model.path["change_request_id"], name)

    @override
    def name_of_call(self, call: Any) -> str:
        return f"{REVIEW_DRAFT} {call.status}" if isinstance(call, SubmitReview) else super().name_of_call(call)

    @override
    def about(self, **details: str) -> dict[str, str]:
        return draft_about(self.screen.engine, self._model.path, **details)

    @override
    def about_call(self, call: Any) -> Mapping[str, str]:
        title = self.page_title(getattr(call, "page", None) or "")
        return {**super().about_call(call), **({"page": title} if title else {})}

    def page_title(self, page_id: str) -> str:
        """Return the title of a page as display text; empty if the change request does not change the page."""
        return next((item.title for item in self._model.all_items if page_id and item.id == page_id), "")

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of all calls about the change request."""
        return self._model.path

    @override
    def known_people(self) -> Iterable[User | None]:
        return self._model.people()

    @override
    def heading(self, title: str) -> str:
        return self.named(f"{title}, in your review" if self.review.is_started else title)

    def named(self, words: str) -> str:
        """Return a title or message unchanged; a subclass may add the name of the change request."""
        return words

    def compose_review(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any] | None],
        initial: str = "",
        *,
        may_be_empty: bool,
    ) -> None:
        """Open the composer for a text that submits the review with the comments held so far.

        Args:
            title: the title of the composer.
            name: the name of the draft.
            call: creates the write from the text; returns None if there is nothing to send.
            initial: the initial text.
            may_be_empty: whether an empty text can be sent.
        """
        submit = partial(self._submit, self._held())
        self.compose(self.named(title), name, call, initial=initial, may_be_empty=may_be_empty, write=submit)

    async def prompt(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any]],
        confirm_label: str,
        *,
        notes: Callable[[int], Sequence[Line]],
        expand: Callable[[], None],
        initial: str = "",
    ) -> None:
        """Ask for an optional line of text, and submit the review with it.

        A draft with several lines opens in the composer instead.

        Args:
            title: the title of the dialog.
            name: the name of the draft.
            call: creates the write from the text.
            confirm_label: the label of the key that submits.
            notes: returns the lines above the input for a number of columns.
            expand: opens the composer with the same draft.
            initial: the initial text.
        """
        draft, held = self.slot(name, initial), self._held()
        text = await ask_message(self.screen, self.named(title), draft, confirm_label, notes, expand)
        if text is not None and self.submit(call(text), held):
            draft.discard()

    def slot(self, name: str, initial: str = "") -> DraftSlot:
        """Return the draft of a text that submits the review."""
        return DraftSlot(self._outbox, self.key(name), initial, self.about())

    def submit(self, call: Operation[Any] | None, held: Collection[int]) -> bool:
        """Send the held comments in the outbox rows `held`, then the write that submits the review.

        Return False if the engine did not accept the writes.
        """
        return self.send(call, partial(self._submit, held))

    def _held(self) -> tuple[int, ...]:
        """Return the outbox rows of the held comments."""
        return tuple(entry.id for entry in self.review.entries())

    @override
    def _accept(self, call: Operation[Any]) -> PendingWrite[Any]:
        is_held = isinstance(call, PostComment | PostReply) and self.review.is_started
        return self.review.hold(call) if is_held else super()._accept(call)

    def _submit(self, held: Collection[int], call: Operation[Any] | None) -> PendingWrite[Any] | None:
        ticket = self.review.submit(call, held, hold=drafts.HOLD)
        if ticket:
            self.screen.run(self._follow(ticket))
        return ticket

    @override
    async def _follow(self, ticket: PendingWrite[Any]) -> None:
        revision = self._model.request.revision if self._model.request else ""
        try:
            answer = await ticket.landed()
            if isinstance(answer, Review) and revision and answer.revision not in ("", revision):
                await self._warn_about_unread_changes(revision, answer.revision)
        except PresscheckError as error:
            if isinstance(error, NotSupported) and isinstance(ticket.call, SubmitReview):
                self.unsend(ticket.id, prefix=VERDICT_TEXTS[ticket.call.status])
            self.screen.app_context.show_error(error)
            return
        if isinstance(answer, MergeResult):
            message = _merge_message(answer, is_merge=isinstance(ticket.call, MergeChangeRequest))
            self.screen.notify(self.named(message))
        self.screen.redraw()

    async def _warn_about_unread_changes(self, read: str, reviewed: str) -> None:
        """Warn about changes that the user has not seen: a review always covers the newest revision on the service."""
        changes = await changes_between(self.screen.engine, self._model.space_id, read, reviewed)
        titles = [item.title for item in changed_items(changes.changes)]
        words = f"your review also covers changes made just before it arrived: {join_names(titles)}"
        self.screen.notify(self.named(words))


async def ask_message(
    screen: BaseScreen,
    title: str,
    draft: DraftSlot,
    confirm_label: str,
    notes: Callable[[int], Sequence[Line]],
    expand: Callable[[], None],
) -> str | None:
    """Ask for an optional line of text; `PromptDialog` describes the arguments.

    A draft with several lines is expanded instead.

    Returns:
        The text, or None if the user canceled or the draft was expanded.
    """
    if "\n" in draft.text:
        expand()
        return None
    return await prompt(
        screen,
        title,
        draft,
        min_length=0,
        max_length=None,
        hint="message (optional)",
        confirm_label=confirm_label,
        notes=notes,
        expand=expand,
    )


def _merge_message(result: MergeResult, *, is_merge: bool) -> str:
    if result.result == "conflicts":
        done = "merged" if is_merge else "updated"
        return f"{done} with conflicts: check the pages that both sides changed"
    return f"merged: {key_for('revert')} reverts it in a new change request" if is_merge else "updated from main"
