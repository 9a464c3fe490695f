"""Patterns of request paths, which name the reads that a write affects.

`*` matches any text, slashes included; everything else is literal, percent-encoded as in a path.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase


def beneath(path: str) -> tuple[str, str]:
    """The patterns of a path and of all paths below it; `/spaces/s10` is not below `/spaces/s1`."""
    return path, f"{path}/*"


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Whether a path matches at least one of the patterns."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)
