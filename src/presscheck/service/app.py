"""The service as an ASGI application. Each operation becomes a route.

An index selects the few routes that can match a request, instead of matching two hundred routes in turn.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from presscheck.api.operation import DETAILS_HEADER, Operation, every_operation
from presscheck.service.audit import perform
from presscheck.service.blobs.staged_files import FilesRequired, StagedFiles
from presscheck.service.blobs.store import BlobStore, DiskBlobStore, FilesUnavailable
from presscheck.service.db.engine import Database, cause_of, unavailable
from presscheck.service.db.ids import Clock, moment_text, system_clock
from presscheck.service.db.signing import TIMED
from presscheck.service.db.version import current_version
from presscheck.service.handlers import all_handlers
from presscheck.service.http.callers import caller_of, reader_of
from presscheck.service.http.files import files_unavailable
from presscheck.service.http.middleware import (
    AnswerCache,
    RateLimitMiddleware,
    RequestIdMiddleware,
    TrustedHostMiddleware,
    origin_of,
    slot_of,
)
from presscheck.service.http.operations import (
    PREPROCESSORS,
    READ_ONLY_OPERATIONS,
    ApiError,
    Caller,
    Context,
    OutgoingRequired,
    Serialized,
    entity_tag,
    problem_response,
    read_call,
    read_response,
    refusal,
    write_answer,
)
from presscheck.service.http.public_routes import open_routes
from presscheck.service.http.request_body import receive_body
from presscheck.service.http.turns import Busy, Threads, Turns
from presscheck.service.integrations.endpoint import METHODS, Endpoint
from presscheck.service.integrations.outbound_http import Outgoing
from presscheck.service.jobs.queue import WANTED, OutboundConfig
from presscheck.service.jobs.worker import Workers
from presscheck.service.oauth.routes import sign_in_routes
from presscheck.service.oauth.scopes import require_scope
from presscheck.service.sites.granted_reads import READS_ONLY, require_granted
from presscheck.service.web.assets import DiagramScript
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.live_pages import LivePages
from presscheck.service.web.routes import web_routes
from presscheck.service.web.site_scripts import SiteScripts

MAX_BODY = 32 * 1024 * 1024
"""Maximum size of a request, in bytes: twenty files of 1 MB in base64, and some text."""
LARGEST_AT_ONCE = 64 * 1024
"""Maximum size in bytes of a body that is read before its sender is authenticated. The server buffers such a body
anyway, and the thread that responds authenticates the sender.
"""
LONGEST_UNKNOWN = 1.0
"""Time in seconds within which such a body must arrive. Otherwise its sender is authenticated before the rest is read,
so that a client without a token does not occupy its connection for `LONGEST_SENDING`.
"""
MOST_DIGITS = 20
"""A `Content-Length` with this many digits or more is rejected without being parsed."""
MOST_OUTGOING = 8
"""Maximum number of requests that wait for other servers at the same time, in separate threads."""
LONGEST_SENDING = 60.0
"""Timeout for the body of a request, in seconds."""
MOST_BODIES, MOST_BODIES_OF_USER = 8, 4
"""Maximum number of large requests at the same time, in all and per user. A request is large if its body is larger than
`LARGEST_AT_ONCE`; the bodies of all large requests together take at most `MOST_BODIES` × `MAX_BODY` bytes.
"""
MOST_READERS, MOST_WRITERS = 24, 8
"""Maximum number of concurrent reads and of concurrent writes; together fewer than database connections."""
MOST_WAITING = 400
"""Maximum number of reads that wait for a thread, and of writes that wait for the same place (see `Lanes.places`)."""
WRITER_PATIENCE = 30.0
"""Maximum wait of a write for earlier writes to the same place, in seconds."""
MOST_OF_USER, MOST_OF_ORGANIZATION = 4, 2
"""Maximum number of concurrent calls that wait for other servers or scripts, per user and per organization."""
MOST_WAITING_OUTSIDE = 100
"""Maximum number of calls that wait for the same user or organization."""
OUTSIDE_PATIENCE = 60.0
"""Maximum wait of these calls, in seconds."""

_NOTHING_OUTSIDE = OutboundConfig()
Result = TypeVar("Result")
_log = logging.getLogger("presscheck.service")
_MATCHED = "presscheck.route"


def build(
    database: Database | str,
    *,
    data_dir: Path,
    clock: Clock = system_clock,
    release: str | None = None,
    outside: OutboundConfig = _NOTHING_OUTSIDE,
    files: BlobStore | None = None,
    rate_limit: int | None = None,
    lacks: str | None = None,
    public_url: str | None = None,
    hosts: Collection[str] = (),
    live: LivePages | None = None,
    diagrams: DiagramScript | None = None,
) -> Starlette:
    """Build the application. It closes the database on shutdown.

    Args:
        database: an open database, or its SQLAlchemy URL.
        data_dir: the data directory, for uploaded files and the cache of PDFs.
        clock: returns the current time.
        release: serve only the operations of this API release: ``0.146.0``, ``0.202.0``, or ``document`` for the
            published document; by default all.
        outside: settings of the operator for outgoing requests.
        files: the store of uploaded files, if it is not the data directory.
        rate_limit: requests per minute for each token, and for each address without a token; unlimited by default.
        lacks: a feature to leave out, such as ``reviews``.
        public_url: the URL of the service for users, if it differs from the URL of their requests.
        hosts: host names that are trusted besides loopback names, published sites and `public_url`.
        live: notifies published pages of changes in their space; only for previews.
        diagrams: the script that draws the diagrams of published pages.
    """
    opened = Database(database) if isinstance(database, str) else database
    store = files or DiskBlobStore(data_dir)
    versions = current_version(opened)
    workers = Workers(opened, store, clock, outside)
    lanes, handlers = Lanes.open(), all_handlers()
    operations = sorted(every_operation(), key=lambda operation: (len(operation.path_fields()), operation.route))
    routes = [  # fixed parts of a path before placeholders
        Route(
            _path(operation),
            Adapter(operation, handlers.get(operation, _not_supported), opened, store, clock, workers, lanes),
            methods=[operation.method()],
        )
        for operation in operations
        if operation.is_in(release) and (lacks is None or operation.feature != lacks)
    ]
    blocks = BlockDrawer(workers.outgoing, workers.outside.scripts)
    app = Starlette(
        routes=[
            RouteIndex(routes),
            *web_routes(opened, versions, store, clock, blocks, live, diagrams),
            *routes,
            *open_routes(opened, store, data_dir, clock, release),
            *sign_in_routes(opened, clock),
            Route("/integrations/{path:path}", Endpoint(opened, store, clock, workers).answer, methods=[*METHODS]),
            Route(
                "/scripts/{site_id}/{installation_id}/{signature}.js",
                SiteScripts(opened, store, clock, workers).answer,
                methods=["GET"],
            ),
        ],
        lifespan=_lifespan(opened, workers),
        middleware=[
            Middleware(RequestIdMiddleware),
            Middleware(TrustedHostMiddleware, database=opened, versions=versions, public_url=public_url, hosts=hosts),
            *([Middleware(RateLimitMiddleware, limit=rate_limit, database=opened, clock=clock)] if rate_limit else []),
            Middleware(AnswerCache, versions=versions, most=opened.caches.answers),
        ],
        exception_handlers={
            HTTPException: _refused,
            ApiError: _refused,
            DBAPIError: _failed_in_database,
            Exception: _failed,
        },
    )
    app.router.redirect_slashes = False  # a path with a trailing slash is a different path
    return app


def _lifespan(database: Database, workers: Workers) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return a lifespan that starts and stops the background workers with the application."""

    @asynccontextmanager
    async def working(app: Starlette) -> AsyncGenerator[None, None]:
        workers.service.open(app, asyncio.get_running_loop())
        await run_in_threadpool(workers.start)
        yield
        await run_in_threadpool(workers.stop)
        database.close()

    return working


