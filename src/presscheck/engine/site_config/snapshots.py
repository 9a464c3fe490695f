"""Snapshots of site configurations: what a site had before a push, as files that can be pushed back."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from presscheck.engine.site_config.document import SiteConfig
from presscheck.engine.site_config.files import text_of, write_file
from presscheck.errors import InvalidArgument, StoreError

KEPT = 50
"""The most snapshots of a site; older ones are deleted."""
PRIVATE_FILE = 0o600
PRIVATE_DIRECTORY = 0o700
_NAME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{6}Z(?:-\d+)?")


class Snapshot(NamedTuple):
    """A snapshot: its name, which is its time, and its file."""

    name: str
    file: Path


class Snapshots:
    """The snapshots of one site.

    Args:
        directory: the directory of the profile's snapshots.
        site_id: the site.
    """

    def __init__(self, directory: Path, site_id: str) -> None:
        self._directory = directory / re.sub(r"[^\w-]", "_", site_id)

    def every(self) -> tuple[Snapshot, ...]:
        """All snapshots, newest first."""
        files = self._directory.glob("*.yaml") if self._directory.is_dir() else ()
        found = [Snapshot(file.stem, file) for file in files if _NAME.fullmatch(file.stem)]
        return tuple(sorted(found, key=_age, reverse=True))

    def keep(self, config: SiteConfig) -> Snapshot:
        """Keep a configuration.

        Raises:
            StoreError: it cannot be written.
            ConfigurationError: it cannot be written.
        """
        try:
            self._directory.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"Could not keep a snapshot in {self._directory}: {error.strerror}") from None
        time, number = f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}", 1
        name = time
        while (self._directory / f"{name}.yaml").exists():
            number += 1
            name = f"{time}-{number}"
        snapshot = Snapshot(name, self._directory / f"{name}.yaml")
        text, _ = text_of(config.plain, snapshot.file)
        write_file(snapshot.file, text, PRIVATE_FILE)
        for old in self.every()[KEPT:]:
            old.file.unlink(missing_ok=True)
        return snapshot

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


def _age(snapshot: Snapshot) -> tuple[str, int]:
    time, _, number = snapshot.name.partition("Z")
    return time, int(number.removeprefix("-") or 1)
