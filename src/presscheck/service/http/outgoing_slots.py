"""Limits the calls that wait for other servers and for scripts, so that one user cannot hold up the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from presscheck.service.http.operations import ApiError

MOST_OF_USER = 4
"""Calls of one user at once."""
MOST_OF_ORGANIZATION = 2
"""Calls at once that wait for the servers or scripts of one organization."""
MOST_WAITING = 100
"""Calls that may wait for the same user or organization."""
PATIENCE = 60.0
"""Seconds that a call waits for its turn."""


class OutgoingSlots:
    """Turns of users and organizations, first come, first served; waiting takes no thread.

    A call takes a turn of its user before one of the organization: whoever waits holds only turns of their own.
    """

    def __init__(
        self,
        *,
        of_user: int = MOST_OF_USER,
        of_organization: int = MOST_OF_ORGANIZATION,
        waiting: int = MOST_WAITING,
        patience: float = PATIENCE,
    ) -> None:
        self._limits = {"user": of_user, "organization": of_organization}
        self._most_waiting, self._patience = waiting, patience
        self._turns: dict[tuple[str, str], _Turns] = {}

    @asynccontextmanager
    async def turn(self, user_id: str, organization_id: str) -> AsyncGenerator[None, None]:
        """Waits for a turn and holds it for the duration of the block.

        Raises:
            ApiError: 429 if too many calls wait already, 503 if the turn does not come in time.
        """
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._patience):
                    for key in (("user", user_id), ("organization", organization_id)):
                        await held.enter_async_context(self._one(key))
            except TimeoutError:
                raise ApiError(503, "Calls that wait for other servers take too long; try again later.") from None
            yield

    def held(self) -> frozenset[tuple[str, str]]:
        """The users and organizations whose calls hold a turn or wait for one."""
        return frozenset(self._turns)

    @asynccontextmanager
    async def _one(self, key: tuple[str, str]) -> AsyncGenerator[None, None]:
        turns = self._turns.setdefault(key, _Turns(self._limits[key[0]]))
        if turns.count >= self._limits[key[0]] + self._most_waiting:
            raise ApiError(429, "Too many calls wait for other servers already; try again later.")
        turns.count += 1
        try:
            async with turns.free:
                yield
        finally:
            turns.count -= 1
            if not turns.count:
                self._turns.pop(key, None)


class _Turns:
    def __init__(self, limit: int) -> None:
        self.free = asyncio.Semaphore(limit)
        self.count = 0
        """Calls that hold a turn or wait for one."""