def _not_supported(_context: Context, call: Operation[Any]) -> None:
    raise ApiError(501, f"This service does not support {type(call).__name__}.")


@dataclass(frozen=True)
class Lanes:
    """The threads and queues for each kind of call: reads, writes, and calls that wait for other servers."""

    readers: Threads
    writers: Threads
    outgoing: CapacityLimiter
    places: Turns
    """Admits one writer at a time: on SQLite to the database, on PostgreSQL to each place, such as a space."""
    users: Turns
    organizations: Turns
    bodies: Turns
    bodies_of_user: Turns

    @classmethod
    def open(cls) -> Lanes:
        """Create the threads and queues of a process."""
        outside, large = "Calls that wait for other servers", "Large requests"
        return cls(
            readers=Threads(MOST_READERS, waiting=MOST_WAITING, what="Reads"),
            writers=Threads(MOST_WRITERS, waiting=MOST_WAITING, what="Writes"),
            outgoing=CapacityLimiter(MOST_OUTGOING),
            places=Turns(1, waiting=MOST_WAITING, patience=WRITER_PATIENCE, what="Writes"),
            users=Turns(MOST_OF_USER, waiting=MOST_WAITING_OUTSIDE, patience=OUTSIDE_PATIENCE, what=outside),
            organizations=Turns(
                MOST_OF_ORGANIZATION, waiting=MOST_WAITING_OUTSIDE, patience=OUTSIDE_PATIENCE, what=outside
            ),
            bodies=Turns(MOST_BODIES, waiting=MOST_WAITING, patience=LONGEST_SENDING, what=large),
            bodies_of_user=Turns(
                MOST_BODIES_OF_USER, waiting=MOST_WAITING_OUTSIDE, patience=LONGEST_SENDING, what=large
            ),
        )


