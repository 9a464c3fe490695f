"""The rows of the inbox as the store has them: read by window, kept until something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest, ListOrganizationChangeRequests
from presscheck.api.spaces import ListSpaces
from presscheck.desk.inbox import VIEWS, Facts, View, facts
from presscheck.desk.queries import parse
from presscheck.documents.display_text import display_text
from presscheck.documents.moments import now

if TYPE_CHECKING:
    from presscheck.desk.desk import Desk

CHUNK = 100
"""Rows that are read from the store together."""


class KnownRows:
    """The rows of one view, for an organization and the signed-in user (both by id; nothing is known without them)."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.organization = self.me = ""
        self.view: View = VIEWS[0]
        self.spaces: dict[str, str] = {}
        self._chunks: dict[int, tuple[ChangeRequest, ...]] = {}
        self._facts: dict[str, Facts] = {}
        self._hidden: dict[str, list[int]] = {}
        self.queries: dict[str, str] = {}
        """What the person wants to see of a view, by its id, as typed."""
        self._places: dict[str, list[int]] = {}
        self._visible: dict[str, list[int]] = {}
        self.counts: dict[str, int] = {}
        """How many a view has that was not brought in, by its id, as the service counted."""

    def listing(self, view: View | None = None) -> ListOrganizationChangeRequests | None:
        """The question behind a view (this one, where none is given); None while it cannot be asked."""
        return (view or self.view).listing(self.organization, self.me) if self.organization and self.me else None

    def total(self, view: View | None = None) -> int:
        """How many rows a view has, as far as known."""
        view = view or self.view
        listing = self.listing(view)
        if listing is None:
            return 0
        if view.id in self.queries:
            return len(self._shown(view))
        known = self._desk.window(listing, 0, 0)
        return self.counts.get(view.id, 0) if known.age is None else known.total - len(self._away(view))

    @property
    def empty(self) -> str:
        """What to say where this view shows nothing."""
        is_narrow = self.view.id in self.queries
        return "Nothing here fits what you want to see. F changes that." if is_narrow else self.view.empty

    def learn_spaces(self, spaces: ListSpaces) -> None:
        """What the spaces of the organization are called, as display text."""
        self.spaces = {space.id: display_text(space.title) for space in self._desk.window(spaces, 0, 10_000).items}

    def forget(self) -> None:
        """Anything may have changed."""
        self._chunks.clear()
        self._facts.clear()
        self._hidden.clear()
        self._visible.clear()

    def request(self, index: int) -> ChangeRequest | None:
        """The change request of a row; None where it is not known."""
        if self.view.id in self.queries:
            shown = self._shown(self.view)
            return self._at(shown[index]) if index < len(shown) else None
        for position in self._away(self.view):
            if position > index:
                break
            index += 1
        return self._at(index)

    async def arrange(self) -> None:
        """Find the rows of this view that the person wants to see, where they want to see but some."""
        listing, text = self.listing(), self.queries.get(self.view.id)
        if listing is not None and text is not None:
            query, view, key = parse(text, self.spaces, now()), self.view.id, listing.key()
            self._places[view] = await self._desk.in_store(
                lambda cache: cache.matching(key, query.conditions, query.order)
            )
            self._visible.clear()

    def _shown(self, view: View) -> list[int]:
        """The places in the listing of what a view shows that was asked for but some of it."""
        if view.id not in self._visible:
            away = {*self._away(view)}
            self._visible[view.id] = [place for place in self._places.get(view.id, ()) if place not in away]
        return self._visible[view.id]

    def _at(self, index: int) -> ChangeRequest | None:
        """The change request at a place of the listing."""
        listing = self.listing()
        if listing is None:
            return None
        start = index - index % CHUNK
        if start not in self._chunks:
            self._chunks[start] = self._desk.window(listing, start, CHUNK).items
        chunk = self._chunks[start]
        return chunk[index - start] if index - start < len(chunk) else None

    def _away(self, view: View) -> list[int]:
        """The places in the listing of a view that it hides, in order: those of what was put away."""
        listing, triage = self.listing(view), self._desk.triage
        if listing is None or not view.hides:
            return []
        if view.id not in self._hidden:
            found: list[int] = []
            for place in self._desk.positions(listing, triage.put_away).values():
                [*requests] = self._desk.window(listing, place, 1).items
                found += [place for request in requests if triage.away(request)]
            self._hidden[view.id] = sorted(found)
        return self._hidden[view.id]

    def facts(self, request: ChangeRequest) -> Facts:
        """What is known of a row beside itself."""
        if request.id not in self._facts:
            self._facts[request.id] = facts(self._desk, request, self.me)
        return self._facts[request.id]

    def learn(self, request: ChangeRequest) -> bool:
        """Look at the facts of a row again; whether there is something new."""
        before = self._facts.pop(request.id, None)
        return self.facts(request) != before
