"""A guard against tests that read files beside the clone, which other clones do not have.

An audit hook checks each file that this process opens and each folder that it lists. Programs that tests start are not
checked.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

EVENTS = frozenset(("open", "os.listdir", "os.scandir"))
TEMPORARY = ("pytest-of-", "presscheck-", "tmp")
"""Prefixes of the files and folders that tests create in the temporary folder."""


class OutsideClone(Exception):
    """Raised when a file beside the clone is opened."""


def spellings(paths: Iterable[str]) -> tuple[str, ...]:
    """Return each path as written and with links resolved, with a separator at its end."""
    absolute = {spell(path) for path in paths if path for spell in (os.path.abspath, os.path.realpath)}
    return tuple(sorted(os.path.join(path, "") for path in absolute))  # noqa: PTH118


def allowed_paths() -> list[str]:
    """Return the paths that tests may read anywhere: interpreter, libraries, temporary files, and `PRESSCHECK_DOCS`."""
    interpreter = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, site.getusersitepackages()]
    libraries = [path for name, path in sysconfig.get_paths().items() if name.endswith(("lib", "stdlib"))]
    return [*interpreter, *libraries, tempfile.gettempdir(), os.environ.get("PRESSCHECK_DOCS", "")]


class CloneGuard:
    """Finds paths beside the clone: below its parent folder but not below the clone itself."""

    def __init__(self, clone: Path, allowed: Iterable[str], home: Path, temporary: Path) -> None:
        self.violations: list[str] = []
        self._clone = spellings([str(clone)])
        parents = spellings(str(Path(path).parent) for path in self._clone)
        # a clone directly below / has the whole system beside it
        self._parents = tuple(path for path in parents if path != os.sep)
        # only exceptions inside the parent count: an interpreter in /usr must not allow files in /usr/src
        inside = [path for path in spellings(allowed) if path.startswith(self._parents)]
        self._allowed = tuple(path for path in inside if path not in self._parents)
        # if the clone is in the home folder: caches and settings of programs that tests use are allowed
        self._hidden = tuple(path + "." for path in spellings([str(home)]))
        # if the clone is in the temporary folder: only files from before the tests are beside it
        self._older: tuple[str, ...] | None = None
        if set(self._parents) & set(spellings([str(temporary)])):
            names = [name for name in os.listdir(temporary) if not name.startswith(TEMPORARY)]  # noqa: PTH208
            self._older = spellings(str(temporary / name) for name in names)

    def is_outside(self, path: str | bytes | os.PathLike[str] | int | None) -> bool:
        """Return True if a path of an audit event is beside the clone."""
        if not isinstance(path, str):
            if path is None or isinstance(path, int):
                return False  # the working directory, or a file descriptor
            path = os.fsdecode(path)
        if ".." in path or not path.startswith(os.sep):
            path = os.path.abspath(path)  # noqa: PTH100
        if path.startswith(self._clone) or not path.startswith(self._parents):
            return False
        path += os.sep
        if path.startswith((*self._clone, *self._allowed, *self._hidden)):
            return False
        return self._older is None or path.startswith(self._older)

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Handle an audit event: record a path beside the clone, as code may ignore the error, and raise."""
        if event in EVENTS and self.is_outside(arguments[0]):
            self.violations.append(f"{event} {arguments[0]}")
            raise OutsideClone(f"beside the clone: {self.violations[-1]}")

    def check(self) -> None:
        """Raise if a path beside the clone was opened since the last check."""
        violations, self.violations = self.violations, []
        if violations:
            listing = "\n".join(sorted(set(violations)))
            raise OutsideClone(f"tests may only read what every clone has; these are beside the clone:\n{listing}")
