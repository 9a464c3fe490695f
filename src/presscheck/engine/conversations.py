"""Imports conversations from a file with JSON lines or a JSON array.

The file is read in pieces, sent in batches and reported line by line.
"""

from __future__ import annotations

import asyncio
import json
from codecs import getincrementaldecoder
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from presscheck.api.conversations import IngestConversations, NewConversation
from presscheck.errors import InvalidArgument, PresscheckError, ServiceError

BATCH = 20
"""Maximum number of conversations in a batch."""
UNFIT = (400, 413, 422)
"""Status codes for a rejected conversation. Other errors concern the user or the connection."""
LONGEST = 4_000_000
"""Maximum size of a conversation in bytes."""
PIECE = 1 << 16
"""Number of bytes that are read from a file at once."""


class LineReport(NamedTuple):
    """The result of importing a line.

    Attributes:
        line: the number of the line, from 1; in an array, the line on which the conversation begins.
        id: the id of the conversation; empty if the line has none.
        problem: why the conversation was not sent; empty if it was sent.
    """

    line: int
    id: str
    problem: str = ""


class ReadLine(NamedTuple):
    """A line with its conversation, or with the reason why it has none."""

    number: int
    conversation: NewConversation | None
    problem: str = ""


def read_conversations(file: BinaryIO) -> Iterator[ReadLine]:
    """Read conversations from a file with a conversation on each line, or from a JSON array.

    Invalid lines are yielded with the reason. Only a part of the file is in memory at a time.
    """
    start = b""
    while not start.strip() and len(start) <= PIECE and (line := file.readline(PIECE)):
        start += line
    read = file.read if file.seekable() else file.readline  # a line from a pipe must not wait for more data
    pieces = chain((start,), iter(lambda: read(PIECE), b""))
    return _from_array(pieces) if start.lstrip().startswith(b"[") else _from_lines(pieces)


def _read(number: int, text: bytes | str) -> ReadLine:
    """Parse a conversation. Returns a line with the conversation or with an error message."""
    if len(text) > LONGEST:
        return ReadLine(number, None, f"is too long: at most {LONGEST // 1_000_000} MB")
    try:
        return ReadLine(number, NewConversation.model_validate_json(text))
    except InvalidArgument as error:
        return ReadLine(number, None, f"{error.field}: {error.reason}")
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return ReadLine(number, None, f"{place}: {first['msg']}" if place else str(first["msg"]))


def _from_lines(pieces: Iterable[bytes]) -> Iterator[ReadLine]:
    """Yield a `ReadLine` for each line that is not empty."""
    number, line = 1, bytearray()
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for part in ended:
            line += part[: LONGEST + 1 - len(line)]
            if line.strip():
                yield _read(number, bytes(line))
            number += 1
            line.clear()
        line += rest[: LONGEST + 1 - len(line)]
    if line.strip():
        yield _read(number, bytes(line))


def _from_array(pieces: Iterator[bytes]) -> Iterator[ReadLine]:
    """Yield a `ReadLine` for each item of an array.

    If the array is invalid, the last `ReadLine` has the reason.

    `JSONDecoder.raw_decode` parses an item from the beginning of the buffer. When it fails, the item may be incomplete:
    the buffer is extended and the item parsed again. The buffer at least doubles each time, so parsing a long item
    again stays cheap.
    """
    decoder, decode = json.JSONDecoder(), getincrementaldecoder("utf-8")("replace").decode
    text, number, is_first = "", 1, True
    while True:
        left = text.lstrip(" \t\r\n,[" if is_first else " \t\r\n,")
        number += text.count("\n", 0, len(text) - len(left))
        text, is_first = left, is_first and not left
        if text.startswith("]"):
            return
        try:
            _, end = decoder.raw_decode(text)
        except (ValueError, RecursionError) as error:
            more = _more(pieces, len(text)) if len(text) <= LONGEST else b""
            if more:
                text += decode(more)
                continue
            reason = str(error.msg) if isinstance(error, json.JSONDecodeError) else "nested too deep"
            reason = "the array has no end" if not text else f"is too long, or not valid JSON: {reason}"
            yield ReadLine(number, None, f"{reason}. Nothing after it was read")
            return
        yield _read(number, text[:end])
        number, text = number + text.count("\n", 0, end), text[end:]


def _more(pieces: Iterator[bytes], least: int) -> bytes:
    """Join the next pieces of a file until there are `least` bytes, or the file ends."""
    read = bytearray()
    for piece in pieces:
        read += piece
        if len(read) >= least:
            break
    return bytes(read)


async def in_batches(lines: Iterator[ReadLine], *, in_thread: bool = False) -> AsyncIterator[list[ReadLine]]:
    """Yield lines in batches.

    Args:
        lines: the lines.
        in_thread: whether to read the lines in a thread, for a caller that must not wait for the disk.
    """
    while batch := await asyncio.to_thread(list, islice(lines, BATCH)) if in_thread else list(islice(lines, BATCH)):
        yield batch


async def ingest(
    send: Callable[[IngestConversations], Awaitable[object]],
    organization_id: str,
    batches: AsyncIterable[list[ReadLine]],
) -> AsyncIterator[LineReport]:
    """Send conversations and yield a report for each line, in order.

    If a batch is rejected, its conversations are sent again individually.

    Args:
        send: sends a call.
        organization_id: the id of the organization.
        batches: the lines, from `in_batches`.

    Raises:
        PresscheckError: the service cannot be reached, or does not accept conversations from this user.
    """
    async for batch in batches:
        for report in await _sent(send, organization_id, batch):
            yield report


async def _sent(
    send: Callable[[IngestConversations], Awaitable[object]], organization_id: str, lines: list[ReadLine]
) -> list[LineReport]:
    given = tuple(line.conversation for line in lines if line.conversation)
    problems: dict[str, str] = {}
    try:
        if given:
            await send(IngestConversations(organization_id=organization_id, conversations=given))
    except ServiceError as error:
        if error.status not in UNFIT:
            raise
        for conversation in given:
            try:
                await send(IngestConversations(organization_id=organization_id, conversations=(conversation,)))
            except PresscheckError as refused:
                problems[conversation.id] = refused.message
    return [
        LineReport(line.number, line.conversation.id, problems.get(line.conversation.id, ""))
        if line.conversation
        else LineReport(line.number, "", line.problem)
        for line in lines
    ]
