"""Conversations from a file, JSON lines or an array: read piece by piece, sent in batches, with a report for each."""

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
"""Conversations that are sent together."""
UNFIT = (400, 413, 422)
"""Status codes by which a service refuses a conversation, and not the one who sends it."""
LONGEST = 4_000_000
"""The most bytes of a conversation."""
PIECE = 1 << 16
"""Bytes that are read from a file at once."""


class LineReport(NamedTuple):
    """What became of a line.

    Attributes:
        line: its number, from 1; in an array that of the line in which the conversation begins.
        id: the id of its conversation; empty if it has none.
        problem: why it was not sent; empty if it was.
    """

    line: int
    id: str
    problem: str = ""


class ReadLine(NamedTuple):
    """A line: its conversation, or why it has none."""

    number: int
    conversation: NewConversation | None
    problem: str = ""


def read_conversations(file: BinaryIO) -> Iterator[ReadLine]:
    """Reads conversations from a file: one from each line, or all of a JSON array.

    What is no conversation has the reason. Only a part of the file is ever in memory.
    """
    start = b""
    while not start.strip() and len(start) <= PIECE and (line := file.readline(PIECE)):
        start += line
    read = file.read if file.seekable() else file.readline  # of a pipe each line, once it is there
    pieces = chain((start,), iter(lambda: read(PIECE), b""))
    return _from_array(pieces) if start.lstrip().startswith(b"[") else _from_lines(pieces)


def _read(number: int, text: bytes | str) -> ReadLine:
    """A conversation, or why it is none."""
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
    """A conversation from each line that is not empty."""
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
    """A conversation from each item of an array; it ends with the reason where the array is not valid."""
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
    """The next pieces of a file: so many that reading an item again and again stays cheap."""
    read = bytearray()
    for piece in pieces:
        read += piece
        if len(read) >= least:
            break
    return bytes(read)


async def in_batches(lines: Iterator[ReadLine], *, in_thread: bool = False) -> AsyncIterator[list[ReadLine]]:
    """Lines in batches that are sent together.

    Args:
        lines: the lines.
        in_thread: whether they are read in a thread, for a caller that must not wait for the disk.
    """
    while batch := await asyncio.to_thread(list, islice(lines, BATCH)) if in_thread else list(islice(lines, BATCH)):
        yield batch


async def ingest(
    send: Callable[[IngestConversations], Awaitable[object]],
    organization_id: str,
    batches: AsyncIterable[list[ReadLine]],
) -> AsyncIterator[LineReport]:
    """Sends conversations and reports each line, in the order of the lines; a refused batch is sent one by one.

    Args:
        send: sends a call.
        organization_id: the organization.
        batches: the lines, as `in_batches` returns them.

    Raises:
        PresscheckError: the service cannot be reached, or takes no conversations from this user.
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
