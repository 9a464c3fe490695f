"""A server made of one function, on a socket of its own: when it is left, no task and no connection of it is left."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol


class Talk(Protocol):
    """Says what is to be said over one connection."""

    def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, /) -> Coroutine[Any, Any, None]: ...


@asynccontextmanager
async def listening(
    talk: Talk, *, port: int = 0, path: Path | None = None, secure: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Let `talk` have every connection, until it returns or the other side is gone; the address.

    Args:
        talk: is cut short when the server is left.
        port: on loopback; one that is free when it is not given.
        path: of a socket in the file system, instead.
        secure: speak TLS so; the address is then that of `localhost`, for which certificates are made.
    """
    talks: set[asyncio.Task[None]] = set()
    connections: set[asyncio.Task[None] | None] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        talking = asyncio.create_task(talk(reader, writer))
        talks.add(talking)
        await asyncio.wait([talking])
        talks.discard(talking)
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()
        connections.discard(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            talking.result()

    if path:
        server, address = await asyncio.start_unix_server(accept, path), f"unix:{path}"
    else:
        server = await asyncio.start_server(accept, "127.0.0.1", port, ssl=secure)
        start = "https://localhost" if secure else "http://127.0.0.1"
        address = f"{start}:{server.sockets[0].getsockname()[1]}"
    try:
        yield address
    finally:
        server.close()
        for talking in talks:
            talking.cancel()
        await asyncio.gather(*(one for one in connections if one))
