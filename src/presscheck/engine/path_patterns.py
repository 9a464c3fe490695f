"""Patterns of request paths: which reads a write touches.

`*` stands for any text, slashes included; everything else is itself, as it stands quoted in a path.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def beneath(path: str) -> tuple[str, str]:
    """The patterns of a path and of all paths below it; `/spaces/s1` is not above `/spaces/s10`."""
    return path, f"{path}/*"


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path is one of those that these patterns describe."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)
