"""Ids and moments: ids sort in the order in which they were made, moments are UTC text of fixed width."""

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

Clock = Callable[[], datetime]
"""What tells the time; tests and samples bring their own."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME, _CHANCE = 11, 9
"""Characters of each part: 55 bits of microseconds last for a thousand years."""
_lock = threading.Lock()
_newest = 0
_counted: ContextVar[Iterator[int] | None] = ContextVar("_counted", default=None)


def new_id() -> str:
    """An id of 20 characters that nobody can guess and that sorts after those made before."""
    global _newest  # one order for the whole process
    counted = _counted.get()
    if counted is not None:
        number = next(counted)
        return _text(number, _TIME) + hashlib.sha256(b"%d" % number).hexdigest()[:_CHANCE]
    with _lock:
        _newest = max(time.time_ns() // 1000, _newest + 1)
        moment = _newest
    return _text(moment, _TIME) + _text(secrets.randbits(5 * _CHANCE), _CHANCE)


@contextmanager
def counted_ids() -> Generator[None, None, None]:
    """In this block ids are the same each time, for a sample; anybody can guess them."""
    before = _counted.set(count(1))
    try:
        yield
    finally:
        _counted.reset(before)


def document_id(markdown: str) -> str:
    """The id of a text, which is the same for equal texts."""
    return hashlib.sha256(markdown.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def token_mark(token: str) -> str:
    """What the service keeps of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def system_clock() -> datetime:
    """The time now."""
    return datetime.now(UTC)


def moment_text(moment: datetime) -> str:
    """A moment as it is stored and sent, such as ``2026-05-20T09:30:00.000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _text(number: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