class Adapter:
    """The HTTP endpoint of one operation: authenticates, parses, runs the handler in a transaction, and responds."""

    def __init__(
        self,
        operation: type[Operation[Any]],
        handler: Callable[[Context, Any], Any],
        database: Database,
        store: BlobStore,
        clock: Clock,
        workers: Workers,
        lanes: Lanes,
    ) -> None:
        self.operation = operation
        self.handler = handler
        self.database = database
        self.store = store
        self.clock = clock
        self.workers = workers
        self.lanes = lanes
        self.reader = reader_of(operation.path_fields())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        request = Request(scope, receive)
        # responses that may be cached belong to requests without a body
        if slot_of(scope) is None and _has_body(request):
            async with self._received(request) as body:
                response = await self._respond(request, body)
        else:
            response = await self._respond(request, b"")
        await response(scope, receive, send)

    async def _respond(self, request: Request, body: bytes) -> Response:
        files = StagedFiles(self.store)
        only_reads = self.operation.is_read() or self.operation in READ_ONLY_OPERATIONS
        try:
            return await (self._read if only_reads else self._write)(request, body, files)
        except FilesUnavailable as error:
            return refusal(files_unavailable(error, is_write=not self.operation.is_read()))
        except ApiError as error:
            return refusal(error)
        except DBAPIError:
            raise  # see `_failed_in_database`
        except Exception:
            _log.exception("%s failed", self.operation.__name__)
            return problem_response(500, "Internal server error; see the log of the service.")

    @asynccontextmanager
    async def _received(self, request: Request) -> AsyncGenerator[bytes, None]:
        """Read the body of a request. It counts against the limits on bodies in memory until the block ends.

        If the body is large or slow, its sender is authenticated before the rest is read. A large request waits until
        there are fewer than `MOST_BODIES` others.

        Raises:
            ApiError: 401, the token is missing or invalid; 400, 408 or 413, the body is incomplete, too slow or too
                large; 503, too many large bodies are waiting.
        """
        body, headers = bytearray(), request.headers
        is_small = "transfer-encoding" not in headers and int(headers.get("content-length", "0")) <= LARGEST_AT_ONCE
        is_complete = False
        if is_small:
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_UNKNOWN):
                    await receive_body(request, body, MAX_BODY, LONGEST_SENDING)
                is_complete = True
        async with AsyncExitStack() as held:
            if not is_complete:
                user = (await self.lanes.readers.run(self._caller, request)).id
                if not is_small:
                    await held.enter_async_context(self.lanes.bodies_of_user.turn(user))
                    await held.enter_async_context(self.lanes.bodies.turn(""))
                await receive_body(request, body, MAX_BODY, LONGEST_SENDING)
            yield bytes(body)

    def _caller(self, request: Request) -> Caller:
        authorization, now = request.headers.get("authorization", ""), moment_text(self.clock())
        with self.database.snapshot() as session:
            return caller_of(session, authorization, now)

    async def _in_thread(self, work: Callable[[Outgoing | None], Result], files: StagedFiles) -> Result:
        """Run a function in a reader thread.

        If the function needs another server or a remote file, run it again in a thread that may wait.
        """
        try:
            return await self.lanes.readers.run(work, None)
        except OutgoingRequired as required:
            files.may_wait = True
            # in this order, to prevent deadlocks: a call that waits for an organization only holds a turn of its user
            async with (
                self.lanes.users.turn(required.user_id),
                self.lanes.organizations.turn(required.organization_id),
            ):
                return await run_sync(work, self.workers.outgoing, limiter=self.lanes.outgoing)
        except FilesRequired:
            files.may_wait = True
            return await run_sync(work, self.workers.outgoing, limiter=self.store.threads)

    async def _commit(self, place: str, work: Callable[[Session], Result]) -> Result:
        """Run a write after earlier writes to the same place.

        Raises:
            Busy: too many writes are waiting, or the earlier writes take too long.
        """
        async with self.lanes.places.turn(place if self.database.is_postgresql else ""):
            return await self.lanes.writers.run(self.database.write, work)

    async def _read(self, request: Request, body: bytes, files: StagedFiles) -> Response:
        afterwards: list[Callable[[Session], None]] = []
        try:
            return await self._in_thread(partial(self._respond_to_read, request, body, files, afterwards), files)
        finally:
            for write in afterwards:
                await self._commit(self._place(request), write)

    def _respond_to_read(
        self,
        request: Request,
        body: bytes,
        files: StagedFiles,
        afterwards: list[Callable[[Session], None]],
        outgoing: Outgoing | None,
    ) -> Response:
        """Respond to a request that writes nothing."""
        with self.database.snapshot() as session:
            authorization = request.headers.get("authorization", "")
            user, known = self.reader.read(session, authorization, moment_text(self.clock()), request.path_params)
            context = self._context(session, user, request, files, outgoing, known)
            require_granted(context, self.operation, request.path_params)
            try:
                answer = self.handler(context, self._call(request, body))
                sent = _sent(answer)
            finally:
                afterwards += context.afterwards
            depends_on_more = user.expires or outgoing or files.was_read or afterwards or session.info.get(TIMED)
        if not self.operation.is_read():
            return self._response(answer, sent)
        tag = answer.tag if isinstance(answer, Serialized) else entity_tag(sent)
        slot = slot_of(request.scope)
        if slot and not depends_on_more:
            slot.body, slot.tag = sent, tag  # after the transaction, because its end may fail
        return read_response(sent, self.operation.success, tag, request.headers.get("if-none-match", ""))

    async def _write(self, request: Request, body: bytes, files: StagedFiles) -> Response:
        sender, call = await self._in_thread(partial(self._prepared, request, body, files), files)
        place = self._place(request)

        def write(session: Session) -> tuple[Any, bytes, bool]:
            context = self._context(session, sender, request, files, None)
            require_granted(context, self.operation, request.path_params)
            answer = perform(context, call, self.handler)
            files.require_stored(session)
            return answer, _sent(answer), bool(session.info.get(WANTED))

        try:
            answer, sent, is_work_wanted = await self._commit(place, write)
        except FilesRequired:
            files.may_wait = True
            await run_sync(files.upload, limiter=self.store.threads)
            answer, sent, is_work_wanted = await self._commit(place, write)
        if is_work_wanted:
            self.workers.wake()
        return self._response(answer, sent)

    def _prepared(
        self, request: Request, body: bytes, files: StagedFiles, outgoing: Outgoing | None
    ) -> tuple[Caller, Any]:
        """Authenticate and parse a write and upload its files, before it waits for other writes.

        Return the sender and the call.
        """
        sender = self._caller(request)
        if sender.grant is not None:
            raise ApiError(403, READS_ONLY)
        require_scope(sender.scope, self.operation)
        call = self._call(request, body)

        @contextmanager
        def reading() -> Generator[Context]:
            with self.database.snapshot() as session:
                yield self._context(session, sender, request, files, outgoing)

        if self.operation in PREPROCESSORS:
            call = PREPROCESSORS[self.operation](reading, call)
        files.upload()
        return sender, call

    def _response(self, answer: Any, sent: bytes) -> Response:
        if self.operation.success == 204:
            details = {DETAILS_HEADER: json.dumps(json.loads(sent))} if sent else None  # ASCII, as headers must be
            return Response(status_code=204, headers=details)
        headers = _location_header(answer) if self.operation.success == 201 else None
        return Response(sent, self.operation.success, headers, "application/json")

    def _call(self, request: Request, body: bytes) -> Any:
        return read_call(self.operation, request.path_params, request.query_params.multi_items(), body)

    def _place(self, request: Request) -> str:
        """Return the key for queueing writes: the first id of the path. Writes with the same id often conflict."""
        fields = self.operation.path_fields()
        return str(request.path_params[fields[0]]) if fields else self.operation.__name__

    def _context(
        self,
        session: Session,
        user: Caller,
        request: Request,
        files: StagedFiles,
        outgoing: Outgoing | None,
        known: dict[Any, Any] | None = None,
    ) -> Context:
        def clock() -> datetime:
            session.info[TIMED] = True
            return self.clock()

        outside = self.workers.outside
        return Context(
            session,
            user,
            origin_of(request),
            clock,
            files,
            outgoing,
            scripts=outside.scripts,
            git_root=outside.git_root,
            known=known or {},
        )


