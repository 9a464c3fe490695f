"""Reads the body of a request of any client, within limits of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from presscheck.service.http.operations import ApiError

LONGEST_SENDING = 20.0
"""Timeout for the body of a request, in seconds."""


async def read_body(request: Request, largest: int, seconds: float | None = None) -> bytes:
    """Return the body of a request.

    Args:
        request: the request.
        largest: maximum size of the body, in bytes.
        seconds: timeout; by default `LONGEST_SENDING`.

    Raises:
        ApiError: 413, the body is too large; 408, it arrives too slowly; 400, the connection was closed.
    """
    body, seconds = bytearray(), seconds or LONGEST_SENDING
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                body += part
                if len(body) > largest:
                    raise ApiError(413, f"The request is too large: the limit is {largest} bytes.")
    except TimeoutError:
        raise ApiError(408, f"Request timeout: the body did not arrive within {seconds:.0f} seconds.") from None
    except ClientDisconnect:
        raise ApiError(400, "The connection was closed before the body arrived.") from None
    return bytes(body)
