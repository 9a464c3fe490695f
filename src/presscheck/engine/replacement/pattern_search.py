"""Search for a pattern in a separate process (pattern_process.py), which is killed if it takes too long.

Each text has a time limit. A pattern that takes too long on a page raises an error that names the page.
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
"""Time limit in seconds for each text, and for starting the process."""
LARGEST_LINE = 256 << 20
"""Maximum size of an answer in bytes: more than the process can send for one text."""
LONGEST_PATTERN = 2000
"""Maximum number of characters of a pattern or a replacement."""


class PatternSearch:
    """A query that runs in a process; created by `started`.

    Args:
        process: the process, which has accepted the query.
        seconds: the time limit for each text.
    """

    def __init__(self, process: asyncio.subprocess.Process, seconds: float) -> None:
        self._process, self._seconds = process, seconds

    async def ask(self, question: Any, subject: str) -> Any:
        """Send a line to the process and return the answer.

        Args:
            question: the content of the line, which is sent as JSON.
            subject: a name for the content in error messages.

        Raises:
            InvalidArgument: the query is invalid, takes too long, or needs too much memory.
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
        """Return the matches in a text; `subject` names the text in error messages.

        Raises:
            InvalidArgument: the search takes too long or has too many matches.
        """
        return [Match(*match) for match in await self.ask(text, subject)]


@asynccontextmanager
async def started(query: Query, *, seconds: float = SECONDS) -> AsyncGenerator[PatternSearch]:
    """Start a process for a query, and kill it at the end of the block.

    Args:
        query: the query.
        seconds: the time limit for each text.

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
    """Return the error of an invalid query, or None if the query can run.

    Raises:
        PresscheckError: the process for the search could not be started.
    """
    try:
        async with started(query):
            return None
    except InvalidArgument as error:
        return error


def subject_of(query: Query, most: int) -> str:
    """Propose the subject of a change request, such as `Replace "x" by "y"`, with at most `most` characters."""
    find, new = (" ".join(text.split()) for text in (query.find, query.replacement))
    room = most - len('Replace "" by ""')
    if len(find) + len(new) > room:
        half = room // 2
        size = max(half, room - len(new))
        find = find if len(find) <= size else f"{find[: size - 1]}…"
        new = new if len(new) <= room - len(find) else f"{new[: room - len(find) - 1]}…"
    return f'Replace "{find}" by "{new}"' if new else f'Remove "{find}"'
