"""Helpers that run `presscheck serve` as a process."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Process = subprocess.Popen[str]


def impatient(*, renewal: float) -> tuple[str, ...]:
    """Return Python arguments for a service whose leases expire after 2.5 seconds.

    After SIGUSR1 all writes to files fail, as with an exhausted quota; after SIGUSR2 they succeed again.
    """
    return (
        "-c",
        "import resource, signal\n"
        "soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)\n"
        "signal.signal(signal.SIGUSR1, lambda *_: resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard)))\n"
        "signal.signal(signal.SIGUSR2, lambda *_: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)))\n"
        f"from presscheck.service.jobs import worker; worker.LEASE, worker.RENEWAL, worker.POLL = 2.5, {renewal}, 0.1\n"
        "from presscheck.__main__ import main; main()",
    )


@contextmanager
def serving(
    directory: Path, *options: str, fds: tuple[int, ...] = (), run: tuple[str, ...] = ("-m", "presscheck")
) -> Iterator[Process]:
    command = [sys.executable, *run, "serve", "--data", str(directory), *options]
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
