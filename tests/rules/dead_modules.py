"""Dotted names of modules."""

from pathlib import Path

from tests.rules.sources import SOURCE


def dotted(path: Path) -> str:
    parts = ("presscheck", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
