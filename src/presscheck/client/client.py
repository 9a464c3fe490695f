"""The HTTP client: connections, requests, response bodies, typed errors for failed requests, retries, downloads.

The token is only sent to the origin of the service, and never appears in messages or logs.

Reads are safe to repeat. A write is only repeated after a 429 response, because the service did not process it. After a
lost connection, the caller can check whether the write arrived.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from socket import gaierror
from typing import TYPE_CHECKING, Any, Self, TypeVar

import httpx
from typing_extensions import override

from presscheck import __version__
from presscheck.api.operation import DETAILS_HEADER, Operation, Page
from presscheck.client.base_url import Address, read_address
from presscheck.client.environment import host_and_proxy, proxy_for, tls_context
from presscheck.client.request_priority import Budget, BudgetExhausted, RequestContext, RequestRecord, service_time
from presscheck.client.responses import (
    EMPTY,
    KnownResponses,
    Reply,
    check_response,
    not_supported,
    rate_limited,
    read_answer,
    service_message,
    unusable,
)
from presscheck.client.unsupported_calls import RouteCheck, Seen
from presscheck.errors import (
    Ambiguous,
    ConfigurationError,
    MalformedAnswer,
    NetworkError,
    NotFound,
    NotSupported,
    RequestError,
    ServiceFailed,
    TooManyRequests,
)
from presscheck.text.sanitize import is_safe_url

if TYPE_CHECKING:
    from tenacity import RetryCallState

Answer = TypeVar("Answer")
Item = TypeVar("Item")
MAX_REDIRECTS = 5
_AGENT = {"user-agent": f"presscheck/{__version__}"}
MAX_SIZE = 32 << 20
"""The maximum size of a response body in bytes, after decompression."""
MAX_OBJECTS = 150_000
"""The maximum number of objects and arrays in a response. An empty object can take three kilobytes of memory."""
MAX_VALUES = 3_000_000
"""The maximum number of values in a response."""
_json_token = re.compile(rb'[{\[,]|"[^"\\]*+(?:\\.?[^"\\]*+)*+"?', re.DOTALL)
"""A bracket, a comma or a string in JSON. Also matches an unterminated string, so that a search is linear."""
MAX_ERROR_SIZE = 64 << 10
T = TypeVar("T")
ATTEMPTS = 3
CERTIFICATE_NOT_YET_VALID = 9
"""The error code of OpenSSL for a certificate that is not valid yet."""
TRANSIENT = frozenset((502, 503, 504))
"""Statuses of a service that is restarting or overloaded."""
MAX_FILE_SIZE = 128 << 20
"""The maximum size of a file in bytes, after decompression."""
MAX_PAGE_SIZE = 16 << 20
"""The maximum size of a published page in bytes."""
VISIT_SECONDS = 15.0
"""The time-out of a request for a published page, in seconds."""
REDIRECTS = frozenset((301, 302, 303, 307, 308))
TOO_MANY, FAILED = 429, 500
"""The status for too many requests, and the lowest status of server errors."""


@dataclass(frozen=True)
class Timeouts:
    """Time-outs and pauses in seconds. `pool` is the time-out for a free connection in the pool."""

    connect: float = 10.0
    read: float = 30.0
    write: float = 30.0
    pool: float = 60.0
    whole: float = 180.0
    """For a single attempt, including the response body."""
    pause: float = 0.25
    """The pause before the second attempt; it doubles before the third."""
    longest_pause: float = 30.0
    """The maximum time to wait for the rate limit; a longer wait raises an error instead."""


class Bearer:
    """The `Authorization` header with a token, which `repr` hides.

    Args:
        token: the token; None to send none.

    Raises:
        ConfigurationError: the token contains invalid characters.
    """

    def __init__(self, token: str | None) -> None:
        token = (token or "").removeprefix("\ufeff").strip()
        if not token.isascii() or not token.isprintable() or " " in token:
            raise ConfigurationError("the token contains invalid characters: copy it again")
        self._header = f"Bearer {token}" if token else ""

    def __repr__(self) -> str:
        return "Bearer(…)"

    async def header(self) -> str:
        """Return the value of the header; empty to send none."""
        return self._header

    async def renewed_header(self, refused: str) -> str:
        """Return a header with a new token, after the service responded to the header `refused` with status 401.

        Return an empty text if there is no new token.
        """
        return ""

    async def finish(self) -> None:
        """Wait until renewed tokens are stored; a fixed token is never renewed."""


class ConnectionPool:
    """Connections to a service, or to all hosts with the same proxy. They are opened by the first requests.

    Each request goes to the transport of httpx. The client of httpx would add cookies and redirects that are not
    wanted, and take another tenth of the time of a request.

    Args:
        address: the address of the service.
        timeouts: the time-outs of connecting, reading and writing.
        connections: the maximum number of connections.

    Raises:
        ConfigurationError: an environment variable for the proxy or for TLS is invalid.
    """

    def __init__(self, address: Address, timeouts: Timeouts, connections: int) -> None:
        proxy = None if address.is_local else proxy_for(address.url)
        needs_tls = address.url.startswith("https:")
        self._transport = httpx.AsyncHTTPTransport(
            verify=tls_context() if needs_tls else False,
            http2=needs_tls,  # negotiated in the TLS handshake
            limits=httpx.Limits(
                max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=30.0
            ),
            trust_env=False,  # the variables are read by `proxy_for` and `tls_context`, whose errors name them
            proxy=proxy.server if proxy else None,
            uds=address.socket,
        )
        self._timeout = {
            "connect": timeouts.connect,
            "read": timeouts.read,
            "write": timeouts.write,
            "pool": timeouts.pool,
        }

    async def send(
        self,
        method: str,
        url: httpx.URL | str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        trace: Callable[[str, dict[str, Any]], Awaitable[None]] | None = None,
    ) -> httpx.Response:
        """Send a request, and return the response before its body is read; the caller closes it.

        Args:
            method: the HTTP method.
            url: the URL.
            headers: the headers, besides `User-Agent`, `Host` and `Content-Length`.
            content: the body.
            trace: called with the events of the connection.

        Raises:
            httpx.HTTPError: there is no response.
            httpx.InvalidURL: the URL is invalid.
        """
        extensions: dict[str, Any] = {"timeout": self._timeout}
        if trace:
            extensions["trace"] = trace
        request = httpx.Request(method, url, headers={**_AGENT, **headers}, content=content, extensions=extensions)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


class Client:
    """A client for a service and a token; it belongs to a single event loop.

    Args:
        base_url: the URL of the service.
        token: the token; None to send none.
        auth: adds the token to requests instead, if it may have to be renewed.
        timeout: the time-outs and retry pauses.
        insecure: allow sending the token over plain HTTP to another machine.
        max_size: the size limit of a response body in bytes.
        connections: the size of the connection pool.
        on_exchange: called with a record of each request.

    Raises:
        ConfigurationError: the URL or the token is invalid.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        *,
        auth: Bearer | None = None,
        timeout: Timeouts | None = None,
        insecure: bool = False,
        max_size: int = MAX_SIZE,
        connections: int = 12,
        on_exchange: Callable[[RequestRecord], None] | None = None,
    ) -> None:
        self._address = read_address(base_url, insecure=insecure)
        self._timeouts = timeout or Timeouts()
        self._max_size = max_size
        self._on_exchange = on_exchange
        self._budget = Budget(self._timeouts.longest_pause)
        self._auth = auth or Bearer(token)
        self._pool = ConnectionPool(self._address, self._timeouts, connections)
        self._routes = RouteCheck()
        self._known = KnownResponses()
        self._downloads = Downloads(self._address, self._timeouts, connections, self._report)
        self.clock_skew: float | None = None
        """Seconds that the service's clock was ahead of the local clock in the last response; None if unknown."""

    def __repr__(self) -> str:
        return f"Client({self._address.host!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Wait until renewed tokens are stored, then close all connections."""
        await self._auth.finish()
        await self._downloads.aclose()
        await self._pool.aclose()

    async def send(self, call: Operation[Answer]) -> Answer:
        """Send a call and parse its response.

        Raises:
            RequestError: the request failed; see `presscheck.errors` for its kinds.
        """
        reply = await self._send_with_retries(call, RequestContext())
        return read_answer(call, reply.body, reply.request_id)

    async def fetch(self, call: Operation[Any], context: RequestContext | None = None) -> bytes:
        """Send a call. Return the unparsed response body after checking status and content type.

        Args:
            call: the call.
            context: the priority; `REQUESTED` by default.

        Raises:
            RequestError: the request failed; see `presscheck.errors` for its kinds.
        """
        return (await self._send_with_retries(call, context or RequestContext())).body

    async def download(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file at a URL from the response to a call; the token is not sent.

        Args:
            call: the call.
            url: the URL.
            limit: the maximum size in bytes; by default `MAX_FILE_SIZE`.

        Raises:
            RequestError: the file cannot be downloaded.
        """
        return await self._downloads.content(call, url, limit)

    async def visit(self, call: Operation[Any], url: str) -> int:
        """Return the HTTP status of a published page for a visitor; the token is not sent.

        Raises:
            RequestError: the page cannot be reached.
        """
        return await self._downloads.status(call, url)

    async def read_page(self, call: Operation[Any], url: str) -> Reply:
        """Return a page or a file of a published site as a visitor gets it; the token is not sent.

        Redirects are not followed. A 404 is returned, too.

        Args:
            call: the call that error messages name.
            url: the URL.

        Raises:
            RequestError: the page cannot be read.
        """
        return await self._downloads.page(call, url)

    async def every(self, listing: Operation[Page[Item]]) -> AsyncIterator[Item]:
        """Yield all items of a listing, page by page; stop if the service repeats a cursor."""
        seen: set[str] = set()
        while True:
            page = await self.send(listing)
            for item in page.items:
                yield item
            if page.next is None or page.next.page in seen or "page" not in type(listing).model_fields:
                return
            seen.add(page.next.page)
            listing = listing.model_copy(update={"page": page.next.page})

    async def _send_with_retries(self, call: Operation[Any], context: RequestContext) -> Reply:
        """Return the successful response of a call, after retries if necessary."""
        try:
            return await with_retries(call, lambda: self._send_following_redirects(call, context), self._timeouts)
        except NotSupported as caught:
            error = not_supported(call, caught) if call.feature else caught
        except NotFound as caught:
            look = partial(self._look, call, context)
            error = not_supported(call, caught) if await self._routes.is_missing(call, caught, look) else caught
        raise error

    async def _send_following_redirects(self, call: Operation[Any], context: RequestContext) -> Reply:
        """Return the successful response of a single attempt; reads follow redirects within the service's origin."""
        url = httpx.URL(self._address.url + call.wire_path(), params=call.wire_query())
        for _ in range(MAX_REDIRECTS):
            reply = await self._exchange(call, url, context)
            if not reply.headers.get("location") or not 300 <= reply.status < 400:
                return check_response(call, reply)
            url = _redirected(call, url, reply)
        raise MalformedAnswer("The service redirects in a loop", request=str(call))

    async def _look(self, call: Operation[Any], context: RequestContext, path: str) -> Seen:
        """Send a GET request to find out whether a path exists."""
        url = httpx.URL(self._address.url + path)
        try:
            reply = await self._exchange(call, url, context, is_probe=True)
        except RequestError:
            return Seen(0)
        return Seen(reply.status, service_message(reply.body))

    async def _exchange(
        self, call: Operation[Any], url: httpx.URL, context: RequestContext, *, is_probe: bool = False
    ) -> Reply:
        """Send a request, and repeat a read once if it used an idle connection that the server had closed.

        With `is_probe`, send a GET to the URL instead, to find out whether the URL exists.
        """
        is_read, method = is_probe or call.is_read(), "GET" if is_probe else call.method()
        known_as = str(url) if method == "GET" else ""
        known = self._known.get(known_as) if known_as else None
        failure, progress = None, Progress()
        for _ in range(2):
            failure, progress, started, size = None, Progress(), time.perf_counter(), 0
            try:
                content = None if is_probe else _content(call)
                reply = await self._attempt(method, url, content, progress, context, known.etag if known else None)
                size = len(reply.body)
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError, BodyError, BudgetExhausted) as caught:
                failure = caught
            except Exception as caught:
                if not type(caught).__module__.startswith("socksio."):
                    raise
                # httpx does not convert this error, and its library is optional
                failure = httpx.ProxyError("the proxy does not speak SOCKS 5")
            else:
                return self._known.resolve(known_as, reply, known) if known_as else reply
            finally:
                self._log(call, method, url, context, progress.status, started, size)
            if not (is_read and progress.was_stale and is_reset(failure)):
                break
        # raised outside the except block: frames and context of the transport contain the token
        raise to_typed_error(call, failure or TimeoutError(), progress, host_and_proxy(self._address))

    async def _attempt(
        self,
        method: str,
        url: httpx.URL,
        content: bytes | None,
        progress: Progress,
        context: RequestContext,
        etag: str | None,
    ) -> Reply:
        headers = {"accept": "application/json", "accept-encoding": "gzip"}
        if content:
            headers["content-type"] = "application/json"
        if etag:
            headers["if-none-match"] = etag
        await self._budget.wait_for_turn(context)
        async with asyncio.timeout(self._timeouts.whole):
            response = await self._send(method, url, headers, content, progress)
            try:
                progress.status = response.status_code
                received = dict(response.headers.items())  # the headers of httpx are encoded again for each look
                self._update_from_response(response.status_code, received)
                return Reply(response.status_code, received, await self._body(response, received))
            finally:
                await response.aclose()

    async def _send(
        self, method: str, url: httpx.URL, headers: dict[str, str], content: bytes | None, progress: Progress
    ) -> httpx.Response:
        """Send a request with the token. If the service refuses the token, send it again with a renewed one."""
        token = await self._auth.header()
        response = await self._pool.send(
            method, url, {**headers, "authorization": token} if token else headers, content, progress
        )
        if response.status_code != 401:
            return response
        try:
            token = await self._auth.renewed_header(token)
        except BaseException:
            await response.aclose()
            raise
        if not token:
            return response
        # a refused request had no effect, so that a write can be repeated, too
        await response.aclose()
        return await self._pool.send(method, url, {**headers, "authorization": token}, content, progress)

    async def _body(self, response: httpx.Response, headers: Mapping[str, str]) -> bytes:
        if response.status_code in EMPTY:
            return headers.get(DETAILS_HEADER, "").encode()
        if response.status_code < 300:
            body = await read_body(response.aiter_raw(), headers, self._max_size)
            check_values(body)
            return body
        try:
            return await read_body(response.aiter_raw(), headers, MAX_ERROR_SIZE)
        except (httpx.HTTPError, BodyError):
            return b""  # the status is sufficient

    def _update_from_response(self, status: int, headers: Mapping[str, str]) -> None:
        self._budget.update_from(status, headers)
        service_clock = service_time(headers)
        self.clock_skew = None if service_clock is None else service_clock - time.time()

    def _log(
        self,
        call: Operation[Any],
        method: str,
        url: httpx.URL,
        context: RequestContext,
        status: int | None,
        started: float,
        size: int,
    ) -> None:
        duration = (time.perf_counter() - started) * 1000
        self._report(RequestRecord(method, url.path, status, duration, size, call, context.priority, context.agent))

    def _report(self, record: RequestRecord) -> None:
        if self._on_exchange:
            self._on_exchange(record)


