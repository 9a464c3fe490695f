"""Registry of operation handlers, the context they run in, and the errors they raise.

`@handles(GetSpace)` registers a handler: a function from an operation to its response. It runs in one transaction,
which is rolled back when it raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from presscheck.api.operation import Operation
from presscheck.service.db.ids import Clock, moment_text
from presscheck.service.db.staged_files import StagedFiles
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.models.organizations import UserRow

Answer = TypeVar("Answer")
Call = TypeVar("Call", bound=Operation[Any])
HANDLERS: dict[type[Operation[Any]], Callable[[Any, Any], Any]] = {}
"""All handlers by operation."""
PREPROCESSORS: dict[type[Operation[Any]], Callable[[Any, Any], Any]] = {}
"""Functions that run before the transaction, by operation; each returns the call that the handler gets."""
READ_ONLY_OPERATIONS: set[type[Operation[Any]]] = set()
"""Operations that write nothing although their HTTP method suggests it; they run without the write lock."""
_SCRIPTS = ScriptConfig()


class ApiError(Exception):
    """An API error: status and message, sent as ``{"error": {"code": …, "message": …}}``."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class OutgoingRequired(Exception):
    """A handler needs the client for outgoing requests; it runs again where it may wait for other servers.

    Args:
        organization_id: the organization that it waits for.
        user_id: the caller.
    """

    def __init__(self, organization_id: str, user_id: str) -> None:
        super().__init__(organization_id, user_id)
        self.organization_id = organization_id
        self.user_id = user_id


def not_found(what: str) -> ApiError:
    """A 404, for what does not exist and for what the caller may not see."""
    return ApiError(404, f"{what[:1].upper()}{what[1:]} not found.")


@dataclass(frozen=True)
class Context:
    """What a handler works with: the transaction, the caller, the service URL, the clock, and the files."""

    session: Session
    user: UserRow
    origin: str
    clock: Clock
    files: StagedFiles
    outgoing: Outgoing | None = None
    """Client for outgoing requests; only for handlers whose response comes from another server."""
    scripts: ScriptConfig = _SCRIPTS
    """The operator's settings for the scripts of integrations."""
    afterwards: list[Callable[[Session], None]] = field(default_factory=list[Callable[[Session], None]])
    """Writes of a handler that reads, which are made after it, also if it fails."""
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Cache of this call, such as for roles."""

    def now(self) -> str:
        """The current time in stored form."""
        return moment_text(self.clock())

    def outgoing_requests(self, organization_id: str) -> Outgoing:
        """The client for outgoing requests; only for handlers that write nothing, and before a transaction.

        Args:
            organization_id: the organization that chooses the server; it may wait for few at once.

        Raises:
            OutgoingRequired: this thread is not one of those that may wait for other servers.
        """
        if self.outgoing is None:
            raise OutgoingRequired(organization_id, self.user.id)
        return self.outgoing

    def location(self, path: str) -> str:
        """The API URL of a resource; `path` starts with a slash."""
        return f"{self.origin}/v1{path}"

    def app(self, path: str) -> str:
        """The app URL of a resource."""
        return f"{self.origin}/app{path}"


def handles(
    operation: type[Operation[Answer]],
    *,
    writes: bool | None = None,
    beforehand: Callable[[Context, Call], Call] | None = None,
) -> Callable[[Callable[[Context, Call], Answer]], Callable[[Context, Call], Answer]]:
    """Registers a handler for an operation.

    Args:
        operation: the class of the operation.
        writes: whether it writes, if its HTTP method suggests otherwise.
        beforehand: makes outgoing requests that the call needs, before the transaction takes the write lock.
    """

    def enter(handler: Callable[[Context, Call], Answer]) -> Callable[[Context, Call], Answer]:
        if HANDLERS.setdefault(operation, handler) is not handler:
            raise TypeError(f"{operation.__name__} has two handlers")
        if beforehand is not None:
            PREPROCESSORS[operation] = beforehand
        if writes is False:
            READ_ONLY_OPERATIONS.add(operation)
        return handler

    return enter
