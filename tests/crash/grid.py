"""The grid of kill points, proxy faults and kinds of write; each case runs on the real service and is checked there."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.crash.killed_client import POINTS
from tests.crash.proxy import FAULTS, Proxy
from tests.crash.write_cases import KINDS, Making, Run
from tests.root import ROOT
from tests.tcp_server import listening

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.comments import ListComments
from presscheck.api.organizations import ListOrganizations
from presscheck.api.spaces import CreateSpace
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client, Timeouts
from presscheck.errors import Ambiguous

KILLS = (*POINTS, "random", "never")
LOOKS = ("look", "look again")
"""Kill points of the second process: the first is killed right after sending a write, whose delivery is unknown."""
FAULTS_OF_A_KIND = 3
"""Number of faults tried with each kind of write in the slice of the test suite."""
MOST_LIVES = 8
TRIES = 4
LONGEST_LIFE = 300.0


@dataclass(frozen=True)
class Case:
    """A kind of write, the point at which its engine is killed, and the fault that its proxy injects."""

    number: int
    kind: str
    kill: str
    fault: str

    @property
    def nth(self) -> int:
        """The engine is killed when it reaches the kill point for the n-th time."""
        return 1 + self.number % 2

    def deaths(self) -> list[str | None]:
        """Return the kill point of each process, first to last; None for a process without one."""
        if self.kill in LOOKS:
            return ["sent", self.kill]
        return [None if self.kill in ("random", "never") else self.kill]

    def __str__(self) -> str:
        return f"#{self.number} {self.kind}, killed: {self.kill} ({self.nth}), proxy: {self.fault}"


def whole_grid() -> list[Case]:
    combinations = [(kind, kill, fault) for kind in KINDS for kill in KILLS for fault in FAULTS]
    cases = [Case(number, *combination) for number, combination in enumerate(combinations)]
    random.Random(len(cases)).shuffle(cases)  # an interrupted run has covered every dimension
    return cases


def a_slice() -> list[Case]:
    """Return a sample of the grid with every kind, every fault and every kill point."""
    cases: list[Case] = []
    for number, kind in enumerate(KINDS):
        for turn in range(FAULTS_OF_A_KIND):
            fault = FAULTS[(number * FAULTS_OF_A_KIND + turn) % len(FAULTS)]
            cases.append(Case(len(cases), kind, KILLS[len(cases) * 7 % len(KILLS)], fault))
    return cases


@dataclass
class Report:
    """What the processes of a run reported over their sockets.

    Attributes:
        accepted: number of writes that the engine accepted.
        failed: numbers of the writes whose error was raised in the engine's caller.
        outbox: name, arguments and error of each write that was left in the outbox.
        history: ids of the writes in the outbox's history.
        kills: number of processes that were killed.
        sending: times at which a write was marked as being sent.
        texts: comments that `two_beside` wrote.
        errors: exceptions in `two_beside`.
    """

    accepted: int = 0
    failed: set[int] = field(default_factory=set)
    outbox: list[Any] | None = None
    history: list[int] | None = None
    kills: int = 0
    sending: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass
class Life:
    """One engine process: `born` gets its output and its process id once it has connected, `over` is set at its end."""

    born: asyncio.Future[tuple[asyncio.StreamReader, int]] = field(default_factory=asyncio.Future)
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Figures:
    """Counts of all runs; `void` counts runs that were repeated because the machine was too busy."""

    runs: int = 0
    kills: int = 0
    spoiled: int = 0
    accepted: int = 0
    void: int = 0
    wrong: dict[str, list[str]] = field(default_factory=lambda: {"lost": [], "doubled": [], "out of order": []})

    def __str__(self) -> str:
        wrong = ", ".join(f"{len(cases)} {name}" for name, cases in self.wrong.items())
        return (
            f"{self.runs} runs, {self.kills} kills, {self.spoiled} spoiled exchanges, {self.accepted} writes,"
            f" {self.void} void: {wrong}"
        )


class Grid:
    """Runs cases against one service.

    Args:
        address: address of the service.
        token: token of its owner.
        directory: parent of the engines' home directories.
        report: called with a line of progress.
    """

    def __init__(self, address: str, token: str, directory: Path, report: Callable[[str], object] = len) -> None:
        self.report = report
        self.address, self.token, self.directory = address, token, directory
        self.figures = Figures()
        self._lives: dict[str, Life] = {}
        self._names = itertools.count()
        self._alive: set[int] = set()
        self._client = Client(address, token, timeout=Timeouts(read=300, whole=300), connections=100)
        self._closing = AsyncExitStack()
        self.takes = self.settle = 1.0

    async def __aenter__(self) -> Self:
        self._closing.push_async_callback(self._client.aclose)
        await self._create_space()
        await self._measure_timeouts()
        await self._closing.enter_async_context(listening(self._born, path=self.directory / "control"))
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self._engines = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.crash.killed_client",
            stdin=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        for pid in self._alive:
            kill(pid)
        assert self._engines.stdin
        self._engines.stdin.close()
        await self._engines.wait()
        await self._closing.aclose()

    async def _create_space(self) -> None:
        [organization] = (await self._client.send(ListOrganizations())).items
        self.space = (await self._client.send(CreateSpace(organization_id=organization.id, title="Crashes"))).id
        self.me = (await self._client.send(GetCurrentUser())).id

    async def _measure_timeouts(self) -> None:
        """Set the time-outs of the engines according to the speed of the machine."""
        start = time.monotonic()
        calls = (CreateChangeRequest(space_id=self.space, subject="How fast is it?") for _ in range(10))
        await asyncio.gather(*(self._client.fetch(call) for call in calls))
        self.takes = min(10.0, max(0.5, 1.5 * (time.monotonic() - start)))
        self.settle = self.takes * 0.6

    async def run_all(self, cases: Sequence[Case], together: int) -> Figures:
        """Run the cases, `together` at a time."""
        queue: Iterator[Case] = iter(cases)

        async def work() -> None:
            for case in queue:
                await self._run(case)

        await asyncio.gather(*(work() for _ in range(together)))
        return self.figures

    async def _run(self, case: Case) -> None:
        """Run a case; repeat it with doubled time-outs while the machine is too busy for them."""
        takes, settle = self.takes, self.settle
        for attempt in range(TRIES):
            self.takes, self.settle = max(self.takes, takes * 2**attempt), max(self.settle, settle * 2**attempt)
            if await self._attempt(case):
                return
            self.figures.void += 1
        raise AssertionError(f"{case}: this machine is too busy")

    async def _attempt(self, case: Case) -> bool:
        """Run a case once. Returns False if a request took longer than time-out and settle time: it proves nothing."""
        name, takes, settle = str(next(self._names)), self.takes, self.settle
        run = await self._prepare(case, name)
        at, times = 1 + case.number // 2 % 2, 1 + case.number // 4 % 2
        proxy = Proxy(int(self.address.rpartition(":")[2]), case.fault, at, times, takes + settle / 5)
        async with proxy.listening():
            report = await self._run_processes(case, name, run, proxy)
            await proxy.quiet()
            state = await run.look()
        if proxy.slowest(report.sending) > takes + settle:
            return False
        figures = self.figures
        figures.runs += 1
        figures.kills += report.kills
        figures.spoiled += proxy.spoiled
        figures.accepted += report.accepted
        wrong = error_of(run, report, state)
        if wrong:
            timing = f"time-outs {takes:.2f} + {settle:.2f}, sent at {report.sending}, passed {proxy.answered}"
            figures.wrong[wrong].append(
                f"{case}: {state!r}, accepted {report.accepted}, left {report.outbox}; {timing}"
            )
        if figures.runs % 20 == 0:
            self.report(str(figures))
        return True

    async def _prepare(self, case: Case, name: str) -> Run:
        """Create the change request of a run; retries if the service closed an idle connection meanwhile."""
        for attempt in range(5):
            making = Making(self._client, self.space, self.me, f"{self.directory.name}-{name}.{attempt}")
            with suppress(Ambiguous):
                return await KINDS[case.kind](await making.begin() if case.kind != "create" else making)
        raise AssertionError("the service cannot be reached")

    async def two_beside(self, seconds: float) -> tuple[list[str], Counter[str], list[str]]:
        """Let two engines read and write on one store.

        Returns:
            The texts of all accepted comments, how often the service has each text, and the errors of the engines.
        """
        requests = [(await Making(self._client, self.space, self.me, f"beside {at}").begin()).path for at in range(3)]
        reports = [Report(), Report()]
        home, address = str(self.directory / "beside"), self.address
        jobs = [
            {**self._job(f"beside.{at}", home, address), "paths": requests, "seconds": seconds}
            for at in range(len(reports))
        ]
        await asyncio.gather(*(self._run_process(job, report, None) for job, report in zip(jobs, reports, strict=True)))
        stored: Counter[str] = Counter()
        for path in requests:
            page = await self._client.send(ListComments(**path, format="markdown", limit=1000))
            stored.update((comment.body.markdown or "").strip() for comment in page.items)
        texts = [text for report in reports for text in report.texts]
        return texts, stored, [error for report in reports for error in report.errors]

    def _job(self, name: str, home: str, address: str) -> dict[str, Any]:
        return {
            "id": name,
            "home": home,
            "base_url": address,
            "token": self.token,
            "control": str(self.directory / "control"),
            "takes": self.takes,
            "settle": self.settle,
            "writes": [],
            "point": None,
            "nth": 1,
        }

    async def _run_processes(self, case: Case, name: str, run: Run, proxy: Proxy) -> Report:
        """Start engine processes one after another until one is not killed."""
        report, deaths = Report(), case.deaths()
        for life in range(MOST_LIVES):
            bases = run.bases or [None] * len(run.writes)
            calls = zip(run.writes, bases, strict=True)
            writes = [[call.stored_name(), call.given(), base] for call, base in calls] if life == 0 else []
            job = {
                **self._job(f"{name}.{life}", str(self.directory / name), proxy.base_url),
                "writes": writes,
                "point": deaths[life] if life < len(deaths) else None,
                "nth": case.nth if life == 0 and case.kill not in LOOKS else 1,
            }
            is_random = case.kill == "random" and life < 2
            dies_after = random.Random(case.number + life).uniform(0, 2 * self.takes) if is_random else None
            if await self._run_process(job, report, dies_after):
                return report
            report.kills += 1
        raise AssertionError(f"{case}: all of its processes were killed")

    async def _run_process(self, job: dict[str, Any], report: Report, dies_after: float | None) -> bool:
        """Run one process. Returns False if it was killed."""
        life = self._lives[job["id"]] = Life()
        assert self._engines.stdin
        self._engines.stdin.write(json.dumps(job).encode() + b"\n")
        reader, pid = await life.born
        self._alive.add(pid)
        timer = asyncio.get_running_loop().call_later(dies_after or LONGEST_LIFE, kill, pid)
        try:
            while line := (await reader.readline()).decode().strip():
                word, _, value = line.partition(" ")
                if word == "accepted":
                    report.accepted = int(value) + 1
                elif word == "failed":
                    report.failed.add(int(value))
                elif word == "sending":
                    report.sending.append(float(value))
                elif word == "wrote":
                    report.texts.append(value)
                elif word == "error":
                    report.errors.append(value)
                elif word == "outbox":
                    report.outbox = json.loads(value)
                elif word == "history":
                    report.history = json.loads(value)
                elif word == "end":
                    return True
        finally:
            timer.cancel()
            self._alive.discard(pid)
            life.over.set()
        return False

    async def _born(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        name, pid = (await reader.readline()).decode().split()
        life = self._lives[name]
        life.born.set_result((reader, int(pid)))
        await life.over.wait()


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def error_of(run: Run, report: Report, state: Any) -> str | None:
    """Compare the state of the service and the history with the accepted writes.

    Returns:
        A key of `Figures.wrong`, or None if every write was made once and in order.
    """
    if len(report.outbox or ()) + len(report.history or ()) < report.accepted:
        return "lost"  # every accepted write is in the outbox or in the history
    if not run.waits:
        subjects = run.states[0]
        counts, unsent = Counter(state), [arguments["subject"] for _, arguments, _ in report.outbox or ()]
        if any(count > 1 for count in counts.values()):
            return "doubled"
        lost = [
            subject
            for number, subject in enumerate(subjects[: report.accepted])
            if not (counts[subject] or subject in unsent or number in report.failed)
        ]
        return "lost" if lost else None if state == [text for text in subjects if counts[text]] else "out of order"
    if report.outbox:
        return "lost"
    if state in run.states[report.accepted :]:
        return None
    if isinstance(state, list) and isinstance(run.states[-1], list):
        if any(count > Counter(run.states[-1])[item] for item, count in Counter(state).items()):
            return "doubled"
        return "lost" if len(state) < len(run.states[report.accepted]) else "out of order"
    return "out of order"


@contextmanager
def a_service(directory: Path) -> Iterator[tuple[str, str]]:
    """Run the real service in another process; yields its address and its owner's token."""
    command = [sys.executable, "-m", "presscheck", "serve", "--port", "0", "--data", str(directory / "data")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    with (
        (directory / "service.log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=env) as service,
    ):
        assert service.stdout
        try:
            yield service.stdout.readline().strip(), service.stdout.readline().removeprefix("token: ").strip()
        finally:
            service.terminate()
