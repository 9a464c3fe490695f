"""The HTTP client: connection pool, requests, response bodies, typed errors for failed requests, retries.

The token is only sent to the origin of the service, and never appears in messages or logs.

Reads are safe to repeat. A write is only repeated after a 429 response, because the service did not process it. After a
lost connection, the caller can check whether the write arrived.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import sys
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from socket import gaierror
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from typing_extensions import override

from presscheck import __version__
from presscheck.api.operation import DETAILS_HEADER, Operation, Page
from presscheck.client.base_url import Address, read_address
from presscheck.client.downloads import Downloads
from presscheck.client.environment import host_and_proxy, proxy_for, tls_context
from presscheck.client.http_library import httpx
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

if TYPE_CHECKING:
    from httpx import Headers
    from tenacity import RetryCallState

__all__ = ["Client", "Timeouts"]
Answer = TypeVar("Answer")
Item = TypeVar("Item")
MAX_SIZE = 32 << 20
"""The maximum size of a response body in bytes, after decompression."""
MAX_OBJECTS = 150_000
"""The maximum number of objects and arrays in a response. An empty object can take three kilobytes of memory."""
MAX_VALUES = 3_000_000
"""The maximum number of values in a response."""
_json_token = re.compile(rb'[{\[,]|"[^"\\]*+(?:\\.?[^"\\]*+)*+"?', re.DOTALL)
"""A bracket, a comma or a string in JSON. Also matches an unterminated string, so that a search is linear."""
MAX_ERROR_SIZE = 64 << 10
MAX_REDIRECTS = 5
VISIT_SECONDS = 15.0
"""The time-out of a request for a published page."""
T = TypeVar("T")
ATTEMPTS = 3
CERTIFICATE_NOT_YET_VALID = 9
"""The error code of OpenSSL for a certificate that is not valid yet."""
TRANSIENT = frozenset((502, 503, 504))
"""Statuses of a service that is restarting or overloaded."""


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


class Bearer(httpx.Auth):
    """Authentication that adds the token to each request, and hides the token in `repr`.

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

    @override
    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._header:
            request.headers["authorization"] = self._header
        yield request

    async def finish(self) -> None:
        """Wait until renewed tokens are stored; a fixed token is never renewed."""


if find_spec("sniffio") is None:
    # otherwise httpcore searches the whole import path for sniffio five times in each request
    sys.modules["sniffio"] = cast("ModuleType", None)


class NoCookies(httpx.Cookies):
    """A cookie jar that stays empty: the token authenticates, and extracting cookies took 7% of each request."""

    @override
    def extract_cookies(self, response: httpx.Response) -> None:
        """Store no cookies."""


class CookielessClient(httpx.AsyncClient):
    """An HTTP client that neither stores nor sends cookies."""

    cookies = NoCookies()  # pyrefly: ignore[bad-override-mutable-attribute]  # a property in httpx


