"""`make crash`: runs all cases of the grid and prints the counts."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.crash.grid import Case, Figures, Grid, a_service, a_slice, whole_grid

TOGETHER = 8


async def run(
    cases: list[Case], directory: Path, report: Callable[[str], object] = len, together: int = TOGETHER
) -> Figures:
    """Start a service and run the cases on it, `together` at a time."""
    with a_service(directory) as (address, token):
        async with Grid(address, token, directory, report) as grid:
            return await grid.run_all(cases, together)


async def two(directory: Path, seconds: float) -> tuple[list[str], Counter[str], list[str]]:
    """Start a service and run two engines on one store; see `Grid.two_beside` for the result."""
    (directory / "two").mkdir()
    with a_service(directory / "two") as (address, token):
        async with Grid(address, token, directory / "two", say) as grid:
            return await grid.two_beside(seconds)


def say(line: str) -> None:
    """Print a line to standard error and flush it."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> None:
    cases = a_slice() if "--slice" in sys.argv else whole_grid()
    filters = [word for word in sys.argv[1:] if not word.startswith("-")]
    cases = [case for case in cases if all(word in str(case) for word in filters)]
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash") as directory:
        figures = asyncio.run(run(cases, Path(directory), say))
        accepted, stored, errors = asyncio.run(two(Path(directory), 60)) if not filters else ([], {}, [])
    say(f"two engines on one store: {len(accepted)} accepted, {len(stored)} stored, {errors or 'no'} errors")
    mismatches = [text for text, count in stored.items() if count > 1] + [
        text for text in accepted if text not in stored
    ]
    say(f"{figures} in {time.monotonic() - start:.0f} s")
    for name, details in figures.wrong.items():
        for line in details:
            say(f"  {name}: {line}")
    sys.exit(bool(any(figures.wrong.values()) or errors or mismatches))


if __name__ == "__main__":
    main()
