"""The search for the settings file of a project, `.presscheck.toml`, from the working directory upward."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PROJECT_NAME = ".presscheck.toml"
"""The name of the file."""
NO_PROJECT = "PRESSCHECK_NO_PROJECT"
"""The environment variable that disables project files."""


def find_project(start: Path, home: Path) -> Path | None:
    """Return the nearest `.presscheck.toml`, in a folder or the folders above it.

    The search stops at the home directory, because a file there would apply to every project. A file on another file
    system does not count, because other users may be able to write there. The nearest file is returned even if it is
    invalid: users would not expect a file further up to be used instead.


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
    """Return the nearest `.presscheck.toml` from the working directory upward, unless `NO_PROJECT` is set."""
    if environment.get(NO_PROJECT):
        return None
    try:
        return find_project(Path.cwd(), Path.home().resolve())
    except (OSError, RuntimeError):  # the working directory was deleted, or the user has no home
        return None
