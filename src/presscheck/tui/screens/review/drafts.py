"""Drafts and writes of a review: a text is a draft until the engine accepts it; each write is tracked until sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import MergeChangeRequest, MergeResult, Review, ReviewStatus, SubmitReview
from presscheck.api.comments import (
    DeleteComment,
    DeleteReply,
    PostComment,
    PostReply,
    TableCellTarget,
    UpdateComment,
    UpdateReply,
)
from presscheck.documents.diff.suggestion_lines import comment_with_suggestion
from presscheck.documents.pages.comment_text import parse_suggestion, suggestion_problem
from presscheck.engine.drafts import REVIEW_DRAFT, CommentDraft, draft_about, message_id, text_of
from presscheck.engine.members import people_in
from presscheck.engine.review.changes import changed_items
from presscheck.engine.review.merge_forecast import changes_between
from presscheck.engine.review.merge_readiness import join_names
from presscheck.engine.review.pending_review import PendingReview, draft_key
from presscheck.errors import NotSupported, PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.prompt_dialog import PromptDialog

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.writes.pending_writes import PendingWrite
    from presscheck.text.styled_text import Line
    from presscheck.tui.ui.screen import BaseScreen

VERDICT_TEXTS: dict[ReviewStatus, str] = {"approved": "Approved. ", "changes-requested": "Changes requested: "}
"""The start of a comment that replaces a review, for a service without reviews."""
NOTHING: Mapping[str, str] = {}
HOLD = 3
"""Seconds during which a comment can be undone before it is sent."""


class ReviewDrafts:
    """Composes texts, keeps their drafts, and sends the writes of a review.

    Args:
        model: the change request.
        screen: the screen.
    """

    def __init__(self, model: ReviewModel, screen: BaseScreen) -> None:
        self._model, self._screen = model, screen
        self._outbox = screen.engine.outbox
        self._deleted: dict[str, str] = {}
        self._review: PendingReview | None = None

    def disabled_reason(self) -> str | None:
        """Why nothing can be written."""
        if self._screen.engine.status.read_only:
            return "this profile is read-only"
        return None if self._model.request else "the change request is not loaded yet"

    @property
    def review(self) -> PendingReview:
        """The pending review: once it is started, comments are held until it is submitted."""
        request_id = self._model.path["change_request_id"]
        if self._review is None or self._review.request_id != request_id:
            self._review = PendingReview(self._screen.engine, request_id)
        return self._review

    def key(self, name: str) -> str:
        """The key of a draft."""
        return draft_key(self._model.path["change_request_id"], name)

    def saved(self, name: str) -> str:
        """The draft with this name; empty if there is none."""
        return self._outbox.draft(self.key(name)) or ""

    def key_of_call(self, call: Any) -> str:
        """The key of the draft with the text of a write."""
        if isinstance(call, PostReply):
            return self.key(f"reply {call.comment_id}")
        if isinstance(call, UpdateComment | UpdateReply):
            return self.key(f"message {message_id(call)}")
        if isinstance(call, SubmitReview):
            return self.key(f"{REVIEW_DRAFT} {call.status}")
        return self.key(f"page {call.page}" if getattr(call, "page", None) else "whole")

    def undo_last(self) -> str:
        """Undo the newest write that was not sent; returns what was undone, in words."""
        rows = self._model.discussion.pending()
        call = rows[-1].call if rows else None
        if call is None or not self.unsend(rows[-1].id):
            return "nothing to undo: everything is sent"
        if isinstance(call, DeleteComment | DeleteReply):
            return f"restored {self._deleted.get(message_id(call), 'what was deleted')}"
        return "undone; its text is a draft again" if text_of(call) else "undone"

    def delete(self, call: DeleteComment | DeleteReply, words: str) -> None:
        """Delete a message.

        Args:
            call: the write.
            words: the first words of the message, to say later what was restored.
        """
        self._deleted[message_id(call)] = words
        if self.send(call):
            self._screen.notify(f"deleted {words}: z restores it" if HOLD else f"deleted {words}")  # pyrefly: ignore[redundant-condition]

    def unsend(self, row: int, *, prefix: str = "") -> bool:
        """Undo a write that was not sent: its text, after a prefix, is a draft again; returns whether it was undone."""
        call: Any = self._screen.engine.unsend(row)
        if call is None:
            return False
        text = prefix + text_of(call)
        if text:
            comment = getattr(call, "comment_id", "")
            fields = {name: value for name in _PLACES if (value := getattr(call, name, None))}
            about = {
                **self.about(comment=comment, page=self._title_of(getattr(call, "page", None))),
                **_place_about(fields),
            }
            self._outbox.save_draft(self.key_of_call(call), text, about)
        return True

    def _title_of(self, page_id: str | None) -> str:
        """The title of a page of the change request; empty if it is not known."""
        return next((item.title for item in self._model.all_items if page_id and item.id == page_id), "")

    def place_of(self, name: str) -> dict[str, Any]:
        """The block or cell that the draft of a comment is about, as arguments of its write; empty without one."""
        try:
            fields: Any = json.loads(self._stored_about(name).get(PLACE, "{}"))
            return {key: _PLACES[key](value) for key, value in fields.items() if key in _PLACES}
        except (ValueError, TypeError, AttributeError):
            return {}

    def store_place(self, name: str, place: Mapping[str, Any]) -> None:
        """Store the block or cell of a draft that has one now; it is found while the user writes."""
        about, text = self._stored_about(name), self.saved(name)
        if about and text and about.get(PLACE, "") != _place_text(place):
            others = {key: value for key, value in about.items() if key != PLACE}
            self._outbox.save_draft(self.key(name), text, {**others, **_place_about(place)})

    def _stored_about(self, name: str) -> Mapping[str, str]:
        key = self.key(name)
        return next((stored.about for stored in self._outbox.drafts() if stored.key == key), NOTHING)

    def _place(self, name: str, place: Mapping[str, Any] | None) -> Mapping[str, str]:
        return _place_about(self.place_of(name) if place is None else place)

    def about(self, **details: str) -> dict[str, str]:
        """What is stored about a draft."""
        return draft_about(self._screen.engine, self._model.path, **details)

    def compose(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any] | None],
        *,
        initial: str = "",
        suggestion: str = "",
        suggestion_reason: str = "",
        validate: Callable[[str], str | None] = suggestion_problem,
        may_be_empty: bool = False,
        submits: bool = False,
        rewrites: int | None = None,
        about: Mapping[str, str] = NOTHING,
        place: Callable[[str], Mapping[str, Any] | None] = lambda _: NOTHING,
    ) -> None:
        """Open the composer; its text is a draft until the engine accepts it.

        Args:
            title: the title of the composer.
            name: the name of the draft.
            call: makes a write of the text; None if there is nothing to send.
            initial: the initial text.
            suggestion: the text that one key inserts, to suggest a change of the page.
            suggestion_reason: why nothing can be suggested here.
            validate: returns why a text cannot be sent, or None.
            may_be_empty: whether an empty text can be sent.
            submits: whether it submits the review, with all comments that were held.
            rewrites: the outbox row whose write is replaced, in place of sending a new one.
            about: what is stored about the draft, to list it: the titles and ids of what it is about.
            place: returns the block or cell that a text is about, which is stored with it; None for the one stored.
        """
        if self.review.is_started and not submits and rewrites is None:
            title = f"{title}, in your review"
        draft = CommentDraft(
            self._outbox, self.key(name), initial, self.about(**about), lambda text: self._place(name, place(text))
        )
        replaced = parse_suggestion(suggestion) if suggestion else None
        held = self._held() if submits else None

        def submit(text: str) -> None:
            write = call(text)
            if rewrites is None:
                self._write(write, submits=held)
            elif write and not self._screen.engine.rewrite(rewrites, write):
                raise PresscheckError("already sent: your text is saved as a draft")
            draft.discard()

        self._screen.app_context.push_screen(
            Composer(
                title,
                draft.text,
                draft.save,
                slot=draft.slot,
                people=self._people,
                submit=submit,
                may_be_empty=may_be_empty,
                suggestion=suggestion,
                suggestion_reason=suggestion_reason,
                validate=validate,
                render=partial(comment_with_suggestion, text=replaced.words if replaced else None),
            )
        )

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
        """Ask for one optional line, and submit the review with it; a longer draft goes to the composer.

        Args:
            title: the title of the dialog.
            name: the name of the draft.
            call: makes a write of the text.
            confirm_label: the label of the key that submits.
            notes: returns lines of a number of columns, shown above the input.
            expand: opens the composer with the same draft.
            initial: the initial text.
        """
        draft = CommentDraft(self._outbox, self.key(name), initial, self.about())
        if "\n" in draft.text:
            expand()
            return
        dialog = PromptDialog(
            title,
            draft.text,
            min_length=0,
            max_length=None,
            save=draft.save,
            hint="message (optional)",
            confirm_label=confirm_label,
            notes=notes,
            expand=expand,
        )
        held = self._held()
        text = await self._screen.ask(dialog)
        if text is not None and self.send(call(text), submits=held):
            draft.discard()

    def send(self, call: Operation[Any], *, submits: Collection[int] | None = None) -> bool:
        """Send a write through the engine; returns whether the engine accepted it.

        Args:
            call: the write.
            submits: the rows of held comments, if it submits the review with them.
        """
        try:
            self._write(call, submits=submits)
        except PresscheckError as error:
            self._screen.app_context.show_error(error)
            return False
        return True

    async def _people(self) -> list[str]:
        """The names of all who can be mentioned."""
        organization = self._model.space.organization if self._model.space else None
        if organization is None:
            return []
        people = await people_in(self._screen.engine, organization, self._model.people())
        return [sanitize(person.user.display_name) for person in people]

    def _held(self) -> tuple[int, ...]:
        """The outbox rows of the comments that are held now."""
        return tuple(entry.id for entry in self.review.entries())

    def _write(self, call: Operation[Any] | None, *, submits: Collection[int] | None = None) -> None:
        """Send a write through the engine; with `submits`, the held comments in these rows are sent before it.

        Raises:
            PresscheckError: the engine did not accept it.
        """
        engine, review = self._screen.engine, self.review
        ticket: PendingWrite[Any] | None = None
        if submits is not None:
            ticket = review.submit(call, submits, hold=HOLD)
        elif call and isinstance(call, PostComment | PostReply) and review.is_started:
            ticket = review.hold(call)
        elif call:
            ticket = engine.write(call, hold=HOLD if engine.may_wait(type(call)) else 0)
        if ticket:
            self._screen.run(self._follow(ticket))
        self._screen.redraw()

    async def _follow(self, ticket: PendingWrite[Any]) -> None:
        revision = self._model.request.revision if self._model.request else ""
        try:
            answer = await ticket.landed()
            if isinstance(answer, Review) and revision and answer.revision not in ("", revision):
                await self._warn_about_unread_changes(revision, answer.revision)
        except PresscheckError as error:
            if isinstance(error, NotSupported) and isinstance(ticket.call, SubmitReview):
                self.unsend(ticket.id, prefix=VERDICT_TEXTS[ticket.call.status])
            self._screen.app_context.show_error(error)
            return
        if isinstance(answer, MergeResult):
            self._screen.notify(_merge_message(answer, is_merge=isinstance(ticket.call, MergeChangeRequest)))
        self._screen.redraw()

    async def _warn_about_unread_changes(self, read: str, reviewed: str) -> None:
        """Show which changes the review also covers: the service takes the newest revision."""
        changes = await changes_between(self._screen.engine, self._model.space_id, read, reviewed)
        titles = [item.title for item in changed_items(changes.changes)]
        self._screen.notify(f"your review also covers changes made just before it arrived: {join_names(titles)}")


PLACE = "place"
"""What is stored about the draft of a comment under this name: its block or cell, as JSON."""
_PLACES: dict[str, Callable[[Any], Any]] = {"node": str, "table_cell": lambda value: TableCellTarget(**value)}
"""The fields of a place, and how each is read."""


def _place_text(place: Mapping[str, Any]) -> str:
    fields = {
        name: value.model_dump() if isinstance(value, TableCellTarget) else value for name, value in place.items()
    }
    return json.dumps(fields) if fields else ""


def _place_about(place: Mapping[str, Any]) -> dict[str, str]:
    text = _place_text(place)
    return {PLACE: text} if text else {}


def _merge_message(result: MergeResult, *, is_merge: bool) -> str:
    """The message after a merge or an update."""
    if result.result == "conflicts":
        done = "merged" if is_merge else "updated"
        return f"{done} with conflicts: check the pages that both sides changed"
    return "merged: Z reverts it in a new change request" if is_merge else "updated from main"
