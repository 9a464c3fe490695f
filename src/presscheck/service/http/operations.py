"""The layer between HTTP requests and the handlers of operations.

`@handles(GetSpace)` registers a handler: a function from an operation to its response. It runs in a transaction, which
is rolled back if the handler raises an error. Requests are parsed strictly into operations. Responses are serialized
without absent fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python
from sqlalchemy import Executable
from sqlalchemy.orm import Session
from starlette.responses import Response

from presscheck.api.operation import SEND_NULLS, Operation
from presscheck.errors import InvalidArgument
from presscheck.service.blobs.staged_files import StagedFiles
from presscheck.service.db.engine import ReadSession, detached
from presscheck.service.db.ids import Clock, moment_text
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.json_values import MOST_VALUES, has_more_values
from presscheck.service.models.organizations import UserRow

Answer = TypeVar("Answer")
Entity = TypeVar("Entity")
Call = TypeVar("Call", bound=Operation[Any])
HANDLERS: dict[type[Operation[Any]], Callable[[Any, Any], Any]] = {}
"""Handlers by operation."""
PREPROCESSORS: dict[type[Operation[Any]], Callable[[Any, Any], Any]] = {}
"""Functions that run before the transaction, by operation. They return the call for the handler."""
READ_ONLY_OPERATIONS: set[type[Operation[Any]]] = set()
"""Operations with an HTTP method for writes that only read. They run without the write lock."""
_SCRIPTS = ScriptConfig()
DEEPEST = 100
"""Maximum nesting depth of objects and arrays in a request."""
_UNFIT = re.compile("[\0\ud800-\udfff]")
"""Characters that a database cannot store."""
Fields = ParamSpec("Fields")
Instance = TypeVar("Instance", bound=BaseModel)


class ApiError(Exception):
    """An error response with a status and a message, sent as ``{"error": {"code": …, "message": …}}``.

    `retry_after` is the number of seconds after which the same request may succeed.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after = retry_after


class OutgoingRequired(Exception):
    """A handler needs outgoing requests, so it must run again in a thread that may wait for other servers.

    Args:
        organization_id: the organization whose limit for outgoing requests applies.
        user_id: the caller.
    """

    def __init__(self, organization_id: str, user_id: str) -> None:
        super().__init__(organization_id, user_id)
        self.organization_id = organization_id
        self.user_id = user_id


def not_found(what: str) -> ApiError:
    """Return a 404, for an item that does not exist or that the caller may not see."""
    return ApiError(404, f"{what[:1].upper()}{what[1:]} not found.")


def moment_of(name: str, text: str) -> str:
    """Return a time in stored form. A time without a time zone is read as UTC.

    Raises:
        ApiError: 400, the text is not a time; the message starts with `name`.
    """
    try:
        moment = datetime.fromisoformat(text)
        return moment_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):  # OverflowError: before year 1 or after 9999 in UTC
        raise ApiError(400, f"{name}: must be an ISO 8601 timestamp, such as 2026-05-20T09:30:00Z") from None


class SiteGrant(NamedTuple):
    """The limits of a site token: it can read one site as a visitor with these claims, and in a preview also drafts."""

    site_id: str
    organization_id: str
    claims: dict[str, Any]
    is_preview: bool = False


class InstallationGrant(NamedTuple):
    """The limits of an integration token: the scopes of the integration, and the installation, if there is one."""

    integration: str
    installation_id: str | None
    organization_id: str | None
    scopes: frozenset[str]


@dataclass(frozen=True)
class Caller:
    """The user or the integration that sent a request, as plain values that do not depend on a session.

    `expires` is whether the token has an expiry time. `grant` has the limits of a site token, `installation` the limits
    of an integration token, and `scope` the limit of a token from a sign-in by browser.
    """

    id: str
    display_name: str
    email: str | None
    photo_url: str | None
    expires: bool = False
    token_hash: str = ""
    grant: SiteGrant | None = None
    installation: InstallationGrant | None = None
    scope: str | None = None


