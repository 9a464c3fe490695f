"""A scripted HTTP server on loopback that can send faulty responses."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest
from tests.tcp_server import listening

from presscheck.client.client import Client, Timeouts

TOKEN = "gb_api_marker0f9c2d71"
QUICK = Timeouts(connect=5, read=0.5, write=0.5, pool=5, whole=1, pause=0.001, longest_pause=2)


def http(status: int = 200, body: Any = None, *, kind: str = "application/json", **headers: str) -> bytes:
    """Return the bytes of a response. A body that is neither bytes nor None is encoded as JSON."""
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Some", f"content-type: {kind}", f"content-length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + content


@dataclass
class Asked:
    """A request that the server received."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Exchanged:
    """A connection whose current request is answered by a fault."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def hang(self) -> None:
        """Send nothing until the client closes the connection."""
        await self.reader.read()

    def reset(self) -> None:
        """Abort the connection with a TCP reset."""
        sock: socket.socket = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def trickle(self, byte: bytes) -> None:
        """Send the byte again and again until the client closes the connection."""
        while not self.writer.is_closing():
            await self.write(byte)
            try:
                await asyncio.wait_for(self.reader.read(1), 0.02)
            except TimeoutError:
                continue
            return


Fault = bytes | Callable[[Exchanged], Awaitable[None]]


@dataclass
class FaultServer:
    """A server that answers requests from a script, whose last entry is repeated.

    An entry is the bytes of a response, or a function that gets the connection, which is closed afterwards.
    """

    script: list[Fault] = field(default_factory=list)
    always: dict[str, Fault] = field(default_factory=dict)
    """Entries by path and query; they take precedence over the script."""
    asked: list[Asked] = field(default_factory=list)
    address: str = ""
    connections: int = 0
    open_now: int = 0
    most_open: int = 0
    news: asyncio.Condition = field(default_factory=asyncio.Condition)
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the last open connection is closed."""

    @asynccontextmanager
    async def listening(self, path: Path | None = None) -> AsyncIterator[Self]:
        async with listening(self.talk, path=path) as self.address:
            yield self

    async def has_been_asked(self, count: int) -> None:
        """Wait until the server has received at least `count` requests."""
        async with self.news:
            await self.news.wait_for(lambda: len(self.asked) >= count)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        number = self.connections
        try:
            while await self.one(reader, writer, number):
                pass
        finally:
            self.open_now -= 1
            if not self.open_now:
                self.all_closed.set()

    async def one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        async with self.news:
            self.asked.append(Asked(method, target, headers, body, number))
            self.news.notify_all()
        fault = self.always.get(target) or (self.script.pop(0) if len(self.script) > 1 else self.script[0])
        if isinstance(fault, bytes):
            writer.write(fault)
            await writer.drain()
            return True
        await fault(Exchanged(reader, writer))
        return False


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer().listening() as made:
        yield made


@pytest.fixture
async def client(server: FaultServer) -> AsyncIterator[Client]:
    async with Client(server.address, TOKEN, timeout=QUICK) as made:
        yield made
