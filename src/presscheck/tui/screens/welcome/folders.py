"""Completion of folder paths, as in shells."""

from __future__ import annotations

import os
from itertools import islice

MOST_ENTRIES = 10_000
"""Maximum number of directory entries that are read."""
MOST = 50
"""Maximum number of proposed folders."""


def complete_folder(text: str) -> list[str]:
    """Return the folders that complete a typed path, each with a trailing slash. Reads the disk.

    Hidden folders are included only after a dot. The result is empty if the directory cannot be read.
    """
    typed, _, start = text.rpartition("/")
    parent = f"{typed}/" if "/" in text else ""
    if text == "~":
        return ["~/"]
    try:
        with os.scandir(os.path.expanduser(parent) or ".") as entries:  # noqa: PTH111  # keeps a text without a slash
            names = [entry.name for entry in islice(entries, MOST_ENTRIES) if _is_offered(entry, start)]
    except (OSError, ValueError):
        return []
    return [f"{parent}{name}/" for name in sorted(names)[:MOST]]


def _is_offered(entry: os.DirEntry[str], start: str) -> bool:
    is_hidden = entry.name.startswith(".") and not start.startswith(".")
    return entry.name.startswith(start) and not is_hidden and entry.is_dir()