def connect(address: Address, bearer: Bearer, timeouts: Timeouts, connections: int) -> httpx.AsyncClient:
    """Create the connection pool, which connects with the first request."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=30.0)
    proxy = None if address.is_local else proxy_for(address.url)
    needs_tls = address.url.startswith("https:")
    transport = httpx.AsyncHTTPTransport(uds=address.socket, limits=limits, verify=False) if address.socket else None
    return CookielessClient(
        auth=bearer,
        headers={
            "accept": "application/json",
            "accept-encoding": "gzip",
            "user-agent": f"presscheck/{__version__}",
        },
        timeout=httpx.Timeout(connect=timeouts.connect, read=timeouts.read, write=timeouts.write, pool=timeouts.pool),
        transport=transport,
        limits=limits,
        http2=needs_tls,  # negotiated in the TLS handshake
        verify=tls_context() if needs_tls else False,
        proxy=proxy.server if proxy else None,
        trust_env=False,  # the variables are read by `proxy_for` and `tls_context`, whose errors name them
        follow_redirects=False,
    )


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
        self._http = connect(self._address, self._auth, self._timeouts, connections)
        self._routes = RouteCheck()
        self._known = KnownResponses()
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
        await self._http.aclose()

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
            limit: the maximum size in bytes; by default `downloads.MAX_SIZE`.

        Raises:
            RequestError: the file cannot be downloaded.
        """
        return await self._downloads(call, self._timeouts.whole).content(call, url, limit)

    async def visit(self, call: Operation[Any], url: str) -> int:
        """Return the HTTP status of a published page for a visitor; the token is not sent.

        Raises:
            RequestError: the page cannot be reached.
        """
        return await self._downloads(call, min(VISIT_SECONDS, self._timeouts.whole)).status(call, url)

    async def read_page(self, call: Operation[Any], url: str) -> Reply:
        """Return a page or a file of a published site as a visitor gets it; the token is not sent.

        Redirects are not followed. A 404 is returned, too.

        Args:
            call: the call that error messages name.
            url: the URL.

        Raises:
            RequestError: the page cannot be read.
        """
        downloads = self._downloads(call, self._timeouts.whole)
        pause, longest = self._timeouts.pause, self._timeouts.longest_pause
        return await with_retries(call, lambda: downloads.page(call, url), pause=pause, longest=longest)

    def _downloads(self, call: Operation[Any], seconds: float) -> Downloads:
        return Downloads(
            self._address,
            seconds,
            lambda address: connect(address, Bearer(None), self._timeouts, 1),
            read_body,
            _download_error,
            lambda path, status, milliseconds, size: self._report(
                RequestRecord("GET", path, status, milliseconds, size, call)
            ),
        )

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
        pause, longest = self._timeouts.pause, self._timeouts.longest_pause
        try:
            return await with_retries(
                call, lambda: self._send_following_redirects(call, context), pause=pause, longest=longest
            )
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
        known = self._known.get(str(url)) if method == "GET" else None
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
                return self._known.resolve(str(url), reply, known) if method == "GET" else reply
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
        request = self._http.build_request(method, url, content=content, extensions={"trace": progress})
        if request.content:
            request.headers["content-type"] = "application/json"
        if etag:
            request.headers["if-none-match"] = etag
        await self._budget.wait_for_turn(context)
        async with asyncio.timeout(self._timeouts.whole):
            response = await self._http.send(request, stream=True)
            try:
                progress.status = response.status_code
                self._update_from_response(response)
                return Reply(response.status_code, response.headers, await self._body(response))
            finally:
                await response.aclose()

    async def _body(self, response: httpx.Response) -> bytes:
        if response.status_code in EMPTY:
            return response.headers.get(DETAILS_HEADER, "").encode()
        if response.status_code < 300:
            body = await read_body(response.aiter_raw(), response.headers, self._max_size)
            check_values(body)
            return body
        try:
            return await read_body(response.aiter_raw(), response.headers, MAX_ERROR_SIZE)
        except (httpx.HTTPError, BodyError):
            return b""  # the status is sufficient

    def _update_from_response(self, response: httpx.Response) -> None:
        self._budget.update_from(response.status_code, response.headers)
        service_clock = service_time(response.headers)
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
    """
    try:
        target = url.join(reply.headers["location"])
    except httpx.InvalidURL:
        raise MalformedAnswer("The service sent a redirect without a target", request=str(call)) from None
    if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
        raise MalformedAnswer(
            f"The service redirects to {target.host or 'another place'}, where your token is not sent",
            request=str(call),
            request_id=reply.request_id,
        )
    if not call.is_read():
        raise MalformedAnswer("The service redirected a write; writes are not redirected", request=str(call))
    return target


class BodyError(Exception):
    """A response body cannot be read; the message has the reason."""


class TooLarge(BodyError):
    """The body exceeds a limit."""


async def read_body(chunks: AsyncIterator[bytes], headers: Headers, max_size: int) -> bytes:
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


def _download_error(call: Operation[Any], failure: Exception, host: str) -> RequestError:
    return to_typed_error(call, failure, Progress(), host)


def is_reset(failure: Exception) -> bool:
    """Return whether the connection was closed before the response was complete."""
    return isinstance(failure, httpx.ReadError | httpx.WriteError | httpx.RemoteProtocolError)


def _has_no_response(failure: Exception) -> bool:
    """Return whether the server closed the connection before the first byte. httpx has no separate error for this."""
    return "without sending a response" in str(failure)


def failure_message(failure: Exception, host: str) -> str:
    """Return why there was no response, for the user."""
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


async def with_retries(call: Operation[Any], attempt: Callable[[], Awaitable[T]], *, pause: float, longest: float) -> T:
    """Run a request until it succeeds or should not be repeated.

    Args:
        call: the call.
        attempt: sends the call once.
        pause: seconds before the second attempt; later pauses double, and all are randomized.
        longest: the maximum number of seconds to wait for the service (`Retry-After`).

    Raises:
        RequestError: the error of the last attempt.
    """

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

    exponential = wait_exponential_jitter(multiplier=pause, jitter=pause, max=longest)
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
