"""Snapshots of sites: what a site had before a change or when it was published, as files that can be restored.

A file has two lines of JSON: who changed what and when, then the document with the parts that were changed, as
`document` writes it. So keys of share links and of visitor sign-in are never in it.

The recorder is the one place where snapshots are taken: each write passes it before it is sent, whether a screen, a
command or another instance made it; a publish changes nothing of the document, and passes it afterwards. Changes of
single items that follow each other (a drag of the structure, an import of redirects) share the snapshot before the
first one.
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
"""The most snapshots of a site; older ones are deleted."""
MAX_BYTES = 20 << 20
"""The most bytes of all snapshots of a profile; the oldest are deleted, but never the newest of a site."""
SUFFIX = ".snapshot"
Kind = Literal["published", "unpublished", "structure", "customization", "schema", "redirects", "configuration"]
"""What was changed; `configuration` means several parts at once."""
KINDS: tuple[Kind, ...] = get_args(Kind)
BURST = 60.0
"""Seconds after a change of a single item in which the next one shares its snapshot."""
LONGEST_BURST = 600.0
"""Seconds after a snapshot in which changes share it at most."""
_NAME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{6}Z(?:-\d+)?")
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


@dataclass(frozen=True)
class Snapshot:
    """A snapshot, without its document.

    Attributes:
        name: the time, such as `2026-11-23T120000Z`.
        file: its file.
        at: when it was kept, in seconds since the epoch.
        kind: what was changed then.
        what: the change in a few words; not sanitized.
        who: the name of the user who changed it; empty if not known.
        parts: the parts that it has.
        write: the number of the change in the outbox; 0 if it is not known.
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
        site_id: the site.
    """

    def __init__(self, directory: Path, site_id: str) -> None:
        self._root, self._directory = directory, directory / re.sub(r"[^\w-]", "_", site_id)

    @property
    def is_empty(self) -> bool:
        """Whether there is no snapshot."""
        return not _files(self._directory)

    def every(self) -> tuple[Snapshot, ...]:
        """All snapshots, newest first; damaged files are left out."""
        found = (_head(file) for file in _files(self._directory))
        return tuple(sorted((one for one in found if one), key=lambda one: _age(one.name), reverse=True))

    def config(self, snapshot: Snapshot) -> SiteConfig:
        """The document of a snapshot.

        Raises:
            ConfigurationError: it cannot be read, or is damaged.
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
        """Keep a configuration, before it is changed; takes the time of the disk.

        Args:
            config: what the site has.
            kind: what will be changed.
            what: the change in a few words.
            who: the name of the user.
            write: the number of the change in the outbox.

        Raises:
            StoreError: it cannot be written.
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
        """Whether a change of a single item follows one that was kept already, so that both share a snapshot.

        The file has the time of the last change that shares it, also for other instances.
        """
        newest = next((one for one in self.every() if part in one.parts), None)
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
        """A snapshot by its name; `latest` is the newest.

        Raises:
            InvalidArgument: there is none.
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
        by_site = [
            sorted(_files(one), key=lambda file: _age(file.stem)) for one in self._root.iterdir() if one.is_dir()
        ]
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
    """A snapshot without its document; None if its file is damaged."""
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
        self._changes: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._announced: dict[tuple[str, Part], float] = {}
        """The parts that a push kept before its calls, and when."""

    def changes(self, site_id: str) -> asyncio.Lock:
        """Held while a site is read as it is: a change of it waits."""
        return self._changes[site_id]

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

    async def keep_published(self, call: sites.PublishSite, config: SiteConfig, number: int) -> None:
        """Keep with what a site was published; the caller holds `changes`.

        Args:
            call: the write that published it.
            config: what it has.
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
