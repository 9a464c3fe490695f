"""`make crash`: runs the whole grid and prints its figures."""

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
    cases: list[Case], directory: Path, says: Callable[[str], object] = len, together: int = TOGETHER
) -> Figures:
    """Run cases on a service of their own, `together` at a time."""
    with a_service(directory) as (address, token):
        async with Grid(address, token, directory, says) as grid:
            return await grid.run_all(cases, together)


async def two(directory: Path, seconds: float) -> tuple[list[str], Counter[str], list[str]]:
    """Two engines on one store, on a service of their own."""
    (directory / "two").mkdir()
    with a_service(directory / "two") as (address, token):
        async with Grid(address, token, directory / "two", say) as grid:
            return await grid.two_beside(seconds)


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
        taken, there, wrong = asyncio.run(two(Path(directory), 60)) if not wanted else ([], {}, [])
    say(f"two engines on one store: {len(taken)} taken, {len(there)} there, {wrong or 'no'} errors")
    doubled = [text for text, count in there.items() if count > 1] + [text for text in taken if text not in there]
    say(f"{figures} in {time.monotonic() - began:.0f} s")
    for name, found in figures.wrong.items():
        for line in found:
            say(f"  {name}: {line}")
    sys.exit(bool(any(figures.wrong.values()) or wrong or doubled))


if __name__ == "__main__":
    main()
