"""Markdown that people wrote: the pages of this repository, and those of the folder that PRESSCHECK_DOCS names."""

import os
from pathlib import Path

from tests.root import ROOT

VARIABLE = "PRESSCHECK_DOCS"


def repositories() -> list[Path]:
    """The documentation repositories in the folder that PRESSCHECK_DOCS names; none where it is not set."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return []
    found = sorted(path for path in Path(folder).iterdir() if path.is_dir())
    if not found:
        raise FileNotFoundError(f"{VARIABLE}: {folder} holds no documentation repository")
    return found


def pages(each: int = 1) -> list[Path]:
    """The pages of this repository, and each so-manieth of the repositories."""
    ours = [*sorted(ROOT.glob("*.md")), ROOT / "benchmarks" / "README.md"]
    return ours + sorted(path for repository in repositories() for path in repository.rglob("*.md"))[::each]
