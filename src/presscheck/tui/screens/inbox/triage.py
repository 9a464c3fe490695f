"""Triage in the inbox: done, snooze, bookmark and marks, without opening a change request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from presscheck.api.change_requests import ChangeRequest
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.screens.batch_actions import count_text
from presscheck.tui.screens.inbox.context import InboxContext
from presscheck.tui.widgets.picker import Choice, Picker

MORNING = 8
"""The hour at which snoozed change requests come back."""
SNOOZES = (
    Choice("tomorrow", "Until tomorrow", f"{MORNING}:00"),
    Choice("week", "Until next week", f"Monday {MORNING}:00"),
    Choice("activity", "Until there is new activity", ""),
)


class TriageActions:
    """Hides, bookmarks and marks rows of the inbox.

    Args:
        screen: the inbox.
    """

    def __init__(self, screen: InboxContext) -> None:
        self._screen = screen
        self._triage, self._events = screen.engine.triage, screen.engine.events
        self._last_hidden: tuple[str, ...] = ()

    def sign(self, request: ChangeRequest) -> Span:
        """The mark before a row: done, snoozed, new activity, bookmarked, or a space."""
        hidden = self._triage.hidden_state(request)
        if hidden:
            return Span("✓" if hidden.is_done else "◷", "quiet")
        if request.id in self._events.unread:
            return Span("•", "accent strong")
        return Span("★", "accent") if self._triage.is_bookmarked(request.id) else Span(" ")

    def selected(self) -> list[ChangeRequest]:
        """The marked change requests in the order of the rows; without marks the one under the cursor."""
        rows, model = self._screen.rows, self._screen.model
        if not rows.marked:
            current = self._screen.current()
            return [current] if current else []
        requests = (model.request(index) for index in range(rows.count))
        return [request for request in requests if request and request.id in rows.marked]

    def command_done(self) -> None:
        """Hide the selected change requests until there is new activity; bring them back if all are hidden."""
        requests = self.selected()
        if requests and all(self._triage.hidden_state(request) for request in requests):
            self._bring_back(tuple(request.id for request in requests))
            return
        for request in requests:
            self._triage.done(request)
            self._events.unread.discard(request.id)
        self._hide(requests, "done")

    async def command_snooze(self) -> None:
        """Ask until when, and hide the selected change requests until then."""
        requests = self.selected()
        if not requests:
            return
        dialog = Picker(f"Snooze {count_text(requests)}", SNOOZES, self._screen.style_for, ranked=False)
        choice = await self._screen.ask(dialog)
        if choice:
            until = wake_time(choice[0], datetime.now().astimezone())
            for request in requests:
                self._triage.snooze(request, until)
            self._hide(requests, "snoozed")

    def command_bookmark(self) -> None:
        """Bookmark the selected change requests, or remove their bookmarks."""
        for request in self.selected():
            self._triage.bookmark(request.id)
        self._screen.rows.redraw()

    def reason_unsend(self) -> str | None:
        """Disabled while there is nothing to undo."""
        return None if self._last_hidden else "nothing to undo: no change request was hidden just now"

    def command_unsend(self) -> None:
        """Bring back what was hidden last."""
        self._bring_back(self._last_hidden)

    def command_mark(self) -> None:
        """Mark the row under the cursor."""
        self._screen.rows.mark()

    def command_mark_range(self) -> None:
        """Start a range of marks, or end it."""
        self._screen.rows.mark_range()

    def command_mark_visible(self) -> None:
        """Mark all visible rows."""
        self._screen.rows.mark_visible()

    def command_back(self) -> None:
        """Remove all marks."""
        self._screen.rows.clear_marks()

    def _hide(self, requests: Sequence[ChangeRequest], state: str) -> None:
        self._last_hidden = tuple(request.id for request in requests)
        self._screen.rows.clear_marks()
        self._screen.reload_rows()
        if requests:
            first = f"#{requests[0].number} {sanitize(requests[0].subject)}"
            self._screen.notify(f"{first if len(requests) == 1 else count_text(requests)} {state} (z to undo)")

    def _bring_back(self, ids: tuple[str, ...]) -> None:
        number = sum(self._triage.unhide(id_) for id_ in ids)
        self._last_hidden = ()
        self._screen.rows.clear_marks()
        self._screen.reload_rows()
        self._screen.notify(f"{count(number, 'change request')} back in the inbox")


def wake_time(choice: str, now: datetime) -> float | None:
    """When a snoozed change request comes back, in seconds since the epoch; None: with new activity."""
    if choice == "activity":
        return None
    days = 1 if choice == "tomorrow" else 7 - now.weekday()
    return (now + timedelta(days=days)).replace(hour=MORNING, minute=0, second=0, microsecond=0).timestamp()
