"""Compares counts that do not depend on the machine with `counts.toml`. Durations are not compared.

A test may allow a tolerance, for example if a poll can run while it counts. A count that fell by more than a fifth, or
by more than twice the tolerance, must be lowered in the file, so that it cannot grow back unnoticed. Several
measurements fail only if all of them differ: a poll can add to a count, and a late response can be missing.

`PRESSCHECK_UPDATE_GOLDEN=1` writes the current counts: read the difference, and explain in the commit why a number had
to grow.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping

from tests.root import ROOT

FILE = ROOT / "tests" / "counts.toml"
FALL = 0.2
"""The share by which a count may fall before its number must be lowered; at least twice the tolerance is allowed."""
AGAIN = "PRESSCHECK_UPDATE_GOLDEN=1 writes tests/counts.toml anew"


def compare(group: str, *counted: Mapping[str, int], tolerance: float = 0.0) -> None:
    """Compare counts with the numbers of their group in the file; with `PRESSCHECK_UPDATE_GOLDEN`, write the lowest.

    Args:
        group: name of the table in the file.
        counted: the counts by name, for each measurement.
        tolerance: share by which a count may exceed its number.

    Raises:
        AssertionError: a count grew, fell by more than `FALL`, or is missing in the file or in `counted`.
    """
    recorded: dict[str, dict[str, int]] = tomllib.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    if os.environ.get("PRESSCHECK_UPDATE_GOLDEN"):
        lowest = {name: min(counts[name] for counts in counted) for name in counted[0]}
        FILE.write_text(_toml(recorded | {group: lowest}), "utf-8")
        return
    problems = differences(recorded.get(group, {}), *counted, tolerance=tolerance)
    assert not problems, f"{group}:\n" + "\n".join(problems) + f"\n{AGAIN}"


def differences(recorded: Mapping[str, int], *counted: Mapping[str, int], tolerance: float) -> list[str]:
    """Return a line for each count that differs."""
    problems = [f"{name}: counted no more" for name in recorded.keys() - counted[0].keys()]
    for name in counted[0]:
        number, times = recorded.get(name), [counts[name] for counts in counted]
        lowest, highest = min(times), max(times)
        if number is None:
            problems.append(f"{name}: {lowest}, not in the file")
        elif lowest > number * (1 + tolerance):
            problems.append(f"{name}: grew from {number} to {lowest}")
        elif highest < number * (1 - max(FALL, 2 * tolerance)) - 1:
            problems.append(f"{name}: fell from {number} to {highest}: lower its number")
    return sorted(problems)


def _toml(groups: Mapping[str, Mapping[str, int]]) -> str:
    tables = (
        f'["{group}"]\n' + "".join(f'"{name}" = {count}\n' for name, count in sorted(counts.items()))
        for group, counts in sorted(groups.items())
    )
    return "# What tests/counts.py compares; written by PRESSCHECK_UPDATE_GOLDEN=1.\n\n" + "\n".join(tables)