def _content(call: Operation[Any]) -> bytes | None:
    body = call.wire_body()
    return None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _redirected(call: Operation[Any], url: httpx.URL, reply: Reply) -> httpx.URL:
    """Return the target of a redirect.

    Raises:
        MalformedAnswer: the target is invalid or has another origin, or the call is a write.
        Ambiguous: the target is invalid, and the call is a write.
    """
    try:
        target = url.join(reply.headers["location"])
    except httpx.InvalidURL:
        raise unusable(call, "it redirects without a target", reply.request_id) from None
    if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
        raise MalformedAnswer(
            f"The service redirects to {target.host or 'another place'}, where your token is not sent",
            request=str(call),
            request_id=reply.request_id,
        )
    if not call.is_read():
        raise MalformedAnswer("The service redirected a write; writes are not redirected", request=str(call))
    return target


class Downloads:
    """A downloader of files and published pages, whose connections stay open for the next download.

    Args:
        address: the address of the service; files of a service on a Unix socket are downloaded through the socket.
        timeouts: the time-outs and retry pauses.
        connections: the size of each connection pool.
        on_exchange: called with a record of each request.
    """

    def __init__(
        self, address: Address, timeouts: Timeouts, connections: int, on_exchange: Callable[[RequestRecord], None]
    ) -> None:
        self._address, self._timeouts, self._connections = address, timeouts, connections
        self._on_exchange = on_exchange
        self._pools: dict[tuple[str | None, str, str], ConnectionPool] = {}

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            await pool.aclose()
        self._pools.clear()

    async def content(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file.

        Args:
            call: the call whose response has the URL, for error messages.
            url: the URL of the file.
            limit: the maximum size in bytes; `MAX_FILE_SIZE` by default.

        Raises:
            RequestError: the file cannot be downloaded.
        """
        max_size = MAX_FILE_SIZE if limit is None else min(limit, MAX_FILE_SIZE)
        return await with_retries(call, lambda: self._content(call, url, max_size), self._timeouts)

    async def _content(self, call: Operation[Any], url: str, max_size: int) -> bytes:
        for _ in range(MAX_REDIRECTS):
            reply = await self._exchange(call, url, max_size)
            location = reply.headers.get("location")
            if reply.status not in REDIRECTS or not location:
                if reply.status != 200:
                    check_response(call, reply)
                    raise MalformedAnswer(f"The file cannot be downloaded ({reply.status})", request=str(call))
                return reply.body
            target = str(httpx.URL(url).join(location))
            if url.startswith("https:") and not target.startswith("https:"):
                break  # over plain HTTP, others could read or replace the file
            url = target
        raise MalformedAnswer("The address of the file redirects in a loop, or to an unsafe place", request=str(call))

    async def status(self, call: Operation[Any], url: str) -> int:
        """Return the HTTP status of an address after redirects; the body is read and discarded.

        Args:
            call: the call whose response has the URL, for error messages.
            url: the address.

        Raises:
            RequestError: the address cannot be reached, or redirects in a loop.
        """
        return await with_retries(call, lambda: self._status(call, url), self._timeouts)

    async def _status(self, call: Operation[Any], url: str) -> int:
        for _ in range(MAX_REDIRECTS):
            reply = await self._exchange(call, url, MAX_PAGE_SIZE, seconds=min(VISIT_SECONDS, self._timeouts.whole))
            location = reply.headers.get("location")
            if reply.status not in REDIRECTS or not location:
                return reply.status
            url = str(httpx.URL(url).join(location))
        raise MalformedAnswer("The address redirects in a loop", request=str(call))

    async def page(self, call: Operation[Any], url: str) -> Reply:
        """Return the response to a request for a published page or file; redirects are not followed.

        Args:
            call: the call that error messages name.
            url: the URL.

        Raises:
            RequestError: the service is overloaded or failed, or the address cannot be reached.
        """
        return await with_retries(call, lambda: self._page(call, url), self._timeouts)

    async def _page(self, call: Operation[Any], url: str) -> Reply:
        reply = await self._exchange(call, url, max_error_size=MAX_PAGE_SIZE)  # a 404 page may be as large as others
        if reply.status == TOO_MANY or reply.status >= FAILED:
            check_response(call, reply)
        return reply

    async def _exchange(
        self,
        call: Operation[Any],
        url: str,
        max_size: int = MAX_FILE_SIZE,
        *,
        max_error_size: int = MAX_ERROR_SIZE,
        seconds: float | None = None,
    ) -> Reply:
        if not url.startswith(("http://", "https://")) or not is_safe_url(url):
            raise MalformedAnswer("The service gave no web address for this file", request=str(call))
        where = httpx.URL(url)
        address = self._address_of(where)
        started, status, size, failure = time.perf_counter(), None, 0, None
        try:
            async with asyncio.timeout(seconds or self._timeouts.whole):
                headers = {"accept": "*/*", "accept-encoding": "identity"}
                async with aclosing(await self._pool(address).send("GET", where, headers)) as response:
                    status = response.status_code
                    limit = max_size if status == 200 else max_error_size
                    body = await read_body(response.aiter_raw(), response.headers, limit)
                    size = len(body)
                    return Reply(status, response.headers, body)
        except Exception as caught:
            failure = caught
        finally:
            milliseconds = (time.perf_counter() - started) * 1000
            self._on_exchange(RequestRecord("GET", where.path, status, milliseconds, size, call))
        raise to_typed_error(call, failure, Progress(), host_and_proxy(address))

    def _pool(self, address: Address) -> ConnectionPool:
        """Return the connections for an address: a pool connects to all hosts with the same proxy."""
        proxy = None if address.is_local else proxy_for(address.url)
        key = address.socket, address.url.partition(":")[0], proxy.origin if proxy else ""
        if key not in self._pools:
            self._pools[key] = ConnectionPool(address, self._timeouts, self._connections)
        return self._pools[key]

    def _address_of(self, url: httpx.URL) -> Address:
        own = httpx.URL(self._address.url)
        if (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port):
            return self._address
        return Address(url=str(url), host=url.host)


class BodyError(Exception):
    """A response body cannot be read; the message has the reason."""


class TooLarge(BodyError):
    """A response body is too large, or has too many values."""


async def read_body(chunks: AsyncIterator[bytes], headers: Mapping[str, str], max_size: int) -> bytes:
    """Return the complete, decompressed body.

    Args:
        chunks: the body as received.
        headers: the response headers.
        max_size: the size limit in bytes, after decompression.

    Raises:
        TooLarge: the body exceeds the limit.
        BodyError: the compression is unknown or invalid.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared[:20]) > max_size:
        raise TooLarge(f"it is larger than {_size(max_size)}")
    decoder = _decoder(headers.get("content-encoding", "").strip().lower())
    body = bytearray()
    async for chunk in chunks:
        body += decoder.decode(chunk, max_size - len(body))
        if len(body) > max_size:
            raise TooLarge(f"it is larger than {_size(max_size)}")
    decoder.end()
    return bytes(body)


