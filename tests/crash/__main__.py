"""`make crash`: the whole grid, with the figures of it."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.crash.grid import Case, Figures, Grid, a_service, a_slice, whole_grid

TOGETHER = 10


async def run(cases: list[Case], directory: Path, says: Callable[[str], object] = len) -> Figures:
    """Run cases on a service of their own."""
    with a_service(directory) as (address, token):
        async with Grid(address, token, directory, says) as grid:
            return await grid.run_all(cases, TOGETHER)


def say(line: str) -> None:
    """On standard error, at once."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> None:
    cases = a_slice() if "--slice" in sys.argv else whole_grid()
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")]
    cases = [case for case in cases if all(word in str(case) for word in wanted)]
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="crash") as directory:
        figures = asyncio.run(run(cases, Path(directory), say))
    say(f"{figures} in {time.monotonic() - began:.0f} s")
    for name, found in figures.wrong.items():
        for line in found:
            say(f"  {name}: {line}")
    sys.exit(any(figures.wrong.values()))


if __name__ == "__main__":
    main()
