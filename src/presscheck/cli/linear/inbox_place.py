"""The inbox and the list of its views."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.organizations import ListOrganizations
from presscheck.cli import lookup
from presscheck.cli.inbox import Shown, fetch_inbox, saved_views
from presscheck.cli.linear.place import Linear, Place, Verb, pick
from presscheck.cli.linear.request_places import RequestPlace
from presscheck.cli.linear.triage_verbs import triage_verbs
from presscheck.cli.linear.words import drafts_of, request_row
from presscheck.engine.inbox.views import View, all_views, row_details
from presscheck.errors import InvalidArgument
from presscheck.store.outbox import FAILED
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

MOST_ROWS = 200
"""Maximum number of change requests of a view that are listed."""


async def read_views(linear: Linear, view: str | None, limit: int) -> list[Shown]:
    """Read the views of the profile's organization, or of all organizations."""
    session = linear.session
    organizations = (await session.read(ListOrganizations())).items
    if session.profile.organization:
        organizations = (lookup.pick([*organizations], session.profile.organization, "organization"),)
    views = all_views(saved_views(session.profile.project))
    return [await fetch_inbox(session, owner, views, view, limit, shows_hidden=False) for owner in organizations]


class InboxPlace(Place):
    """The change requests of a view, by default of the first view that is not empty."""

    def __init__(self, linear: Linear, view: str | None = None) -> None:
        super().__init__(linear)
        self._view = view
        self._requests: list[ChangeRequest] = []

    @property
    @override
    def name(self) -> str:
        return "inbox"

    @override
    async def load(self) -> Sequence[str]:
        inboxes = await read_views(self.linear, self._view, MOST_ROWS)
        self._requests = [request for inbox in inboxes for request in inbox.requests]
        lines, number = list[str](), 0
        for inbox in inboxes:
            title = sanitize(inbox.organization.title)
            if inbox.view is None:
                lines.append(f"{title}: the inbox is empty.")
                continue
            # later loads show the same view, so that the last change request of a view does not open another one
            self._view = self._view or inbox.view.id
            total = inbox.counts[inbox.view.id]
            lines.append(f"{title}, view {sanitize(inbox.view.title)}: {count(total, 'change request')}.")
            lines += [] if inbox.requests else [inbox.view.empty]
            for index, request in enumerate(inbox.requests):
                if heading := inbox.headings.get(index):
                    lines.append(f"{sanitize(heading)}:")
                number += 1
                details = row_details(self.engine, request, inbox.me)
                row = request_row(request, inbox.spaces.get(request.space, ""), details, inbox.me)
                bookmark = ", bookmarked" if self.engine.triage.is_bookmarked(request.id) else ""
                lines.append(f"{number}. {row}{bookmark}")
            if total > len(inbox.requests):
                lines.append(f"Only the first {count(len(inbox.requests), 'change request')} are listed.")
        if drafts := drafts_of(self.engine):
            lines.append(f"You have {count(len(drafts), 'draft')}: drafts lists them.")
        states = [entry.state for entry in self.engine.waiting()]
        if unsent := sum(state != "collected" and state not in FAILED for state in states):
            lines.append(f"{count(unsent, 'change')} not sent yet.")
        if failed := sum(state in FAILED for state in states):
            lines.append(f"{count(failed, 'change')} not accepted by the service: run presscheck outbox.")
        return lines

    @override
    def verbs(self) -> tuple[Verb, ...]:
        return (
            Verb("view", "v", "Show another view, by its name.", self._show, "NAME"),
            Verb("next", "n", "Open the first change request.", self._first, reason=self._no_rows()),
            *triage_verbs(self.linear, lambda: self._requests, self._triaged),
        )

    @override
    async def open(self, number: int) -> Place:
        request = pick(self._requests, str(number), "change request")
        return RequestPlace(self.linear, request, self._requests)

    def _no_rows(self) -> str | None:
        return None if self._requests else "there is no change request here"

    async def _show(self, typed: str) -> Place | None:
        views = all_views(saved_views(self.linear.session.profile.project))
        wanted = typed.casefold()
        matches = [view for view in views if wanted in (view.id.casefold(), view.title.casefold())] or [
            view for view in views if wanted and view.title.casefold().startswith(wanted)
        ]
        if len(matches) != 1:
            names = ", ".join(sanitize(view.title) for view in matches or views)
            raise InvalidArgument("view", f"choose one of: {names}")
        return InboxPlace(self.linear, matches[0].id)

    async def _first(self, _: str) -> Place | None:
        return await self.open(1)

    async def _triaged(self, _: ChangeRequest | None) -> Place | None:
        """Print how many change requests are left. Rows keep their numbers, so that the next verb takes the right
        row."""
        shown = [request for request in self._requests if self.engine.triage.hidden_state(request) is None]
        self.linear.terminal.print([f"{count(len(shown), 'change request')} left. again lists them with new numbers."])
        return None


class ViewsPlace(Place):
    """The views of the inbox, and how many change requests each has."""

    def __init__(self, linear: Linear) -> None:
        super().__init__(linear)
        self._views: Sequence[View] = ()

    @property
    @override
    def name(self) -> str:
        return "views"

    @override
    async def load(self) -> Sequence[str]:
        inboxes = await read_views(self.linear, None, 0)
        self._views = inboxes[0].views if inboxes else ()
        counts = {view.id: sum(inbox.counts[view.id] for inbox in inboxes) for view in self._views}
        rows = (f"{number}. {sanitize(view.title)}: {counts[view.id]}" for number, view in enumerate(self._views, 1))
        return [f"{count(len(self._views), 'view')}.", *rows]

    @override
    async def open(self, number: int) -> Place:
        return InboxPlace(self.linear, pick(self._views, str(number), "view").id)
