"""How far a mirror is, and how long it still takes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

GUESS = 4.0
"""Requests that a part takes, as long as none of its kind was brought in."""


@dataclass(frozen=True)
class Progress:
    """How far it is.

    Attributes:
        spaces: spaces in the mirror.
        change_requests: change requests in it.
        parts: how many parts of those moved since they were brought in.
        done: how many of these are brought in by now.
        requests: what was asked of the service.
        left: seconds that it takes from now on, where that can be told.
        refused: answers that the service refuses to give.
        failed: answers that did not come, and are asked for the next time.
        waits: seconds that the service wants us to wait now; 0 where it does not.
    """

    spaces: int = 0
    change_requests: int = 0
    parts: int = 0
    done: int = 0
    requests: int = 0
    left: float | None = None
    refused: int = 0
    failed: int = 0
    waits: float = 0.0


class ProgressCounter:
    """Counts along, and tells."""

    def __init__(self) -> None:
        self._now = Progress()
        self._began: float | None = None
        self._requests_before = 0
        self._queued = 0
        self._waiting, self._finished, self._taken = Counter[str](), Counter[str](), Counter[str]()

    def count(self, **more: int) -> None:
        """So many more, by the names in `Progress`."""
        counted: dict[str, Any] = {name: getattr(self._now, name) + number for name, number in more.items()}
        self._now = replace(self._now, **counted)

    def waits(self, seconds: float) -> None:
        """The service wants us to wait, or (0) no longer."""
        self._now = replace(self._now, waits=seconds)

    def begin(self, kinds: Iterable[str]) -> None:
        """The parts that moved are known now, here by their kinds."""
        self._waiting.update(kinds)
        self.count(parts=self._waiting.total())
        self._began, self._requests_before = time.monotonic(), self._now.requests

    def queued(self, number: int) -> None:
        """So many more answers are known to be missing; fewer, where it is negative."""
        self._queued += number

    def begin_part(self, kind: str) -> int:
        """A part is begun; what `end_part` is given."""
        self._waiting[kind] -= 1
        return self._now.requests

    def end_part(self, kind: str, begun: int) -> None:
        """A part is brought in."""
        self._finished[kind] += 1
        self._taken[kind] += self._now.requests - begun
        self.count(done=1)

    def progress(self) -> Progress:
        """How far it is now."""
        return replace(self._now, left=self._seconds_left())

    def _seconds_left(self) -> float | None:
        """By the requests so far in a second, and those that the parts of each kind took."""
        asked = self._now.requests - self._requests_before
        if self._began is None or not asked:
            return None
        means = {kind: self._taken[kind] / number for kind, number in self._finished.items()}
        to_ask = self._queued + sum(number * means.get(kind, GUESS) for kind, number in self._waiting.items())
        return to_ask * (time.monotonic() - self._began) / asked
