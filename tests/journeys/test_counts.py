"""Counts calls, bytes written to the terminal and source files of single keys and of whole user actions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import pytest
from benchmarks.journeys import JOURNEYS, app, counted, settled, until
from benchmarks.workspace import plant_members
from tests.counts import compare, differences
from tests.running_service import RunningService, running_service
from textual.drivers.headless_driver import HeadlessDriver

from benchmarks import journeys
from presscheck.service.db.engine import Database
from presscheck.text.sanitize import sanitize
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.screen import AdminScreen

MEMBERS = 10_000
PRESSES = 2
"""Number of presses of each key. The lowest count is taken: background work can only add to it."""
TOLERANCES = {
    "calls of a key": 0.1,
    "bytes of a key": 0.1,
    "files of a journey": 0.1,
    "changes of file of a journey": 0.25,
}
NOT_COMPARED = frozenset(("visit",))
"""Actions dominated by the service: what the app draws while it waits depends on the speed of the machine."""
UNSEEN = frozenset(("note",))
"""Actions whose result arrives in the background: drawing depends on the machine, so screens are not counted."""
WAITING = frozenset(("publish",))
"""Actions that wait for the service: the number of redraws depends on the machine, the files that draw do not."""
ATTEMPTS = 3
"""Number of measurements before a difference fails the test."""
REST = 1.0
"""Seconds after which the delayed work of a key has ended: previews, and the conflict forecast in the inbox."""


class CountedOutput(HeadlessDriver):
    """A driver that counts the bytes written to the terminal."""

    size: ClassVar[int] = 0

    @property
    def is_headless(self) -> bool:
        """False, so that the app draws as it does in a terminal."""
        return False

    def write(self, data: str) -> None:
        CountedOutput.size += len(data.encode())


async def key_counts(pilot: Any, keys: str) -> tuple[int, int]:
    """Press each key in turn, and return the calls and the bytes of the most expensive key."""
    calls: dict[str, int] = {}
    sizes: dict[str, int] = {}
    scheduler = pilot.app.engine._scheduler
    for key in keys * PRESSES:
        before = CountedOutput.size
        with counted() as count:
            await pilot.press(key)
            await until(pilot, holds=lambda before=before: CountedOutput.size > before)
            await asyncio.sleep(REST)
            await until(pilot, holds=lambda: not scheduler._running)
        calls[key] = min(calls.get(key, count.functions), count.functions)
        size = CountedOutput.size - before
        sizes[key] = min(sizes.get(key, size), size)
    return max(calls.values()), max(sizes.values())


async def warm_up(pilot: Any) -> None:
    """Move down and up once, so that the keys that are measured find everything loaded."""
    for key in "jk":
        await pilot.press(key)
        await settled(pilot)


async def members(pilot: Any, service: RunningService) -> None:
    """Open the members of an organization that has 10,000 of them."""
    database = Database(service.database_url)
    try:
        database.write(lambda session: plant_members(session, MEMBERS, "tallowick"))
    finally:
        database.close()
    await pilot.press("g", "a")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdminScreen) and pilot.app.screen.organization)
    screen: AdminScreen = pilot.app.screen
    screen.go_to(Place.family("Members"))
    await until(pilot, holds=lambda: screen.table.rows.count >= MEMBERS)
    await pilot.press("enter")
    await settled(pilot)


async def measure(home: Path) -> dict[str, dict[str, int]]:
    """Return the calls and bytes by key, and the files and changes of file by action, with the keys of `TOLERANCES`."""
    (home / "service").mkdir(parents=True)
    keys: dict[str, tuple[int, int]] = {}
    files: dict[str, int] = {}
    changes: dict[str, int] = {}
    with running_service(home / "service", sample=True) as service:
        async with app(service, home / "home", CountedOutput) as pilot:
            await settled(pilot)
            await warm_up(pilot)  # loads the rows and their previews
            keys["j and k in the inbox"] = await key_counts(pilot, "jk")
            for name, journey in JOURNEYS.items():
                counts = await journey(pilot, service)
                for row in counts.keys() - NOT_COMPARED:
                    count, outside = counts[row], counts[row].without_screens()
                    files[row] = len((outside if row in UNSEEN else count).files)
                    changes[row] = (outside if row in UNSEEN | WAITING else count).changes
                await settled(pilot)
                if name == "page":
                    keys["j and k in the page tree"] = await key_counts(pilot, "kj")
                    await pilot.press("tab")
                    keys["j and k in a page"] = await key_counts(pilot, "jk")
            await members(pilot, service)
            await warm_up(pilot)
            keys["j and k in a table of 10,000 members"] = await key_counts(pilot, "jk")
    calls, sizes = ({name: numbers[part] for name, numbers in keys.items()} for part in (0, 1))
    return dict(zip(TOLERANCES, (calls, sizes, files, changes), strict=True))


@pytest.mark.slow
@pytest.mark.timeout(600)  # a minute per attempt, most of it waiting for delayed work
def test_keys_and_actions_take_no_more_than_the_recorded_counts(tmp_path: Path) -> None:
    measurements: list[dict[str, dict[str, int]]] = []
    while True:
        measurements.append(asyncio.run(measure(tmp_path / str(len(measurements)))))
        try:
            for group, tolerance in TOLERANCES.items():
                compare(group, *(counts[group] for counts in measurements), tolerance=tolerance)
        except AssertionError:
            if len(measurements) == ATTEMPTS:
                raise
        else:
            return


def test_only_existing_functions_are_excluded_from_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\n".join(path.read_text("utf-8") for path in Path(journeys.SOURCE).rglob("*.py"))
    assert [name for name in journeys.NOT_CAUSED if f"def {name.rpartition('.')[2]}(" not in source] == []
    with counted() as count:
        sanitize("a key")
    assert count.files == {"text/sanitize.py"}
    monkeypatch.setattr(journeys, "NOT_CAUSED", {"sanitize"})
    with counted() as count:
        sanitize("a poll")
    assert not count.files


def test_increases_and_decreases_are_reported() -> None:
    recorded = {"same": 10, "grew": 10, "varies": 10, "fell": 10, "gone": 1}
    first = {"same": 10, "grew": 12, "varies": 11, "fell": 5, "new": 3}
    assert differences(recorded, first, tolerance=0.1) == [
        "fell: fell from 10 to 5: lower its number",
        "gone: counted no more",
        "grew: grew from 10 to 12",
        "new: 3, not in the file",
    ]
    again = {"same": 10, "grew": 11, "varies": 12, "fell": 8, "new": 4}
    assert differences(recorded, first, again, tolerance=0.1) == ["gone: counted no more", "new: 3, not in the file"]
