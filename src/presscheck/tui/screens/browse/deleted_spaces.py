"""Deleted spaces that can be restored.

The service has no list of deleted spaces, but tells an admin of a space when it was deleted. So the candidates for
being restored are the spaces that the user deleted here, and those that were in the tree and are no more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from presscheck.api.spaces import DeleteSpace, GetSpace
from presscheck.errors import Forbidden, NotFound
from presscheck.text.phrases import DAY, count, now, parse_time

if TYPE_CHECKING:
    from presscheck.api.spaces import Space
    from presscheck.engine.engine import Engine

RESTORABLE = timedelta(days=7)
"""How long the service keeps a deleted space."""
MOST = 100
"""The most candidates that are remembered."""


class DeletedSpace(NamedTuple):
    """A space that can be restored."""

    id: str
    title: str
    deleted_at: str

    def time_left(self) -> str:
        """How long it can be restored: `6 days left`."""
        moment = parse_time(self.deleted_at)
        seconds = (moment + RESTORABLE - now()).total_seconds() if moment else 0.0
        return f"{count(int(seconds // DAY), 'day')} left" if seconds >= DAY else "less than a day left"


class DeletedSpaces:
    """Remembers the spaces that disappeared, and asks the service which of them are deleted.

    Args:
        engine: reads, and stores what is remembered.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remember(self, organization: str, gone: Iterable[Space]) -> None:
        """Remember spaces that are not in the tree any more."""
        titles = self._titles(organization)
        titles |= {space.id: space.title for space in gone}
        self._store(organization, titles)

    async def restorable(self, organization: str) -> list[DeletedSpace]:
        """The deleted spaces that the user can restore, the last deleted first.

        Raises:
            PresscheckError: the service cannot be asked.
        """
        titles = self._titles(organization)
        own = [
            entry.call.space_id
            for entry in self._engine.history()
            if isinstance(entry.call, DeleteSpace) and entry.state == "sent"
        ]
        answers = await asyncio.gather(*(self._deleted(identity) for identity in dict.fromkeys((*titles, *own))))
        spaces = [space for space in answers if space is not None and space.organization == organization]
        known = {space.id for space in spaces}
        # more may have been remembered while the service was asked, and it was not asked about those
        ended, titles = titles.keys() - known, self._titles(organization)
        self._store(organization, {identity: title for identity, title in titles.items() if identity not in ended})
        deleted = [DeletedSpace(space.id, space.title, space.deleted_at or "") for space in spaces]
        return sorted(deleted, key=lambda space: space.deleted_at, reverse=True)

    async def _deleted(self, identity: str) -> Space | None:
        """A space if it is deleted and can be restored by the user."""
        try:
            space = await self._engine.read(GetSpace(space_id=identity))
        except (NotFound, Forbidden):
            return None
        moment = parse_time(space.deleted_at)
        return space if moment and moment + RESTORABLE > now() else None

    def _titles(self, organization: str) -> dict[str, str]:
        """The titles of the remembered spaces by id, the oldest first."""
        return json.loads(self._engine.outbox.recall(_key(organization)) or "{}")

    def _store(self, organization: str, titles: dict[str, str]) -> None:
        self._engine.outbox.remember(_key(organization), json.dumps(dict(list(titles.items())[-MOST:])))


def _key(organization: str) -> str:
    return f"gone spaces {organization}"
