"""What a person put away, until when, and what they want to find again: kept beside the outbox, never thrown away.

What is done comes back with the next thing that happens to it; what is snoozed comes back then, or at its time.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from presscheck.store.outbox import Outbox

AWAY, BOOKMARK = "away ", "bookmark "


@dataclass(frozen=True)
class Away:
    """How a change request was put away: `seen` is when it last changed before that, `until` when it comes back."""

    seen: str
    until: float | None = None
    is_done: bool = True


class Triage:
    """The change requests that were put away or bookmarked, by id."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._away = {key: Away(**json.loads(text)) for key, text in outbox.recall_all(AWAY).items()}
        self._bookmarks = set(outbox.recall_all(BOOKMARK))

    @property
    def put_away(self) -> Iterable[str]:
        """Everything that was ever put away and not brought back by hand."""
        return self._away.keys()

    def done(self, request: ChangeRequest) -> None:
        """Put it away until something happens to it."""
        self._put(request, Away(request.updated_at or ""))

    def snooze(self, request: ChangeRequest, until: float | None) -> None:
        """Put it away until a moment (seconds since the epoch), or until something happens to it."""
        self._put(request, Away(request.updated_at or "", until, is_done=False))

    def bring_back(self, identity: str) -> bool:
        """Put it away no longer; whether it was."""
        self._outbox.remember(AWAY + identity, None)
        return self._away.pop(identity, None) is not None

    def away(self, request: ChangeRequest) -> Away | None:
        """How it is put away now; None where it never was, or came back."""
        found = self._away.get(request.id)
        if found is None or (found.until is not None and found.until <= time.time()):
            return None
        # until a moment means until then, whatever happens meanwhile
        return found if found.until is not None or (request.updated_at or "") <= found.seen else None

    def bookmark(self, identity: str) -> bool:
        """Bookmark it, or no longer; whether it is now."""
        self._bookmarks ^= {identity}
        is_on = identity in self._bookmarks
        self._outbox.remember(BOOKMARK + identity, "1" if is_on else None)
        return is_on

    def is_bookmarked(self, identity: str) -> bool:
        """Whether it is to be found again."""
        return identity in self._bookmarks

    def _put(self, request: ChangeRequest, away: Away) -> None:
        self._away[request.id] = away
        said = {"seen": away.seen, "until": away.until, "is_done": away.is_done}
        self._outbox.remember(AWAY + request.id, json.dumps(said))