def _sent(answer: Any) -> bytes:
    return b"" if answer is None else write_answer(answer)


def _path(operation: type[Operation[Any]]) -> str:
    return "/v1" + operation.route.partition(" ")[2].replace("{page_path}", "{page_path:path}")


def _has_body(request: Request) -> bool:
    """Return whether a body follows the headers.

    Raises:
        ApiError: 413, the declared size is too large.
    """
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and len(declared) < MOST_DIGITS and int(declared) <= MAX_BODY:
        return int(declared) > 0 or "transfer-encoding" in request.headers
    raise ApiError(413, f"The request is too large: the limit is {MAX_BODY} bytes.")


def _location_header(answer: Any) -> dict[str, str] | None:
    location = getattr(getattr(answer, "urls", None), "location", None)
    return {"location": location} if location else None


def _refused(_request: Request, error: Exception) -> Response:
    error.__traceback__ = None  # its frames refer to the error, so a collection of garbage would have to find them
    if isinstance(error, ApiError):
        return refusal(error)
    refused = cast("HTTPException", error)
    return problem_response(refused.status_code, refused.detail, refused.headers)


def _failed_in_database(request: Request, error: Exception) -> Response:
    if unavailable(cast("DBAPIError", error)) is None:
        raise error  # the server logs it like any bug
    return _failed(request, error)