@dataclass(frozen=True)
class Context:
    """The environment of a handler: transaction, caller, service URL, clock and files."""

    session: Session
    user: Caller | UserRow
    origin: str
    clock: Clock
    files: StagedFiles
    outgoing: Outgoing | None = None
    """The client for outgoing requests, if the current thread may wait for other servers (see `outgoing_requests`)."""
    scripts: ScriptConfig = _SCRIPTS
    """Settings of the operator for scripts of integrations."""
    git_root: Path | None = None
    """The folder with the Git repositories that spaces may be imported from and exported to."""
    is_live: bool = False
    """Whether published pages reload when their space changes."""
    diagram_script: str = ""
    """The URL path of the script that draws the diagrams of published pages; empty without such a script."""
    afterwards: list[Callable[[Session], None]] = field(default_factory=list[Callable[[Session], None]])
    """Writes to run after a handler that only reads, even if the handler failed."""
    known: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Cache of this call, for example for roles."""

    def now(self) -> str:
        """Return the current time in stored form."""
        return moment_text(self.clock())

    @property
    def grant(self) -> SiteGrant | None:
        """The limits of the caller's token if it is a site token, or None."""
        return self.user.grant if isinstance(self.user, Caller) else None

    @property
    def installation(self) -> InstallationGrant | None:
        """The limits of the caller's token if it is an integration token, or None."""
        return self.user.installation if isinstance(self.user, Caller) else None

    def outgoing_requests(self, organization_id: str) -> Outgoing:
        """Return the client for outgoing requests. Only handlers that write nothing may call this.

        Args:
            organization_id: the organization whose limit for outgoing requests applies.

        Raises:
            OutgoingRequired: the current thread may not wait for other servers.
        """
        if self.outgoing is None:
            raise OutgoingRequired(organization_id, self.user.id)
        return self.outgoing

    def row(self, entity: type[Entity], key: str) -> Entity | None:
        """Return a row by its id, or None. A row that was loaded earlier in this call is not loaded again."""
        row = self.known.get((entity, key)) or self.session.get(entity, key)
        if row is not None:
            self.known[entity, key] = row  # a session drops rows that nothing refers to
        return row

    def rows(self, statement: Executable, **values: Any) -> Sequence[Any]:
        """Return the rows of a prepared statement as named tuples, after writing pending changes."""
        self.session.flush()
        return self.session.connection().execute(statement, values).all()

    def records(self, statement: Executable, **values: Any) -> list[Any]:
        """Return the rows of a prepared statement as objects with an attribute for each column.

        For lists, the attributes of SQLAlchemy's rows would take longer than reading the rows.
        """
        self.session.flush()
        result = self.session.connection().execute(statement, values)
        names = [*result.keys()]
        return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in result.all()]

    def entities(self, statement: Executable, *kinds: type[Any], **values: Any) -> list[tuple[Any, ...]]:
        """Run a prepared statement that selects entities, and optionally single columns after them.

        Args:
            statement: the statement.
            kinds: the classes of the entities, in order.
            values: the parameters.

        Returns:
            A tuple for each row: its entities, where None stands for one without an id, and the values of its other
            columns. In a read, the entities are attached to no session.
        """
        if not isinstance(self.session, ReadSession):
            return [tuple(row) for row in self.session.execute(statement, values)]
        found: list[tuple[Any, ...]] = []
        for row in self.rows(statement, **values):
            columns = iter(row)
            found.append((*(detached(kind, columns) for kind in kinds), *columns))
        return found

    def location(self, path: str) -> str:
        """Return the API URL of a resource; `path` starts with a slash."""
        return f"{self.origin}/v1{path}"

    def app(self, path: str) -> str:
        """Return the app URL of a resource."""
        return f"{self.origin}/app{path}"


@dataclass(frozen=True)
class Serialized(Generic[Answer]):
    """A response that its handler has already serialized to JSON."""

    body: bytes

    @cached_property
    def tag(self) -> str:
        """The `ETag`. It is cached, because the hash is the most expensive part of a large response."""
        return entity_tag(self.body)


def entity_tag(sent: bytes) -> str:
    """Return the `ETag` of a response, a hash of its bytes."""
    return f'"{blake2b(sent, digest_size=16).hexdigest()}"'


Reading = Callable[[], AbstractContextManager[Context]]
"""Opens a read transaction. A preprocessor gets this function, because it rarely needs a transaction."""
Handler = Callable[[Context, Call], Answer | Serialized[Answer]]
"""A function from an operation to its response."""


