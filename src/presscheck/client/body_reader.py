"""Reads and decompresses response bodies as they arrive, with limits for their size and for the number of values."""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator

from httpx import Headers

MAX_SIZE = 32 << 20
"""The maximum size of a response body in bytes, after decompression."""
MAX_OBJECTS = 200_000
"""The maximum number of objects and arrays in a response: in memory, an empty one takes up to three kilobytes."""
MAX_VALUES = 3_000_000
"""The maximum number of values in a response."""

# always matches, even a string without an end, so that the search takes linear time
_string = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+"?', re.DOTALL)


class BodyError(Exception):
    """A response body that cannot be read; the message has the reason."""


class TooLarge(BodyError):
    """The body exceeds a limit."""


async def read_body(chunks: AsyncIterator[bytes], headers: Headers, max_size: int) -> bytes:
    """The complete body, decompressed.

    Args:
        chunks: the body as received.
        headers: the response headers.
        max_size: the size limit in bytes, after decompression.

    Raises:
        TooLarge: the body exceeds the limit.
        BodyError: its compression is unknown or invalid.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_size:
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
        TooLarge: it exceeds a limit.
    """
    if _has_few_values(body):
        return
    body = _string.sub(b'""', body)  # brackets and commas in texts do not count
    if not _has_few_values(body):
        raise TooLarge(f"it has more than {MAX_OBJECTS:,} objects or {MAX_VALUES:,} values")


def _has_few_values(body: bytes) -> bool:
    return body.count(b"{") + body.count(b"[") <= MAX_OBJECTS and body.count(b",") < MAX_VALUES


class _Plain:
    def decode(self, chunk: bytes, room: int) -> bytes:
        return chunk[: room + 1]

    def end(self) -> None:
        pass


class _Compressed(_Plain):
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)  # detects gzip and zlib by their header
        self._is_started = False

    def decode(self, chunk: bytes, room: int) -> bytes:
        if self._zlib.eof:
            raise BodyError("there is data after its end")
        self._is_started = True
        try:
            return self._zlib.decompress(chunk, room + 1)
        except zlib.error:
            raise BodyError("its compression is invalid") from None

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
