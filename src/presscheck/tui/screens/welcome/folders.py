"""Completes the path of a folder, as shells do."""

from __future__ import annotations

import os
from itertools import islice

MOST_ENTRIES = 10_000
"""Entries of a directory that are looked at."""
MOST = 50
"""Folders that are offered."""


def complete_folder(text: str) -> list[str]:
    """The folders that a typed path can become, each with a slash at its end; it reads the disk.

    Hidden folders are listed after a dot. A directory that cannot be read has none.
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
