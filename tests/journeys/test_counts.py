"""What a key and three user actions take, counted in the app's thread: calls, bytes sent to the terminal, files."""

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
"""Times that each key is pressed; the fewest count, as what no key caused only adds."""
TOLERANCES = {
    "calls of a key": 0.1,
    "bytes of a key": 0.1,
    "files of a journey": 0.1,
    "changes of file of a journey": 0.25,
}
NOT_COMPARED = frozenset(("visit",))
"""Rows that are the service's work; what the app draws while it waits for the answer depends on the machine."""
UNSEEN = frozenset(("note",))
"""Rows of what follows without being looked at: what the app draws meanwhile depends on the machine."""
WAITING = frozenset(("publish",))
"""Rows that wait for the service: how often the app draws meanwhile depends on the machine, in which files does not."""
ATTEMPTS = 3
"""Times that all is counted before a difference counts as such."""
REST = 1.0
"""Seconds after which what a key starts later is done, too: previews, and the forecast of conflicts in the inbox."""


class CountedOutput(HeadlessDriver):
    """Counts what is written to the terminal."""

    size: ClassVar[int] = 0

    @property
    def is_headless(self) -> bool:
        """Not, so that everything is drawn as for a terminal."""
        return False

    def write(self, data: str) -> None:
        """Count its bytes."""
        CountedOutput.size += len(data.encode())


async def key_counts(pilot: Any, keys: str) -> tuple[int, int]:
    """The calls and bytes of the key that takes most; all are pressed in turn, each until the app rests."""
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
    """Move down and up, as what follows."""
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
    """Calls and bytes by key, files and changes of file by journey."""
    (home / "service").mkdir(parents=True)
    keys: dict[str, tuple[int, int]] = {}
    files: dict[str, int] = {}
    changes: dict[str, int] = {}
    with running_service(home / "service", sample=True) as service:
        async with app(service, home / "home", CountedOutput) as pilot:
            await settled(pilot)
            await warm_up(pilot)  # so that the rows and their previews are known
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
@pytest.mark.timeout(600)  # a minute each attempt, most of it waiting for what a key starts later
def test_a_key_and_a_journey_take_no_more_than_before(tmp_path: Path) -> None:
    found: list[dict[str, dict[str, int]]] = []
    while True:
        found.append(asyncio.run(measure(tmp_path / str(len(found)))))
        try:
            for group, tolerance in TOLERANCES.items():
                compare(group, *(counts[group] for counts in found), tolerance=tolerance)
        except AssertionError:
            if len(found) == ATTEMPTS:
                raise
        else:
            return


def test_what_is_left_out_is_there_and_nothing_else_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "\n".join(path.read_text("utf-8") for path in Path(journeys.SOURCE).rglob("*.py"))
    assert [name for name in journeys.NOT_CAUSED if f"def {name.rpartition('.')[2]}(" not in source] == []
    with counted() as count:
        sanitize("a key")
    assert count.files == {"text/sanitize.py"}
    monkeypatch.setattr(journeys, "NOT_CAUSED", {"sanitize"})
    with counted() as count:
        sanitize("a poll")
    assert not count.files


def test_growth_is_found_and_a_fall_too() -> None:
    known = {"same": 10, "grew": 10, "varies": 10, "fell": 10, "gone": 1}
    first = {"same": 10, "grew": 12, "varies": 11, "fell": 5, "new": 3}
    assert differences(known, first, tolerance=0.1) == [
        "fell: fell from 10 to 5: lower its number",
        "gone: counted no more",
        "grew: grew from 10 to 12",
        "new: 3, not in the file",
    ]
    again = {"same": 10, "grew": 11, "varies": 12, "fell": 8, "new": 4}
    assert differences(known, first, again, tolerance=0.1) == ["gone: counted no more", "new: 3, not in the file"]