def check_values(body: bytes) -> None:
    """Check the number of values in a JSON body before it is parsed.

    Raises:
        TooLarge: the body exceeds a limit.
    """
    if body.count(b"{") + body.count(b"[") <= MAX_OBJECTS and body.count(b",") < MAX_VALUES:
        return
    counts = dict.fromkeys(b'"{[,', 0)  # brackets and commas in texts do not count
    for token in _json_token.finditer(body):
        counts[body[token.start()]] += 1
        if counts[ord("{")] + counts[ord("[")] > MAX_OBJECTS or counts[ord(",")] >= MAX_VALUES:
            raise TooLarge(f"it has more than {MAX_OBJECTS:,} objects or {MAX_VALUES:,} values")


class _Plain:
    def decode(self, chunk: bytes, room: int) -> bytes:
        return chunk[: room + 1]

    def end(self) -> None:
        pass


class _Compressed(_Plain):
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)  # detects gzip and zlib by their header
        self._is_started = False

    @override
    def decode(self, chunk: bytes, room: int) -> bytes:
        if self._zlib.eof:
            raise BodyError("there is data after its end")
        self._is_started = True
        try:
            return self._zlib.decompress(chunk, room + 1)
        except zlib.error:
            raise BodyError("its compression is invalid") from None

    @override
    def end(self) -> None:
        if self._is_started and not self._zlib.eof:
            raise BodyError("its compressed data is incomplete")


