"""Compares the throughput of two worker processes of the service with that of one, on SQLite and on PostgreSQL.

Usage: python -m benchmarks.scale [--seconds N] [--rounds N] [--connections N]. `wrk` sends the requests as fast as they
are answered; both services run on one database and are measured in turn. On a machine with two processors, two workers
share them with the generator, and one worker does not. So what the workers did not have is subtracted:

    time = the larger of  seconds - (others - idle) / processors
                     and  processor time of the busiest worker

where `others` is the processor time of everything but the service: the generator and any other program. What fits
into the idle time took nothing from the service; of what exceeds it, each processor had its share. No worker uses more
than one processor, which bounds the time from below. A rate is the number of requests by this time. A worker that waits
for a lock leaves the processors idle, and idle time is not subtracted. The database belongs to the service in one
column, and in the other, for PostgreSQL, to the others, as if it had a machine of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.postgresql import cluster, programs
from tests.service.factories import World, plant_world

from benchmarks.processes import PROCESSORS, family_seconds, idle_seconds, processor_seconds, started_workers
from benchmarks.service import Call, calls_of

INSTALL = "wrk is not on this machine: install the package wrk (Debian, Fedora: wrk; macOS: brew install wrk)"
REPORT = """
wrk.method = "%s"
wrk.headers["authorization"] = "Bearer %s"
wrk.headers["content-type"] = "application/json"
wrk.body = %s
function done(summary, latency, requests)
    local errors = summary.errors
    local lost = errors.connect + errors.read + errors.write + errors.timeout
    io.write(string.format('{"requests": %%d, "seconds": %%f, "errors": %%d, "p50": %%f, "p99": %%f}\\n',
        summary.requests, summary.duration / 1e6, errors.status + lost,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
"""
"""The script of `wrk`: the request, and a report whose percentiles are in milliseconds."""


class Run(NamedTuple):
    """The figures of a run of the generator; times are in seconds, percentiles in milliseconds.

    Attributes:
        seconds: elapsed time.
        workers: processor time of each worker.
        database: processor time of the processes of the database; 0 for SQLite.
        idle: total idle time of the processors.
    """

    requests: int
    errors: int
    p50: float
    p99: float
    seconds: float
    workers: tuple[float, ...]
    database: float
    idle: float

    def rate(self, processors: int, *, database_apart: bool = False) -> float:
        """Return requests per second without the time that other processes took; see the top of this module."""
        service = sum(self.workers) + (0 if database_apart else self.database)
        others = max(0.0, processors * self.seconds - self.idle - service)
        remaining = self.seconds - max(0.0, others - self.idle) / processors
        return self.requests / max(remaining, max(self.workers))

    def cost(self) -> float:
        """Return the processor time of service and database per request, in milliseconds."""
        return (sum(self.workers) + self.database) / self.requests * 1e3


@dataclass(frozen=True)
class Place:
    """A service, its worker processes, and the main process of its database, if there is one."""

    address: str
    workers: list[int]
    postmaster: int | None
    home: Path


def measured(place: Place, call: Call, token: str, seconds: int, connections: int) -> Run:
    """Run the generator once."""
    script = place.home / "request.lua"
    script.write_text(REPORT % (call.method, token, json.dumps((call.body or b"").decode())))
    command = ["wrk", "--threads", "1", "--connections", str(connections), "--duration", f"{seconds}s"]
    before = _spent(place)
    output = subprocess.run(
        [*command, "--timeout", "30s", "--script", str(script), place.address + call.path],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    after = _spent(place)
    report = json.loads(output.splitlines()[-1])
    if not report["requests"]:
        raise SystemExit(f"{call.name}: no answer\n{output}")
    return Run(
        int(report["requests"]),
        int(report["errors"]),
        report["p50"],
        report["p99"],
        after[0] - before[0],
        tuple(later - earlier for later, earlier in zip(after[3], before[3], strict=True)),
        after[2] - before[2],
        after[1] - before[1],
    )


def _spent(place: Place) -> tuple[float, float, float, tuple[float, ...]]:
    database = family_seconds(place.postmaster) if place.postmaster else 0.0
    of_workers = tuple(map(processor_seconds, place.workers))
    return time.monotonic(), idle_seconds(), database, of_workers


@contextmanager
def serving(home: Path, database: str, count: int, postmaster: int | None) -> Iterator[Place]:
    """Run a service with `count` workers."""
    home.mkdir()
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(home), "--database", database]
    with subprocess.Popen(
        [*command, "--port", "0", "--workers", str(count)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            yield Place(address, started_workers(process.pid, count), postmaster, home)
        finally:
            process.terminate()


def chosen_calls(address: str, world: World) -> tuple[Call, ...]:
    """Return the calls to measure: reads with cached responses, an uncached read, and writes."""
    space, page, requests, comment, *_ = calls_of(address, world)
    computed = Call("read: a search, computed each time", "GET", f"/v1/spaces/{world.space}/search?query=second")
    return space, page, requests, computed, comment


def shown(name: str, one: Sequence[Run], two: Sequence[Run], *, has_database: bool) -> str:
    """Return a row of the table with the medians of the rounds."""

    def rate(runs: Sequence[Run], *, apart: bool) -> float:
        return statistics.median(run.rate(PROCESSORS, database_apart=apart) for run in runs)

    def ratio(*, apart: bool) -> str:
        pairs = zip(one, two, strict=True)
        of_rounds = [
            b.rate(PROCESSORS, database_apart=apart) / a.rate(PROCESSORS, database_apart=apart) for a, b in pairs
        ]
        return f"{statistics.median(of_rounds):.2f} ×"

    def median(runs: Sequence[Run], value: str) -> float:
        return statistics.median(getattr(run, value) for run in runs)

    clock = [statistics.median(run.requests / run.seconds for run in runs) for runs in (one, two)]
    cells = [
        name,
        f"{clock[0]:,.0f}, {clock[1]:,.0f}",
        f"{rate(one, apart=False):,.0f}, {rate(two, apart=False):,.0f}",
        ratio(apart=False),
        ratio(apart=True) if has_database else "",
        f"{statistics.median(run.cost() for run in one):.2f}, {statistics.median(run.cost() for run in two):.2f} ms",
        f"{median(one, 'p50'):.1f}, {median(two, 'p50'):.1f} ms",
        f"{median(one, 'p99'):.1f}, {median(two, 'p99'):.1f} ms",
        str(sum(run.errors for run in (*one, *two))),
    ]
    return f"| {' | '.join(cells)} |"


HEAD = (
    "| what | by the clock: 1, 2 | generator subtracted: 1, 2 | ratio | database subtracted, too | processor time"
    " of a request: 1, 2 | p50: 1, 2 | p99: 1, 2 | errors |"
)


def measure(engine: str, home: Path, database: str, postmaster: int | None, options: argparse.Namespace) -> None:
    """Print a row for each call on a database engine."""
    world = plant_world(database, "http://127.0.0.1:1")
    with ExitStack() as stack:
        places = [
            stack.enter_context(serving(home / f"{engine}-{count}", database, count, postmaster)) for count in (1, 2)
        ]
        token = world.tokens["admin"]
        for call in chosen_calls(places[0].address, world):
            if options.only and options.only not in call.name:
                continue
            runs: tuple[list[Run], list[Run]] = ([], [])
            for _ in range(options.rounds):
                for place, results in zip(places, runs, strict=True):
                    results.append(measured(place, call, token, options.seconds, options.connections))
            print(shown(f"{engine}, {call.name}", *runs, has_database=postmaster is not None), flush=True)
            if options.each:
                for run in (*runs[0], *runs[1]):
                    print(run, file=sys.stderr)


def main() -> None:
    """Measure both database engines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5, help="of each run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--only", default="", help="calls whose name contains this")
    parser.add_argument("--each", action="store_true", help="print each run, too")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit(INSTALL)
    print(f"{PROCESSORS} processors, {options.connections} connections")
    print(HEAD)
    print("|" + "---|" * (HEAD.count("|") - 1))
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        measure("SQLite", home, f"sqlite:///{home / 'service.sqlite'}", None, options)
        if programs():
            databases = stack.enter_context(cluster(durable=True))
            postmaster = int((databases.directory / "data" / "postmaster.pid").read_text().splitlines()[0])
            measure("PostgreSQL", home, databases.new_database(), postmaster, options)


if __name__ == "__main__":
    main()
