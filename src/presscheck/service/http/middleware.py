"""Middleware around all handlers: request log, trusted hosts, rate limit, cached responses.

The log has one JSON object per line, with the id of the request. A request is logged with its method, API path and
result, but never with query, body, headers or site URL, because those may contain secrets.

The `Host` header is checked, because it becomes part of URLs, and an unknown host may be an attack by DNS rebinding.
Responses announce the rate limit in headers that clients use to slow down.

Responses to reads are cached in memory until the next commit to the database. The key has the caller and the URL. The
version of the database is read *before* the response is computed, and an entry is only used while the database has
this version. So a cached response never differs from a new one, even after a write by another process. A response is
only cached if it depends on nothing but the database: `Context` records whether a handler uses the current time, an
expiring signature, a stored file or another server. Errors and responses for expiring tokens are not cached.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import sys
import time
from collections.abc import Collection
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv6Address, ip_address
from urllib.parse import urlsplit

from sqlalchemy import func, select
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, hash_token, moment_text, system_clock
from presscheck.service.db.version import CurrentVersion, Version
from presscheck.service.http.callers import bearer_token, caller_of
from presscheck.service.http.operations import ApiError, problem_response, read_response
from presscheck.service.models.sites import SiteRow

_number: ContextVar[str] = ContextVar("_number", default="")
_log = logging.getLogger("presscheck.requests")
_unprintable = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""Characters that JSON does not escape, but that are invisible or can control a terminal: DEL, C1 and marks for
bidirectional text.
"""
_host = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?").fullmatch
ORIGIN = "presscheck.origin"
WINDOW = 60
"""Duration of a rate-limit window, in seconds."""
UNLIMITED = ("/healthz", "/readyz")
"""Paths without a rate limit, which monitors poll."""
_EACH = 600
"""Size of a cached response without its body in bytes, measured with `sys.getsizeof`."""
_SLOT = "presscheck.answer"
_RETRY = {"retry-after": "2"}


class JsonLines(logging.Formatter):
    """A formatter that writes each log record as one line of JSON."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        record_fields = {
            "time": moment_text(system_clock()),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        if _number.get():
            record_fields["request"] = _number.get()
        record_fields |= getattr(record, "details", {})
        if record.exc_info:
            record_fields["traceback"] = self.formatException(record.exc_info)
        return _unprintable.sub(_escaped, json.dumps(record_fields, ensure_ascii=False))


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


def write_log(*, requests: bool) -> None:
    """Set up the log on standard error. With `requests`, it has a line for each request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("uvicorn", "alembic", "httpcore", "boto3", "botocore", "urllib3"):
        logging.getLogger(name).setLevel(logging.WARNING)
    _log.setLevel(logging.INFO if requests else logging.WARNING)


