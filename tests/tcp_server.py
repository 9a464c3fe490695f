"""A TCP or Unix socket server from a function; at its end, all tasks and connections are closed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Protocol


class Talk(Protocol):
    """A function that handles a connection."""

    def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, /) -> Coroutine[Any, Any, None]: ...


@asynccontextmanager
async def listening(
    talk: Talk, *, port: int = 0, path: Path | None = None, secure: ssl.SSLContext | None = None
) -> AsyncIterator[str]:
    """Run a server that calls `talk` for each connection; yields its address.

    Args:
        talk: handles a connection; it is cancelled when the server ends.
        port: port on loopback; 0 for any free port.
        path: path of a Unix socket to use instead of TCP.
        secure: context for TLS; the address then has the host `localhost`, as in the tests' certificates.
    """
    talks: set[asyncio.Task[None]] = set()
    connections: set[asyncio.Task[None] | None] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(asyncio.current_task())
        task = asyncio.create_task(talk(reader, writer))
        talks.add(task)
        await asyncio.wait([task])
        talks.discard(task)
        with suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()
        connections.discard(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            task.result()

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
        for task in talks:
            task.cancel()
        await asyncio.gather(*(connection for connection in connections if connection))