def _decoder(encoding: str) -> _Plain:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Compressed()
    raise BodyError("its compression is not supported")


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"


@dataclass
class Progress:
    """The progress of a request, from the trace events of the transport."""

    connected: bool = False
    """Whether a new connection was opened for the request."""
    sent: bool = False
    """Whether a part of the request was sent."""
    status: int | None = None

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        """Handle a trace event of the transport."""
        if event.endswith("send_request_headers.started"):
            self.sent = True
        elif event.startswith("connection.connect"):
            self.connected = True

    @property
    def was_stale(self) -> bool:
        """Whether the request got no response on an idle connection, which the server had probably closed."""
        return self.sent and not self.connected and self.status is None


def to_typed_error(call: Operation[Any], failure: Exception, progress: Progress, host: str) -> RequestError:
    """Return the typed error for a transport failure, without a reference to the failure: it may contain the token."""
    if isinstance(failure, BodyError):
        return unusable(call, str(failure))
    if isinstance(failure, BudgetExhausted):
        return rate_limited(call, failure.seconds)
    message = failure_message(failure, host)
    if progress.sent and not call.is_read():
        return Ambiguous(
            f"{message}. It is not known whether the change was saved: check before you send it again",
            request=str(call),
        )
    broke_off = is_reset(failure)
    if isinstance(failure, httpx.RemoteProtocolError) and not _has_no_response(failure):
        return MalformedAnswer(message, request=str(call), broke_off=broke_off)
    return NetworkError(message, request=str(call), broke_off=broke_off)


