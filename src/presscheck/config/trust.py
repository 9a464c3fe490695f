"""The programs of projects that the user trusts: for each file, the fingerprints of its programs.

Trust belongs to the path of a file and to what would run, so the user is asked again when either changes. A list that
somebody else could have written counts as empty.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from presscheck.config.file_replacement import replace_file
from presscheck.errors import ConfigurationError

TRUSTED, DECLINED = "trusted", "declined"


@dataclass(frozen=True)
class Answers:
    """The fingerprints of the programs of a file that the user trusted or declined."""

    trusted: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()


class TrustList:
    """The list of trusted programs.

    Args:
        file: the file with the list; it need not exist.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, project: Path) -> Answers:
        """Return the answers for a project file."""
        entry = self._entries().get(str(project))
        if not isinstance(entry, dict):
            return Answers()
        values = cast("dict[str, Any]", entry)
        return Answers(_texts(values.get(TRUSTED)), _texts(values.get(DECLINED)))

    def trust(self, project: Path, fingerprints: Iterable[str]) -> None:
        """Trust these programs of a project file, and no others.

        Raises:
            ConfigurationError: the list cannot be written.
        """
        self._write(project, {TRUSTED: sorted(fingerprints)})

    def decline(self, project: Path, fingerprints: Iterable[str]) -> None:
        """Record that the user did not trust these programs, so that the app does not ask again.

        Raises:
            ConfigurationError: the list cannot be written.
        """
        trusted, declined = self.of(project).trusted, frozenset(fingerprints)
        self._write(project, {TRUSTED: sorted(trusted - declined), DECLINED: sorted(declined)})

    def forget(self, project: Path) -> bool:
        """Delete the answers for a project file. Return whether a program was trusted.

        Raises:
            ConfigurationError: the list cannot be written.
        """
        trusted = bool(self.of(project).trusted)
        if str(project) in self._entries():
            self._write(project, None)
        return trusted

    def _write(self, project: Path, entry: dict[str, list[str]] | None) -> None:
        entries = self._entries()
        entries.pop(str(project), None)
        if entry is not None:
            entries[str(project)] = entry
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            replace_file(self._file, json.dumps(entries, indent=1) + "\n", 0o600)
        except OSError as error:
            raise ConfigurationError(f"Could not write {self._file}: {error.strerror}") from None

    def _entries(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            with open(self._file, encoding="utf-8", opener=direct_opener) as stream:
                status = os.fstat(stream.fileno())
                is_mine = status.st_uid == os.geteuid() and not status.st_mode & 0o022
                entries: object = json.load(stream) if is_mine else None
            if isinstance(entries, dict):
                return cast("dict[str, Any]", entries)
        return {}


def direct_opener(path: str, flags: int) -> int:
    """Open a file without following a symbolic link or blocking on a pipe; an `opener` for `open`."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _texts(value: object) -> frozenset[str]:
    values = cast("list[object]", value) if isinstance(value, list) else []
    return frozenset(text for text in values if isinstance(text, str))
