"""The search for the settings file of a project, `.presscheck.toml`, from the working directory upward."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PROJECT_NAME = ".presscheck.toml"
"""The name of the file."""
NO_PROJECT = "PRESSCHECK_NO_PROJECT"
"""The environment variable that leaves the file out."""


def find_project(start: Path, home: Path) -> Path | None:
    """Return the nearest `.presscheck.toml`, in a folder or above it.

    The search ends before the home directory, whose file would apply everywhere, and at the border of a file system,
    behind which others may have other rights. The first file counts, even if it cannot be used: another file, further
    up, would be a surprise.

    Args:
        start: the folder to begin with, as a path without symbolic links.
        home: the home directory, as a path without symbolic links.
    """
    for folder in (start, *start.parents):
        if folder == home:
            return None
        file = folder / PROJECT_NAME
        try:
            file.lstat()
        except OSError:
            continue
        return file if folder.stat().st_dev == start.stat().st_dev else None
    return None


def find_here(environment: Mapping[str, str]) -> Path | None:
    """Return the nearest `.presscheck.toml` from the working directory upward, unless the environment leaves it out."""
    if environment.get(NO_PROJECT):
        return None
    try:
        return find_project(Path.cwd(), Path.home().resolve())
    except (OSError, RuntimeError):  # the working directory was deleted, or the user has no home
        return None
