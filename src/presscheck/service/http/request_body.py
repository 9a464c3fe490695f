"""Reads the body of a request within limits of size and time."""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect, Request

from presscheck.service.http.operations import ApiError

LONGEST_SENDING = 20.0
"""Timeout for the body of a request, in seconds."""


async def read_body(request: Request, largest: int) -> bytes:
    """Return the body of a request.

    Args:
        request: the request.
        largest: maximum size of the body, in bytes.

    Raises:
        ApiError: 413, the body is too large; 408, it arrives too slowly; 400, the connection was closed.
    """
    body = bytearray()
    await receive_body(request, body, largest, LONGEST_SENDING)
    return bytes(body)


async def receive_body(request: Request, body: bytearray, largest: int, seconds: float) -> None:
    """Append the rest of a request's body. If the call is cancelled, another call can continue.

    Args:
        request: the request.
        body: the part that was read so far; the rest is appended to it.
        largest: maximum size of the whole body, in bytes.
        seconds: timeout for the rest.

    Raises:
        ApiError: 413, the body is too large; 408, it arrives too slowly; 400, the connection was closed.
    """
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
