"""Who looks at what: each open watch is a wish that is woken when its answer may have changed, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Any

from presscheck.api.operation import Operation
from presscheck.engine.path_patterns import matches


class Subscription:
    """One watch: whether the service must be asked again, and a bell."""

    def __init__(self, call: Operation[Any]) -> None:
        self.call, self.key = call, call.key()
        self._paths = {call.wire_path()}
        fields = call.path_fields()
        self._last_field = fields[-1] if fields and call.route.endswith(f"{{{fields[-1]}}}") else ""
        self._is_stale, self._bell = True, asyncio.Event()

    def touched_by(self, patterns: Collection[str]) -> bool:
        """Whether one of these patterns describes what is looked at."""
        return any(matches(path, patterns) for path in self._paths)

    def answered(self, answer: object) -> None:
        """Learn the id of what is looked at, where it was named otherwise, such as by a number: writes use the id."""
        identity, name = getattr(answer, "id", None), self._last_field
        if name and isinstance(identity, str) and identity not in ("", getattr(self.call, name)):
            self._paths.add(self.call.model_copy(update={name: identity}).wire_path())

    def take_stale(self) -> bool:
        """Whether the service must be asked; asking it is then the caller's duty."""
        was, self._is_stale = self._is_stale, False
        return was

    def ring(self, *, stale: bool) -> None:
        """Something changed: in the store only, or at the service too."""
        self._is_stale = self._is_stale or stale
        self._bell.set()

    async def changed(self) -> None:
        """Wait for the bell."""
        await self._bell.wait()
        self._bell.clear()


class Subscriptions:
    """All open watches."""

    def __init__(self) -> None:
        self._wishes: list[Subscription] = []

    @contextmanager
    def of(self, call: Operation[Any]) -> Generator[Subscription]:
        """A watch of a call, open for as long as the block."""
        wish = Subscription(call)
        self._wishes.append(wish)
        try:
            yield wish
        finally:
            self._wishes.remove(wish)

    def keys(self) -> frozenset[str]:
        """The keys of what is looked at now."""
        return frozenset(wish.key for wish in self._wishes)

    def stale(self, key: str | None) -> None:
        """Ask again: for one call by its key, or for all."""
        for wish in self._wishes:
            if key is None or wish.key == key:
                wish.ring(stale=True)

    def stale_paths(self, patterns: Collection[str]) -> None:
        """Ask again wherever the path of the read matches one of these."""
        self._ring(patterns, stale=True)

    def news(self, keys: Collection[str]) -> None:
        """The store has something new for these calls, which somebody else asked for."""
        for wish in self._wishes:
            if wish.key in keys:
                wish.ring(stale=False)

    def news_paths(self, patterns: Collection[str]) -> None:
        """What is known changed here, as by a write that waits, wherever the path of the read matches one of these."""
        self._ring(patterns, stale=False)

    def _ring(self, patterns: Collection[str], *, stale: bool) -> None:
        for wish in self._wishes:
            if wish.touched_by(patterns):
                wish.ring(stale=stale)
