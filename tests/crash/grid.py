"""The grid of kill point × fault × kind of write: each run uses the real service and is checked there."""

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
"""Reached where something is in doubt: a first process is killed with its write just sent."""
FAULTS_OF_A_KIND = 3
"""In the slice, of which each case takes several processes."""
MOST_LIVES = 8
TRIES = 4
LONGEST_LIFE = 300.0


@dataclass(frozen=True)
class Case:
    """One run: a kind of write, where its engine is killed, and what its proxy does."""

    number: int
    kind: str
    kill: str
    fault: str

    @property
    def nth(self) -> int:
        """At which time of reaching the step."""
        return 1 + self.number % 2

    def deaths(self) -> list[str | None]:
        if self.kill in LOOKS:
            return ["sent", self.kill]
        return [None if self.kill in ("random", "never") else self.kill]

    def __str__(self) -> str:
        return f"#{self.number} {self.kind}, killed: {self.kill} ({self.nth}), proxy: {self.fault}"


def whole_grid() -> list[Case]:
    every = [(kind, kill, fault) for kind in KINDS for kill in KILLS for fault in FAULTS]
    cases = [Case(number, *one) for number, one in enumerate(every)]
    random.Random(len(cases)).shuffle(cases)  # so that one that is cut short has seen of everything
    return cases


def a_slice() -> list[Case]:
    """Each kind with some faults, each fault with some kinds, and every kill among them."""
    found: list[Case] = []
    for number, kind in enumerate(KINDS):
        for turn in range(FAULTS_OF_A_KIND):
            fault = FAULTS[(number * FAULTS_OF_A_KIND + turn) % len(FAULTS)]
            found.append(Case(len(found), kind, KILLS[len(found) * 7 % len(KILLS)], fault))
    return found


@dataclass
class Told:
    """What the engines of a run told."""

    took: int = 0
    told: set[int] = field(default_factory=set)
    kept: list[Any] | None = None
    past: list[int] | None = None
    kills: int = 0
    sending: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass
class Life:
    """One process of an engine: what it says and its number, once it was born."""

    born: asyncio.Future[tuple[asyncio.StreamReader, int]] = field(default_factory=asyncio.Future)
    over: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class Figures:
    """What came of it all."""

    runs: int = 0
    kills: int = 0
    spoiled: int = 0
    taken: int = 0
    void: int = 0
    wrong: dict[str, list[str]] = field(default_factory=lambda: {"lost": [], "doubled": [], "out of order": []})

    def __str__(self) -> str:
        wrong = ", ".join(f"{len(cases)} {name}" for name, cases in self.wrong.items())
        return (
            f"{self.runs} runs, {self.kills} kills, {self.spoiled} spoiled exchanges, {self.taken} writes,"
            f" {self.void} void: {wrong}"
        )


