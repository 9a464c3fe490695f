"""Counts the files, function calls and changes of file that one user action runs through, beside their budgets.

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
    """The most that a journey may take; None is not bounded."""

    files: int
    changes: int | None = None

    def holds(self, count: Count) -> bool:
        """Whether what was counted is within it."""
        return len(count.files) <= self.files and (self.changes is None or count.changes <= self.changes)


WAITING = inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
SIZE = (120, 40)
RUNS = 3
PATIENCE = 120.0
"""Seconds that a step may take on a busy machine."""
SETTLED = 1.0
"""Seconds after which nothing more is expected to follow, except the update of the search index."""
BUDGETS = {
    "page": Budget(45, 350),
    "comment": Budget(60),
    "sheet": None,
    "publish": Budget(55),
    "note": None,
    "visit": None,
}
"""By row; None for what has none. `changes` counts calls that lead from one file of presscheck to another."""
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
"""The functions, each the whole of a thread or task, that run by a timer or a poll whether or not a key is pressed.

What they call is not counted; their requests to the service are, where one falls into a run. The shortest of some runs
has none.
"""


@dataclass
class Count:
    """What ran while something was counted."""

    calls: Counter[CodeType] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Changes of file: from which to which, absolute."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By file: the calls that led to the first one in it, the outermost last, and the task or thread that ran them."""

    @property
    def changes(self) -> int:
        """How often a call led from one file of presscheck to another."""
        return self.pairs.total()

    @property
    def functions(self) -> int:
        """How often a plain function was called: how often a coroutine goes on depends on the machine."""
        return sum(times for code, times in self.calls.items() if not code.co_flags & WAITING and _is_named(code))

    @property
    def files(self) -> set[str]:
        """The files of presscheck in which something was called, relative to the package."""
        return {code.co_filename[len(SOURCE) + 1 :] for code in self.calls}

    def without_screens(self) -> Count:
        """What ran outside of the screens: what they draw meanwhile depends on the machine."""
        screens = f"{SOURCE}/tui/"
        calls = {code: times for code, times in self.calls.items() if not code.co_filename.startswith(screens)}
        pairs = {
            pair: times for pair, times in self.pairs.items() if not any(file.startswith(screens) for file in pair)
        }
        return Count(Counter(calls), Counter(pairs), self.reasons)

    @property
    def files_of_service(self) -> int:
        """How many of them are of the local service."""
        return sum(path.startswith("service/") for path in self.files)


def _is_named(code: CodeType) -> bool:
    """Whether it is no comprehension, which some versions of Python call and others do not."""
    return code.co_name == "<lambda>" or not code.co_name.startswith("<")


class Profiler:
    """Counts the calls in the thread that it is told to count in; once installed, also those in later threads."""

    def __init__(self) -> None:
        self._count: Count | None = None
        self._last: dict[int, str] = {}

    def install(self) -> None:
        """Profile also the threads that begin from now on."""
        threading.setprofile(self._profile)

    @contextmanager
    def counted(self) -> Iterator[Count]:
        """Count from now on, until the end of the block."""
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
        """Count nothing during the block: what a journey runs to find out whether it is done is no part of it."""
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
    """Whether a call is part of what runs by itself."""
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_qualname in NOT_CAUSED and above.f_code.co_filename.startswith(SOURCE):
            return True
        above = above.f_back
    return False


