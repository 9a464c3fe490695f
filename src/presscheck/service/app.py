"""The service as an ASGI application; every route is made from the declaration of an operation."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from presscheck.api.operation import Operation, every_operation
from presscheck.service.blobs import blob_path
from presscheck.service.database import Database
from presscheck.service.handlers import all_handlers
from presscheck.service.handling import Context, Problem
from presscheck.service.identity import Clock, system_clock, token_mark
from presscheck.service.tables import TokenRow, UserRow
from presscheck.service.web.routes import web_routes
from presscheck.service.wire import read_call, write_answer

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a request: twenty files of 1 MB in base64, and some text."""

_log = logging.getLogger("presscheck.service")


def build(
    database: Database | str, *, data_dir: Path, clock: Clock = system_clock, release: str | None = None
) -> Starlette:
    """The application over a database, which it closes when it shuts down.

    Args:
        database: one that is open, or its SQLAlchemy URL.
        data_dir: where files are kept.
        clock: what tells the time.
        release: have the calls of this release alone, such as ``0.202.0``; those of both when not given.
    """
    opened = Database(database) if isinstance(database, str) else database

    @asynccontextmanager
    async def closing(_app: Starlette) -> AsyncGenerator[None, None]:
        yield
        opened.close()

    routes = [
        Route(_path(operation), Adapter(operation, handler, opened, data_dir, clock), methods=[operation.method()])
        for operation, handler in sorted(_every_handler(), key=lambda entry: _precedence(entry[0]))
        if release is None or operation.release in (None, release)
    ]
    routes.append(Route("/files/{content_id}/{name}", _file_sender(data_dir), methods=["GET"]))
    routes += web_routes(opened, data_dir, clock)
    app = Starlette(
        routes=routes,
        lifespan=closing,
        middleware=[Middleware(RequestNumbers)],
        exception_handlers={HTTPException: _refused, Problem: _refused, Exception: _failed},
    )
    app.router.redirect_slashes = False  # another address is another thing
    return app


def _every_handler() -> list[tuple[type[Operation[Any]], Callable[[Context, Any], Any]]]:
    """Each call with what answers it; a call without a handler is answered too, with a 501."""
    handlers = all_handlers()
    return [(operation, handlers.get(operation, _lacking)) for operation in every_operation()]


def _lacking(_context: Context, call: Operation[Any]) -> None:
    raise Problem(501, f"{type(call).__name__} is not answered by this service.")


class Adapter:
    """One operation over HTTP: who asks, what they ask, the handler in a transaction, its answer."""

    def __init__(
        self,
        operation: type[Operation[Any]],
        handler: Callable[[Context, Any], Any],
        database: Database,
        data: Path,
        clock: Clock,
    ) -> None:
        self.operation = operation
        self.handler = handler
        self.database = database
        self.data = data
        self.clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        body = await _bounded(request)
        response = await run_in_threadpool(self._respond, request, body)
        await response(scope, receive, send)

    def _respond(self, request: Request, body: bytes) -> Response:
        try:
            answer, sent = self._answer(request, body)
        except Problem as problem:
            return _problem(problem.status, problem.message)
        except Exception:
            _log.exception("%s failed", self.operation.__name__)
            return _problem(500, "The service failed; its log says how.")
        if self.operation.success == 204:
            return Response(status_code=204)
        headers = _where(answer) if self.operation.success == 201 else None
        return Response(sent, self.operation.success, headers, "application/json")

    def _answer(self, request: Request, body: bytes) -> tuple[Any, bytes]:
        with self.database.reading.begin() as session:
            user = _caller(session, request.headers.get("authorization", ""))
            call = read_call(self.operation, request.path_params, request.query_params.multi_items(), body)
            if self.operation.is_read():
                return self._handled(session, user, request, call)
        with self.database.writing.begin() as session:
            return self._handled(session, user, request, call)

    def _handled(self, session: Session, user: UserRow, request: Request, call: Any) -> tuple[Any, bytes]:
        origin = str(request.base_url).rstrip("/")
        answer = self.handler(Context(session, user, origin, self.clock, self.data), call)
        return answer, b"" if answer is None else write_answer(answer)


class RequestNumbers:
    """Gives every answer an ``x-request-id``."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def numbered(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["x-request-id"] = secrets.token_hex(8)
            await send(message)

        await self.app(scope, receive, numbered)


def _path(operation: type[Operation[Any]]) -> str:
    return "/v1" + operation.route.partition(" ")[2].replace("{page_path}", "{page_path:path}")


def _precedence(operation: type[Operation[Any]]) -> tuple[int, str]:
    return len(operation.path_fields()), operation.route  # words before placeholders


async def _bounded(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > MAX_BODY:
        raise Problem(413, f"A request may have {MAX_BODY} bytes.")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise Problem(413, f"A request may have {MAX_BODY} bytes.")
    return bytes(body)


def _caller(session: Session, authorization: str) -> UserRow:
    kind, _, token = authorization.partition(" ")
    if kind.lower() != "bearer" or not token:
        raise Problem(401, "This needs a token: Authorization: Bearer …")
    user = session.scalar(
        select(UserRow).join(TokenRow, TokenRow.user_id == UserRow.id).where(TokenRow.sha256 == token_mark(token))
    )
    if user is None:
        raise Problem(401, "That token is not known here.")
    return user


def _where(answer: Any) -> dict[str, str] | None:
    location = getattr(getattr(answer, "urls", None), "location", None)
    return {"location": location} if location else None


def _file_sender(data: Path) -> Callable[[Request], Response]:
    def send_file(request: Request) -> Response:
        """A file, by an address that only those who read its content can know."""
        path = blob_path(data, request.path_params["content_id"])
        if path is None or not path.is_file():
            return _problem(404, "There is no such file.")
        headers = {"x-content-type-options": "nosniff", "content-security-policy": "sandbox"}
        return FileResponse(path, headers=headers, filename=request.path_params["name"])

    return send_file


def _refused(_request: Request, error: Exception) -> Response:
    if isinstance(error, Problem):
        return _problem(error.status, error.message)
    refusal = cast("HTTPException", error)
    return _problem(refusal.status_code, refusal.detail, refusal.headers)


def _failed(_request: Request, _error: Exception) -> Response:
    return _problem(500, "The service failed; its log says how.")


def _problem(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    if status == 401:
        headers = {"www-authenticate": "Bearer"}
    return Response(write_answer({"error": {"code": status, "message": message}}), status, headers, "application/json")
