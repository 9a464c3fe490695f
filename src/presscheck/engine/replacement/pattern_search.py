"""Runs a pattern over texts in a process of its own (pattern_process.py), and ends the process when it takes too long.

Every text has a limit of time, so a pattern that takes forever on one page is an error that names the page.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Any

from presscheck.documents.pages.replacement import Match, Query
from presscheck.engine.replacement import pattern_process
from presscheck.errors import InvalidArgument, PresscheckError

SECONDS = 4.0
"""Seconds for one text, and for starting the process."""
LARGEST_LINE = 256 << 20
"""Bytes of the longest answer: above what the process may answer to one text."""
LONGEST_PATTERN = 2000
"""Characters of a pattern, and of a replacement."""


class PatternSearch:
    """A query that runs in a process; made by `started`.

    Args:
        process: the process, which has accepted the query.
        seconds: the time for one text.
    """

    def __init__(self, process: asyncio.subprocess.Process, seconds: float) -> None:
        self._process, self._seconds = process, seconds

    async def ask(self, question: Any, subject: str) -> Any:
        """The answer of the process to one line.

        Args:
            question: the line.
            subject: what the line is, for the error.

        Raises:
            InvalidArgument: the query is invalid, or takes too long.
        """
        writer, reader = self._process.stdin, self._process.stdout
        if writer is None or reader is None:
            raise PresscheckError("The search could not be started")
        try:
            async with asyncio.timeout(self._seconds):
                writer.write(json.dumps(question).encode() + b"\n")
                await writer.drain()
                line = await reader.readline()
        except TimeoutError:
            reason = f"takes more than {self._seconds:g} s on {subject}: use a simpler expression"
            raise InvalidArgument("find", reason) from None
        except (ConnectionError, ValueError):
            line = b""
        if not line.endswith(b"\n"):
            raise InvalidArgument("find", f"takes too much memory on {subject}: use a simpler expression")
        answer: dict[str, str] | list[Any] = json.loads(line)
        if isinstance(answer, dict) and answer:
            raise InvalidArgument(answer["field"], answer["error"])
        return answer

    async def matches(self, text: str, subject: str) -> list[Match]:
        """The matches in a text, which `subject` names in an error.

        Raises:
            InvalidArgument: the search takes too long, or finds too much.
        """
        return [Match(*match) for match in await self.ask(text, subject)]


@asynccontextmanager
async def started(query: Query, *, seconds: float = SECONDS) -> AsyncGenerator[PatternSearch]:
    """Start the process of a query, and end it with the block.

    Args:
        query: what to find.
        seconds: the time for one text.

    Raises:
        InvalidArgument: the pattern or the replacement is invalid; `field` is `find` or `replacement`.
        PresscheckError: the process could not be started.
    """
    for field, text in (("find", query.find), ("replacement", query.replacement)):
        if len(text) > LONGEST_PATTERN:
            raise InvalidArgument(field, f"must have at most {LONGEST_PATTERN:,} characters")
    if not query.find:
        raise InvalidArgument("find", "required")
    pipe, command = asyncio.subprocess.PIPE, (sys.executable, "-I", "-S", str(pattern_process.__file__))
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, limit=LARGEST_LINE
        )
    except OSError as error:
        raise PresscheckError(f"The search could not be started: {error.strerror}") from error
    try:
        search = PatternSearch(process, seconds)
        await search.ask(asdict(query), "this pattern")
        yield search
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        if process.stdin:
            process.stdin.close()


async def check_query(query: Query) -> InvalidArgument | None:
    """Why a query cannot be run; None if it can."""
    try:
        async with started(query):
            return None
    except InvalidArgument as error:
        return error


def subject_of(query: Query, most: int) -> str:
    """The proposed subject of a change request: `Replace "x" by "y"`, in at most so many characters."""
    find, new = (" ".join(text.split()) for text in (query.find, query.replacement))
    room = most - len('Replace "" by ""')
    if len(find) + len(new) > room:
        half = room // 2
        size = max(half, room - len(new))
        find = find if len(find) <= size else f"{find[: size - 1]}…"
        new = new if len(new) <= room - len(find) else f"{new[: room - len(find) - 1]}…"
    return f'Replace "{find}" by "{new}"' if new else f'Remove "{find}"'