class RequestIdMiddleware:
    """Middleware that adds an ``x-request-id`` header to each response and logs the request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, started, result = secrets.token_hex(8), time.monotonic(), {"status": 0, "bytes": 0}
        _number.set(number)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", number.encode())]
                result["status"] = message["status"]
            else:
                result["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        except asyncio.CancelledError:  # the service shuts down, and has waited for this request
            if result["status"]:
                raise
            answer = problem_response(503, "The service is shutting down; a write may have been saved.", _RETRY)
            await answer(scope, receive, send_with_id)
        finally:
            _log_request(scope, result, round((time.monotonic() - started) * 1000, 1))


def _log_request(scope: Scope, result: dict[str, int], milliseconds: float) -> None:
    details = {"method": scope["method"], "path": _loggable_path(scope["path"]), "ms": milliseconds, **result}
    _log.log(logging.WARNING if result["status"] >= 500 else logging.INFO, "request", extra={"details": details})


def _loggable_path(path: str) -> str:
    """Return an API path in full, and only the first segment of other paths, which may contain secret keys."""
    return path if path.startswith("/v1/") else f"/{path.lstrip('/').partition('/')[0]}"


class TrustedHostMiddleware:
    """Middleware that responds with 400 unless the `Host` is a loopback name, the host of a published site, or
    configured by the operator.

    Requests with two `Authorization` headers are refused, too. Unix sockets, which only local users reach, and requests
    without a `Host` header are not checked.

    Args:
        app: the application.
        database: the database with the published sites.
        versions: the version of the database.
        public_url: the URL of the service for users; if set, all generated URLs start with it.
        hosts: additional host names that the operator trusts, such as the value of `--host`.
    """

    def __init__(
        self,
        app: ASGIApp,
        database: Database,
        versions: CurrentVersion,
        public_url: str | None = None,
        hosts: Collection[str] = (),
    ) -> None:
        self.app, self._database, self._versions = app, database, versions
        self._sites: tuple[Version | None, frozenset[str]] = (None, frozenset())
        self._public_url = public_url.rstrip("/") if public_url else None
        self._trusted = {name.lower() for name in (*hosts, urlsplit(public_url or "").hostname or "") if name}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            if sum(name == b"authorization" for name, _ in scope["headers"]) > 1:
                # a proxy may have checked the other header
                refusal = problem_response(400, "More than one Authorization header: send exactly one.")
                await refusal(scope, receive, send)
                return
            if not await self._is_trusted(scope):
                refusal = problem_response(
                    400, "This host name is not served here; the operator can set it with --public-url."
                )
                await refusal(scope, receive, send)
                return
            host = Headers(scope=scope).get("host")
            own_origin = f"{scope['scheme']}://{host}" if host else str(Request(scope).base_url).rstrip("/")
            scope[ORIGIN] = self._public_url or own_origin
        await self.app(scope, receive, send)

    async def _is_trusted(self, scope: Scope) -> bool:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        host_match = _host(hosts[0]) if len(hosts) == 1 else None
        if not hosts or hosts == [""]:
            return True
        if host_match is None:
            return False
        if (scope.get("server") or ("", 0))[1] is None:  # a Unix socket has no port
            return True
        name = host_match[1].strip("[]").rstrip(".").lower()
        return _is_loopback(name) or name in self._trusted or name in await self._names_of_sites()

    async def _names_of_sites(self) -> frozenset[str]:
        """Return the host names of published sites. They are cached so that unknown hosts cause no queries."""
        version = await self._versions.current()
        if version is None or version != self._sites[0]:
            self._sites = version, await run_in_threadpool(self._read_names)
        return self._sites[1]

    def _read_names(self) -> frozenset[str]:
        with self._database.snapshot() as session:
            hostnames = select(func.lower(SiteRow.hostname)).where(SiteRow.hostname.is_not(None), SiteRow.published)
            return frozenset(session.scalars(hostnames))


def origin_of(request: Request) -> str:
    """Return the origin of URLs in the response, such as ``https://docs.example.org``."""
    return request.scope[ORIGIN]


@lru_cache
def _is_loopback(name: str) -> bool:
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


class RateLimitMiddleware:
    """Middleware that responds with 429 to a client after `limit` requests within a minute.

    Each process counts separately, so a service with several processes allows a multiple of the limit.
    """

    def __init__(self, app: ASGIApp, limit: int, database: Database, clock: Clock) -> None:
        self.app, self._limit = app, limit
        self._database, self._clock = database, clock
        self._window = 0
        self._counts: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        counted = await self._client_key(scope) if scope["type"] == "http" else None
        if counted is None:
            await self.app(scope, receive, send)
            return
        remaining, reset = self._take(counted)
        headers = {
            "x-ratelimit-limit": str(self._limit),
            "x-ratelimit-remaining": str(max(0, remaining)),
            "x-ratelimit-reset": str(reset),
        }
        if remaining < 0:
            client = counted.partition(" ")[0]
            refusal = problem_response(
                429,
                f"Rate limit exceeded: {self._limit} requests per minute for this {client}.",
                {**headers, "retry-after": str(max(1, reset - int(time.time())))},
            )
            await refusal(scope, receive, send)
            return

        sent = [(name.encode(), value.encode()) for name, value in headers.items()]

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *sent]
            await send(message)

        await self.app(scope, receive, send_with_headers)

    async def _client_key(self, scope: Scope) -> str | None:
        """Return the key for counting a request, such as ``token HASH``, or None if the request is not limited."""
        if scope["path"] in UNLIMITED:
            return None
        if not scope["path"].startswith("/v1/"):
            return f"address {network_of(scope)} reading sites"
        authorization = Headers(scope=scope).get("authorization", "")
        token = bearer_token(authorization)
        token_hash = hash_token(token) if token else ""
        if token and (f"token {token_hash}" in self._counts or await run_in_threadpool(self._is_valid, authorization)):
            return f"token {token_hash}"
        return f"address {network_of(scope)}"

    def _is_valid(self, authorization: str) -> bool:
        with self._database.snapshot() as session, suppress(ApiError):
            return bool(caller_of(session, authorization, moment_text(self._clock())))
        return False

    def _take(self, counted: str) -> tuple[int, int]:
        """Count a request, and return how many requests are left and the time at which the window ends, in seconds."""
        window = int(time.time()) // WINDOW
        if window != self._window:
            self._window, self._counts = window, {}
        self._counts[counted] = self._counts.get(counted, 0) + 1
        return self._limit - self._counts[counted], (window + 1) * WINDOW


