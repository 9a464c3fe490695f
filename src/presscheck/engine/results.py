"""What the engine hands out: an answer with its age, rows of a listing, a write that waits, the state of the world."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from presscheck.api.operation import Operation
from presscheck.errors import PresscheckError

T = TypeVar("T")
M = TypeVar("M")

State = Literal["cached", "fresh", "unchanged", "offline", "failed"]
"""Where an answer comes from: the store, before anything was asked; the service, with news or without; the store again,
because the service cannot be reached or said no."""


@dataclass(frozen=True)
class Result(Generic[T]):
    """An answer, how old it is in seconds, and why there is no newer one. `value` is None where nothing is known."""

    value: T
    state: State
    age: float
    error: PresscheckError | None = None


@dataclass(frozen=True)
class Window(Generic[M]):
    """Rows of a listing from `start` on; `total` counts all; `age` is None where it was never fetched."""

    items: tuple[M, ...]
    start: int
    total: int
    age: float | None
    complete: bool


@dataclass(frozen=True)
class OutboxEntry:
    """A write that is not sent. `state` is waiting, collected, sending, refused, or parked: then `call` is None."""

    id: int
    call: Operation[Any] | None
    name: str
    state: str
    error: str | None
    created_at: float


@dataclass(frozen=True)
class Status:
    """The state of the world in a few words."""

    online: bool = True
    offline_since: float | None = None
    waiting: int = 0
    refused: int = 0
    running: str | None = None
    read_only: bool = False


class PendingWrite(Generic[T]):
    """A write that was taken. `id` is its row in the outbox, 0 where it was sent at once."""

    def __init__(self, number: int, call: Operation[T], outcome: asyncio.Future[T | None]) -> None:
        self.id, self.call, self._outcome = number, call, outcome

    async def landed(self) -> T | None:
        """What the service answered; None where another window sent it.

        Raises:
            PresscheckError: what the service said instead.
        """
        return await asyncio.shield(self._outcome)
