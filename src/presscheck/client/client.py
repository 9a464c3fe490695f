"""How calls are said: one pool of connections to one service, one way in for every call, typed errors out.

The token goes to the service's own origin and nowhere else, and stands in no text that this room makes.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Self, TypeVar

import httpx

from presscheck.api.operation import Operation, Page
from presscheck.client.base_url import read_address
from presscheck.client.body_reader import BodyError, read_body
from presscheck.client.rate_budget import Budget, BudgetExhausted, service_time
from presscheck.client.request_context import RequestContext, RequestRecord
from presscheck.client.responses import EMPTY, Reply, checked, not_supported, read_answer
from presscheck.client.retry import repeated
from presscheck.client.transport import Bearer, Timeouts, connect
from presscheck.client.transport_errors import Progress, is_reset, to_typed_error
from presscheck.client.unsupported_calls import owner_and_listing
from presscheck.errors import MalformedAnswer, NotFound, RequestError

__all__ = ["Client", "Timeouts"]

Answer = TypeVar("Answer")
Item = TypeVar("Item")

LARGEST = 64 << 20
LARGEST_ERROR = 64 << 10
REDIRECTS = 5


class Client:
    """The service, as one person; belongs to one event loop.

    Raises:
        ConfigurationError: the address or the token cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        token: str | None,
        *,
        timeout: Timeouts | None = None,
        insecure: bool = False,
        largest: int = LARGEST,
        connections: int = 12,
        on_exchange: Callable[[RequestRecord], None] | None = None,
    ) -> None:
        self._address = read_address(base_url, insecure=insecure)
        self._timeouts = timeout or Timeouts()
        self._largest = largest
        self._on_exchange = on_exchange
        self._budget = Budget(self._timeouts.longest_pause)
        self._http = connect(self._address, Bearer(token), self._timeouts, connections)
        self.clock_skew: float | None = None
        """Seconds that the service's clock is ahead of ours, as its last answer told."""

    def __repr__(self) -> str:
        return f"Client({self._address.host!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def send(self, call: Operation[Answer]) -> Answer:
        """Say a call and read its answer.

        Raises:
            RequestError: one of its kinds; see `presscheck.errors`.
        """
        reply = await self._good(call, RequestContext())
        return read_answer(call, reply.body, reply.request_id)

    async def fetch(self, call: Operation[Any], errand: RequestContext | None = None) -> bytes:
        """Say a call; the body of its answer as it came, of the right status and type, but not read yet.

        Args:
            call: what is said.
            errand: how urgent it is; as what somebody asked for when not given.

        Raises:
            RequestError: one of its kinds; see `presscheck.errors`.
        """
        return (await self._good(call, errand or RequestContext())).body

    async def every(self, listing: Operation[Page[Item]]) -> AsyncIterator[Item]:
        """Every item of a listing, page after page; a cursor that comes back a second time ends it."""
        seen: set[str] = set()
        while True:
            page = await self.send(listing)
            for item in page.items:
                yield item
            if page.next is None or page.next.page in seen or "page" not in type(listing).model_fields:
                return
            seen.add(page.next.page)
            listing = listing.model_copy(update={"page": page.next.page})

    async def _good(self, call: Operation[Any], errand: RequestContext) -> Reply:
        """A good answer, after as many attempts as are right."""
        pause, longest = self._timeouts.pause, self._timeouts.longest_pause
        try:
            return await repeated(call, lambda: self._followed(call, errand), pause=pause, longest=longest)
        except NotFound as caught:
            error = not_supported(call, caught) if await self._is_unknown(call, errand) else caught
        raise error

    async def _followed(self, call: Operation[Any], errand: RequestContext) -> Reply:
        """A good answer; a read follows redirects, within the service's own origin."""
        url = httpx.URL(self._address.url + call.wire_path(), params=call.wire_query())
        for _ in range(REDIRECTS):
            reply = await self._exchange(call, url, errand)
            if not reply.headers.get("location") or not 300 <= reply.status < 400:
                return checked(call, reply)
            url = _redirected(call, url, reply)
        raise MalformedAnswer("The service redirects in a loop", request=str(call))

    async def _is_unknown(self, call: Operation[Any], errand: RequestContext) -> bool:
        """Whether a call came to nothing because this release of the service does not have it."""
        found = owner_and_listing(call)
        if found is None or not await self._is_there(call, found[0], errand):
            return False
        return found[1] is None or not await self._is_there(call, found[1], errand)

    async def _is_there(self, call: Operation[Any], path: str, errand: RequestContext) -> bool:
        try:
            return (await self._exchange(call, httpx.URL(self._address.url + path), errand, looks=True)).status < 400
        except RequestError:
            return False

    async def _exchange(
        self, call: Operation[Any], url: httpx.URL, errand: RequestContext, *, looks: bool = False
    ) -> Reply:
        """One request, and one more where a read met a connection that had been closed while it was idle.

        With `looks` it is no more than a look at an address, for the sake of the call.
        """
        is_read, method = looks or call.is_read(), "GET" if looks else call.method()
        failure, progress = None, Progress()
        for _ in range(2):
            failure, progress, began, size = None, Progress(), time.perf_counter(), 0
            try:
                reply = await self._attempt(method, url, None if looks else _content(call), progress, errand)
                size = len(reply.body)
            except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError, BodyError, BudgetExhausted) as caught:
                failure = caught
            else:
                return reply
            finally:
                self._log(call, method, url, errand, progress.status, began, size)
            if not (is_read and progress.was_stale and is_reset(failure)):
                break
        # raised here so that no frame and no context of the transport, which knows the token, hangs on the error
        raise to_typed_error(call, failure or TimeoutError(), progress, self._address.host)

    async def _attempt(
        self, method: str, url: httpx.URL, content: bytes | None, progress: Progress, errand: RequestContext
    ) -> Reply:
        request = self._http.build_request(method, url, content=content, extensions={"trace": progress})
        if request.content:
            request.headers["content-type"] = "application/json"
        await self._budget.turn(errand)
        async with asyncio.timeout(self._timeouts.whole):
            response = await self._http.send(request, stream=True)
            try:
                progress.status = response.status_code
                self._take_note(response)
                return Reply(response.status_code, response.headers, await self._body(response))
            finally:
                await response.aclose()

    async def _body(self, response: httpx.Response) -> bytes:
        if response.status_code in EMPTY:
            return b""
        if response.status_code < 300:
            return await read_body(response.aiter_raw(), response.headers, self._largest)
        try:
            return await read_body(response.aiter_raw(), response.headers, LARGEST_ERROR)
        except (httpx.HTTPError, BodyError):
            return b""  # the status says enough

    def _take_note(self, response: httpx.Response) -> None:
        self._budget.update_from(response.status_code, response.headers)
        theirs = service_time(response.headers)
        self.clock_skew = None if theirs is None else theirs - time.time()

    def _log(
        self,
        call: Operation[Any],
        method: str,
        url: httpx.URL,
        errand: RequestContext,
        status: int | None,
        began: float,
        size: int,
    ) -> None:
        if self._on_exchange:
            spent = (time.perf_counter() - began) * 1000
            self._on_exchange(RequestRecord(method, url.path, status, spent, size, call, errand.priority))


def _content(call: Operation[Any]) -> bytes | None:
    body = call.wire_body()
    return None if body is None else json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _redirected(call: Operation[Any], url: httpx.URL, reply: Reply) -> httpx.URL:
    """Where a read goes on.

    Raises:
        MalformedAnswer: somewhere else, or the call is a write.
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
