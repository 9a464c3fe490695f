"""Starts `presscheck serve` as a process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Process = subprocess.Popen[str]


@contextmanager
def serving(directory: Path, *options: str, fds: tuple[int, ...] = ()) -> Iterator[Process]:
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(directory), *options]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, pass_fds=fds
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def line(process: Process) -> str:
    assert process.stdout
    return process.stdout.readline().strip()
