"""Runs programs of the user with limits on time, output and memory, without the token in their environment.

A program is killed with its child processes when it exceeds a limit, or when the wait for it is canceled.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from presscheck.config.tokens import child_environment
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize

MAX_OUTPUT = 8 * 1024 * 1024
"""Maximum number of bytes that a program may print; it is killed if it prints more."""
MAX_MEMORY = 4 * 1024 * 1024 * 1024
"""Maximum number of bytes of data of each process, on Linux."""
LONGEST_END = 2.0
"""Maximum wait for the end of a killed program, in seconds."""
LONGEST_REASON = 200
"""Maximum number of characters of a program's error message."""
MAX_READ_FOR_REASON = 10_000
"""Number of characters at the start of standard error from which the error message is made."""


@dataclass(frozen=True)
class ProgramOutput:
    """The output and the exit code of a program; the code is negative if a signal ended the program."""

    code: int
    output: str
    errors: str

    def failure(self, name: str) -> PresscheckError:
        """Return the error of a program that failed, with the beginning of what it wrote to standard error."""
        how = f"was ended by signal {-self.code}" if self.code < 0 else f"failed with exit code {self.code}"
        beginning = self.errors[:MAX_READ_FOR_REASON]  # splitting all of it could take longer than a second
        reason = sanitize(" ".join(beginning.split()))[:LONGEST_REASON]
        return PresscheckError(f"{name}: {how}{reason and f': {reason}'}")


async def run_program(
    name: str, words: Sequence[str], directory: Path, seconds: float, *, given: bytes | None = None
) -> ProgramOutput:
    """Run a program and return its output.

    Args:
        name: the name of the program in messages.
        words: the command, which runs without a shell.
        directory: the working directory.
        seconds: the time limit.
        given: the standard input; None for an empty one.

    Raises:
        PresscheckError: the program is missing, or it exceeded its limits.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=directory,
            env=child_environment(),
            stdin=asyncio.subprocess.DEVNULL if given is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # so that its child processes can be killed with it
        )
    except FileNotFoundError:
        raise PresscheckError(f"{name}: {sanitize(words[0])} is not installed: install it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PresscheckError(f"{name}: {sanitize(words[0])} cannot be started: {reason}") from None
    try:
        _limit_memory(process)
        async with asyncio.timeout(seconds):
            output, errors, *_ = await asyncio.gather(
                _read(process, process.stdout), _read(process, process.stderr), process.wait(), _write(process, given)
            )
    except TimeoutError:
        raise PresscheckError(f"{name}: not done after {seconds:g} seconds (timeout)") from None
    finally:
        _kill(process)
        await _ended(process)
    if output is None or errors is None:
        raise PresscheckError(f"{name}: printed more than {MAX_OUTPUT >> 20} MB")
    return ProgramOutput(process.returncode or 0, output, errors)


def expanded(words: Sequence[str]) -> list[str]:
    """Replace a leading ``~/`` in each word of a command by the home directory of the user."""
    return [str(Path(word).expanduser()) if word.startswith("~/") else word for word in words]


def _limit_memory(process: asyncio.subprocess.Process) -> None:
    """Limit the data of a program and of the child processes that it starts later.

    The address space has no limit, because some runtimes reserve much more of it than they use.
    """
    if sys.platform == "linux":
        import resource  # 1 ms, and only Unix has it

        with suppress(OSError, ValueError):  # it has ended, or a lower limit is set
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MAX_MEMORY, MAX_MEMORY))


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kill a program and its child processes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Wait until a killed process has ended. Reads its output to the end, because `process.wait` waits for that too.

    A child process with a session of its own may keep the output open, so the wait is limited.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST_END):
            await asyncio.gather(_skip(process.stdout), _skip(process.stderr), process.wait())


async def _skip(stream: asyncio.StreamReader | None) -> None:
    while stream and await stream.read(1 << 16):
        pass


async def _write(process: asyncio.subprocess.Process, given: bytes | None) -> None:
    """Write the standard input. The program may end without reading it."""
    if process.stdin and given is not None:
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(given)
            await process.stdin.drain()
        process.stdin.close()


async def _read(process: asyncio.subprocess.Process, stream: asyncio.StreamReader | None) -> str | None:
    """Return the output of a program. Kills it and returns None if it prints more than `MAX_OUTPUT` bytes."""
    parts: list[bytes] = []
    size = 0
    while stream and (part := await stream.read(1 << 16)):
        size += len(part)
        if size > MAX_OUTPUT:
            _kill(process)
            await _skip(stream)
            return None
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")
