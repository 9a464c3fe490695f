"""Bodies are read while they arrive, and no more than was allowed is ever held, compressed or not."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

from httpx import Headers


class BodyError(Exception):
    """A body that cannot be read; says why in the user's words."""


class TooLarge(BodyError):
    """There is more of it than was allowed."""


async def read_body(chunks: AsyncIterator[bytes], headers: Headers, largest: int) -> bytes:
    """The whole body, decompressed.

    Raises:
        TooLarge: it has more than `largest` bytes.
        BodyError: its compression is unknown or broken.
    """
    declared = headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > largest:
        raise TooLarge(f"it is larger than {_size(largest)}")
    decode = _decoder(headers.get("content-encoding", "").strip().lower())
    found = bytearray()
    async for chunk in chunks:
        found += decode.take(chunk, largest - len(found))
        if len(found) > largest:
            raise TooLarge(f"it is larger than {_size(largest)}")
    decode.end()
    return bytes(found)


class _Plain:
    def take(self, chunk: bytes, room: int) -> bytes:
        return chunk[: room + 1]

    def end(self) -> None:
        pass


class _Compressed(_Plain):
    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, as its first bytes say
        self._begun = False

    def take(self, chunk: bytes, room: int) -> bytes:
        if self._zlib.eof:
            raise BodyError("something follows its end")
        self._begun = True
        try:
            return self._zlib.decompress(chunk, room + 1)
        except zlib.error:
            raise BodyError("its compression is broken") from None

    def end(self) -> None:
        if self._begun and not self._zlib.eof:
            raise BodyError("its compression is cut off")


def _decoder(encoding: str) -> _Plain:
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Compressed()
    raise BodyError("its compression is one that was not asked for")


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count} bytes"