def handles(
    operation: type[Operation[Answer]],
    *,
    writes: bool | None = None,
    beforehand: Callable[[Reading, Call], Call] | None = None,
) -> Callable[[Handler[Call, Answer]], Handler[Call, Answer]]:
    """Register a handler for an operation.

    Args:
        operation: the class of the operation.
        writes: False if the handler only reads although the HTTP method of the operation is one for writes.
        beforehand: prepares the call before the transaction takes the write lock, for example with outgoing requests.
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


def read_call(
    operation: type[Operation[Any]], path: Mapping[str, str], query: Iterable[tuple[str, str]], body: bytes
) -> Operation[Any]:
    """Parse a request into an operation.

    Raises:
        ApiError: 400, naming the invalid field.
    """
    fields: dict[str, Any] = dict(path)
    fields.update(_from_query(operation, query))
    if operation.method() not in ("GET", "DELETE"):
        fields.update(_from_body(operation, body))
    for name, value in fields.items():
        require_fit(name, value)
    try:
        return operation(**fields)
    except InvalidArgument as error:
        raise invalid(error) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise ApiError(400, f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from None


def invalid(error: InvalidArgument) -> ApiError:
    """Return a 400 for an invalid argument. The message has the name of the field in the request."""
    return ApiError(400, f"{error.wire}: {error.reason} (in {error.call})")


def is_fit(text: str) -> bool:
    """Return whether a database can store the text."""
    return _UNFIT.search(text) is None


def require_fit(name: str, value: Any, depth: int = DEEPEST) -> None:
    """Require that a JSON value is not nested too deep and only has text that a database can store.

    Raises:
        ApiError: 400, the value is not acceptable.
    """
    if depth == 0:
        raise ApiError(400, f"{name}: nested too deep")
    if isinstance(value, str) and not is_fit(value):
        raise ApiError(400, f"{name}: must not contain NUL or unpaired surrogates")
    if isinstance(value, (dict, list)):
        for item in cast("dict[str, Any] | list[Any]", value):
            require_fit(name, item, depth - 1)
    if isinstance(value, dict):
        for item in cast("dict[str, Any]", value).values():
            require_fit(name, item, depth - 1)


def write_answer(answer: Any) -> bytes:
    """Serialize a response to JSON, with field names of the API and without absent fields."""
    if isinstance(answer, Serialized):
        return answer.body
    options: dict[str, Any] = {"by_alias": True, "exclude_none": True, "context": SEND_NULLS}
    try:
        return to_json(answer, inf_nan_mode="constants", **options)
    except PydanticSerializationError:  # unpaired surrogates
        values = to_jsonable_python(answer, **options)
        return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _from_query(operation: type[Operation[Any]], query: Iterable[tuple[str, str]]) -> dict[str, Any]:
    names = _query_names(operation)
    arguments: dict[str, Any] = {}
    for alias, text in query:
        if alias not in names:
            raise ApiError(400, f"{alias}: unknown parameter")
        field = operation.model_fields[names[alias]]
        if _is_array(field):
            arguments.setdefault(names[alias], []).append(text)
        elif text != "null" or str in get_args(field.annotation):
            arguments[names[alias]] = text
    return arguments


def _from_body(operation: type[Operation[Any]], body: bytes) -> dict[str, Any]:
    if has_more_values(body, MOST_VALUES):
        raise ApiError(413, f"The request is too large: it has more than {MOST_VALUES:,} values.")
    try:
        parsed: Any = json.loads(body, parse_constant=_no_number) if body else {}
    except (ValueError, RecursionError):
        raise ApiError(400, "The body is not valid JSON.") from None
    if operation.body_field is not None:
        return {operation.body_field: parsed}
    if not isinstance(parsed, dict):
        raise ApiError(400, "The body must be a JSON object.")
    names = _body_names(operation)
    fields = cast("dict[str, Any]", parsed)
    for alias in fields:
        if alias not in names:
            raise ApiError(400, f"{alias}: unknown field")
    return {names[alias]: value for alias, value in fields.items()}


def _no_number(text: str) -> float:
    raise ValueError(text)


@cache
def _query_names(operation: type[Operation[Any]]) -> dict[str, str]:
    fields = operation.model_fields
    return {fields[name].alias or name: name for name in operation.query_fields()}


@cache
def _body_names(operation: type[Operation[Any]]) -> dict[str, str]:
    elsewhere = set(operation.path_fields()) | operation.query_fields()
    return {field.alias or name: name for name, field in operation.model_fields.items() if name not in elsewhere}


def _is_array(field: FieldInfo) -> bool:
    return any(get_origin(part) in (tuple, list) for part in (field.annotation, *get_args(field.annotation)))


def read_response(sent: bytes, status: int, tag: str, known: str) -> Response:
    """Return the response to a read with its `ETag`, or a 304 without a body if the caller already has it.

    Args:
        sent: the serialized response.
        status: the status of a response with a body.
        tag: the `ETag` of the response.
        known: the `If-None-Match` header of the request, or an empty string.
    """
    if is_known(tag, known):
        return Response(status_code=304, headers={"etag": tag})
    return Response(sent, status, {"etag": tag}, "application/json")


def is_known(tag: str, known: str) -> bool:
    """Return whether an `If-None-Match` header contains a tag."""
    return tag in (part.strip().removeprefix("W/") for part in known.split(","))


def problem_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error response in the format of the API."""
    if status == 401:
        headers = {"www-authenticate": "Bearer"}
    return Response(write_answer({"error": {"code": status, "message": message}}), status, headers, "application/json")


def refusal(error: ApiError) -> Response:
    """Return the response for an error."""
    headers = {"retry-after": str(error.retry_after)} if error.retry_after else None
    return problem_response(error.status, error.message, headers)
