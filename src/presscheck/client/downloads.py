"""Downloads of files from URLs in responses of the service; these URLs need no token, so the token is not sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from presscheck.api.operation import Operation
from presscheck.client.base_url import Address
from presscheck.client.environment import host_and_proxy
from presscheck.client.http_library import httpx
from presscheck.client.responses import Reply, check_response
from presscheck.errors import MalformedAnswer, RequestError
from presscheck.text.sanitize import is_safe_url

MAX_SIZE = 128 << 20
"""The maximum size of a file in bytes, after decompression."""
MAX_PAGE_SIZE = 16 << 20
"""The maximum size of a published page in bytes."""
MAX_ERROR_SIZE = 64 << 10
MAX_REDIRECTS = 5
REDIRECTS = frozenset((301, 302, 303, 307, 308))
TOO_MANY, FAILED = 429, 500
"""The status for too many requests, and the lowest status of server errors."""


@dataclass(frozen=True)
class Downloads:
    """A downloader of files and published pages.

    Attributes:
        address: the address of the service; files of a service on a Unix socket are downloaded through the socket.
        seconds: the time-out of each request.
        connect: creates a connection pool without a token for an address.
        read_body: returns a decompressed body of a limited size.
        to_error: returns the typed error for a failure of the transport.
        on_exchange: called with path, status, milliseconds and size of each request.
    """

    address: Address
    seconds: float
    connect: Callable[[Address], httpx.AsyncClient]
    read_body: Callable[[AsyncIterator[bytes], httpx.Headers, int], Any]
    to_error: Callable[[Operation[Any], Exception, str], RequestError]
    on_exchange: Callable[[str, int | None, float, int], None]

    async def content(self, call: Operation[Any], url: str, limit: int | None = None) -> bytes:
        """Return the bytes of a file.

        Args:
            call: the call whose response has the URL, for error messages.
            url: the URL of the file.
            limit: the maximum size in bytes; `MAX_SIZE` by default.

        Raises:
            RequestError: the file cannot be downloaded.
        """
        for _ in range(MAX_REDIRECTS):
            reply = await self._exchange(call, url, MAX_SIZE if limit is None else min(limit, MAX_SIZE))
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
        for _ in range(MAX_REDIRECTS):
            reply = await self._exchange(call, url, MAX_PAGE_SIZE)
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
        reply = await self._exchange(call, url, max_error_size=MAX_PAGE_SIZE)  # a 404 page may be as large as others
        if reply.status == TOO_MANY or reply.status >= FAILED:
            check_response(call, reply)
        return reply

    async def _exchange(
        self, call: Operation[Any], url: str, max_size: int = MAX_SIZE, *, max_error_size: int = MAX_ERROR_SIZE
    ) -> Reply:
        if not url.startswith(("http://", "https://")) or not is_safe_url(url):
            raise MalformedAnswer("The service gave no web address for this file", request=str(call))
        where = httpx.URL(url)
        started, status, size, failure = time.perf_counter(), None, 0, None
        try:
            async with asyncio.timeout(self.seconds), self.connect(self._address(where)) as http:
                headers = {"accept": "*/*", "accept-encoding": "identity"}
                async with http.stream("GET", where, headers=headers) as response:
                    status = response.status_code
                    limit = max_size if status == 200 else max_error_size
                    body = await self.read_body(response.aiter_raw(), response.headers, limit)
                    size = len(body)
                    return Reply(status, response.headers, body)
        except Exception as caught:
            failure = caught
        finally:
            self.on_exchange(where.path, status, (time.perf_counter() - started) * 1000, size)
        raise self.to_error(call, failure, host_and_proxy(self._address(where)))

    def _address(self, url: httpx.URL) -> Address:
        own = httpx.URL(self.address.url)
        if (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port):
            return self.address
        return Address(url=str(url), host=url.host)
