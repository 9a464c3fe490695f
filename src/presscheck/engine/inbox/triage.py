"""Done, snoozed and bookmarked change requests; stored next to the outbox, never evicted.

A done change request is shown again after the next event or new content. A snoozed change request is shown again at its
time or, without a time, like a done change request. A change request that was not polled yet has no events, so any
update shows it again.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from presscheck.api.change_requests import ChangeRequest
    from presscheck.store.outbox import Outbox

HIDDEN, BOOKMARK = "away ", "bookmark "
"""Prefixes of the storage keys."""
MORNING = 8
"""The hour of the day at which snoozed change requests return."""


@dataclass(frozen=True)
class HiddenState:
    """How a change request was hidden.

    Attributes:
        seen: the time of the last update before the change request was hidden.
        until: when the change request is shown again, in seconds since the epoch; None for the next activity.
        revision: the revision when the change request was hidden; empty if it was not polled for events, so that any
            update shows it.
    """

    seen: str
    until: float | None = None
    is_done: bool = True
    revision: str = ""


class Triage:
    """The hidden and bookmarked change requests, by id.

    Args:
        outbox: the file that stores them.
    """

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._hidden = {key: HiddenState(**json.loads(text)) for key, text in outbox.recall_all(HIDDEN).items()}
        self._bookmarks = set(outbox.recall_all(BOOKMARK))
        self.followed: Collection[str] = frozenset()
        """The ids of change requests that are polled for events."""

    @property
    def hidden_ids(self) -> Iterable[str]:
        """The ids of all change requests with a stored hidden state.

        Some of them are shown again already, because their time is over or their content has changed; see
        `hidden_state`.
        """
        return self._hidden.keys()

    def done(self, request: ChangeRequest) -> None:
        """Hide a change request until there is new activity."""
        self._hide(request, None)

    def snooze(self, request: ChangeRequest, until: float | None) -> None:
        """Hide a change request until a time (seconds since the epoch) or, if `until` is None, until new activity."""
        self._hide(request, until, is_done=False)

    def unhide(self, identity: str) -> bool:
        """Show a change request again. Returns whether it was hidden."""
        self._outbox.remember(HIDDEN + identity, None)
        return self._hidden.pop(identity, None) is not None

    def hidden_state(self, request: ChangeRequest) -> HiddenState | None:
        """Return how a change request is hidden now, or None if it is shown."""
        state = self._hidden.get(request.id)
        if state is None or (state.until is not None and state.until <= time.time()):
            return None
        # a fixed time ignores activity
        if state.until is not None:
            return state
        is_unchanged = request.revision == state.revision if state.revision else request.updated_at <= state.seen
        return state if is_unchanged else None

    def on_event(self, identity: str, at: str) -> None:
        """Show a change request again after an event.

        Ignored if the change request is hidden until a time, or was hidden after the event.
        """
        state = self._hidden.get(identity)
        if state and state.until is None and not (at and at <= state.seen):
            self.unhide(identity)

    def bookmark(self, identity: str) -> bool:
        """Toggle a bookmark. Returns whether the change request is bookmarked now."""
        self._bookmarks ^= {identity}
        is_on = identity in self._bookmarks
        self._outbox.remember(BOOKMARK + identity, "1" if is_on else None)
        return is_on

    def is_bookmarked(self, identity: str) -> bool:
        """Return whether a change request is bookmarked."""
        return identity in self._bookmarks

    def _hide(self, request: ChangeRequest, until: float | None, *, is_done: bool = True) -> None:
        revision = request.revision if request.id in self.followed else ""
        self._hidden[request.id] = state = HiddenState(request.updated_at, until, is_done, revision)
        self._outbox.remember(HIDDEN + request.id, json.dumps(asdict(state)))


def wake_time(choice: str, now: datetime) -> float | None:
    """Return the time at which a snoozed change request returns, in seconds since the epoch; None for new activity.

    Args:
        choice: `tomorrow`, `week` for the next Monday, or `activity`.
        now: the current time, in the local zone.
    """
    if choice == "activity":
        return None
    days = 1 if choice == "tomorrow" else 7 - now.weekday()
    # without the offset of `now`, which may be another one by then: the clocks change
    morning = (now + timedelta(days=days)).replace(hour=MORNING, minute=0, second=0, microsecond=0, tzinfo=None)
    return morning.timestamp()
