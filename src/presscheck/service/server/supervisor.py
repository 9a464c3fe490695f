"""Supervisor of several service processes on one socket: starts them, restarts dead ones, and stops all together."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from types import FrameType

PAUSE = 1.0
"""Seconds before a dead process is restarted."""
LOOK = 0.2
"""Seconds between two checks."""

_log = logging.getLogger("presscheck.service")


def run_processes(
    arguments: Sequence[str], environment: Mapping[str, str], fd: int, count: int, patience: float
) -> None:
    """Run several processes of `presscheck serve` on a listening socket until SIGTERM or SIGINT.

    Args:
        arguments: the command line arguments of each process.
        environment: the environment of each process.
        fd: the file descriptor of the socket.
        count: the number of processes.
        patience: seconds for all processes to stop.
    """
    command = [sys.executable, "-m", "presscheck", "serve", "--fd", str(fd), "--until-closed", *arguments]
    is_ending = False

    def end(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_ending
        is_ending = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    running = [_started(command, environment, fd) for _ in range(count)]
    while not is_ending:
        time.sleep(LOOK)
        for place, process in enumerate(running):
            if process.poll() is not None and not is_ending:
                _log.warning("a worker process exited with %s; starting a new one", process.returncode)
                time.sleep(PAUSE)
                running[place] = _started(command, environment, fd)
    _stop(running, patience)
    for number, handler in before.items():
        signal.signal(number, handler)


def _started(command: Sequence[str], environment: Mapping[str, str], fd: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  # the command of this program
        command,
        stdin=subprocess.PIPE,  # the child ends when this pipe closes, even if this process is killed
        stdout=subprocess.DEVNULL,
        pass_fds=[fd],
        env=environment,
        start_new_session=True,  # ctrl+c reaches only this process, which then stops the children
    )


def _stop(running: Sequence[subprocess.Popen[bytes]], patience: float) -> None:
    for process in running:
        if process.stdin:
            process.stdin.close()
    deadline = time.monotonic() + patience
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
