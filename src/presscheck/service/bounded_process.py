"""Runs modules of the service in separate processes with limits on memory and time.

A regular expression, a schema or an image of a user can take gigabytes or hours. A process that exceeds its limits is
killed, and the service and other users are not affected.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, cast

_INHERITED = ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "XDG_DATA_HOME", "XDG_DATA_DIRS")
"""Environment variables of the process: paths of libraries and fonts, but no credentials of the service."""
LONGEST_REASON = 500
"""Maximum number of characters of an error message."""


class ProcessFailed(Exception):
    """The process ended without a result; the message is the reason."""


class LimitExceeded(ProcessFailed):
    """The process exceeded its limit of memory or time."""


def run_bounded(
    module: str,
    *arguments: str,
    stdin: bytes,
    seconds: int,
    environment: Mapping[str, str] | None = None,
    answer: Callable[[bytes], bytes] | None = None,
) -> bytes:
    """Run `python -m module` and return its standard output.

    Args:
        module: the module, which must call `limit_resources` before it reads input.
        arguments: the command-line arguments.
        stdin: the standard input.
        seconds: the time after which the process is killed.
        environment: additional environment variables.
        answer: for a process that asks a question: maps the first line of its standard output to further standard
            input. The process must be able to recognize the end of `stdin`.

    Raises:
        LimitExceeded: the process was killed, by this function or by the kernel.
        ProcessFailed: the exit code is not 0; the message is the end of standard error.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    with subprocess.Popen(  # noqa: S603  # this program, with arguments of the service
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**inherited, **(environment or {})},
    ) as process:
        is_late = threading.Event()
        timer = threading.Timer(seconds, lambda: (is_late.set(), process.kill()))
        timer.start()
        try:
            if answer:
                stdin = answer(_question(process, stdin))
            stdout, stderr = process.communicate(stdin)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
    if is_late.is_set():
        raise LimitExceeded(f"not done after {seconds} seconds")
    if process.returncode < 0:
        raise LimitExceeded("more memory or time needed than is allowed")
    if process.returncode:
        reason = stderr.decode("utf-8", "replace").strip()
        raise ProcessFailed(reason[-LONGEST_REASON:] or f"exit code {process.returncode}")
    return stdout


def _question(process: subprocess.Popen[bytes], stdin: bytes) -> bytes:
    """Write to a process, and return the line with its question, or an empty line if the process has ended."""
    pipe = cast("IO[bytes]", process.stdin)
    try:
        pipe.write(stdin)
        pipe.flush()
    except BrokenPipeError:
        with suppress(BrokenPipeError):
            pipe.close()
        process.stdin = None  # or else `communicate` would fail at what is left in the buffer
    return cast("IO[bytes]", process.stdout).readline()


def limit_resources(memory: int, seconds: int) -> None:
    """Limit this process to `memory` bytes and `seconds` of processor time, and turn core dumps off."""
    for kind, limit in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems lack some limits
            resource.setrlimit(kind, (limit, limit))
