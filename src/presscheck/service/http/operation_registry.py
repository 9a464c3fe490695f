"""Registry of operation handlers, the context they run in, and the errors they raise.

`@handles(GetSpace)` registers a handler: a function from an operation to its response. It runs in one transaction,
which is rolled back when it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from sqlalchemy import Executable
from sqlalchemy.orm import Session

from presscheck.api.operation import Operation
from presscheck.service.db.blob_store import BlobStore, id_of
from presscheck.service.db.file_location import require_location
from presscheck.service.db.ids import Clock, moment_text
from presscheck.service.db.prepared_statements import named_rows
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


class FilesRequired(Exception):
    """A handler needs a remote store; it runs again where it may wait for it."""


class StagedFiles:
    """Files that handlers store and read.

    Args:
        store: the store.

    Attributes:
        may_wait: whether this thread may wait for a remote store.
        was_read: whether a file was asked for.
    """

    def __init__(self, store: BlobStore, *, may_wait: bool = False) -> None:
        self.may_wait = may_wait
        self.was_read = False
        self._store = store
        self._pending: dict[str, bytes] = {}
        self._uploaded: set[str] = set()
        self._is_used = False

    def put(self, content: bytes) -> str:
        """Stores bytes, or collects them for `upload`, and returns their id."""
        self._is_used = True
        if not self._store.is_remote:
            return self._store.put(content)
        content_id = id_of(content)
        if content_id not in self._uploaded:
            self._pending[content_id] = content
        return content_id

    def read(self, content_id: str) -> bytes | None:
        """The bytes of a file; None if it does not exist.

        Raises:
            FilesRequired: this thread may not wait for the store.
            FilesUnavailable: the store failed.
        """
        self.was_read = True
        if self._store.is_remote and not self.may_wait:
            raise FilesRequired
        return self._store.read(content_id)

    def upload(self) -> None:
        """Uploads what was collected; to be called outside of a transaction.

        Raises:
            FilesRequired: this thread may not wait for the store.
            FilesUnavailable: the store failed.
        """
        if self._pending and not self.may_wait:
            raise FilesRequired
        for content_id, content in list(self._pending.items()):
            self._store.put(content)
            self._uploaded.add(content_id)
            del self._pending[content_id]

    def require_stored(self, session: Session) -> None:
        """Checks at the end of a transaction that what it refers to is stored, and where later readers look.

        Raises:
            FilesRequired: files have to be uploaded first.
            FilesUnavailable: the files were moved to another location since this process started.
        """
        if self._pending:
            raise FilesRequired
        if self._is_used:
            require_location(session, self._store.location)


def not_found(what: str) -> ApiError:
    """A 404, for what does not exist and for what the caller may not see."""
    return ApiError(404, f"{what[:1].upper()}{what[1:]} not found.")


@dataclass(frozen=True)
class Caller:
    """The user of a request, as plain values: they stay what they are when the transaction is rolled back.

    `expires` says whether their token does.
    """

    id: str
    display_name: str
    email: str | None
    photo_url: str | None
    expires: bool = False


@dataclass(frozen=True)
class Context:
    """What a handler works with: the transaction, the caller, the service URL, the clock, and the files."""

    session: Session
    user: Caller | UserRow
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

    def rows(self, statement: Executable, **values: Any) -> Sequence[Any]:
        """The rows of a statement that was built once, as named tuples; pending changes are written before.

        A twentieth of the time that the ORM takes for one built on each call, so the hot paths use it.
        """
        self.session.flush()
        return named_rows(self.session.connection(), statement, values)

    def location(self, path: str) -> str:
        """The API URL of a resource; `path` starts with a slash."""
        return f"{self.origin}/v1{path}"

    def app(self, path: str) -> str:
        """The app URL of a resource."""
        return f"{self.origin}/app{path}"


@dataclass(frozen=True)
class Serialized(Generic[Answer]):
    """An answer as JSON, from a handler that had its bytes."""

    body: bytes

    @cached_property
    def tag(self) -> str:
        """Its `ETag`, made once: the hash of a large one takes longer than all else of its response."""
        return entity_tag(self.body)


def entity_tag(sent: bytes) -> str:
    """The `ETag` of a response: a hash of its bytes."""
    return f'"{blake2b(sent, digest_size=16).hexdigest()}"'


Handler = Callable[[Context, Call], Answer | Serialized[Answer]]
"""A function from an operation to its response."""


def handles(
    operation: type[Operation[Answer]],
    *,
    writes: bool | None = None,
    beforehand: Callable[[Context, Call], Call] | None = None,
) -> Callable[[Handler[Call, Answer]], Handler[Call, Answer]]:
    """Registers a handler for an operation.

    Args:
        operation: the class of the operation.
        writes: whether it writes, if its HTTP method suggests otherwise.
        beforehand: makes outgoing requests that the call needs, before the transaction takes the write lock.
    """

    def enter(handler: Handler[Call, Answer]) -> Handler[Call, Answer]:
        if HANDLERS.setdefault(operation, handler) is not handler:
            raise TypeError(f"{operation.__name__} has two handlers")
        if beforehand is not None:
            PREPROCESSORS[operation] = beforehand
        if writes is False:
            READ_ONLY_OPERATIONS.add(operation)
        return handler

    return enter
