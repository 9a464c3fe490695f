"""Bulk actions of the inbox: one action on all marked change requests, after a confirmation, with its progress."""

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
from presscheck.engine.members import Person, people_in
from presscheck.engine.review.merge_train import MERGE_TRAIN, load_train, save_train
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.screens.batch_actions import BatchScreen, WriteItem, count_text, merge_train, path_of
from presscheck.tui.ui.ask import choose, confirm
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.users import User
    from presscheck.tui.screens.inbox.session import Inbox
    from presscheck.tui.screens.inbox.triage import TriageActions
    from presscheck.tui.widgets.composer import Composer

CallOf = Callable[[ChangeRequest], Operation[Any]]
DRAFT, CHANGES_DRAFT = "inbox comment", "inbox request changes"
"""The keys of two drafts: the comment, and the requested changes, on all marked change requests."""
ACTIONS = (
    Choice("approve", "Approve", "a review of each"),
    Choice("changes", "Request changes", "a review of each, with the same text"),
    Choice("reviewers", "Request reviewers", "the people that you choose"),
    Choice("comment", "Comment", "the same text on each"),
    Choice("pull", "Update from main", "where main has changed"),
    Choice("merge", "Merge, one after another", "updates each first; stops on failure"),
    Choice("archive", "Archive", "can be reopened"),
    Choice("done", "Done", "hide until there is new activity"),
    Choice("snooze", "Snooze", "until a time, or new activity"),
)
NEED_REVIEWS = ("approve", "changes")
"""The actions that need a service with reviews."""
CALLS: dict[str, CallOf] = {
    "approve": lambda request: SubmitReview(**path_of(request), status="approved"),
    "pull": lambda request: PullChangeRequest(**path_of(request)),
    "archive": lambda request: UpdateChangeRequest(**path_of(request), status="archived"),
}
"""The calls of actions that need no further input."""


class BulkActions:
    """Handles the command that acts on all marked change requests.

    Args:
        session: the inbox.
        triage: hides rows.
    """

    def __init__(self, session: Inbox, triage: TriageActions) -> None:
        self._session, self._triage = session, triage
        self._screen, self._engine = session.screen, session.screen.engine
        self._batch: BatchScreen | None = None

    def announce_stopped_train(self) -> None:
        """Show a message if a merge train has stopped before its end."""
        if self._engine.outbox.recall(MERGE_TRAIN):
            self._screen.notify("a merge train was stopped: A continues or discards it")

    def unmark_done(self) -> None:
        """Remove the marks of change requests that the last batch has finished. Failed change requests stay marked."""
        if self._batch:
            self._session.rows.marked -= self._batch.done
            self._batch = None
            self._session.reload_rows()

    def reason_act_on_marked(self) -> str | None:
        """Return why no action can run: no row is marked, and no merge train has stopped."""
        if self._session.rows.marked or self._engine.outbox.recall(MERGE_TRAIN):
            return None
        return "nothing is marked: space marks a row, * all visible rows"

    async def command_act_on_marked(self) -> None:
        """Ask for an action and a confirmation, and run the action on all marked change requests."""
        if not self._session.rows.marked:
            await self._continue_train()
            return
        requests = self._session.selected()
        lacks_reviews = self._engine.lacks(REVIEWS)
        title = f"With {count_text(requests)}{'; this service has no reviews' if lacks_reviews else ''}"
        actions = [action for action in ACTIONS if not (lacks_reviews and action.key in NEED_REVIEWS)]
        choice = await choose(self._screen, title, actions)
        if not choice:
            return
        if choice == "done":
            self._triage.command_done()
        elif choice == "snooze":
            await self._triage.command_snooze()
        elif choice == "merge":
            await self._merge(requests)
        else:
            await self._send(choice, requests)

    async def _send(self, action: str, requests: Sequence[ChangeRequest]) -> None:
        call = await self._call_for(action)
        if call is None:
            return
        title = next(choice.label for choice in ACTIONS if choice.key == action)
        lines = [(Span(f"#{request.number} {sanitize(request.subject)}"),) for request in requests]
        question = f"{title}: {count_text(requests)}?"
        if await confirm(self._screen, question, lines, title):
            for draft in (DRAFT, CHANGES_DRAFT):
                self._engine.outbox.save_draft(draft, "")
            items = [WriteItem(self._engine, request, call(request)) for request in requests]
            self._show(BatchScreen(title, items))

    def _show(self, batch: BatchScreen) -> None:
        self._batch = batch
        self._screen.app_context.push_screen(batch)

    async def _merge(self, requests: Sequence[ChangeRequest]) -> None:
        """Merge the change requests in row order, after a confirmation."""
        from presscheck.tui.screens.inbox.merge_train_sheet import (
            confirm_train,  # 60 ms: it loads what a review renders
        )

        if await confirm_train(self._screen, requests):
            self._show(merge_train(self._engine, requests))

    async def _continue_train(self) -> None:
        """Ask whether to continue or discard the merge train that has stopped."""
        requests = await load_train(self._engine)
        if not requests:
            save_train(self._engine.outbox, ())
            self._screen.notify("the merge train is empty: its change requests no longer exist")
            return
        first = f"#{requests[0].number} {sanitize(requests[0].subject)}"
        choices = [Choice("go", "Continue", count_text(requests)), Choice("forget", "Discard", "nothing is merged")]
        choice = await choose(self._screen, f"Merge train stopped at {first}", choices, ranked=True)
        if choice == "go":
            self._show(merge_train(self._engine, requests))
        elif choice == "forget":
            save_train(self._engine.outbox, ())

    async def _call_for(self, action: str) -> CallOf | None:
        """Ask for the input of an action, and return a function that creates its calls; None if canceled."""
        if action == "reviewers":
            return await self._ask_reviewers()
        if action == "comment":
            text = await self._screen.ask(self._composer("Comment on all marked", DRAFT))
            return (lambda request: PostComment(**path_of(request), body=Document(markdown=text))) if text else None
        if action == "changes":
            text = await self._screen.ask(self._composer("Request changes on all marked: say which", CHANGES_DRAFT))
            return (lambda request: _request_changes(request, text)) if text else None
        return CALLS[action]

    async def _ask_reviewers(self) -> CallOf | None:
        people = [
            Choice(person.user.id, sanitize(person.user.display_name), person.role) for person in await self._people()
        ]
        users = await self._screen.ask(Picker("Choose reviewers", people, multiple=True))
        return (lambda request: RequestReviewers(**path_of(request), users=users)) if users else None

    def _composer(self, title: str, draft: str) -> Composer:
        from presscheck.tui.widgets.composer import Composer  # 20 ms, only for a comment on all marked

        async def users() -> list[User]:
            return [person.user for person in await self._people()]

        return Composer(title, DraftSlot(self._engine.outbox, draft), people=users)

    async def _people(self) -> list[Person]:
        authors = (request.created_by for request in self._session.selected())
        return await people_in(self._engine, self._session.model.organization, authors)


def _request_changes(request: ChangeRequest, text: str) -> SubmitReview:
    return SubmitReview(**path_of(request), status="changes-requested", comment=Document(markdown=text))
