"""Counts the files, function calls and changes of file of single user actions, and compares them with budgets.

Usage: python -m benchmarks.journeys [--calls N]. App and local service run in this process; files of presscheck count.
It counts what does not depend on the machine: `--calls` also prints the N functions called most in each journey.

Publishing has four rows, counted one after the other. *sheet* is the preparation: `P`, the checks of the site, until
the sheet asks. *publish* is the write itself, and the only one of them with a budget: `y`, until the service has taken
it and the screen says so. Two things follow, at once for the user and one after the other here. *note*: what was
published is read back and kept on this machine, as a snapshot and for later differences. *visit*: the request for the
published page, which in this process the service answers by drawing it with everything of `service/web`, until the
screen shows that it answers. What no key caused is left out of all rows, see `NOT_CAUSED`.

`tests/journeys/test_counts.py` counts the same without the visit in the app's thread alone, and fails if it grows.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.running_service import RunningService, running_service
from tests.tui.app_driver import app_on, shown
from textual.driver import Driver
from textual.widgets import TextArea

import presscheck
from presscheck.api.comments import ListComments
from presscheck.api.sites import ListSites
from presscheck.client.client import Client
from presscheck.tui.places import Place

SOURCE = str(Path(presscheck.__file__).parent)
REQUEST = ("api", "5")
"""A change request of the sample workspace: its space and its number."""


@dataclass(frozen=True)
class Budget:
    """Maximum counts of a journey; `changes` is unlimited if it is None."""

    files: int
    changes: int | None = None

    def holds(self, count: Count) -> bool:
        """Return True if a count is within the budget."""
        return len(count.files) <= self.files and (self.changes is None or count.changes <= self.changes)


WAITING = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
SIZE = (120, 40)
RUNS = 3
PATIENCE = 120.0
"""Time-out of a step in seconds, which allows for a busy machine."""
SETTLED = 1.0
"""Seconds after which an action has no more effects, except the update of the search index."""
BUDGETS = {
    "page": Budget(45, 350),
    "comment": Budget(60),
    "sheet": None,
    "publish": Budget(55),
    "note": None,
    "visit": None,
}
"""Budgets by row; None for rows without one. `changes` counts calls from one file of presscheck to another."""
NOT_CAUSED = {
    "Workers._work",  # threads of the service that look for due jobs every two seconds
    "Workers._renew",  # the thread of the service that renews the leases of its jobs
    "CacheWriter._evict",  # the task that frees space in the cache, at a time of its own after a change of it
    "Cache.evict",  # what that task runs in the thread of the cache
    "LiveUpdates.run",  # the task that polls an open review every five seconds
    "AutoRefresh._run",  # the task that reads ahead while nobody presses a key
    "keep_current",  # the task that polls the page tree of browse every five seconds
    "EventLog.watch",  # the task that asks every minute what others did
}
"""Functions of threads or tasks that run because of a timer or a poll, independently of keys.

What they call is not counted; their requests to the service are, where one falls into a run. The shortest of some runs
has none.
"""


@dataclass
class Count:
    """The calls that were made while counting."""

    calls: Counter[CodeType] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Calls between files, by the absolute paths of caller and callee."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By file: the call stack of the first call in it, innermost first, and the task or thread that ran it."""

    @property
    def changes(self) -> int:
        """The number of calls from one file of presscheck to another."""
        return self.pairs.total()

    @property
    def functions(self) -> int:
        """The number of calls of plain functions: how often coroutines resume depends on the machine."""
        return sum(times for code, times in self.calls.items() if not code.co_flags & WAITING and _is_named(code))

    @property
    def files(self) -> set[str]:
        """The files of presscheck with called functions, relative to the package."""
        return {code.co_filename[len(SOURCE) + 1 :] for code in self.calls}

    def without_screens(self) -> Count:
        """Return the calls outside the screens: how often screens draw depends on the machine."""
        screens = f"{SOURCE}/tui/"
        calls = {code: times for code, times in self.calls.items() if not code.co_filename.startswith(screens)}
        pairs = {
            pair: times for pair, times in self.pairs.items() if not any(file.startswith(screens) for file in pair)
        }
        return Count(Counter(calls), Counter(pairs), self.reasons)

    @property
    def files_of_service(self) -> int:
        """The number of files that belong to the local service."""
        return sum(path.startswith("service/") for path in self.files)


def _is_named(code: CodeType) -> bool:
    """Return False for comprehensions, which are calls only in some versions of Python."""
    return code.co_name == "<lambda>" or not code.co_name.startswith("<")


