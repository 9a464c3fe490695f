"""Bulk actions of the inbox: one action on all marked change requests, with its progress, and the choice of actions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import (
    REVIEWS,
    ChangeRequest,
    PullChangeRequest,
    RequestReviewers,
    ReviewStatus,
    SubmitReview,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import Operation
from presscheck.engine.members import Person, people_in
from presscheck.engine.review.merge_train import MERGE_TRAIN, load_train, save_train
from presscheck.store.drafts import DraftSlot
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain, width
from presscheck.tui.commands import key_for
from presscheck.tui.screens.batch_actions import BatchScreen, WriteItem, count_text, merge_train, path_of
from presscheck.tui.ui.ask import choose, choose_several, confirm
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.users import User
    from presscheck.tui.screens.inbox.session import Inbox
    from presscheck.tui.widgets.composer import Composer

CallOf = Callable[[ChangeRequest], Operation[Any]]
DRAFT, CHANGES_DRAFT, APPROVAL_DRAFT = "inbox comment", "inbox request changes", "inbox approval"
"""The keys of the drafts of texts for all marked change requests."""
ACTIONS = (
    Choice("approve", "Approve", "a review of each, with an optional text"),
    Choice("request_changes", "Request changes", "a review of each, with the same text"),
    Choice("reviewers", "Request reviewers", "the people that you choose"),
    Choice("comment", "Comment", "the same text on each"),
    Choice("pull", "Update from main", "where main has changed"),
    Choice("merge", "Merge, one after another", "updates each first; stops on failure"),
    Choice("archive", "Archive", "can be reopened"),
    Choice("done", "Done", "hide until there is new activity"),
    Choice("snooze", "Snooze", "until a time, or new activity"),
)
"""The actions on marked change requests, by name of the command."""
ROW_ACTIONS = (
    "approve",
    "request_changes",
    "comment",
    "reply",
    "reviewers",
    "pull",
    "merge",
    "archive",
    "done",
    "snooze",
    "bookmark",
)
"""The commands that act on the row under the cursor."""
NEED_REVIEWS = ("approve", "request_changes")
"""The actions that need a service with reviews."""
CALLS: dict[str, CallOf] = {
    "pull": lambda request: PullChangeRequest(**path_of(request)),
    "archive": lambda request: UpdateChangeRequest(**path_of(request), status="archived"),
}
"""The calls of actions that need no further input."""
MOST_LINES = 8
"""Maximum lines of change requests above the input of an approval, so that it fits a terminal of 24 lines."""


class BulkActions:
    """The actions on all marked change requests, and the command that chooses an action.

    Args:
        session: the inbox.
    """

    def __init__(self, session: Inbox) -> None:
        self._session = session
        self._screen, self._engine = session.screen, session.screen.engine
        self._batch: BatchScreen | None = None

    def announce_stopped_train(self) -> None:
        """Show a message if a merge train has stopped before its end."""
        if self._engine.outbox.recall(MERGE_TRAIN):
            self._screen.notify(f"a merge train was stopped: {key_for('act_on_marked')} continues or discards it")

    def unmark_done(self) -> None:
        """Remove the marks of change requests that the last batch has finished. Failed change requests stay marked."""
        if self._batch:
            self._session.rows.marks.keys -= self._batch.done
            self._batch = None
            self._session.reload_rows()

    def reason_act_on_marked(self) -> str | None:
        """Return why no action can run: there is no row, and no merge train has stopped."""
        if self._session.selected() or self._engine.outbox.recall(MERGE_TRAIN):
            return None
        return "no change request here"

    async def command_act_on_marked(self) -> None:
        """Choose an action on all marked change requests, or on the row under the cursor, and run its command.

        Without marks, a stopped merge train comes first: ask whether to continue or discard it.
        """
        requests = self._session.selected()
        if not self._session.rows.marks.keys and self._engine.outbox.recall(MERGE_TRAIN):
            await self._continue_train()
            return
        if self._session.rows.marks.keys:
            lacks_reviews = self._engine.lacks(REVIEWS)
            title = f"With {count_text(requests)}{'; this service has no reviews' if lacks_reviews else ''}"
            actions = [action for action in ACTIONS if not (lacks_reviews and action.key in NEED_REVIEWS)]
        else:
            title, actions = f"With {self._session.model.name(requests[0])}", self._row_actions()
        choice = await choose(self._screen, title, actions)
        command = self._screen.command_table.command(choice) if choice else None
        if command:
            self._screen.run_command(command)

    def _row_actions(self) -> list[Choice]:
        """Return the actions on the row under the cursor, with their keys."""
        keymap = self._screen.app_context.keymap
        commands = (self._screen.command_table.command(name) for name in ROW_ACTIONS)
        return [
            Choice(command.name, command.title.capitalize(), keymap.label(command.name))
            for command in commands
            if command
        ]

    async def act(self, name: str) -> None:
        """Run a command on all marked change requests, after a confirmation."""
        requests = self._session.selected()
        if name == "approve":
            await self._approve(requests)
        elif name == "merge":
            await self._merge(requests)
        else:
            action = name if name in _TITLES else "comment"  # `comment_only` sends comments, like `comment`
            call = await self._call_for(action)
            if call is not None and await confirm(
                self._screen,
                f"{_TITLES[action]}: {count_text(requests)}?",
                [(Span(self._label(request)),) for request in requests],
                _TITLES[action],
            ):
                self._send(action, requests, call)

    async def _approve(self, requests: Sequence[ChangeRequest]) -> None:
        """Approve with an optional text. The dialog shows the warnings about each change request."""
        from presscheck.tui.screens.inbox.row_review import RowReview  # 60 ms: it loads the actions of a review
        from presscheck.tui.screens.review.drafts import ask_message

        warnings = await asyncio.gather(*(RowReview(self._session, request).warnings() for request in requests))
        lines: list[Line] = [
            (Span(self._label(request)), Span(f"  ⚠ {' · '.join(words)}" if words else "", "waiting"))
            for request, words in zip(requests, warnings, strict=True)
        ]
        title, draft = f"Approve {count_text(requests)}", DraftSlot(self._engine.outbox, APPROVAL_DRAFT)

        def send(text: str) -> None:
            self._send("approve", requests, lambda request: _review(request, "approved", text))

        async def compose() -> None:
            text = await self._screen.ask(self._composer(title, APPROVAL_DRAFT, may_be_empty=True))
            if text is not None:
                send(text)

        def expand() -> None:
            self._screen.run(compose)

        notes = partial(_warned_first, lines)
        text = await ask_message(self._screen, title, draft, "approve", notes, expand)
        if text is not None:
            send(text)

    def _send(self, action: str, requests: Sequence[ChangeRequest], call: CallOf) -> None:
        if draft := _DRAFTS.get(action):
            self._engine.outbox.save_draft(draft, "")
        name = self._session.model.name
        items = [WriteItem(self._engine, request, name(request), call(request)) for request in requests]
        self._show(BatchScreen(_TITLES[action], items))

    def _label(self, request: ChangeRequest) -> str:
        return f"{self._session.model.name(request)}  {sanitize(request.subject) or '(no subject)'}"

    def _show(self, batch: BatchScreen) -> None:
        self._batch, self._session.sent = batch, None
        self._screen.app_context.push_screen(batch)

    async def _merge(self, requests: Sequence[ChangeRequest]) -> None:
        """Merge the change requests in row order, after a confirmation."""
        from presscheck.tui.screens.inbox.merge_train_sheet import (
            confirm_train,  # 60 ms: it loads the renderer of a review
        )

        if await confirm_train(self._session, requests):
            self._show(merge_train(self._engine, requests, self._session.model.name))

    async def _continue_train(self) -> None:
        """Ask whether to continue or discard the merge train that has stopped."""
        requests = await load_train(self._engine)
        if not requests:
            save_train(self._engine.outbox, ())
            self._screen.notify("the merge train is empty: its change requests no longer exist")
            return
        first = self._label(requests[0])
        choices = [Choice("go", "Continue", count_text(requests)), Choice("forget", "Discard", "nothing is merged")]
        choice = await choose(self._screen, f"Merge train stopped at {first}", choices, ranked=True)
        if choice == "go":
            self._show(merge_train(self._engine, requests, self._session.model.name))
        elif choice == "forget":
            save_train(self._engine.outbox, ())

    async def _call_for(self, action: str) -> CallOf | None:
        """Ask for the input of an action, and return a function that creates its calls; None if canceled."""
        if action == "reviewers":
            return await self._ask_reviewers()
        if action == "comment":
            text = await self._screen.ask(self._composer("Comment on all marked", DRAFT))
            return (lambda request: PostComment(**path_of(request), body=Document(markdown=text))) if text else None
        if action == "request_changes":
            text = await self._screen.ask(self._composer("Request changes on all marked", CHANGES_DRAFT))
            return (lambda request: _review(request, "changes-requested", text)) if text else None
        return CALLS[action]

    async def _ask_reviewers(self) -> CallOf | None:
        people = [
            Choice(person.user.id, sanitize(person.user.display_name), person.role) for person in await self._people()
        ]
        users = await choose_several(self._screen, "Choose reviewers", people)
        return (lambda request: RequestReviewers(**path_of(request), users=users)) if users else None

    def _composer(self, title: str, draft: str, *, may_be_empty: bool = False) -> Composer:
        from presscheck.tui.widgets.composer import Composer  # 20 ms, only for a text for all marked

        async def users() -> list[User]:
            return [person.user for person in await self._people()]

        return Composer(title, DraftSlot(self._engine.outbox, draft), people=users, may_be_empty=may_be_empty)

    async def _people(self) -> list[Person]:
        authors = (request.created_by for request in self._session.selected())
        return await people_in(self._engine, self._session.model.organization, authors)


_TITLES = {action.key: action.label for action in ACTIONS}
_DRAFTS = {"comment": DRAFT, "request_changes": CHANGES_DRAFT, "approve": APPROVAL_DRAFT}


def _review(request: ChangeRequest, status: ReviewStatus, text: str) -> SubmitReview:
    given: dict[str, Any] = {"comment": Document(markdown=text)} if text.strip() else {}
    return SubmitReview(**path_of(request), status=status, **given)


def _warned_first(lines: Sequence[Line], columns: int) -> list[Line]:
    """Return the lines that fit above an input.

    If some do not fit, lines with warnings come first, and the number of omitted lines is at the end.
    """
    if len(lines) > MOST_LINES:
        ordered = sorted(lines, key=lambda line: not plain(line[1:]))
        lines = [*ordered[: MOST_LINES - 1], (Span(f"… and {len(lines) - MOST_LINES + 1} more", "quiet"),)]
    return [_fit(line, columns) for line in lines]


def _fit(line: Line, columns: int) -> Line:
    """Shorten a line to `columns`: first the name of the change request, then the warning after it."""
    name, warning = line[:1], line[1:]
    return (*cut(name, max(columns // 3, columns - width(warning))), *cut(warning, columns * 2 // 3))