def is_reset(failure: Exception) -> bool:
    """Return whether the connection was closed before the response was complete."""
    return isinstance(failure, httpx.ReadError | httpx.WriteError | httpx.RemoteProtocolError)


def _has_no_response(failure: Exception) -> bool:
    """Return whether the server closed the connection before it sent a byte, by the message of the error from httpx."""
    return "without sending a response" in str(failure)


def failure_message(failure: Exception, host: str) -> str:
    """Return a sentence that tells the user why there was no response."""
    match failure:
        case httpx.ConnectTimeout():
            return f"Could not connect to {host}: timed out"
        case httpx.PoolTimeout():
            return f"{host} is slow: too many requests are waiting for it"
        case httpx.TimeoutException() | TimeoutError():
            return f"{host} took too long to respond"
        case httpx.ConnectError() | httpx.ProxyError():
            return f"Could not connect to {host}: {_reason(failure)}"
        case httpx.RemoteProtocolError() if not _has_no_response(failure):
            return f"{host} closed the connection or does not speak HTTP"
        case _:
            return f"The connection to {host} was lost"


def _reason(failure: BaseException) -> str:
    seen: BaseException | None = failure
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            hint = "; check the clock of this machine" if seen.verify_code == CERTIFICATE_NOT_YET_VALID else ""
            return f"its certificate is not trusted ({seen.verify_message}{hint})"
        if isinstance(seen, ssl.SSLError):
            return "the secure connection failed"
        if isinstance(seen, OSError) and seen.strerror and seen.errno:
            return _os_error_text(seen)
        seen = seen.__cause__ or seen.__context__
    return "no connection"


