"""Done, snoozed and bookmarked change requests; stored next to the outbox, never evicted.

What is done comes back with the next event, or with new content; what is snoozed comes back then, or at its time. What
nobody has looked at yet, so that no event can tell of it, comes back with whatever the service calls a change.
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

AWAY, BOOKMARK = "away ", "bookmark "


@dataclass(frozen=True)
class Away:
    """How a change request was hidden: `seen` is when it last changed before that, `until` when it comes back.

    `revision` is its content then; empty where no events told of it, and any change brings it back.
    """

    seen: str
    until: float | None = None
    is_done: bool = True
    revision: str = ""


class Triage:
    """The hidden and bookmarked change requests, by id."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._away = {key: Away(**json.loads(text)) for key, text in outbox.recall_all(AWAY).items()}
        self._bookmarks = set(outbox.recall_all(BOOKMARK))
        self.followed: Collection[str] = frozenset()
        """Change requests, by id, whose events are told."""

    @property
    def put_away(self) -> Iterable[str]:
        """Everything that was hidden and not restored by hand."""
        return self._away.keys()

    def done(self, request: ChangeRequest) -> None:
        """Hide it until there is new activity."""
        self._put(request, None)

    def snooze(self, request: ChangeRequest, until: float | None) -> None:
        """Hide it until a time (seconds since the epoch) or new activity."""
        self._put(request, until, is_done=False)

    def bring_back(self, identity: str) -> bool:
        """Show it again; returns whether it was hidden."""
        self._outbox.remember(AWAY + identity, None)
        return self._away.pop(identity, None) is not None

    def away(self, request: ChangeRequest) -> Away | None:
        """How it is hidden now; None if it is not."""
        found = self._away.get(request.id)
        if found is None or (found.until is not None and found.until <= time.time()):
            return None
        # until a moment means until then, whatever happens meanwhile
        if found.until is not None:
            return found
        is_as_it_was = request.revision == found.revision if found.revision else request.updated_at <= found.seen
        return found if is_as_it_was else None

    def something_happened(self, identity: str, at: str) -> None:
        """An event: what waits for that comes back, unless it was put away after the event (at a service's time)."""
        found = self._away.get(identity)
        if found and found.until is None and not (at and at <= found.seen):
            self.bring_back(identity)

    def bookmark(self, identity: str) -> bool:
        """Bookmark it, or no longer; whether it is now."""
        self._bookmarks ^= {identity}
        is_on = identity in self._bookmarks
        self._outbox.remember(BOOKMARK + identity, "1" if is_on else None)
        return is_on

    def is_bookmarked(self, identity: str) -> bool:
        """Whether it is to be found again."""
        return identity in self._bookmarks

    def _put(self, request: ChangeRequest, until: float | None, *, is_done: bool = True) -> None:
        revision = request.revision if request.id in self.followed else ""
        self._away[request.id] = away = Away(request.updated_at, until, is_done, revision)
        self._outbox.remember(AWAY + request.id, json.dumps(asdict(away)))
