"""The folder of a static site. Only files that an earlier build wrote are replaced or deleted.

A build is made in a temporary folder next to the site's, and then its files are moved one by one. A marker file lists
the files of the build. While files are moved, the marker file lists the old and the new files, so that the next build
can complete an interrupted build.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from presscheck.config.file_replacement import replace_file
from presscheck.errors import InvalidArgument

MARKER = ".presscheck-site.json"
"""The file with the site and the files of a build."""
MODE = 0o644


class BuildMarker(NamedTuple):
    """The content of the marker file."""

    site: str
    files: tuple[str, ...]
    is_complete: bool


class BuildFolder:
    """The folder of a static site.

    Args:
        folder: the folder, which may not exist yet.
        site: the id of the site.
        may_replace: whether an earlier build may be replaced.

    Raises:
        InvalidArgument: the folder contains other files, the build of another site, or an earlier build that may not
            be replaced.
    """

    def __init__(self, folder: Path, site: str, *, may_replace: bool) -> None:
        self._folder, self._site = folder.resolve(), site
        self._marker = _read_marker(self._folder / MARKER)
        if self._marker is None:
            if os.path.lexists(self._folder) and not (self._folder.is_dir() and not any(self._folder.iterdir())):
                raise InvalidArgument("DIR", f"{folder} is not empty, and not an earlier build of this site")
        elif self._marker.site != site:
            raise InvalidArgument("DIR", f"{folder} has a build of another site")
        elif self._marker.is_complete and not may_replace:
            raise InvalidArgument("DIR", f"{folder} has an earlier build. Pass --replace to replace it")

    @contextmanager
    def temporary(self) -> Generator[Path]:
        """Provide an empty temporary folder next to the folder of the site, and delete it afterwards.

        Raises:
            InvalidArgument: another process builds in the same folder.
        """
        temporary = self._folder.with_name(f".{self._folder.name}.presscheck-build")
        temporary.mkdir(parents=True, exist_ok=True)
        lock = os.open(temporary, os.O_RDONLY)
        try:
            flock(lock, LOCK_EX | LOCK_NB)
        except OSError:
            os.close(lock)
            raise InvalidArgument("DIR", "another build is writing to this folder") from None
        try:
            _empty(temporary)  # a process that was killed may have left files
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            os.close(lock)

    def install(self, built: Path) -> int:
        """Move a build into the folder, and delete files of the earlier build that are not in the new build.

        Returns:
            The number of files that are new or changed.

        Raises:
            InvalidArgument: the build would replace a file that is not from an earlier build. Nothing was changed.
        """
        new = sorted(path.relative_to(built).as_posix() for path in built.rglob("*") if path.is_file())
        old = self._marker.files if self._marker else ()
        self._require_own(new, {*old})
        self._folder.mkdir(parents=True, exist_ok=True)
        self._write_marker({*old, *new}, is_complete=False)
        for name in {*old} - {*new}:
            self._delete(name)
        changed = 0
        for name in new:
            target = self._folder / name
            if not target.is_file() or not filecmp.cmp(built / name, target, shallow=False):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(built / name, target)
                changed += 1
        self._write_marker(new, is_complete=True)
        return changed

    def _require_own(self, new: Iterable[str], old: set[str]) -> None:
        for name in new:
            for above in self._parents(name):
                inside = above.relative_to(self._folder).as_posix()
                if above.is_symlink() or (above.exists() and not above.is_dir() and inside not in old):
                    raise _in_the_way(inside)
            target = self._folder / name
            is_own = self._has_only(target, old) if target.is_dir() else name in old
            if target.is_symlink() or (target.exists() and not is_own):
                raise _in_the_way(name)

    def _has_only(self, folder: Path, old: set[str]) -> bool:
        """Return whether a folder has files of the earlier build, and no others."""
        files = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
        return bool(files) and all(path.relative_to(self._folder).as_posix() in old for path in files)

    def _delete(self, name: str) -> None:
        parents = self._parents(name)
        if any(parent.is_symlink() for parent in parents):
            return
        with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
            (self._folder / name).unlink()
        for parent in reversed(parents):
            with suppress(OSError):  # other files are in it
                parent.rmdir()

    def _parents(self, name: str) -> list[Path]:
        """Return the folders between the folder of the site and a file, outermost first."""
        parts = PurePosixPath(name).parts
        return [self._folder.joinpath(*parts[:count]) for count in range(1, len(parts))]

    def _write_marker(self, files: Iterable[str], *, is_complete: bool) -> None:
        content = {"site": self._site, "complete": is_complete, "files": sorted(files)}
        replace_file(self._folder / MARKER, json.dumps(content, indent=1, ensure_ascii=False) + "\n", MODE)


def _read_marker(file: Path) -> BuildMarker | None:
    """Return the marker, or None if the file is missing or invalid. Paths that lead out of the folder are left out."""
    try:
        content: Any = json.loads(file.read_text("utf-8"))
        files = tuple(str(name) for name in content["files"] if _is_inside(str(name)))
        return BuildMarker(str(content["site"]), files, bool(content["complete"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _in_the_way(name: str) -> InvalidArgument:
    return InvalidArgument("DIR", f"{name} is in the way, and not from an earlier build. Move it away")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