def _failed(_request: Request, error: Exception) -> Response:
    """Respond with 503 if the database is temporarily unavailable, for example restarting, and otherwise with 500."""
    reason = unavailable(error) if isinstance(error, DBAPIError) else None
    if reason is None:
        return problem_response(500, "Internal server error; see the log of the service.")
    _log.warning("%s: %s", reason, cause_of(error))
    return refusal(Busy(reason))


class RouteIndex(BaseRoute):
    """A route that delegates to other routes, which it finds in an index by method and segments of the path.

    If it finds no route, the application tries the routes in turn and responds with 404 or 405.

    Args:
        routes: the routes in order of precedence. The first and third segment after ``/v1/`` are fixed.
    """

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes: dict[tuple[str, str, str, int], list[Route]] = {}
        for route in routes:
            # a path parameter matches any number of segments
            for method in () if ":path}" in route.path else route.methods or ():
                self._routes.setdefault(_key(method, route.path), []).append(route)

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http":
            for route in self._routes.get(_key(scope["method"], scope["path"]), ()):
                match, child_scope = route.matches(scope)
                if match is Match.FULL:
                    return match, {**child_scope, _MATCHED: route}
        return Match.NONE, {}

    @override
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: Route = scope[_MATCHED]
        await route.handle(scope, receive, send)


def _key(method: str, path: str) -> tuple[str, str, str, int]:
    _, _, first, _, third, *others = [*path.split("/"), "", "", "", ""]
    return method, first, third, len(others)
