"""A part of the grid of `make crash`: every kind of write, every fault and every kill point."""

from pathlib import Path

import pytest
from tests.crash.__main__ import run, two
from tests.crash.grid import KILLS, a_slice, whole_grid
from tests.crash.proxy import FAULTS
from tests.crash.write_cases import KINDS

TOGETHER = 16
"""Runs at a time: most of the time of each is waiting for what may still arrive."""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_no_write_is_lost_duplicated_or_reordered(tmp_path: Path) -> None:
    figures = await run(a_slice(), tmp_path, together=TOGETHER)
    assert figures.runs == len(a_slice())
    assert figures.kills > 0.6 * figures.runs, "most of them were killed"
    assert figures.spoiled > 0.6 * figures.runs, "most of them were spoiled"
    assert figures.wrong == {"lost": [], "doubled": [], "out of order": []}, str(figures)


def test_the_slice_has_every_kind_every_fault_and_every_kill_in_some_cases() -> None:
    cases = a_slice()
    assert {one.kind for one in cases} == {*KINDS}
    for fault in FAULTS:
        assert len({one.kind for one in cases if one.fault == fault}) >= 4, fault
    for kill in KILLS:
        among = [one for one in cases if one.kill == kill]
        assert len({one.kind for one in among}) >= 2, kill
        assert len({one.fault for one in among}) >= 2, kill
    assert len(whole_grid()) == len(KINDS) * len(FAULTS) * len(KILLS) > 1000


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_two_engines_on_one_store_send_each_write_once(tmp_path: Path) -> None:
    taken, there, wrong = await two(tmp_path, seconds=2)
    assert wrong == []
    assert len(taken) == len(set(taken)) >= 6, "at least three of each engine"
    assert there == dict.fromkeys(taken, 1)
