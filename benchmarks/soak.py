"""A service with two workers under a mixed load for many minutes: its errors, and whether its memory is flat.

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
"""Megabytes of each worker for what it keeps."""
LOOK = 2.0
"""Seconds between two looks at the workers."""
WARM_UP = 1 / 3
"""The part of the time after which growth counts."""
GROWTH, SMALLEST_GROWTH = 0.05, 8 * 1024 * 1024
"""How much the memory of a worker may grow after the warm-up: a part of it, or bytes if that is more."""
MORE_FILES = 20
"""How many more open files a worker may have after the warm-up."""
SHORTEST = 120.0
"""Seconds of a run that can show growth."""
MOST_SHOWN = 10
"""Errors and stalls that are printed."""
LONGEST_STALL = 0.05
"""Seconds for which the event loop of a worker may stall."""


@dataclass(frozen=True)
class Look:
    """What was seen of the workers, in the order of their processes.

    Attributes:
        moment: seconds since the start of the load.
        resident: bytes of memory of each worker.
        files: open files of each worker.
    """

    moment: float
    resident: tuple[int, ...]
    files: tuple[int, ...]


def rise(values: Sequence[int]) -> float:
    """How much larger the median of the last third is than that of the first third."""
    third = max(1, len(values) // 3)
    return statistics.median(values[-third:]) - statistics.median(values[:third])


def grown(looks: Sequence[Look], seconds: float) -> list[str]:
    """What grew after the warm-up of a run of so many seconds, one line for each worker and kind."""
    late = [look for look in looks if look.moment >= seconds * WARM_UP]
    found: list[str] = []
    for place in range(len(late[0].resident)):
        memory = [look.resident[place] for look in late]
        most = max(SMALLEST_GROWTH, GROWTH * statistics.median(memory))
        if rise(memory) > most:
            shown, limit = rise(memory) / 2**20, most / 2**20
            found.append(f"worker {place + 1} grew by {shown:.1f} MB after the warm-up; the limit is {limit:.1f} MB")
        files = rise([look.files[place] for look in late])
        if files > MORE_FILES:
            found.append(f"worker {place + 1} has {files:.0f} more open files; the limit is {MORE_FILES}")
    return found


def percentile(sorted_values: Sequence[float], part: float) -> float:
    """The value that this part of the values is not above; 0 if there are none."""
    return sorted_values[min(len(sorted_values) - 1, int(part * len(sorted_values)))] if sorted_values else 0.0


@dataclass
class Load:
    """What the clients do at the same time, each in a thread.

    Attributes:
        times: the milliseconds of the calls since they were taken last.
        errors: what failed, until it was taken.
    """

    ended: threading.Event = field(default_factory=threading.Event)
    times: queue.SimpleQueue[float] = field(default_factory=queue.SimpleQueue)
    errors: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)

    def work(self, address: str, subject: Subject, number: int, pause: float) -> None:
        """Makes calls until the end, and begins a turn no earlier than so many seconds after the one before."""
        # two connections to one address: which worker has them depends on which accepted them
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
    """A service with some workers: its address and its first process; its log goes to standard error."""
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
    """Workers of the service on one socket, whose loops are watched: their address and their processes.

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
    """The file with the stalls of a worker, of which the first is 1; 0 is the idle loop."""
    return home / f"stalls {number}"


def stalled(home: Path, since: float) -> list[str]:
    """Prints what the loops of the workers were held up by since a moment; a reason for each that stalled too long."""
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
    """One line about a stall; `own` is what the machine had no part in."""
    times = f"{own * 1e3:.0f} of {stall.late * 1e3:.0f} ms late"
    spent = f"processor time: loop {stall.loop * 1e3:.0f} ms, process {stall.process * 1e3:.0f} ms"
    return f"{times}; {spent}; {', '.join(stall.requests) or 'no request'}"


def soak(workers: Sequence[int], load: Load, seconds: float, look: float = LOOK) -> list[str]:
    """Looks at the workers while a load runs, and prints a line each minute; the reasons for which it failed."""
    looks: list[Look] = []
    begun = shown = time.monotonic()
    total = failed = 0
    while (now := time.monotonic()) < begun + seconds:
        time.sleep(look)
        try:
            looks.append(Look(now - begun, tuple(map(resident_bytes, workers)), tuple(map(open_files, workers))))
        except OSError:
            return ["a worker ended"]
        if time.monotonic() < min(shown + 60, begun + seconds):
            continue
        took, shown = time.monotonic() - shown, time.monotonic()
        times = sorted(load.times.get() for _ in range(load.times.qsize()))
        errors = [load.errors.get() for _ in range(load.errors.qsize())]
        for error in errors[: max(0, MOST_SHOWN - failed)]:
            print(f"    {error[:300]}", flush=True)
        total, failed = total + len(times), failed + len(errors)
        cells = [
            f"{(shown - begun) / 60:.0f}",
            f"{len(times) / took:.1f}",
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
    """Runs a load for the duration of the block."""
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
    """Starts the service and the load; 0 if nothing failed and nothing grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=0, help="most calls per second; 0 for as many as are answered")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite, also where PostgreSQL is installed")
    parser.add_argument("--first", action="store_true", help="workers before all other work of the machine: chrt -r 5")
    chosen = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        if programs() and not chosen.sqlite:
            database = stack.enter_context(cluster()).new_database()
        else:
            database = f"sqlite:///{home / 'service.sqlite'}"
        world = plant_world(database, "http://127.0.0.1:1", pages_for(chosen.clients))
        address, workers = stack.enter_context(
            watched_workers(home, database, ("chrt", "-r", "5") if chosen.first else ())
        )
        subject = subject_of(world, address)
        print(f"{database.partition(':')[0]}, {WORKERS} workers, {chosen.clients} clients, {chosen.minutes:g} minutes")
        print("| minute | calls/s | p50 | p99 | errors | memory of each worker | open files |")
        print("|---|---|---|---|---|---|---|", flush=True)
        load, begun = Load(), time.monotonic()
        with loaded(load, address, subject, chosen.clients, chosen.rate):
            reasons = soak(workers, load, chosen.minutes * 60)
        reasons += stalled(home, begun)
    for reason in reasons:
        print(f"failed: {reason}")
    return int(bool(reasons))


if __name__ == "__main__":
    sys.exit(main())
