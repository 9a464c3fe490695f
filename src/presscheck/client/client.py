"""The HTTP client: sends calls to one service over a connection pool, and raises typed errors.

The token is only sent to the origin of the service, and never appears in messages or logs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, Self, TypeVar

import httpx

from presscheck.api.operation import Operation, Page
from presscheck.client.base_url import read_address
from presscheck.client.body_reader import BodyError, read_body
from presscheck.client.rate_budget import Budget, BudgetExhausted, service_time
from presscheck.client.request_context import RequestContext, RequestRecord
from presscheck.client.responses import EMPTY, Reply, check_response, not_supported, read_answer, service_message
from presscheck.client.retry import with_retries
from presscheck.client.transport import Bearer, Timeouts, connect
from presscheck.client.transport_errors import Progress, is_reset, to_typed_error
from presscheck.client.unsupported_calls import RouteCheck, Seen
from presscheck.errors import MalformedAnswer, NotFound, NotSupported, RequestError

__all__ = ["Client", "Timeouts"]

Answer = TypeVar("Answer")
Item = TypeVar("Item")

MAX_SIZE = 64 << 20
MAX_ERROR_SIZE = 64 << 10
MAX_REDIRECTS = 5


class Client:
    """A client for one service and one token; belongs to one event loop.

    Args:
        base_url: the URL of the service.
        token: the token; None to send none.
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
        self._http = connect(self._address, Bearer(token), self._timeouts, connections)
        self._routes = RouteCheck()
        self.clock_skew: float | None = None
        """Seconds that the service's clock was ahead of ours in the last response; None if unknown."""

    def __repr__(self) -> str:
        return f"Client({self._address.host!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def send(self, call: Operation[Answer]) -> Answer:
        """Send a call and parse its response.

        Raises:
            RequestError: the request failed; see `presscheck.errors` for its kinds.
        """
        reply = await self._send_with_retries(call, RequestContext())
        return read_answer(call, reply.body, reply.request_id)

    async def fetch(self, call: Operation[Any], context: RequestContext | None = None) -> bytes:
        """Send a call; returns the response body, with its status and content type checked, but not parsed.

        Args:
            call: the call.
            context: its priority; `REQUESTED` by default.

        Raises:
            RequestError: the request failed; see `presscheck.errors` for its kinds.
        """
        return (await self._send_with_retries(call, context or RequestContext())).body

    async def every(self, listing: Operation[Page[Item]]) -> AsyncIterator[Item]:
        """Yield all items of a listing, page by page; ends if the service repeats a cursor."""
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
        """The successful response of a call, after retries if necessary."""
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
        """The successful response of one attempt; a read follows redirects within the service's origin."""
        url = httpx.URL(self._address.url + call.wire_path(), params=call.wire_query())
        for _ in range(MAX_REDIRECTS):
            reply = await self._exchange(call, url, context)
            if not reply.headers.get("location") or not 300 <= reply.status < 400:
                return check_response(call, reply)
            url = _redirected(call, url, reply)
        raise MalformedAnswer("The service redirects in a loop", request=str(call))

    async def _look(self, call: Operation[Any], context: RequestContext, path: str) -> Seen:
        """The response to a GET request, to find out whether something exists."""
        url = httpx.URL(self._address.url + path)
        try:
            reply = await self._exchange(call, url, context, is_probe=True)
        except RequestError:
            return Seen(0)
        return Seen(reply.status, service_message(reply.body))

    async def _exchange(
        self, call: Operation[Any], url: httpx.URL, context: RequestContext, *, is_probe: bool = False
    ) -> Reply:
        """Send one request, and once more if a read used an idle connection that the server had closed.

        With `is_probe`, send a GET to the URL instead, to find out whether it exists.
        """
        is_read, method = is_probe or call.is_read(), "GET" if is_probe else call.method()
        failure, progress = None, Progress()
        for _ in range(2):
            failure, progress, started, size = None, Progress(), time.perf_counter(), 0
            try:
                reply = await self._attempt(method, url, None if is_probe else _content(call), progress, context)
                size = len(reply.body)
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError, BodyError, BudgetExhausted) as caught:
                failure = caught
            else:
                return reply
            finally:
                self._log(call, method, url, context, progress.status, started, size)
            if not (is_read and progress.was_stale and is_reset(failure)):
                break
        # raised outside the except block: frames and context of the transport contain the token
        raise to_typed_error(call, failure or TimeoutError(), progress, self._address.host)

    async def _attempt(
        self, method: str, url: httpx.URL, content: bytes | None, progress: Progress, context: RequestContext
    ) -> Reply:
        request = self._http.build_request(method, url, content=content, extensions={"trace": progress})
        if request.content:
            request.headers["content-type"] = "application/json"
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
            return b""
        if response.status_code < 300:
            return await read_body(response.aiter_raw(), response.headers, self._max_size)
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
        if self._on_exchange:
            duration = (time.perf_counter() - started) * 1000
            self._on_exchange(RequestRecord(method, url.path, status, duration, size, call, context.priority))


def _content(call: Operation[Any]) -> bytes | None:
    body = call.wire_body()
    return None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _redirected(call: Operation[Any], url: httpx.URL, reply: Reply) -> httpx.URL:
    """The target of a redirect.

    Raises:
        MalformedAnswer: the target has another origin, or the call is a write.
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