def network_of(scope: Scope) -> str:
    """Return the address of the client; for IPv6 the /64 network, which usually belongs to one client.

    Return an empty string for a Unix socket.
    """
    host = str((scope.get("client") or ("",))[0])
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return address.exploded[:19] if isinstance(address, IPv6Address) and not address.ipv4_mapped else host


@dataclass
class AnswerSlot:
    """Receives the response of a handler for the cache. It stays empty if the response must not be cached."""

    body: bytes = b""
    tag: str = ""


class AnswerCache:
    """The innermost middleware: sends cached responses without routing the request.

    Args:
        app: the application.
        versions: the version of the database; without a version nothing is cached.
        most: capacity of the cache, in bytes.
    """

    def __init__(self, app: ASGIApp, versions: CurrentVersion, most: int) -> None:
        self.app, self._versions = app, versions
        self._version: Version | None = None
        self._answers = BoundedCache(most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "lifespan":
            try:
                await self.app(scope, receive, send)
            finally:
                self._versions.close()
            return
        key_and_tag = _cache_key(scope)
        # read before the handler runs, so that a commit during its run makes the response stale
        version = await self._versions.current() if key_and_tag else None
        if key_and_tag is None or version is None:
            await self.app(scope, receive, send)
            return
        key, known = key_and_tag
        if version != self._version:
            self._answers.clear()
            self._version = version
        cached_answer: AnswerSlot | None = self._answers.get(key)
        if cached_answer is not None:
            await read_response(cached_answer.body, 200, cached_answer.tag, known)(scope, receive, send)
            return
        slot = scope[_SLOT] = AnswerSlot()
        await self.app(scope, receive, send)
        if slot.body and version == self._version:
            self._answers.put(key, slot, len(slot.body) + _EACH)


def slot_of(scope: Scope) -> AnswerSlot | None:
    """Return the slot for the response to a request, or None if the response is not cached."""
    return scope.get(_SLOT)


def _cache_key(scope: Scope) -> tuple[bytes, str] | None:
    """Return the cache key of a read and its `If-None-Match` header, or None if the response cannot be cached.

    The key is a hash, so that neither tokens nor share keys in URLs stay in memory. It covers all parts of a request
    that a handler uses: token, path, query, and the origin of URLs, which depends on the `Host` header.
    """
    if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith("/v1/"):
        return None
    authorization, if_none_match = b"", ""
    for name, value in scope["headers"]:
        if name == b"authorization":
            if authorization:
                return None
            authorization = value
        elif name == b"if-none-match":
            if if_none_match:
                return None
            if_none_match = value.decode("latin-1")
        elif name == b"content-length" or name == b"transfer-encoding":
            return None
    if not authorization:
        return None
    path: bytes = scope["path"].encode("utf-8", "surrogatepass")
    parts: tuple[bytes, ...] = (authorization, scope["query_string"], scope[ORIGIN].encode(), path)
    lengths = b"%d %d %d " % (len(parts[0]), len(parts[1]), len(parts[2]))
    return blake2b(lengths + b"".join(parts), digest_size=32).digest(), if_none_match
