"""Reads figures of other processes from Linux's /proc: processor time, memory, open files."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")
JOB_THREADS = 5
"""Number of threads that a worker starts, besides its main thread, before it accepts requests."""
PROCESSORS = len(os.sched_getaffinity(0))
"""Number of processors that child processes may use."""


def _stat(process: int) -> list[str]:
    """Return the fields of a process's `stat` file after the name, which may contain spaces."""
    return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()


def children(process: int) -> list[int]:
    """Return the ids of the running children of a process."""
    ids: list[int] = []
    for path in PROC.iterdir():
        with suppress(OSError):  # the process has ended
            if path.name.isdecimal() and int(_stat(int(path.name))[1]) == process:
                ids.append(int(path.name))
    return sorted(ids)


def workers(service: int) -> list[int]:
    """Return the ids of the processes that answer requests: the service's children, or the service itself."""
    return children(service) or [service]


def started_workers(service: int, count: int) -> list[int]:
    """Wait until `count` processes answer requests. Returns their ids."""
    while len(running := workers(service)) < count or any(threads(worker) <= JOB_THREADS for worker in running):
        time.sleep(0.05)
    return running


def processor_seconds(process: int) -> float:
    """Return the processor time of a process and its ended children, in seconds."""
    return sum(map(int, _stat(process)[11:15])) / TICKS


def family_seconds(process: int) -> float:
    """Return the processor time of a process and all its children, in seconds."""
    return sum(map(processor_seconds, [process, *children(process)]))


def idle_seconds() -> float:
    """Return the total idle time of all processors since the machine started, in seconds."""
    fields = (PROC / "stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / TICKS


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process in bytes."""
    lines = (PROC / str(process) / "status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:"))


def open_files(process: int) -> int:
    """Return the number of open files, sockets and pipes of a process."""
    return len(list((PROC / str(process) / "fd").iterdir()))


def threads(process: int) -> int:
    """Return the number of threads of a process."""
    return len(list((PROC / str(process) / "task").iterdir()))
