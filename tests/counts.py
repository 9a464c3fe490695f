"""Counts that do not depend on the machine, compared with `counts.toml`: growth fails, times are not looked at.

A count may grow by a share that its test states, where a poll may run meanwhile. One that fell by more than a fifth, or
by twice that share, is to be lowered, so that it cannot grow back unseen. What is counted several times has grown if it
did each time, and has fallen if it did each time: a poll adds to it, and an answer that comes late is missing.
`PRESSCHECK_UPDATE_GOLDEN=1` writes what is counted now: read the difference, and say in the commit why a number had to
grow.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping

from tests.root import ROOT

FILE = ROOT / "tests" / "counts.toml"
FALL = 0.2
"""The share by which a count may fall before its number must be lowered; twice the tolerance where that is more."""
AGAIN = "PRESSCHECK_UPDATE_GOLDEN=1 writes tests/counts.toml anew"


def compare(group: str, *counted: Mapping[str, int], tolerance: float = 0.0) -> None:
    """Compare counts with those of their group in the file, or write the fewest there.

    Args:
        group: the table of the file.
        counted: what was counted, by name, each time that it was.
        tolerance: the share by which a count may be larger than its number.

    Raises:
        AssertionError: one grew, fell by more than `FALL`, is not in the file, or is only there.
    """
    known: dict[str, dict[str, int]] = tomllib.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        fewest = {name: min(counts[name] for counts in counted) for name in counted[0]}
        FILE.write_text(_toml(known | {group: fewest}), "utf-8")
        return
    problems = differences(known.get(group, {}), *counted, tolerance=tolerance)
    assert not problems, f"{group}:\n" + "\n".join(problems) + f"\n{AGAIN}"


def differences(known: Mapping[str, int], *counted: Mapping[str, int], tolerance: float) -> list[str]:
    """What is wrong with counts, a line each."""
    problems = [f"{name}: counted no more" for name in known.keys() - counted[0].keys()]
    for name in counted[0]:
        number, times = known.get(name), [counts[name] for counts in counted]
        fewest, most = min(times), max(times)
        if number is None:
            problems.append(f"{name}: {fewest}, not in the file")
        elif fewest > number * (1 + tolerance):
            problems.append(f"{name}: grew from {number} to {fewest}")
        elif most < number * (1 - max(FALL, 2 * tolerance)) - 1:
            problems.append(f"{name}: fell from {number} to {most}: lower its number")
    return sorted(problems)


def _toml(groups: Mapping[str, Mapping[str, int]]) -> str:
    tables = (
        f'["{group}"]\n' + "".join(f'"{name}" = {count}\n' for name, count in sorted(counts.items()))
        for group, counts in sorted(groups.items())
    )
    return "# What tests/counts.py compares; written by PRESSCHECK_UPDATE_GOLDEN=1.\n\n" + "\n".join(tables)
