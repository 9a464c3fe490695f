"""A guard that sees when a test reads files beside the clone, which another clone would not have.

Whoever clones the repository has the clone and nothing of the folder around it. An audit hook sees each file that is
opened and each folder that is listed by this process; the programs that tests start are not seen.
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
"""How the names begin of what tests make in the folder of temporary files."""


class OutsideClone(Exception):
    """A file beside the clone was opened."""


def spellings(paths: Iterable[str]) -> tuple[str, ...]:
    """Each path as it is written and with its links followed, with a separator at its end."""
    absolute = {spell(path) for path in paths if path for spell in (os.path.abspath, os.path.realpath)}
    return tuple(sorted(os.path.join(path, "") for path in absolute))  # noqa: PTH118


def allowed_paths() -> list[str]:
    """What tests may read wherever it is: the interpreter, its libraries, temporary files, documentation on request."""
    interpreter = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, site.getusersitepackages()]
    libraries = [path for name, path in sysconfig.get_paths().items() if name.endswith(("lib", "stdlib"))]
    return [*interpreter, *libraries, tempfile.gettempdir(), os.environ.get("PRESSCHECK_DOCS", "")]


class CloneGuard:
    """Tells which paths are beside the clone: below its parent folder, but not below the clone itself."""

    def __init__(self, clone: Path, allowed: Iterable[str], home: Path, temporary: Path) -> None:
        self.violations: list[str] = []
        self._clone = spellings([str(clone)])
        parents = spellings(str(Path(path).parent) for path in self._clone)
        # a clone directly below / has the whole system beside it
        self._parents = tuple(path for path in parents if path != os.sep)
        # an exception lies inside the parent: that the interpreter is in /usr allows nothing in /usr/src
        inside = [path for path in spellings(allowed) if path.startswith(self._parents)]
        self._allowed = tuple(path for path in inside if path not in self._parents)
        # where the clone lies in the home folder: caches and settings of the programs that tests use
        self._hidden = tuple(path + "." for path in spellings([str(home)]))
        # where the clone lies in the folder of temporary files: only what was there before the tests is beside it
        self._older: tuple[str, ...] | None = None
        if set(self._parents) & set(spellings([str(temporary)])):
            names = [name for name in os.listdir(temporary) if not name.startswith(TEMPORARY)]  # noqa: PTH208
            self._older = spellings(str(temporary / name) for name in names)

    def is_outside(self, path: str | bytes | os.PathLike[str] | int | None) -> bool:
        """Whether a path, as an audit event has it, is beside the clone."""
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
        """The audit hook: notes a path beside the clone, for code that ignores errors, and refuses to open it."""
        if event in EVENTS and self.is_outside(arguments[0]):
            self.violations.append(f"{event} {arguments[0]}")
            raise OutsideClone(f"beside the clone: {self.violations[-1]}")

    def check(self) -> None:
        """Fail when a path beside the clone was opened since the last check."""
        violations, self.violations = self.violations, []
        if violations:
            listing = "\n".join(sorted(set(violations)))
            raise OutsideClone(f"tests may only read what every clone has; these are beside the clone:\n{listing}")
