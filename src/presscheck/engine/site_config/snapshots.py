"""Snapshots of sites: the configuration before a change or after a publish, in files that can be restored.

A file has two lines of JSON: a head with the change, its time and its user, then the document with the changed parts,
in the form of `document`. Keys of share links and of visitor sign-in are therefore never in a snapshot.

Only the recorder takes snapshots. Every write passes the recorder before it is sent, whether it comes from a screen, a
command or another instance. A publish does not change the document and passes the recorder afterwards. Consecutive
changes of single items, such as a drag in the structure or an import of redirects, share the snapshot before the first
change.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_args

from presscheck.api import site_settings, site_structure, sites
from presscheck.api.operation import Operation
from presscheck.client.request_priority import Priority
from presscheck.config.file_replacement import replace_file
from presscheck.engine.connection import Status
from presscheck.engine.reads.scheduler import REQUESTED
from presscheck.engine.site_config.document import PARTS, Part, SiteConfig
from presscheck.engine.site_config.site_state import StateReader
from presscheck.engine.site_config.validation import parse
from presscheck.engine.writes.descriptions import describe
from presscheck.errors import (
    ConfigurationError,
    InvalidArgument,
    NetworkError,
    PresscheckError,
    StoreError,
    TooManyRequests,
)
from presscheck.paths import PRIVATE_FILE, make_private_directory

KEPT = 50
"""Maximum number of snapshots of a site; older snapshots are deleted."""
MAX_BYTES = 20 << 20
"""Maximum size of all snapshots of a profile in bytes. The oldest are deleted, except the newest of each site."""
SUFFIX = ".snapshot"
Kind = Literal["published", "unpublished", "structure", "customization", "schema", "redirects", "configuration"]
"""The kind of a change; `configuration` stands for several parts at once."""
KINDS: tuple[Kind, ...] = get_args(Kind)
BURST = 60.0
"""Maximum number of seconds between two changes of single items that share a snapshot."""
LONGEST_BURST = 600.0
"""Maximum number of seconds between a snapshot and the last change that shares it."""
_NAME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{6}Z(?:-\d+)?")
T = TypeVar("T")
RESTORABLE: tuple[Part, ...] = ("visitor_schema", "structure", "redirects", "customization")
"""The parts of a snapshot. Share links are excluded: a share link that is created again gets a new address."""
PART_OF: Mapping[Kind, Part] = {
    "structure": "structure",
    "customization": "customization",
    "schema": "visitor_schema",
    "redirects": "redirects",
}
"""The changed part for each kind of change."""
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
"""The writes that belong to the history of a site, with the kind of their change."""
SINGLE_ITEMS: tuple[Kind, ...] = ("structure", "redirects")
"""Kinds that change single items; consecutive changes share a snapshot. All other kinds replace a whole document."""


@dataclass(frozen=True)
class Snapshot:
    """A snapshot, without its document.

    Attributes:
        name: the time of the snapshot, such as `2026-11-23T120000Z`; a number follows if the time is not unique.
        file: the path of the file.
        at: the time in seconds since the epoch.
        kind: the kind of the change.
        what: the change in a few words; not sanitized.
        who: the name of the user who made the change; empty if unknown.
        parts: the parts in the document.
        write: the number of the write in the outbox; 0 if unknown.
    """

    name: str
    file: Path
    at: float
    kind: Kind
    what: str = ""
    who: str = ""
    parts: tuple[Part, ...] = ()
    write: int = 0


class Snapshots:
    """The snapshots of one site.

    Args:
        directory: the directory of the profile's snapshots.
        site_id: the id of the site.
    """

    def __init__(self, directory: Path, site_id: str) -> None:
        self._root, self._directory = directory, directory / re.sub(r"[^\w-]", "_", site_id)

    @property
    def is_empty(self) -> bool:
        """Whether the site has no snapshots."""
        return not _files(self._directory)

    def every(self) -> tuple[Snapshot, ...]:
        """Return all snapshots, newest first, without damaged files."""
        found = (_head(file) for file in _files(self._directory))
        return tuple(sorted(filter(None, found), key=lambda snapshot: _age(snapshot.name), reverse=True))

    def config(self, snapshot: Snapshot) -> SiteConfig:
        """Read the document of a snapshot.

        Raises:
            ConfigurationError: the file cannot be read or is damaged.
        """
        try:
            config, problems = parse(json.loads(snapshot.file.read_text("utf-8").split("\n", 1)[1]))
        except OSError as error:
            raise ConfigurationError(f"{snapshot.file}: cannot be read: {error.strerror}") from None
        except (ValueError, IndexError, AttributeError):
            raise ConfigurationError(f"{snapshot.file}: is damaged: choose another snapshot") from None
        if problems:
            raise ConfigurationError(f"{snapshot.file}: is damaged ({problems[0]}): choose another snapshot")
        return config

    def keep(self, config: SiteConfig, kind: Kind, what: str = "", who: str = "", write: int = 0) -> Snapshot:
        """Write a snapshot and delete old ones. Blocks until the file is on disk.

        Args:
            config: the configuration of the site.
            kind: the kind of the change.
            what: the change in a few words.
            who: the name of the user who makes the change.
            write: the number of the write in the outbox.

        Raises:
            StoreError: the file cannot be written.
        """
        at = time.time()
        try:
            make_private_directory(self._directory)
            moment, number = f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H%M%SZ}", 1
            name = moment
            while (file := self._directory / f"{name}{SUFFIX}").exists():
                number += 1
                name = f"{moment}-{number}"
            head = {"at": at, "kind": kind, "what": what, "who": who, "parts": config.parts, "write": write}
            replace_file(file, f"{json.dumps(head)}\n{json.dumps(config.plain)}\n", PRIVATE_FILE)
            self._delete_old(file)
        except OSError as error:
            raise StoreError(f"Could not keep a snapshot in {self._directory}: {error.strerror}") from None
        return Snapshot(name, file, at, kind, what, who, config.parts, write)

    def shares(self, kind: Kind, part: Part) -> bool:
        """Return whether a change of a single item shares the newest snapshot of its part.

        A change that closely follows an earlier change shares the snapshot. The time of the change then becomes the
        modification time of the snapshot's file, for other instances.
        """
        newest = next((snapshot for snapshot in self.every() if part in snapshot.parts), None)
        if newest is None or newest.kind not in (kind, "configuration"):
            return False
        now = time.time()
        try:
            is_shared = now - newest.file.stat().st_mtime <= BURST and now - newest.at <= LONGEST_BURST
            if is_shared:
                os.utime(newest.file)
        except OSError:  # another instance has deleted it
            return False
        return is_shared

    def named(self, name: str) -> Snapshot:
        """Return the snapshot with a name; `latest` is the newest snapshot.

        Raises:
            InvalidArgument: no snapshot has the name.
        """
        known = self.every()
        for snapshot in known[:1] if name == "latest" else known:
            if name in ("latest", snapshot.name):
                return snapshot
        names = ", ".join(snapshot.name for snapshot in known[:5])
        raise InvalidArgument(
            "SNAPSHOT", f"{name} not found. Newest: {names}" if names else "the site has no snapshots"
        )

    def _delete_old(self, newest: Path) -> None:
        own = sorted(_files(self._directory), key=lambda file: _age(file.stem), reverse=True)
        for file in own[KEPT:]:
            file.unlink(missing_ok=True)
        directories = [path for path in self._root.iterdir() if path.is_dir()]
        by_site = [sorted(_files(directory), key=lambda file: _age(file.stem)) for directory in directories]
        sizes = {file: _size(file) for files in by_site for file in files}
        deletable = sorted((file for files in by_site for file in files[:-1]), key=lambda file: _age(file.stem))
        total = sum(sizes.values())
        for file in deletable:
            if total <= MAX_BYTES:
                return
            if file != newest:
                file.unlink(missing_ok=True)
                total -= sizes[file]


def _files(directory: Path) -> list[Path]:
    files = directory.glob(f"*{SUFFIX}") if directory.is_dir() else ()
    return [file for file in files if _NAME.fullmatch(file.stem)]


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # another instance has deleted it
        return 0


def _head(file: Path) -> Snapshot | None:
    """Read the head of a snapshot, or return None if the file is damaged."""
    try:
        with file.open(encoding="utf-8") as lines:
            head: Any = json.loads(lines.readline())
        return Snapshot(
            file.stem,
            file,
            float(head["at"]),
            head["kind"] if head["kind"] in KINDS else "configuration",
            str(head["what"]),
            str(head["who"]),
            _known_parts(cast("Mapping[str, Any]", head)["parts"]),
            int(head["write"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _known_parts(names: Iterable[Any]) -> tuple[Part, ...]:
    given = set(names)
    return tuple(part for part in PARTS if part in given)


def _age(name: str) -> tuple[str, int]:
    moment, _, number = name.partition("Z")
    return moment, int(number.removeprefix("-") or 1)


class _ServiceReader:
    """An adapter from a read function to `OnlineReader`. It is always online, because failed reads raise errors."""

    status = Status()

    def __init__(self, read: Callable[[Operation[Any]], Awaitable[Any]]) -> None:
        self._read = read

    async def read(self, call: Operation[T], *, priority: Priority = REQUESTED) -> T:
        del priority  # always at the highest priority: a write waits for it
        return await self._read(call)


class SnapshotRecorder:
    """The recorder of the snapshots of all sites of a profile.

    Args:
        directory: the directory of the snapshots; None disables snapshots.
        read: reads from the service without the cache.
        who: returns the name of the signed-in user.
        notice: called with a message for the user if a snapshot cannot be written.
    """

    def __init__(
        self,
        directory: Path | None,
        read: Callable[[Operation[Any]], Awaitable[Any]],
        who: Callable[[], str],
        notice: Callable[[str], None],
    ) -> None:
        self._directory, self._reader, self._who, self._notice = directory, _ServiceReader(read), who, notice
        self._changes: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._announced: dict[tuple[str, Part], float] = {}
        """When a push took a snapshot before its calls, by site id and part, in monotonic seconds."""

    def changes(self, site_id: str) -> asyncio.Lock:
        """Return the lock that is held while a site is read for a snapshot; changes of the site wait for it."""
        return self._changes[site_id]

    async def before(self, call: Operation[Any], number: int) -> None:
        """Take a snapshot of the part that a write will change, unless the write shares an earlier snapshot.

        Args:
            call: the write.
            number: the number of the write in the outbox.

        Raises:
            NetworkError: the service cannot be reached.
            TooManyRequests: the rate limit is reached.
        """
        kind = KIND_OF.get(type(call))
        part = PART_OF.get(kind) if kind else None
        if self._directory is None or kind is None or part is None:  # publishing and unpublishing change no part
            return
        site_id: str = getattr(call, "site_id", "")
        async with self.changes(site_id):
            is_kept = self._is_announced(site_id, part)
            if is_kept or (kind in SINGLE_ITEMS and await asyncio.to_thread(self.of(site_id).shares, kind, part)):
                return
            reader = StateReader(self._reader, getattr(call, "organization_id", ""), site_id)
            try:
                config = (await reader.read((part,))).config
                if not config.parts:  # the site has no visitor schema yet, or the user may not read the part
                    return
                await asyncio.to_thread(
                    Snapshots(self._directory, site_id).keep, config, kind, describe(call), self._who(), number
                )
            except (NetworkError, TooManyRequests):
                raise
            except StoreError as error:
                self._notice(error.message)
            except PresscheckError:  # do not prevent the change only because its snapshot failed
                return

    async def keep_published(self, call: sites.PublishSite, config: SiteConfig, number: int) -> None:
        """Take a snapshot of a published site. The caller holds the lock of `changes`.

        Args:
            call: the write that published the site.
            config: the published configuration.
            number: the number of the write in the outbox.
        """
        if self._directory is None or not config.parts:
            return
        keep = Snapshots(self._directory, call.site_id).keep
        try:
            await asyncio.to_thread(keep, config, "published", describe(call), self._who(), number)
        except StoreError as error:
            self._notice(error.message)

    def keep(self, site_id: str, config: SiteConfig, changed: Collection[Part], what: str) -> Snapshot:
        """Take a snapshot before the calls of a push, which then take no snapshots of their own.

        Args:
            site_id: the id of the site.
            config: the configuration of the site.
            changed: the parts that the calls change.
            what: the push in a few words.

        Raises:
            StoreError: the file cannot be written, or there is no directory for snapshots.
        """
        if self._directory is None:
            raise StoreError("Could not keep a snapshot: there is no directory for them")
        kinds: list[Kind] = [kind for kind, part in PART_OF.items() if part in changed]
        kind: Kind = kinds[0] if len(kinds) == len({*changed}) == 1 else "configuration"
        snapshot = Snapshots(self._directory, site_id).keep(replace(config, share_links=None), kind, what, self._who())
        self._announced |= {(site_id, part): time.monotonic() for part in changed}
        return snapshot

    def of(self, site_id: str) -> Snapshots:
        """Return the snapshots of a site.

        Raises:
            StoreError: there is no directory for snapshots.
        """
        if self._directory is None:
            raise StoreError("There are no snapshots: there is no directory for them")
        return Snapshots(self._directory, site_id)

    def _is_announced(self, site_id: str, part: Part) -> bool:
        """Return whether a push took a snapshot of a part before its calls. True only once for each push and part."""
        return time.monotonic() - self._announced.pop((site_id, part), -math.inf) < LONGEST_BURST
