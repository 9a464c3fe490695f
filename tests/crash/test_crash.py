"""Runs a slice of the grid of `make crash` that has every kind of write, every fault and every kill point."""

from pathlib import Path

import pytest
from tests.crash.__main__ import run, two
from tests.crash.grid import KILLS, a_slice, whole_grid
from tests.crash.proxy import FAULTS
from tests.crash.write_cases import KINDS

TOGETHER = 16
"""Concurrent runs; each spends most of its time waiting for delayed requests."""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_no_write_is_lost_duplicated_or_reordered(tmp_path: Path) -> None:
    figures = await run(a_slice(), tmp_path, together=TOGETHER)
    assert figures.runs == len(a_slice())
    assert figures.kills > 0.6 * figures.runs, "most of them were killed"
    assert figures.spoiled > 0.6 * figures.runs, "most of them were spoiled"
    assert figures.wrong == {"lost": [], "doubled": [], "out of order": []}, str(figures)


def test_slice_covers_every_kind_fault_and_kill_point() -> None:
    cases = a_slice()
    assert {case.kind for case in cases} == {*KINDS}
    for fault in FAULTS:
        assert len({case.kind for case in cases if case.fault == fault}) >= 4, fault
    for kill in KILLS:
        matches = [case for case in cases if case.kill == kill]
        assert len({case.kind for case in matches}) >= 2, kill
        assert len({case.fault for case in matches}) >= 2, kill
    assert len(whole_grid()) == len(KINDS) * len(FAULTS) * len(KILLS) > 1000


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_two_engines_on_one_store_send_each_write_once(tmp_path: Path) -> None:
    accepted, stored, errors = await two(tmp_path, seconds=2)
    assert errors == []
    assert len(accepted) == len(set(accepted)) >= 6, "at least three of each engine"
    assert stored == dict.fromkeys(accepted, 1)
