"""The progress of a sync and an estimate of the remaining time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

DEFAULT_REQUESTS = 4.0
"""The estimated number of requests for a part before any part of its kind was synced."""


@dataclass(frozen=True)
class Progress:
    """The progress of a sync, as counts.

    Attributes:
        spaces: spaces in the sync.
        change_requests: change requests in the sync.
        parts: parts that changed since the last sync.
        done: changed parts that are synced.
        requests: requests that were sent.
        left: the estimated remaining time in seconds; None if unknown.
        refused: requests that the service denied.
        failed: requests that failed and are repeated in the next sync.
        waits: seconds to wait for the rate limit; 0 if it is not reached.
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
    """A counter of the steps of a sync, which estimates the remaining time."""

    def __init__(self) -> None:
        self._counts = Progress()
        self._started: float | None = None
        self._requests_before = 0
        self._queued = 0
        self._waiting, self._finished, self._taken = Counter[str](), Counter[str](), Counter[str]()

    def count(self, **more: int) -> None:
        """Add to the counts with these names; see `Progress`."""
        counted: dict[str, Any] = {name: getattr(self._counts, name) + number for name, number in more.items()}
        self._counts = replace(self._counts, **counted)

    def waits(self, seconds: float) -> None:
        """Set the seconds to wait for the rate limit; 0 when the wait is over."""
        self._counts = replace(self._counts, waits=seconds)

    def begin(self, kinds: Iterable[str]) -> None:
        """Set the kinds of all changed parts, and start measuring the time."""
        self._waiting.update(kinds)
        self.count(parts=self._waiting.total())
        self._started, self._requests_before = time.monotonic(), self._counts.requests

    def queued(self, number: int) -> None:
        """Add to the number of responses known to be missing. `number` is negative when responses were fetched."""
        self._queued += number

    def begin_part(self, kind: str) -> int:
        """Start a part. Returns the number of requests so far, for `end_part`."""
        self._waiting[kind] -= 1
        return self._counts.requests

    def end_part(self, kind: str, requests_before: int) -> None:
        """Finish a part, and add the requests since `begin_part` to the requests of its kind."""
        self._finished[kind] += 1
        self._taken[kind] += self._counts.requests - requests_before
        self.count(done=1)

    def progress(self) -> Progress:
        """Return the current progress."""
        return replace(self._counts, left=self._seconds_left())

    def _seconds_left(self) -> float | None:
        """Estimate the remaining seconds from the request rate so far and the mean number of requests per kind of part.

        Returns None if no requests were sent yet.
        """
        sent = self._counts.requests - self._requests_before
        if self._started is None or not sent:
            return None
        means = {kind: self._taken[kind] / number for kind, number in self._finished.items()}
        remaining = self._queued + sum(
            number * means.get(kind, DEFAULT_REQUESTS) for kind, number in self._waiting.items()
        )
        return remaining * (time.monotonic() - self._started) / sent
