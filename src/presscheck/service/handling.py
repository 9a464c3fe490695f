"""What a handler is: a function from a declared call, in a context, to its answer; and what it raises instead.

`@answers(GetSpace)` enters one. A handler runs in one transaction, which is undone when it raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from presscheck.api.operation import Operation
from presscheck.service.identity import Clock, moment_text
from presscheck.service.outgoing import Outgoing
from presscheck.service.tables import UserRow

Answer = TypeVar("Answer")
Call = TypeVar("Call", bound=Operation[Any])
HANDLERS: dict[type[Operation[Any]], Callable[[Any, Any], Any]] = {}
"""Every handler, by the operation that it answers."""
BEFOREHAND: dict[type[Operation[Any]], Callable[[Any, Any], Any]] = {}
"""What is done before a handler may write, by the operation: it makes of the call the one that is handled."""
ONLY_READING: set[type[Operation[Any]]] = set()
"""Those that write nothing, whatever their method says: nobody waits for them."""


class Problem(Exception):
    """A refusal: its status and a sentence, sent as ``{"error": {"code": …, "message": …}}``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def not_found(what: str) -> Problem:
    """404, for what is not there and for what the caller may not see."""
    return Problem(404, f"{what[:1].upper()}{what[1:]} not found.")


@dataclass(frozen=True)
class Context:
    """What a handler works with: the transaction, who asks, at what address, the time, and where files are kept."""

    session: Session
    user: UserRow
    origin: str
    clock: Clock
    data: Path
    outgoing: Outgoing | None = None
    """Requests of others, which a handler makes only where its answer is theirs."""
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What was looked up in this call, such as roles."""

    def now(self) -> str:
        """The moment, as it is stored."""
        return moment_text(self.clock())

    def outgoing_requests(self) -> Outgoing:
        """What makes requests of others."""
        if self.outgoing is None:
            raise TypeError("outgoing requests are not available here")
        return self.outgoing

    def location(self, path: str) -> str:
        """Where the API has a thing: `path` begins with a slash."""
        return f"{self.origin}/v1{path}"

    def app(self, path: str) -> str:
        """Where a person would look at a thing."""
        return f"{self.origin}/app{path}"


def answers(
    operation: type[Operation[Answer]],
    *,
    writes: bool | None = None,
    beforehand: Callable[[Context, Call], Call] | None = None,
) -> Callable[[Callable[[Context, Call], Answer]], Callable[[Context, Call], Answer]]:
    """Enter a handler for an operation.

    Args:
        operation: what it answers.
        writes: whether it does, where its method says otherwise.
        beforehand: asks others for what the call needs, while nobody waits for this one to have written.
    """

    def enter(handler: Callable[[Context, Call], Answer]) -> Callable[[Context, Call], Answer]:
        if HANDLERS.setdefault(operation, handler) is not handler:
            raise TypeError(f"{operation.__name__} has two handlers")
        if beforehand is not None:
            BEFOREHAND[operation] = beforehand
        if writes is False:
            ONLY_READING.add(operation)
        return handler

    return enter
