"""Return types of the engine: results with their age, windows of listings, outbox entries, the connection status."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from presscheck.api.operation import Operation
from presscheck.errors import PresscheckError

T = TypeVar("T")
M = TypeVar("M")

State = Literal["cached", "fresh", "unchanged", "offline", "failed"]
"""Source of a result: `cached` (from the cache, before a request), `fresh` and `unchanged` (from the service; changed
or not), `offline` and `failed` (from the cache, because the service could not be reached or returned an error)."""


@dataclass(frozen=True)
class Result(Generic[T]):
    """A response, its age in seconds, and the error if a newer one could not be fetched.

    `value` is None if nothing is cached.
    """

    value: T
    state: State
    age: float
    error: PresscheckError | None = None


@dataclass(frozen=True)
class Window(Generic[M]):
    """Rows of a listing from `start` on.

    Attributes:
        total: the number of rows of the whole listing, or of the cached ones if that is unknown.
        age: seconds since the listing was fetched; None if it never was.
        complete: whether all rows are cached.
        is_total_known: whether `total` is the number of rows of the whole listing.
    """

    items: tuple[M, ...]
    start: int
    total: int
    age: float | None
    complete: bool
    is_total_known: bool = True


@dataclass(frozen=True)
class OutboxEntry:
    """A write that is not sent yet.

    Attributes:
        call: the operation; None if this version cannot read it (state `parked`).
        state: `waiting`, `collected`, `sending`, `refused` or `parked`; see `store.outbox.Row`.
        error: why it failed.
        created_at: seconds since the epoch.
    """

    id: int
    call: Operation[Any] | None
    name: str
    state: str
    error: str | None
    created_at: float


@dataclass(frozen=True)
class Status:
    """The connection status and the numbers of pending (`waiting`) and failed (`refused`) writes.

    Attributes:
        offline_since: seconds since the epoch; None while online.
        running: a description of the task in progress.
    """

    online: bool = True
    offline_since: float | None = None
    waiting: int = 0
    refused: int = 0
    running: str | None = None
    read_only: bool = False


class PendingWrite(Generic[T]):
    """A write that the engine accepted. `id` is its outbox row, or 0 if it is sent immediately."""

    def __init__(self, number: int, call: Operation[T], outcome: asyncio.Future[T | None]) -> None:
        self.id, self.call, self._outcome = number, call, outcome

    async def landed(self) -> T | None:
        """Wait until it is sent, and return the response; None if another instance sent it.

        Raises:
            PresscheckError: the service rejected it, or the request failed.
        """
        return await asyncio.shield(self._outcome)
