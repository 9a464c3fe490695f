"""Runs a service with two workers under a mixed load for a long time and checks errors, memory and stalls.

Usage: python -m benchmarks.soak [--minutes N] [--clients N] [--rate N] [--sqlite] [--first]. Clients read, write and
merge, upload and download files, search, poll an inbox, and visit published pages; each write is read back over another
connection, perhaps from the other worker (`tests/service/mixed_calls.py`). A line for each minute has the calls per
second, p50 and p99 of their times, errors, and of each worker the memory and the open files.

It exits with 1 if a call failed, or if a worker ended or grew. Whether it grew is seen after the warm-up, a third of
the time, in which caches fill: they are given 16 MB of each worker, so that they are full by then. The memory is
looked at every two seconds. The median of the last third of these values may be larger than the median of the first
third by at most 5 %, or 8 MB if that is more, and the open files by at most 20.

It also exits with 1 if the event loop of a worker stalled for more than 50 ms: nothing else of this worker is answered
meanwhile. What an idle loop of another process was late at the same moment, or how long the loop's thread waited for a
processor if that is more, is subtracted (`benchmarks/loop_stalls.py`).
"""

from __future__ import annotations

import argparse
import os
import queue
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from tests.postgresql import cluster, programs
from tests.service.factories import plant_world
from tests.service.mixed_calls import MixedClient, Subject, pages_for, subject_of

from benchmarks.loop_stalls import Stall, read_stalls
from benchmarks.processes import JOB_THREADS, open_files, resident_bytes, threads
from presscheck.text.phrases import count

WORKERS = 2
CACHE = 16
"""Size of each worker's cache in megabytes."""
LOOK = 2.0
"""Interval between two samples of the workers, in seconds."""
WARM_UP = 1 / 3
"""Share of the run after which growth is measured."""
GROWTH, SMALLEST_GROWTH = 0.05, 8 * 1024 * 1024
"""Maximum growth of a worker's memory after the warm-up: a share of it, or bytes if that is more."""
MORE_FILES = 20
"""Maximum number of additional open files of a worker after the warm-up."""
SHORTEST = 120.0
"""Minimum duration of a run that can show growth, in seconds."""
MOST_SHOWN = 10
"""Maximum number of errors and stalls that are printed."""
LONGEST_STALL = 0.05
"""Maximum stall of a worker's event loop, in seconds."""


@dataclass(frozen=True)
class Look:
    """A sample of all workers, in the order of their processes.

    Attributes:
        moment: seconds since the start of the load.
        resident: bytes of memory of each worker.
        files: open files of each worker.
    """

    moment: float
    resident: tuple[int, ...]
    files: tuple[int, ...]


def rise(values: Sequence[int]) -> float:
    """Return the difference between the medians of the last and the first third."""
    third = max(1, len(values) // 3)
    return statistics.median(values[-third:]) - statistics.median(values[:third])


def grown(looks: Sequence[Look], seconds: float) -> list[str]:
    """Return a line for each worker whose memory or open files grew after the warm-up of a run of `seconds`."""
    late = [look for look in looks if look.moment >= seconds * WARM_UP]
    problems: list[str] = []
    for place in range(len(late[0].resident)):
        memory = [look.resident[place] for look in late]
        growth_limit = max(SMALLEST_GROWTH, GROWTH * statistics.median(memory))
        if rise(memory) > growth_limit:
            shown, limit = rise(memory) / 2**20, growth_limit / 2**20
            problems.append(f"worker {place + 1} grew by {shown:.1f} MB after the warm-up; the limit is {limit:.1f} MB")
        files = rise([look.files[place] for look in late])
        if files > MORE_FILES:
            problems.append(f"worker {place + 1} has {files:.0f} more open files; the limit is {MORE_FILES}")
    return problems


def percentile(sorted_values: Sequence[float], part: float) -> float:
    """Return the value at a share of the sorted values; 0 if there are none."""
    return sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))] if sorted_values else 0.0


@dataclass
class Load:
    """The concurrent calls of the clients, each in its own thread.

    Attributes:
        times: times in milliseconds of the calls since the queue was last emptied.
        errors: messages of the failed calls since the queue was last emptied.
    """

    ended: threading.Event = field(default_factory=threading.Event)
    times: queue.SimpleQueue[float] = field(default_factory=queue.SimpleQueue)
    errors: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)

    def work(self, address: str, subject: Subject, number: int, pause: float) -> None:
        """Make calls until the end. Turns start at least `pause` seconds after each other."""
        # two connections to one address, which may be accepted by different workers
        client = MixedClient((address, address), subject, number, 2026, lambda _kind, spent: self.times.put(spent))
        while not self.ended.is_set():
            following = time.monotonic() + pause
            try:
                client.turn()
            except (AssertionError, httpx.TransportError) as error:
                self.errors.put(f"{type(error).__name__}: {error}")
            self.ended.wait(max(0.0, following - time.monotonic()))
        client.close()