def _os_error_text(error: OSError) -> str:
    match error:
        case gaierror():
            return "unknown host name"
        case ConnectionRefusedError():
            return "connection refused"
        case FileNotFoundError():
            return "socket not found"
        case _:
            return (error.strerror or "no connection").lower()


async def with_retries(call: Operation[Any], attempt: Callable[[], Awaitable[T]], timeouts: Timeouts) -> T:
    """Run a request until it succeeds or should not be repeated.

    Args:
        call: the call.
        attempt: sends the call once.
        timeouts: the first pause and the longest pause between two attempts. Pauses double, and are randomized.

    Raises:
        RequestError: the error of the last attempt.
    """
    longest = timeouts.longest_pause

    def should_retry(error: BaseException) -> bool:
        wait = getattr(error, "retry_after", None) or 0
        return isinstance(error, RequestError) and wait <= longest and _is_repeatable(call, error)

    try:
        return await attempt()
    except RequestError as error:
        if not should_retry(error):
            raise
        first = [error]

    async def next_attempt() -> T:
        if first:  # the failure counts as the first attempt
            raise first.pop()
        return await attempt()

    # 6 ms, only after a failure
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

    exponential = wait_exponential_jitter(multiplier=timeouts.pause, jitter=timeouts.pause, max=longest)
    retrying = AsyncRetrying(
        retry=retry_if_exception(should_retry),
        stop=stop_after_attempt(ATTEMPTS),
        wait=lambda state: max(exponential(state), _retry_after(state)),
        reraise=True,
    )
    return await retrying(next_attempt)


def _is_repeatable(call: Operation[Any], error: RequestError) -> bool:
    match error:
        case TooManyRequests():
            return True
        case ServiceFailed():
            return call.is_read() and error.status in TRANSIENT
        case Ambiguous():
            return False
        case NetworkError() | MalformedAnswer():
            return call.is_read() and error.broke_off
        case _:
            return False


def _retry_after(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return getattr(error, "retry_after", None) or 0.0
