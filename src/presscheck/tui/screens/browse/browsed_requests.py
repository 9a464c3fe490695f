"""The change requests that spaces are browsed in: editing in one ends when it is merged or archived."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from presscheck.api.change_requests import GetChangeRequest
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.engine.results import Result
    from presscheck.tui.screens.browse.context import BrowseContext

ENDED = ("merged", "archived")
"""The states in which a change request takes no edits."""


class BrowsedRequests:
    """Watches the change requests that spaces are browsed in, and leaves those that end.

    A change request that had ended before it was opened stays open, so that it can be read.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen

    def watch(self, space_id: str, request: ChangeRequest | None) -> None:
        """Watch the change request that a space is browsed in from now on; None for main."""
        group = f"browsed-{space_id}"
        if request is None or request.status in ENDED:
            self._screen.unsubscribe(group)
            return
        call = GetChangeRequest(space_id=space_id, change_request_id=request.id)
        take = partial(self._take, space_id, request.id)
        self._screen.subscribe(self._screen.engine.watch(call), take, group=group, shows_errors=False)

    async def has_ended(self, space_id: str) -> bool:
        """Ask the service whether the change request that a space is browsed in has ended; then it is left.

        Raises:
            PresscheckError: it cannot be read.
        """
        browsed = self._screen.library.requests.get(space_id)
        if browsed is None:
            return False
        now = await self._screen.engine.read(GetChangeRequest(space_id=space_id, change_request_id=browsed.id))
        self._leave_if_ended(space_id, now)
        return now.status in ENDED

    def reason(self, space_id: str) -> str | None:
        """Why nothing can be edited in the change request that a space is browsed in; None if it can, or on main."""
        browsed = self._screen.library.requests.get(space_id)
        if browsed is None or browsed.status not in ENDED:
            return None
        return f"#{browsed.number} is {sanitize(browsed.status)}: O leaves it, or chooses another one"

    def _take(self, space_id: str, request_id: str, result: Result[ChangeRequest | None]) -> None:
        if result.value and result.value.id == request_id:
            self._leave_if_ended(space_id, result.value)

    def _leave_if_ended(self, space_id: str, now: ChangeRequest) -> None:
        browsed = self._screen.library.requests.get(space_id)
        if browsed is None or browsed.id != now.id:
            return
        if now.status not in ENDED:
            self._screen.library.requests[space_id] = now
            self._screen.refresh_status_bars()
        elif browsed.status not in ENDED:
            self._screen.browse_in(space_id, None)
            self._screen.notify(f"#{now.number} is {sanitize(now.status)}: showing main again")