class Grid:
    """Runs cases against one service.

    Args:
        address: of the service.
        token: of its owner.
        directory: for the homes of the engines.
        says: told how far it is.
    """

    def __init__(self, address: str, token: str, directory: Path, says: Callable[[str], object] = len) -> None:
        self.says = says
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
        await self._settle_in()
        await self._take_its_measure()
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

    async def _settle_in(self) -> None:
        [organization] = (await self._client.send(ListOrganizations())).items
        self.space = (await self._client.send(CreateSpace(organization_id=organization.id, title="Crashes"))).id
        self.me = (await self._client.send(GetCurrentUser())).id

    async def _take_its_measure(self) -> None:
        """How long this machine must be given for an answer, busy as it is."""
        began = time.monotonic()
        calls = (CreateChangeRequest(space_id=self.space, subject="How fast is it?") for _ in range(10))
        await asyncio.gather(*(self._client.fetch(call) for call in calls))
        self.takes = min(10.0, max(0.5, 1.5 * (time.monotonic() - began)))
        self.settle = self.takes * 0.6

    async def run_all(self, cases: Sequence[Case], together: int) -> Figures:
        """Run them, so many at a time."""
        left: Iterator[Case] = iter(cases)

        async def work() -> None:
            for case in left:
                await self._run(case)

        await asyncio.gather(*(work() for _ in range(together)))
        return self.figures

    async def _run(self, case: Case) -> None:
        """Run one; again with more patience if this machine was too busy to answer within what the engine allows."""
        takes, settle = self.takes, self.settle
        for attempt in range(TRIES):
            self.takes, self.settle = max(self.takes, takes * 2**attempt), max(self.settle, settle * 2**attempt)
            if await self._tried(case):
                return
            self.figures.void += 1
        raise AssertionError(f"{case}: this machine is too busy")

    async def _tried(self, case: Case) -> bool:
        """Whether what is promised could be judged: nothing took longer than time-out and settle time together."""
        name, takes, settle = str(next(self._names)), self.takes, self.settle
        run = await self._made(case, name)
        at, times = 1 + case.number // 2 % 2, 1 + case.number // 4 % 2
        proxy = Proxy(int(self.address.rpartition(":")[2]), case.fault, at, times, takes + settle / 5)
        async with proxy.listening():
            told = await self._lives_of(case, name, run, proxy)
            await proxy.quiet()
            there = await run.look()
        if proxy.slowest(told.sending) > takes + settle:
            return False
        figures = self.figures
        figures.runs += 1
        figures.kills += told.kills
        figures.spoiled += proxy.spoiled
        figures.taken += told.took
        wrong = judged(run, told, there)
        if wrong:
            times = f"patience {takes:.2f} + {settle:.2f}, noted {told.sending}, passed {proxy.answered}"
            figures.wrong[wrong].append(f"{case}: {there!r}, taken {told.took}, kept {told.kept}; {times}")
        if figures.runs % 20 == 0:
            self.says(str(figures))
        return True

    async def _made(self, case: Case, name: str) -> Run:
        """The run, in a change request of its own; a connection that idled too long is no part of the test."""
        for attempt in range(5):
            making = Making(self._client, self.space, self.me, f"{self.directory.name}-{name}.{attempt}")
            with suppress(Ambiguous):
                return await KINDS[case.kind](await making.begin() if case.kind != "create" else making)
        raise AssertionError("the service cannot be reached")

    async def two_beside(self, seconds: float) -> tuple[list[str], Counter[str], list[str]]:
        """Two engines on one store, reading and writing: what both took, how often each is there, what went wrong."""
        requests = [(await Making(self._client, self.space, self.me, f"beside {at}").begin()).path for at in range(3)]
        told = [Told(), Told()]
        home, address = str(self.directory / "beside"), self.address
        jobs = [
            {**self._job(f"beside.{at}", home, address), "paths": requests, "seconds": seconds}
            for at in range(len(told))
        ]
        await asyncio.gather(*(self._lived(job, one, None) for job, one in zip(jobs, told, strict=True)))
        there: Counter[str] = Counter()
        for path in requests:
            found = await self._client.send(ListComments(**path, format="markdown", limit=1000))
            there.update((one.body.markdown or "").strip() for one in found.items)
        return [text for one in told for text in one.texts], there, [line for one in told for line in one.errors]

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

    async def _lives_of(self, case: Case, name: str, run: Run, proxy: Proxy) -> Told:
        """Start the engine again until one comes to its end."""
        told, deaths = Told(), case.deaths()
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
            if await self._lived(job, told, dies_after):
                return told
            told.kills += 1
        raise AssertionError(f"{case}: it never came to an end")

    async def _lived(self, job: dict[str, Any], told: Told, dies_after: float | None) -> bool:
        """One process; whether it came to its end."""
        life = self._lives[job["id"]] = Life()
        assert self._engines.stdin
        self._engines.stdin.write(json.dumps(job).encode() + b"\n")
        reader, pid = await life.born
        self._alive.add(pid)
        timer = asyncio.get_running_loop().call_later(dies_after or LONGEST_LIFE, kill, pid)
        try:
            while line := (await reader.readline()).decode().strip():
                word, _, rest = line.partition(" ")
                if word == "took":
                    told.took = int(rest) + 1
                elif word == "told":
                    told.told.add(int(rest))
                elif word == "sending":
                    told.sending.append(float(rest))
                elif word == "wrote":
                    told.texts.append(rest)
                elif word == "error":
                    told.errors.append(rest)
                elif word == "kept":
                    told.kept = json.loads(rest)
                elif word == "past":
                    told.past = json.loads(rest)
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


def judged(run: Run, told: Told, there: Any) -> str | None:
    """What is wrong with what the service and the history hold; None where nothing is."""
    if len(told.kept or ()) + len(told.past or ()) < told.took:
        return "lost"  # a write is in the outbox or in the history
    if not run.waits:
        said = run.states[0]
        counts, kept = Counter(there), [given["subject"] for _, given, _ in told.kept or ()]
        if any(count > 1 for count in counts.values()):
            return "doubled"
        lost = [one for at, one in enumerate(said[: told.took]) if not (counts[one] or one in kept or at in told.told)]
        return "lost" if lost else None if there == [one for one in said if counts[one]] else "out of order"
    if told.kept:
        return "lost"
    if there in run.states[told.took :]:
        return None
    if isinstance(there, list) and isinstance(run.states[-1], list):
        if any(count > Counter(run.states[-1])[one] for one, count in Counter(there).items()):
            return "doubled"
        return "lost" if len(there) < len(run.states[told.took]) else "out of order"
    return "out of order"


@contextmanager
def a_service(directory: Path) -> Iterator[tuple[str, str]]:
    """The real service in a process of its own: its address, and its owner's token."""
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