class Profiler:
    """Counts the calls in the current thread and, once installed, in threads that are started later."""

    def __init__(self) -> None:
        self._count: Count | None = None
        self._last: dict[int, str] = {}

    def install(self) -> None:
        """Profile all threads that are started from now on."""
        threading.setprofile(self._profile)

    @contextmanager
    def counted(self) -> Iterator[Count]:
        """Count the calls during the block."""
        count = Count()
        self._last.clear()
        self._count = count
        sys.setprofile(self._profile)
        try:
            yield count
        finally:
            sys.setprofile(None)
            self._count = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Count nothing during the block. Journeys use it while they check whether a step is done."""
        count, self._count = self._count, None
        try:
            yield
        finally:
            self._count = count

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        code, count = frame.f_code, self._count
        if count is None or event != "call" or not code.co_filename.startswith(SOURCE):
            return
        if _is_not_caused(frame):
            return
        count.calls[code] += 1
        if code.co_filename not in count.reasons:
            count.reasons[code.co_filename] = _reason(frame)
        thread = threading.get_ident()
        last = self._last.get(thread, code.co_filename)
        if last != code.co_filename:
            count.pairs[last, code.co_filename] += 1
        self._last[thread] = code.co_filename


def _is_not_caused(frame: FrameType) -> bool:
    """Return True if a call is made by a function in `NOT_CAUSED`."""
    caller: FrameType | None = frame
    while caller is not None:
        if caller.f_code.co_qualname in NOT_CAUSED and caller.f_code.co_filename.startswith(SOURCE):
            return True
        caller = caller.f_back
    return False


def _reason(frame: FrameType) -> str:
    """Return the functions of presscheck on the call stack, innermost first, and the task or thread that runs them."""
    names: list[str] = []
    caller: FrameType | None = frame
    while caller is not None:
        if caller.f_code.co_filename.startswith(SOURCE):
            names.append(caller.f_code.co_qualname)
        caller = caller.f_back
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    runner = threading.current_thread().name if task is None else task.get_name()
    return f"{' < '.join(names)}  [{runner}]"


PROFILER = Profiler()
counted = PROFILER.counted


async def until(pilot: Any, *, shows: str = "", holds: Callable[[], bool] = lambda: True) -> None:
    """Wait until the screen shows a text and a condition holds.

    Raises:
        RuntimeError: they did not within `PATIENCE` seconds.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        with PROFILER.paused():
            text = shown(pilot.app)
            if shows in text and holds():
                return
        if time.monotonic() > deadline:
            raise RuntimeError(f"never showed {shows!r}:\n{text}")
        await asyncio.sleep(0.02)


async def sent(pilot: Any) -> None:
    """Wait until the outbox is empty."""
    await until(pilot, holds=lambda: not pilot.app.engine.waiting())


@asynccontextmanager
async def app(service: RunningService, home: Path, driver: type[Driver] | None = None) -> AsyncIterator[Any]:
    """Run the app with a loaded inbox. It has visited the main screens once, as in everyday use.

    Args:
        service: the service.
        home: the home directory of the user.
        driver: the driver that gets the output; None for a headless app.
    """
    tested_app = app_on(service, home)
    tested_app.driver_class = driver or tested_app.driver_class
    async with tested_app.run_test(headless=driver is None, size=SIZE) as pilot:
        await until(pilot, shows="Needs me 7")
        await pilot.press("g", "p")
        await until(pilot, shows="● live")
        sites: Any = tested_app.screen
        await until(pilot, holds=lambda: sites.current and sites.checklist.content(sites.current) is not None)
        await pilot.press("g", "i")
        await until(pilot, shows="Needs me 7")
        yield pilot


async def settled(pilot: Any) -> None:
    """Wait until the effects of an action have ended (responses, drawing, prefetching), and update the search index."""
    await pilot.pause(SETTLED)
    index = pilot.app.engine._index  # otherwise the index waits two seconds for more changes before each update
    await index.catch_up(PATIENCE)
    await index.close()
    assert index.is_settled


async def page(pilot: Any, service: RunningService) -> dict[str, Count]:
    """Count `j` in the page tree, until the next page is drawn."""
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    await move(pilot, "j", lambda: stands_on(pilot, "API docs"))
    await pilot.press("l")
    await until(pilot, shows="Overview")
    await move(pilot, "j", lambda: stands_on(pilot, "Overview"))
    await settled(pilot)
    before = pilot.app.screen.item.title
    with counted() as count:
        await pilot.press("j")
        await until(pilot, holds=lambda: pilot.app.screen.item.title != before and is_page_drawn(pilot))
    return {"page": count}


def is_page_drawn(pilot: Any) -> bool:
    """Return True if the page under the tree's cursor is drawn: its title is in the tree and above its text."""
    return shown(pilot.app).count(pilot.app.screen.item.title) >= 2


def stands_on(pilot: Any, title: str) -> bool:
    """Return True if the cursor of the tree is on the node with this title."""
    item = pilot.app.screen.item
    return item is not None and item.title == title


async def move(pilot: Any, key: str, holds: Callable[[], bool]) -> None:
    """Press a key until a condition holds.

    Raises:
        RuntimeError: it did not after 50 keys.
    """
    for _ in range(50):
        if holds():
            return
        before = shown(pilot.app)
        await pilot.press(key)
        await until(pilot, holds=lambda before=before: shown(pilot.app) != before)
    raise RuntimeError(f"{key} led nowhere:\n{shown(pilot.app)}")