def _reason(frame: FrameType) -> str:
    """The functions of presscheck on the stack of a call, innermost first, and what runs them."""
    names: list[str] = []
    above: FrameType | None = frame
    while above is not None:
        if above.f_code.co_filename.startswith(SOURCE):
            names.append(above.f_code.co_qualname)
        above = above.f_back
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
        RuntimeError: they did not after `PATIENCE`.
    """
    ends = time.monotonic() + PATIENCE
    while True:
        with PROFILER.paused():
            text = shown(pilot.app)
            if shows in text and holds():
                return
        if time.monotonic() > ends:
            raise RuntimeError(f"never showed {shows!r}:\n{text}")
        await asyncio.sleep(0.02)


async def sent(pilot: Any) -> None:
    """Wait until everything that was written is sent."""
    await until(pilot, holds=lambda: not pilot.app.engine.waiting())


@asynccontextmanager
async def app(service: RunningService, home: Path, driver: type[Driver] | None = None) -> AsyncIterator[Any]:
    """The app, its inbox filled; it has visited every place once, as somebody's app has who works.

    Args:
        service: the service.
        home: the folder of its store.
        driver: what its output is written to; None for nothing.
    """
    made = app_on(service, home)
    made.driver_class = driver or made.driver_class
    async with made.run_test(headless=driver is None, size=SIZE) as pilot:
        await until(pilot, shows="Needs me 7")
        await pilot.press("g", "p")
        await until(pilot, shows="● live")
        sites: Any = made.screen
        await until(pilot, holds=lambda: sites.current and sites.checklist.content(sites.current) is not None)
        await pilot.press("g", "i")
        await until(pilot, shows="Needs me 7")
        yield pilot


async def settled(pilot: Any) -> None:
    """Wait until what follows an action is done: answers, drawing, prefetching; then update the search index."""
    await pilot.pause(SETTLED)
    index = pilot.app.engine._index  # it would wait two seconds before each update, for more changes
    await index.catch_up(PATIENCE)
    await index.close()
    assert index.is_settled


async def page(pilot: Any, service: RunningService) -> dict[str, Count]:
    """`j` in the page tree, until the next page is drawn."""
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
    """Whether the page under the cursor of the tree is drawn: its title stands in the tree and above its text."""
    return shown(pilot.app).count(pilot.app.screen.item.title) >= 2


def stands_on(pilot: Any, title: str) -> bool:
    """Whether the cursor of the tree is on the node with this title."""
    item = pilot.app.screen.item
    return item is not None and item.title == title


async def move(pilot: Any, key: str, holds: Callable[[], bool]) -> None:
    """Press a key until a condition holds.

    Raises:
        RuntimeError: it never did.
    """
    for _ in range(50):
        if holds():
            return
        before = shown(pilot.app)
        await pilot.press(key)
        await until(pilot, holds=lambda before=before: shown(pilot.app) != before)
    raise RuntimeError(f"{key} led nowhere:\n{shown(pilot.app)}")


async def comment(pilot: Any, service: RunningService) -> dict[str, Count]:
    """A comment in a review: the composer opened, a text typed, sent, taken by the service and shown."""
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
    """A site published: the sheet opened, yes, and the address shown."""
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
    """A call that is held back before it begins."""

    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)


@contextmanager
def held(owner: Any, name: str) -> Iterator[Held]:
    """Hold back the calls of a method of an object."""
    events, method = Held(), getattr(owner, name)

    async def wait(*given: Any) -> Any:
        events.arrived.set()
        await events.let_go.wait()
        answer = await method(*given)
        events.done.set()
        return answer

    setattr(owner, name, wait)
    try:
        yield events
    finally:
        setattr(owner, name, method)


JOURNEYS = {"page": page, "comment": comment, "publish": publish}


async def measure(names: Sequence[str], repeats: int = RUNS) -> dict[str, Count]:
    """By row, the shortest of some runs of each of these journeys: a longer one has a poll or a timer in it.

    Each run has a service and a home of its own.
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
    """Print a table; exit code 1 where a budget is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=0, metavar="N")
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="the N commonest changes of file")
    parser.add_argument("--journey", choices=JOURNEYS, action="append", help="only this one; repeatable")
    parser.add_argument("--files", action="store_true", help="list the files of each journey")
    parser.add_argument("--why", action="store_true", help="the files of each journey, each with what first led to it")
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N", help="the shortest of N runs counts")
    chosen = parser.parse_args()
    PROFILER.install()
    counts = asyncio.run(measure(chosen.journey or list(JOURNEYS), chosen.runs))
    print(f"{'journey':10}{'files':>7}{'service':>9}{'at most':>9}{'changes of file':>17}{'at most':>9}{'calls':>9}")
    is_within = True
    for name, count in counts.items():
        budget = BUDGETS[name]
        is_within &= budget is None or budget.holds(count)
        files = "–" if budget is None else str(budget.files)
        most = "–" if budget is None or budget.changes is None else str(budget.changes)
        calls = sum(count.calls.values())
        print(
            f"{name:10}{len(count.files):7}{count.files_of_service:9}{files:>9}{count.changes:17,}{most:>9}{calls:9,}"
        )
        for code, times in count.calls.most_common(chosen.calls):
            print(f"    {times:7,}  {code.co_filename[len(SOURCE) + 1 :]}:{code.co_firstlineno} {code.co_qualname}")
        for (source, target), times in count.pairs.most_common(chosen.pairs):
            print(f"    {times:7,}  {source[len(SOURCE) + 1 :]} -> {target[len(SOURCE) + 1 :]}")
        if chosen.files:
            print("    " + " ".join(sorted(count.files)))
        for path in sorted(count.reasons) if chosen.why else ():
            print(f"    {path[len(SOURCE) + 1 :]}: {count.reasons[path]}")
    return 0 if is_within else 1


if __name__ == "__main__":
    raise SystemExit(main())
