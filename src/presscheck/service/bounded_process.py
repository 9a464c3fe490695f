"""Runs a module of the service in a process of its own, with limits on memory and time.

Text of users can need gigabytes or hours: a regular expression, a schema, an image that is decoded. A process that
exceeds its limits takes neither the service nor the work of others with it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

_KEPT = ("HOME", "PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "XDG_DATA_HOME", "XDG_DATA_DIRS")
"""Variables of the process: where libraries and fonts are, and no credentials of the service."""
LONGEST_REASON = 500


class ProcessFailed(Exception):
    """The process ended without a result; the message has the reason."""


class LimitExceeded(ProcessFailed):
    """The process needed more memory or time than it may use."""


def run_bounded(
    module: str, *arguments: str, given: bytes, seconds: int, environment: Mapping[str, str] | None = None
) -> bytes:
    """Run `python -m module` and return what it writes to standard output.

    Args:
        module: a module that calls `limit_resources` first.
        arguments: its arguments.
        given: its standard input.
        seconds: the time until it is killed.
        environment: further variables of the process.

    Raises:
        LimitExceeded: it was killed, by this call or by the kernel.
        ProcessFailed: it ended with another exit code than 0; the message is the end of its standard error.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        ran = subprocess.run(  # noqa: S603  # this program, with its own paths
            [sys.executable, "-P", "-m", module, *arguments],
            input=given,
            capture_output=True,
            timeout=seconds,
            env={**kept, **(environment or {})},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitExceeded(f"not done after {seconds} seconds") from None
    if ran.returncode < 0:
        raise LimitExceeded("more memory or time needed than is allowed")
    if ran.returncode:
        reason = ran.stderr.decode("utf-8", "replace").strip()
        raise ProcessFailed(reason[-LONGEST_REASON:] or f"exit code {ran.returncode}")
    return ran.stdout


def limit_resources(memory: int, seconds: int) -> None:
    """Limit this process to `memory` bytes and to `seconds` of processor time; it leaves no core dump."""
    for kind, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # some systems do not limit everything
            resource.setrlimit(kind, (most, most))
