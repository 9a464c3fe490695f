"""Runs a module of the service in a separate process, with limits on memory and time.

A regular expression, a schema or an image from a user can need gigabytes or hours. A process that exceeds its limits is
killed; the service and the work of other users go on.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

_INHERITED = ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "XDG_DATA_HOME", "XDG_DATA_DIRS")
"""Environment variables of the process: paths of libraries and fonts, but no credentials of the service."""
LONGEST_REASON = 500
"""Maximum number of characters of an error message."""


class ProcessFailed(Exception):
    """The process ended without a result. The message is the reason."""


class LimitExceeded(ProcessFailed):
    """The process exceeded its limit of memory or time."""


def run_bounded(
    module: str, *arguments: str, stdin: bytes, seconds: int, environment: Mapping[str, str] | None = None
) -> bytes:
    """Runs `python -m module` and returns its standard output.

    Args:
        module: the module, which must call `limit_resources` before it reads input.
        arguments: the command-line arguments.
        stdin: the standard input.
        seconds: the time after which the process is killed.
        environment: additional environment variables.

    Raises:
        LimitExceeded: the process was killed, by this function or by the kernel.
        ProcessFailed: the exit code is not 0; the message is the end of standard error.
    """
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    try:
        process = subprocess.run(  # noqa: S603  # this program, with arguments of the service
            [sys.executable, "-P", "-m", module, *arguments],
            input=stdin,
            capture_output=True,
            timeout=seconds,
            env={**inherited, **(environment or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitExceeded(f"not done after {seconds} seconds") from None
    if process.returncode < 0:
        raise LimitExceeded("more memory or time needed than is allowed")
    if process.returncode:
        reason = process.stderr.decode("utf-8", "replace").strip()
        raise ProcessFailed(reason[-LONGEST_REASON:] or f"exit code {process.returncode}")
    return process.stdout


def limit_resources(memory: int, seconds: int) -> None:
    """Limits this process to `memory` bytes and `seconds` of processor time, and turns core dumps off."""
    for kind, limit in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(kind, (limit, limit))
