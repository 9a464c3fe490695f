"""Ids, which sort by creation time, and timestamps, which are UTC text of fixed length."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import count
from typing import NamedTuple
from uuid import UUID

Clock = Callable[[], datetime]
"""A function that returns the current time; tests and samples pass their own."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME, _CHANCE = 11, 9
"""Number of characters for time and random bits in an id. 55 bits of microseconds last for a thousand years."""


class _Counters(NamedTuple):
    """The next numbers within a block of `counted_ids`."""

    ids: Iterator[int]
    uuids: Iterator[int]


_lock = threading.Lock()
_newest = 0
_counted: ContextVar[_Counters | None] = ContextVar("_counted", default=None)


def new_id() -> str:
    """Return a random id of 20 characters that sorts after all earlier ids of this process."""
    counted = _counted.get()
    if counted is not None:
        number = next(counted.ids)
        return _text(number, _TIME) + hashlib.sha256(b"%d" % number).hexdigest()[:_CHANCE]
    return _text(_new_moment(), _TIME) + _text(secrets.randbits(5 * _CHANCE), _CHANCE)


def new_uuid() -> str:
    """Return a random UUID (version 8) that sorts after all earlier UUIDs of this process."""
    counted = _counted.get()
    moment, chance = (_new_moment(), secrets.randbits(62)) if counted is None else (next(counted.uuids), 0)
    return str(UUID(int=moment >> 12 << 80 | 8 << 76 | (moment & 0xFFF) << 64 | 2 << 62 | chance))


def _new_moment() -> int:
    """Return the time in microseconds, or the next number after the result of the previous call if that is larger."""
    global _newest  # shared by all threads, so that ids have one order
    with _lock:
        _newest = max(time.time_ns() // 1000, _newest + 1)
        return _newest


@contextmanager
def counted_ids() -> Generator[None, None, None]:
    """Make ids reproducible within the block, for the sample. Such ids are predictable."""
    before = _counted.set(_Counters(count(1), count(1)))
    try:
        yield
    finally:
        _counted.reset(before)


def document_id(markdown: str) -> str:
    """Return the id of a document, a hash of its text."""
    return hashlib.sha256(markdown.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hash_token(token: str) -> str:
    """Return the hash of a token. Tokens are only stored as hashes."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def system_clock() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def moment_text(moment: datetime) -> str:
    """Format a time as it is stored, such as ``2026-05-20T09:30:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