async def comment(pilot: Any, service: RunningService) -> dict[str, Count]:
    """Count a comment in a review: open the composer, type, send, and wait until the service has it and it is shown."""
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")
    await pilot.press("g", "i")
    await until(pilot, shows="Needs me 7")
    await pilot.app.go(Place.review(*REQUEST))
    await until(pilot, shows="Can merge? ")
    await until(pilot, holds=lambda: pilot.app.screen.session.model.forecast is not None)
    await settled(pilot)
    async with Client(service.base_url, service.token) as client:
        listing = ListComments(space_id=REQUEST[0], change_request_id=REQUEST[1], limit=1000)
        before = len((await client.send(listing)).items)
        with counted() as count:
            await pilot.press("C")
            await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
            await pilot.press(*"Counted.", "ctrl+s")
            await until(pilot, shows="4 open comments")
            await sent(pilot)
        assert len((await client.send(listing)).items) == before + 1
    return {"comment": count}


async def publish(pilot: Any, service: RunningService) -> dict[str, Count]:
    """Count the publication of a site: open the sheet, confirm, and wait for the address."""
    async with Client(service.base_url, service.token) as client:
        sites = await client.send(ListSites(organization_id="tallowick"))
    title = next(site.title for site in sites.items if not site.published)
    await pilot.press("g", "p")
    await until(pilot, shows="● live")
    await move(pilot, "j", lambda: f"› {title}" in shown(pilot.app).split("\n")[0])
    await settled(pilot)
    with counted() as sheet:
        await pilot.press("P")
        await until(pilot, shows="y  n")
    engine = pilot.app.engine
    with held(engine, "_note_published") as noting, held(engine, "visit") as visiting:
        with counted() as write:
            await pilot.press("y")
            await until(pilot, shows="Publish without a share link")
            await pilot.press("p")
            await until(pilot, shows="published; checking", holds=visiting.arrived.is_set)
        with counted() as note:
            noting.let_go.set()
            await until(pilot, holds=noting.done.is_set)
        with counted() as visit:
            visiting.let_go.set()
            await until(pilot, shows="is live")
    return {"sheet": sheet, "publish": write, "note": note, "visit": visit}


@dataclass(frozen=True)
class Held:
    """Events of a call that is held back before it starts."""

    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)


@contextmanager
def held(owner: Any, name: str) -> Iterator[Held]:
    """Hold back the calls of an object's method during the block."""
    events, method = Held(), getattr(owner, name)

    async def wait(*arguments: Any) -> Any:
        events.arrived.set()
        await events.let_go.wait()
        answer = await method(*arguments)
        events.done.set()
        return answer

    setattr(owner, name, wait)
    try:
        yield events
    finally:
        setattr(owner, name, method)


JOURNEYS = {"page": page, "comment": comment, "publish": publish}


async def measure(names: Sequence[str], repeats: int = RUNS) -> dict[str, Count]:
    """Return the smallest count of several runs of each journey, by row: larger ones include a poll or a timer.

    Each run has its own service and home directory.
    """
    counts: dict[str, Count] = {}
    for name in names:
        runs: list[dict[str, Count]] = []
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "service").mkdir()
                with running_service(Path(folder) / "service", sample=True) as service:
                    async with app(service, Path(folder) / "home") as pilot:
                        runs.append(await JOURNEYS[name](pilot, service))
        for row in runs[0]:
            counts[row] = min((run[row] for run in runs), key=lambda count: (len(count.files), count.changes))
    return counts


def main() -> int:
    """Print a table. Returns the exit code: 1 if a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=0, metavar="N")
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="the N commonest changes of file")
    parser.add_argument("--journey", choices=JOURNEYS, action="append", help="only this one; repeatable")
    parser.add_argument("--files", action="store_true", help="list the files of each journey")
    parser.add_argument("--why", action="store_true", help="the files of each journey, each with what first led to it")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help="the shortest of N runs counts")
    options = parser.parse_args()
    PROFILER.install()
    counts = asyncio.run(measure(options.journey or list(JOURNEYS), options.runs))
    print(f"{'journey':10}{'files':>7}{'service':>9}{'at most':>9}{'changes of file':>17}{'at most':>9}{'calls':>9}")
    is_within = True
    for name, count in counts.items():
        budget = BUDGETS[name]
        is_within &= budget is None or budget.holds(count)
        files_limit = "–" if budget is None else str(budget.files)
        changes_limit = "–" if budget is None or budget.changes is None else str(budget.changes)
        calls = sum(count.calls.values())
        print(
            f"{name:10}{len(count.files):7}{count.files_of_service:9}{files_limit:>9}{count.changes:17,}{changes_limit:>9}{calls:9,}"
        )
        for code, times in count.calls.most_common(options.calls):
            print(f"    {times:7,}  {code.co_filename[len(SOURCE) + 1 :]}:{code.co_firstlineno} {code.co_qualname}")
        for (source, target), times in count.pairs.most_common(options.pairs):
            print(f"    {times:7,}  {source[len(SOURCE) + 1 :]} -> {target[len(SOURCE) + 1 :]}")
        if options.files:
            print("    " + " ".join(sorted(count.files)))
        for path in sorted(count.reasons) if options.why else ():
            print(f"    {path[len(SOURCE) + 1 :]}: {count.reasons[path]}")
    return 0 if is_within else 1


if __name__ == "__main__":
    raise SystemExit(main())
