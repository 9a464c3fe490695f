"""The drafts in the outbox: label, place, size and the state of the place."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import GetChangeRequest
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.spaces import GetSpace
from presscheck.documents.pages.tree import flatten
from presscheck.engine.drafts import Draft, Fate, drafts, fate_of
from presscheck.errors import Forbidden, NotFound
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from collections.abc import Callable

    from presscheck.engine.results import Result
    from presscheck.tui.ui.screen import BaseScreen

FATES = {
    "merged": "change request merged",
    "archived": "change request archived",
    "missing": "change request deleted, or no longer visible to you",
    "page deleted": "page deleted",
    "comment deleted": "comment deleted",
}
"""Descriptions of the state of a draft's place."""


class Drafts:
    """The drafts of the profile, and the states of their change requests.

    Args:
        screen: the outbox screen.
    """

    def __init__(self, screen: BaseScreen) -> None:
        self._screen = screen
        self.drafts: tuple[Draft, ...] = ()
        self._statuses: dict[str, str] = {}
        self._pages: dict[str, frozenset[str]] = {}
        self._watched: set[str] = set()

    def read(self) -> None:
        """Load the drafts from the store."""
        self.drafts = drafts(self._screen.engine.outbox.drafts())

    def watch(self) -> None:
        """Subscribe to the change requests of all drafts and, for drafts of pages, to their lists of pages."""
        for draft in self.drafts:
            if draft.path:
                self._watch(f"draft request {draft.request}", GetChangeRequest(**draft.path), self._take_request, draft)
                if draft.is_page:
                    call = ListChangeRequestPages(**draft.path)
                    self._watch(f"draft pages {draft.request}", call, self._take_pages, draft)

    def _watch(self, group: str, call: Any, take: Callable[[str, Result[Any]], None], draft: Draft) -> None:
        if group not in self._watched:
            self._watched.add(group)
            answers = self._screen.engine.watch(call)
            self._screen.subscribe(answers, partial(take, draft.request), group=group, shows_errors=False)

    def _take_request(self, request: str, result: Result[Any]) -> None:
        before = self._statuses.get(request)
        if isinstance(result.error, NotFound | Forbidden):
            self._statuses[request] = "missing"
        elif result.value:
            self._statuses[request] = result.value.status
        if self._statuses.get(request) != before:
            self._screen.redraw()

    def _take_pages(self, request: str, result: Result[Any]) -> None:
        if result.value:
            self._pages[request] = frozenset(page.id for page in flatten(result.value.pages))
            self._screen.redraw()

    def note(self, draft: Draft, fate: Fate) -> None:
        """Store that the change request of a draft was merged, archived or not found. Other states are ignored."""
        if draft.path and fate in ("merged", "archived", "missing"):
            self._statuses[draft.request] = fate
            self._screen.redraw()

    def fate(self, draft: Draft) -> Fate:
        """Return why a draft cannot be continued; empty if it can, or if its change request is not loaded."""
        return fate_of(draft, self._statuses.get(draft.request), self._pages.get(draft.request))

    def where(self, draft: Draft) -> str:
        """Return the titles of space and change request of a draft, as display text."""
        about, engine = draft.stored.about, self._screen.engine
        request = engine.known(GetChangeRequest(**draft.path)) if draft.path else None
        space = engine.known(GetSpace(space_id=draft.space)) if draft.space else None
        subject = request.value.subject if request and request.value else about.get("subject", "")
        number = str(request.value.number) if request and request.value else about.get("number", "")
        title = space.value.title if space and space.value else about.get("space_title", "")
        name = sanitize(subject) or ("(no subject)" if draft.path else "")
        return " · ".join(filter(None, (sanitize(title), f"#{number} {name}" if number else name)))


def label_of(draft: Draft) -> str:
    """Return the label of a draft, as display text in a single line."""
    return " ".join(sanitize(draft.label).split()) or "(no title)"


def size_of(draft: Draft) -> str:
    """Return the size of a draft in words, such as `3 fields` or `120 words`."""
    return count(len(draft.fields), "field") if draft.fields else count(len(draft.text.split()), "word")
