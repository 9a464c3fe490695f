"""Done, snoozed and bookmarked change requests; stored next to the outbox, never evicted.

One that is done is shown again after the next event or new content; one that is snoozed, at its time or, without a
time, in the same way. One without events, because it was not polled yet, is shown again after any update.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from presscheck.store.outbox import Outbox

HIDDEN, BOOKMARK = "away ", "bookmark "
"""Prefixes of the stored keys."""


@dataclass(frozen=True)
class HiddenState:
    """How a change request was hidden.

    Attributes:
        seen: the time of its last update before it was hidden.
        until: when it is shown again, in seconds since the epoch; None for the next activity.
        revision: its revision when it was hidden; empty if it has no events, so that any update shows it again.
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
        """The ids of all change requests that were hidden and not shown again by the user."""
        return self._hidden.keys()

    def done(self, request: ChangeRequest) -> None:
        """Hide it until there is new activity."""
        self._hide(request, None)

    def snooze(self, request: ChangeRequest, until: float | None) -> None:
        """Hide it until a time (seconds since the epoch) or new activity."""
        self._hide(request, until, is_done=False)

    def unhide(self, identity: str) -> bool:
        """Show it again; returns whether it was hidden."""
        self._outbox.remember(HIDDEN + identity, None)
        return self._hidden.pop(identity, None) is not None

    def hidden_state(self, request: ChangeRequest) -> HiddenState | None:
        """How it is hidden now; None if it is not."""
        state = self._hidden.get(request.id)
        if state is None or (state.until is not None and state.until <= time.time()):
            return None
        # hidden until a time means until then, even if there is activity
        if state.until is not None:
            return state
        is_unchanged = request.revision == state.revision if state.revision else request.updated_at <= state.seen
        return state if is_unchanged else None

    def on_event(self, identity: str, at: str) -> None:
        """Show it again after an event at this time, unless it is hidden until a time or was hidden after the event."""
        state = self._hidden.get(identity)
        if state and state.until is None and not (at and at <= state.seen):
            self.unhide(identity)

    def bookmark(self, identity: str) -> bool:
        """Add or remove a bookmark; returns whether it is bookmarked now."""
        self._bookmarks ^= {identity}
        is_on = identity in self._bookmarks
        self._outbox.remember(BOOKMARK + identity, "1" if is_on else None)
        return is_on

    def is_bookmarked(self, identity: str) -> bool:
        """Whether it is bookmarked."""
        return identity in self._bookmarks

    def _hide(self, request: ChangeRequest, until: float | None, *, is_done: bool = True) -> None:
        revision = request.revision if request.id in self.followed else ""
        self._hidden[request.id] = state = HiddenState(request.updated_at, until, is_done, revision)
        self._outbox.remember(HIDDEN + request.id, json.dumps(asdict(state)))
