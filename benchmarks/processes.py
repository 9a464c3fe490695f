"""Other processes of this machine, as Linux counts them in /proc: processor time, memory, open files."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
JOB_THREADS = 5
"""Threads that a worker starts before it answers requests, besides its first."""
PROCESSORS = len(os.sched_getaffinity(0))
"""The processors that processes started here may use."""


def _stat(process: int) -> list[str]:
    """The fields of a process from its state on; its name, before them, may contain spaces."""
    return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()


def children(process: int) -> list[int]:
    """The processes that a process started and that still run."""
    found: list[int] = []
    for path in PROC.iterdir():
        with suppress(OSError):  # it ended meanwhile
            if path.name.isdecimal() and int(_stat(int(path.name))[1]) == process:
                found.append(int(path.name))
    return sorted(found)


def workers(service: int) -> list[int]:
    """The processes that answer requests: those that the service started, or the service itself if it is one."""
    return children(service) or [service]


def started_workers(service: int, count: int) -> list[int]:
    """Waits until so many processes answer requests; returns them."""
    while len(found := workers(service)) < count or any(threads(worker) <= JOB_THREADS for worker in found):
        time.sleep(0.05)
    return found


def processor_seconds(process: int) -> float:
    """Processor time of a process and of those of its children that have ended, in seconds."""
    return sum(map(int, _stat(process)[11:15])) / TICKS


def family_seconds(process: int) -> float:
    """Processor time of a process and of its children, in seconds."""
    return sum(map(processor_seconds, [process, *children(process)]))


def idle_seconds() -> float:
    """Seconds that the processors had nothing to do, all together, since the machine started."""
    fields = (PROC / "stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / TICKS


def resident_bytes(process: int) -> int:
    """The memory that a process has at the moment."""
    lines = (PROC / str(process) / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def open_files(process: int) -> int:
    """Files, sockets and pipes that a process has open."""
    return len(list((PROC / str(process) / "fd").iterdir()))


def threads(process: int) -> int:
    """The threads of a process."""
    return len(list((PROC / str(process) / "task").iterdir()))
