"""Bulk actions of the inbox: one action on all marked change requests, confirmed first, then shown one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import (
    REVIEWS,
    ChangeRequest,
    PullChangeRequest,
    RequestReviewers,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import Operation
from presscheck.engine.members import people_in
from presscheck.engine.review.merge_train import MERGE_TRAIN, load_train, save_train
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.batch_actions import BatchItem, BatchScreen, WriteAction, count_text, merge_train, path_of
from presscheck.tui.screens.inbox.context import InboxContext
from presscheck.tui.widgets.composer import Composer
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.triage import TriageActions

CallOf = Callable[[ChangeRequest], Operation[Any]]
DRAFT = "inbox comment"
"""The key of the draft of a comment on all marked change requests."""
ACTIONS = (
    Choice("approve", "Approve", "a review of each"),
    Choice("reviewers", "Request reviewers", "the people that you choose"),
    Choice("comment", "Comment", "the same text on each"),
    Choice("pull", "Update from main", "where main has changed"),
    Choice("merge", "Merge, one after another", "updates each first; stops at the first failure"),
    Choice("archive", "Archive", "can be reopened"),
    Choice("done", "Done", "hide until there is new activity"),
)
CALLS: dict[str, CallOf] = {
    "approve": lambda request: SubmitReview(**path_of(request), status="approved"),
    "pull": lambda request: PullChangeRequest(**path_of(request)),
    "archive": lambda request: UpdateChangeRequest(**path_of(request), status="archived"),
}
"""The call of each action that needs no further input."""


class BulkActions:
    """Approves, requests reviewers, comments, updates, merges or archives everything that is marked.

    Args:
        screen: the inbox.
        triage: the actions that know what is marked, and that hide rows.
    """

    def __init__(self, screen: InboxContext, triage: TriageActions) -> None:
        self._screen, self._triage, self._engine = screen, triage, screen.engine
        self._batch: BatchScreen | None = None

    def announce_stopped_train(self) -> None:
        """Show a message if a merge train was stopped before its end."""
        if self._engine.outbox.recall(MERGE_TRAIN):
            self._screen.notify("a merge train was stopped: A continues or discards it")

    def unmark_done(self) -> None:
        """Remove the marks of what the last batch has done; what failed stays marked."""
        if self._batch:
            self._screen.rows.marked -= self._batch.done
            self._batch = None
            self._screen.reload_rows()

    def reason_act_on_marked(self) -> str | None:
        """Disabled while nothing is marked and no merge train was stopped."""
        if self._screen.rows.marked or self._engine.outbox.recall(MERGE_TRAIN):
            return None
        return "nothing is marked: space marks a row, * all visible rows"

    async def command_act_on_marked(self) -> None:
        """Ask for an action and its confirmation, then run it on all that is marked."""
        if not self._screen.rows.marked:
            await self._continue_train()
            return
        requests = self._triage.selected()
        lacks_reviews = self._engine.lacks(REVIEWS)
        title = f"With {count_text(requests)}{'; this service has no reviews' if lacks_reviews else ''}"
        actions = [action for action in ACTIONS if action.key != "approve" or not lacks_reviews]
        choice = await self._screen.ask(Picker(title, actions, self._screen.style_for, ranked=False))
        if not choice:
            return
        if choice[0] == "done":
            self._triage.command_done()
        elif choice[0] == "merge":
            await self._merge(requests)
        else:
            await self._send(choice[0], requests)

    async def _send(self, action: str, requests: Sequence[ChangeRequest]) -> None:
        call = await self._call_for(action)
        if call is None:
            return
        title = next(choice.label for choice in ACTIONS if choice.key == action)
        lines = [(Span(f"#{request.number} {sanitize(request.subject)}"),) for request in requests]
        question = f"{title}: {count_text(requests)}?"
        if await self._screen.ask(ConfirmDialog(question, lines, title, self._screen.style_for)):
            self._engine.outbox.save_draft(DRAFT, "")
            items = [BatchItem(request, call(request)) for request in requests]
            self._show(BatchScreen(title, items, WriteAction(self._engine)))

    def _show(self, batch: BatchScreen) -> None:
        self._batch = batch
        self._screen.app_context.push_screen(batch)

    async def _merge(self, requests: Sequence[ChangeRequest]) -> None:
        """Merge in the order of the rows, after a confirmation."""
        lines = [line for request in requests for line in self._with_warnings(request)]
        lines += [(), (Span("Each is updated from main and checked again. This cannot be undone.", "waiting"),)]
        question = f"Merge {count_text(requests)}, one after another?"
        if await self._screen.ask(ConfirmDialog(question, lines, "Merge", self._screen.style_for)):
            self._show(merge_train(self._engine, requests))

    def _with_warnings(self, request: ChangeRequest) -> list[Line]:
        """A change request, and below it why one might not want to merge it now."""
        refused = self._screen.model.details(request).refused or ()
        warnings = [f"{sanitize(', '.join(refused))} requested changes"] if refused else []
        if request.comments:
            warnings.append(count(request.comments, "open comment"))
        line: Line = (Span(f"#{request.number} {sanitize(request.subject)}"),)
        return [line, (Span(f"   {', '.join(warnings)}", "waiting"),)] if warnings else [line]

    async def _continue_train(self) -> None:
        """Continue the merge train that was stopped, or discard it."""
        requests = await load_train(self._engine)
        if not requests:
            save_train(self._engine.outbox, ())
            self._screen.notify("the merge train is empty: its change requests no longer exist")
            return
        first = f"#{requests[0].number} {sanitize(requests[0].subject)}"
        choices = [Choice("go", "Continue", count_text(requests)), Choice("forget", "Discard", "nothing is merged")]
        choice = await self._screen.ask(Picker(f"Merge train stopped at {first}", choices, self._screen.style_for))
        if choice == ("go",):
            self._show(merge_train(self._engine, requests))
        elif choice == ("forget",):
            save_train(self._engine.outbox, ())

    async def _call_for(self, action: str) -> CallOf | None:
        """The call for each change request; None if its input was cancelled."""
        if action == "reviewers":
            return await self._ask_reviewers()
        if action == "comment":
            text = await self._screen.ask(self._composer())
            if not text:
                return None
            return lambda request: PostComment(**path_of(request), body=Document(markdown=text))
        return CALLS[action]

    async def _ask_reviewers(self) -> CallOf | None:
        authors = (request.created_by for request in self._triage.selected())
        people = [
            Choice(person.user.id, sanitize(person.user.display_name), person.role)
            for person in await people_in(self._engine, self._screen.model.organization, authors)
        ]
        users = await self._screen.ask(Picker("Choose reviewers", people, self._screen.style_for, multiple=True))
        return (lambda request: RequestReviewers(**path_of(request), users=users)) if users else None

    def _composer(self) -> Composer:
        outbox = self._engine.outbox

        def save(text: str) -> None:
            outbox.save_draft(DRAFT, text)

        return Composer("Comment on all marked", outbox.draft(DRAFT), save, self._screen.style_for)
