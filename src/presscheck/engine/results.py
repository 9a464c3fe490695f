"""Results of reads with their age, and windows of listings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from presscheck.errors import PresscheckError

T = TypeVar("T")
M = TypeVar("M")

State = Literal["cached", "fresh", "unchanged", "offline", "failed"]
"""Source of a result: `cached` (from the cache, before a request), `fresh` and `unchanged` (from the service, changed
or not), `offline` and `failed` (from the cache, because the service could not be reached or returned an error)."""


@dataclass(frozen=True)
class Result(Generic[T]):
    """A response with its age in seconds, and the error if a newer response could not be fetched.

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
        total: the number of rows of the whole listing; if it is unknown, the number of cached rows.
        age: seconds since the listing was fetched; None if it was never fetched.
        complete: whether all rows are cached.
        is_total_known: whether `total` is the number of rows of the whole listing.
    """

    items: tuple[M, ...]
    start: int
    total: int
    age: float | None
    complete: bool
    is_total_known: bool = True
