"""Keeps what a site has before this program changes it: the one place where snapshots of sites are taken.

Each write passes here before it is sent, whether a screen, a command or another instance made it. Changes of single
items that follow each other (a drag of the structure, an import of redirects) share the snapshot before the first one.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from presscheck.api import site_settings, site_structure, sites
from presscheck.api.operation import Operation
from presscheck.client.request_priority import Priority
from presscheck.engine.connection_state import Status
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.site_config.document import Part, SiteConfig
from presscheck.engine.site_config.site_state import StateReader
from presscheck.engine.site_config.snapshots import LONGEST_BURST, Kind, Snapshot, Snapshots
from presscheck.engine.writes.descriptions import describe
from presscheck.errors import NetworkError, PresscheckError, StoreError, TooManyRequests

T = TypeVar("T")
RESTORABLE: tuple[Part, ...] = ("visitor_schema", "structure", "redirects", "customization")
"""The parts of a snapshot; share links are not among them, because one that is made again has another address."""
PART_OF: Mapping[Kind, Part] = {
    "structure": "structure",
    "customization": "customization",
    "schema": "visitor_schema",
    "redirects": "redirects",
}
"""The part that a kind of change changes."""
KIND_OF: Mapping[type[Operation[Any]], Kind] = {
    sites.PublishSite: "published",
    sites.UnpublishSite: "unpublished",
    **dict.fromkeys(
        (
            site_structure.SortSiteStructure,
            site_structure.AddSiteSpace,
            site_structure.UpdateSiteSpace,
            site_structure.DeleteSiteSpace,
            site_structure.AddSection,
            site_structure.UpdateSection,
            site_structure.DeleteSection,
            site_structure.AddSectionGroup,
            site_structure.UpdateSectionGroup,
            site_structure.DeleteSectionGroup,
        ),
        "structure",
    ),
    site_settings.UpdateCustomization: "customization",
    site_settings.UpdateAdaptiveSchema: "schema",
    **dict.fromkeys(
        (site_settings.CreateRedirect, site_settings.UpdateRedirect, site_settings.DeleteRedirect), "redirects"
    ),
}
"""The writes that belong to the history of a site, and what they change."""
SINGLE_ITEMS: tuple[Kind, ...] = ("structure", "redirects")
"""Changes of single items: they share a snapshot while they follow each other. The others replace a whole document."""


class _ServiceReader:
    """Reads from the service, never from the cache, so it is online as long as it answers."""

    status = Status()

    def __init__(self, read: Callable[[Operation[Any]], Awaitable[Any]]) -> None:
        self._read = read

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        """The response of the service."""
        del priority  # the write waits for it
        return await self._read(call)


class SnapshotRecorder:
    """Takes the snapshots of the sites of one profile.

    Args:
        directory: the directory of the snapshots; None keeps none.
        read: returns the response of the service to a read, not cached.
        who: returns the name of the signed-in user.
        notice: tells the user that a snapshot could not be kept.
    """

    def __init__(
        self,
        directory: Path | None,
        read: Callable[[Operation[Any]], Awaitable[Any]],
        who: Callable[[], str],
        notice: Callable[[str], None],
    ) -> None:
        self._directory, self._reader, self._who, self._notice = directory, _ServiceReader(read), who, notice
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._announced: dict[tuple[str, Part], float] = {}
        """The parts that a push kept before its calls, and when."""

    async def before(self, call: Operation[Any], number: int) -> None:
        """Keep what a write is going to change, unless the snapshot before the last change has it.

        Args:
            call: the write.
            number: its number in the outbox.

        Raises:
            NetworkError: the service cannot be reached.
            TooManyRequests: the rate limit is reached.
        """
        kind = KIND_OF.get(type(call))
        if self._directory is None or kind is None or kind == "unpublished":  # that may be urgent
            return
        site_id: str = getattr(call, "site_id", "")
        parts = RESTORABLE if kind == "published" else (PART_OF[kind],)
        async with self._locks[site_id]:
            if kind != "published":
                is_kept = self._is_announced(site_id, parts[0])
                is_shared = kind in SINGLE_ITEMS and await asyncio.to_thread(self.of(site_id).shares, kind, parts[0])
                if is_kept or is_shared:
                    return
            reader = StateReader(self._reader, getattr(call, "organization_id", ""), site_id)
            try:
                config = (await reader.read(parts)).config
                if not config.parts:  # it has no visitor schema yet, or the user may not read it
                    return
                await asyncio.to_thread(
                    Snapshots(self._directory, site_id).keep, config, kind, describe(call), self._who(), number
                )
            except (NetworkError, TooManyRequests):
                raise
            except StoreError as error:
                self._notice(error.message)
            except PresscheckError:  # the change is worth more than its snapshot
                return

    def keep(self, site_id: str, config: SiteConfig, changed: Collection[Part], what: str) -> Snapshot:
        """Keep what a site has before the calls of a push; they do not keep it again.

        Args:
            site_id: the site.
            config: what it has.
            changed: the parts that the calls change.
            what: the push in a few words.

        Raises:
            StoreError: it cannot be written.
        """
        if self._directory is None:
            raise StoreError("Could not keep a snapshot: there is no directory for them")
        kinds: list[Kind] = [kind for kind, part in PART_OF.items() if part in changed]
        kind: Kind = kinds[0] if len(kinds) == len({*changed}) == 1 else "configuration"
        snapshot = Snapshots(self._directory, site_id).keep(replace(config, share_links=None), kind, what, self._who())
        self._announced |= {(site_id, part): time.monotonic() for part in changed}
        return snapshot

    def of(self, site_id: str) -> Snapshots:
        """The snapshots of a site.

        Raises:
            StoreError: there is no directory for them.
        """
        if self._directory is None:
            raise StoreError("There are no snapshots: there is no directory for them")
        return Snapshots(self._directory, site_id)

    def _is_announced(self, site_id: str, part: Part) -> bool:
        """Whether a push kept this part before its calls; true once for each push."""
        return time.monotonic() - self._announced.pop((site_id, part), -math.inf) < LONGEST_BURST
