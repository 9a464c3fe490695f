"""The versions of OpenAPI specifications seen on this machine.

The service returns only the latest version of a specification, so earlier versions are stored here for comparison.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from presscheck.errors import StoreError
from presscheck.paths import PRIVATE_FILE, make_private_directory

KEPT = 5
"""Number of stored versions of a specification; older versions are deleted."""
_NAME = re.compile(r"(\d{8}T\d{12}Z)-([0-9a-f]{16})\.json\.gz")


class SeenVersion(NamedTuple):
    """A stored version: the time when it was first seen, the hash of its description, and its file."""

    seen_at: str
    digest: str
    file: Path

    def description(self) -> Mapping[str, Any]:
        """Return the description of the version. Reads the disk, so call it in a thread.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            found: Any = json.loads(gzip.decompress(self.file.read_bytes()))
        except (OSError, EOFError, ValueError) as error:
            raise StoreError(f"Could not read the version in {self.file}: {error}") from None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


class SeenVersions:
    """The stored versions of one specification.

    Args:
        directory: the directory of the profile's versions.
        organization: the id of the organization.
        slug: the slug of the specification.
    """

    def __init__(self, directory: Path, organization: str, slug: str) -> None:
        self._directory = directory / re.sub(r"[^\w-]", "_", organization) / re.sub(r"[^\w-]", "_", slug)

    def every(self) -> tuple[SeenVersion, ...]:
        """Return all versions, most recent first."""
        files = sorted(self._directory.glob("*.json.gz"), reverse=True) if self._directory.is_dir() else ()
        matches = [(_NAME.fullmatch(file.name), file) for file in files]
        return tuple(SeenVersion(_moment(match[1]), match[2], file) for match, file in matches if match)

    def keep(self, description: Mapping[str, Any]) -> SeenVersion | None:
        """Store the latest version, unless it equals the newest stored version. Call it in a thread: it writes to disk.

        Returns:
            The newest stored version with another description, or None if there is none.

        Raises:
            StoreError: the version cannot be written.
        """
        text = json.dumps(description, sort_keys=True, separators=(",", ":")).encode()
        digest = hashlib.sha256(text).hexdigest()[:16]
        known = self.every()
        if known and known[0].digest == digest:
            return next((version for version in known if version.digest != digest), None)
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z-{digest}.json.gz"
        try:
            make_private_directory(self._directory)
            part = self._directory / f"{name}.part"
            part.touch(PRIVATE_FILE)
            part.write_bytes(gzip.compress(text, mtime=0))
            part.replace(self._directory / name)
            for old in known[KEPT - 1 :]:
                old.file.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"Could not keep the version in {self._directory}: {error.strerror}") from None
        return known[0] if known else None


def _moment(text: str) -> str:
    """Convert the time in a file name to the format of the API."""
    return datetime.strptime(text, "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC).isoformat()
