"""Paths that come from others, such as a cloned repository or an agent: they must stay in a folder."""

from __future__ import annotations

import stat
from pathlib import Path


def inner_path(folder: Path, path: str) -> Path | None:
    """Return the absolute path of a file or folder in a folder, with links followed; it need not exist.

    Returns:
        None if the path leads out of the folder, contains a loop of links, cannot be accessed, or is not a path.
    """
    try:
        root = folder.resolve()
        found = (root / path).resolve()
        # Python 3.13 leaves a loop of links as it is, where older versions raise RuntimeError
        is_loop = any(map(_is_link, (found, *found.parents)))
    except (OSError, ValueError, RuntimeError):
        return None
    return found if found.is_relative_to(root) and not is_loop else None


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
