"""Conversations from a file of JSON lines: read line by line, sent in batches, with a report for each line."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from typing import NamedTuple

from pydantic import ValidationError

from presscheck.api.conversations import IngestConversations, NewConversation
from presscheck.errors import InvalidArgument, PresscheckError, ServiceError

BATCH = 20
"""Conversations that are sent together."""
UNFIT = (400, 413, 422)
"""Status codes by which a service refuses a conversation, and not the one who sends it."""
LONGEST_LINE = 4_000_000
"""The most bytes of a line."""


class LineReport(NamedTuple):
    """What became of a line.

    Attributes:
        line: its number, from 1.
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


def read_lines(lines: Iterable[bytes]) -> Iterator[ReadLine]:
    """Reads conversations, one from each line that is not empty; a line without one has the reason."""
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            yield ReadLine(number, None, f"is too long: at most {LONGEST_LINE // 1_000_000} MB")
        elif line.strip():
            try:
                yield ReadLine(number, NewConversation.model_validate_json(line))
            except InvalidArgument as error:
                yield ReadLine(number, None, f"{error.field}: {error.reason}")
            except ValidationError as error:
                first = error.errors()[0]
                place = ".".join(map(str, first["loc"]))
                yield ReadLine(number, None, f"{place}: {first['msg']}" if place else str(first["msg"]))


async def ingest(
    send: Callable[[IngestConversations], Awaitable[object]], organization_id: str, lines: Iterable[ReadLine]
) -> AsyncIterator[LineReport]:
    """Sends conversations and reports each line, in the order of the lines; a refused batch is sent one by one.

    Args:
        send: sends a call.
        organization_id: the organization.
        lines: the lines.

    Raises:
        PresscheckError: the service cannot be reached, or takes no conversations from this user.
    """
    batch: list[ReadLine] = []
    for line in lines:
        batch.append(line)
        if len(batch) >= BATCH:
            for report in await _sent(send, organization_id, batch):
                yield report
            batch = []
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
