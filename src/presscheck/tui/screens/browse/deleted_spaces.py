"""Deleted spaces that can be restored.

The service cannot list deleted spaces, but the response for a single space tells an admin when it was deleted. So the
candidates are the spaces that the user deleted in this app, and spaces that have disappeared from the tree.
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
"""Time after which the service removes a deleted space permanently."""
MOST = 100
"""Maximum number of remembered candidates."""


class DeletedSpace(NamedTuple):
    """A deleted space that can still be restored."""

    id: str
    title: str
    deleted_at: str

    def time_left(self) -> str:
        """Return the time left for restoring the space, such as `6 days left`."""
        moment = parse_time(self.deleted_at)
        seconds = (moment + RESTORABLE - now()).total_seconds() if moment else 0.0
        return f"{count(int(seconds // DAY), 'day')} left" if seconds >= DAY else "less than a day left"


class DeletedSpaces:
    """The deleted spaces that can be restored.

    Spaces that disappear are remembered, and the service is asked which of them are deleted.

    Args:
        engine: reads spaces, and stores the remembered spaces.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def remember(self, organization: str, gone: Iterable[Space]) -> None:
        """Remember spaces that have disappeared from the tree."""
        titles = self._titles(organization)
        titles |= {space.id: space.title for space in gone}
        self._store(organization, titles)

    async def restorable(self, organization: str) -> list[DeletedSpace]:
        """Return the deleted spaces that the user can restore, last deleted first.

        Raises:
            PresscheckError: the service could not be reached.
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
        # spaces that were remembered during the requests were not requested, so they stay remembered
        ended, titles = titles.keys() - known, self._titles(organization)
        self._store(organization, {identity: title for identity, title in titles.items() if identity not in ended})
        deleted = [DeletedSpace(space.id, space.title, space.deleted_at or "") for space in spaces]
        return sorted(deleted, key=lambda space: space.deleted_at, reverse=True)

    async def _deleted(self, identity: str) -> Space | None:
        """Return the space if it is deleted and the user can restore it."""
        try:
            space = await self._engine.read(GetSpace(space_id=identity))
        except (NotFound, Forbidden):
            return None
        moment = parse_time(space.deleted_at)
        return space if moment and moment + RESTORABLE > now() else None

    def _titles(self, organization: str) -> dict[str, str]:
        """Return the titles of the remembered spaces by id, in the order in which they were remembered."""
        return json.loads(self._engine.outbox.recall(_key(organization)) or "{}")

    def _store(self, organization: str, titles: dict[str, str]) -> None:
        newest = dict(list(titles.items())[-MOST:])
        self._engine.outbox.remember_if_possible(_key(organization), json.dumps(newest))


def _key(organization: str) -> str:
    return f"gone spaces {organization}"