@contextmanager
def serving(
    home: Path, database: str, *, workers: int = WORKERS, cache: int = CACHE
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a service with `workers` workers; yields its address and its main process. It logs to standard error."""
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(home), "--database", database, "--port", "0"]
    command += ["--workers", str(workers), "--cache", str(cache)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()


@contextmanager
def watched_workers(home: Path, database: str, before: Sequence[str] = ()) -> Iterator[tuple[str, list[int]]]:
    """Run workers with watched event loops on one socket; yields their address and their process ids.

    `presscheck serve --workers` starts the same processes, and one that looks after them. Another one is an idle loop.
    `before` are words before the commands of all of them.
    """
    serve = ["serve", "--until-closed", "--data", str(home), "--database", database, "--cache", str(CACHE), "--fd"]
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [
                        *before,
                        sys.executable,
                        "-m",
                        "benchmarks.loop_stalls",
                        str(stalls_file(home, number)),
                        *arguments,
                    ],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[listener.fileno()],
                )
            )
            for number, arguments in enumerate([[]] + [[*serve, str(listener.fileno())]] * WORKERS)
        ]
        for process in processes:
            stack.callback(process.terminate)
        workers = [process.pid for process in processes[1:]]
        while any(threads(worker) <= JOB_THREADS for worker in workers):
            time.sleep(0.05)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", workers


def stalls_file(home: Path, number: int) -> Path:
    """Return the file with the stalls of a worker, counted from 1; 0 is the idle loop."""
    return home / f"stalls {number}"


def stalled(home: Path, since: float) -> list[str]:
    """Print the stalls of the workers since a moment. Returns a line for each worker with too long stalls."""
    idle = [stall for stall in read_stalls(stalls_file(home, 0)) if stall.begun >= since]
    print(f"the idle loop was late by {max((stall.late for stall in idle), default=0) * 1e3:.0f} ms at most")
    reasons: list[str] = []
    for worker in range(1, WORKERS + 1):
        stalls = [stall for stall in read_stalls(stalls_file(home, worker)) if stall.begun >= since]
        own = sorted(((stall.own(idle), stall) for stall in stalls), key=lambda entry: -entry[0])
        long = [stall for seconds, stall in own if seconds > LONGEST_STALL]
        most = own[0][0] if own else 0.0
        print(
            f"worker {worker}: {count(len(long), 'stall')} above {LONGEST_STALL * 1e3:.0f} ms, most {most * 1e3:.0f} ms"
        )
        for seconds, stall in own[:MOST_SHOWN]:
            print(f"    {describe(stall, seconds)}")
        if long:
            reasons.append(
                f"the loop of worker {worker} stalled {count(len(long), 'time')}, for up to {most * 1e3:.0f} ms"
            )
    return reasons


def describe(stall: Stall, own: float) -> str:
    """Return a line about a stall; `own` is the part that is not due to the machine."""
    times = f"{own * 1e3:.0f} of {stall.late * 1e3:.0f} ms late"
    processor_times = f"processor time: loop {stall.loop * 1e3:.0f} ms, process {stall.process * 1e3:.0f} ms"
    return f"{times}; {processor_times}; {', '.join(stall.requests) or 'no request'}"


def soak(workers: Sequence[int], load: Load, seconds: float, look: float = LOOK) -> list[str]:
    """Sample the workers while a load runs, and print a line each minute. Returns the reasons for a failure."""
    looks: list[Look] = []
    start = shown_at = time.monotonic()
    total = failed = 0
    while (now := time.monotonic()) < start + seconds:
        time.sleep(look)
        try:
            looks.append(Look(now - start, tuple(map(resident_bytes, workers)), tuple(map(open_files, workers))))
        except OSError:
            return ["a worker ended"]
        if time.monotonic() < min(shown_at + 60, start + seconds):
            continue
        elapsed, shown_at = time.monotonic() - shown_at, time.monotonic()
        times = sorted(load.times.get() for _ in range(load.times.qsize()))
        errors = [load.errors.get() for _ in range(load.errors.qsize())]
        for error in errors[: max(0, MOST_SHOWN - failed)]:
            print(f"    {error[:300]}", flush=True)
        total, failed = total + len(times), failed + len(errors)
        cells = [
            f"{(shown_at - start) / 60:.0f}",
            f"{len(times) / elapsed:.1f}",
            f"{percentile(times, 0.5):.0f} ms",
            f"{percentile(times, 0.99):.0f} ms",
            str(len(errors)),
            ", ".join(f"{size / 2**20:.1f} MB" for size in looks[-1].resident),
            ", ".join(map(str, looks[-1].files)),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"{total:,} calls, {count(failed, 'error')}")
    return [*([count(failed, "error")] if failed else []), *(grown(looks, seconds) if seconds >= SHORTEST else [])]


@contextmanager
def loaded(load: Load, address: str, subject: Subject, clients: int, rate: float) -> Iterator[None]:
    """Run a load for the duration of the block."""
    # a turn has three or four calls
    pause = 3.5 * clients / rate if rate else 0.0
    threads = [threading.Thread(target=load.work, args=(address, subject, number, pause)) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        load.ended.set()
        for thread in threads:
            thread.join()


def main() -> int:
    """Run the service and the load. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0, help="most calls per second; 0 for as many as are answered")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, also where PostgreSQL is installed")
    parser.add_argument("--first", action="store_true", help="workers before all other work of the machine: chrt -r 5")
    options = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        if programs() and not options.sqlite:
            database = stack.enter_context(cluster()).new_database()
        else:
            database = f"sqlite:///{home / 'service.sqlite'}"
        world = plant_world(database, "http://127.0.0.1:1", pages_for(options.clients))
        address, workers = stack.enter_context(
            watched_workers(home, database, ("chrt", "-r", "5") if options.first else ())
        )
        subject = subject_of(world, address)
        print(
            f"{database.partition(':')[0]}, {WORKERS} workers, {options.clients} clients, {options.minutes:g} minutes"
        )
        print("| minute | calls/s | p50 | p99 | errors | memory of each worker | open files |")
        print("|---|---|---|---|---|---|---|", flush=True)
        load, start = Load(), time.monotonic()
        with loaded(load, address, subject, options.clients, options.rate):
            reasons = soak(workers, load, options.minutes * 60)
        reasons += stalled(home, start)
    for reason in reasons:
        print(f"failed: {reason}")
    return int(bool(reasons))


if __name__ == "__main__":
    sys.exit(main())
