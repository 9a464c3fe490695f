"""A proxy between one engine and the service, over a real socket, that injects faults into writes."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

from tests.tcp_server import listening

FAULTS = ("pass", "lose request", "lose answer", "delay", "reset before", "reset after", "cut answer", "bad gateway")
"""What may happen to a write on its way; in all but `pass` nobody at this end knows what became of it."""
BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass
class Proxy:
    """Spoils `times` writes from the `at`-th on; everything else passes.

    Attributes:
        port: of the service.
        fault: what it does, one of `FAULTS`.
        late: seconds for which `delay` holds a write back; more than the client waits.
        answered: when each request came here, when the service had done it, and whether it was a write.
    """

    port: int
    fault: str
    at: int
    times: int
    late: float
    base_url: str = ""
    writes: int = 0
    spoiled: int = 0
    answered: list[tuple[float, float, bool]] = field(default_factory=list)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Self]:
        async with listening(self.talk) as self.base_url:
            yield self

    def slowest(self, sending: Sequence[float]) -> float:
        """Return the longest time of a request in seconds; a write counts from when its engine noted that it sends it.

        On a busy machine, a write may come here long after its engine began to wait.
        """
        spent = [0.0]
        for came, done, is_write in self.answered:
            noted = max((at for at in sending if at <= came), default=came) if is_write else came
            spent.append(done - noted)
        return max(spent)

    async def quiet(self) -> None:
        """Wait until nothing that was held back can still arrive."""
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        request = await one_request(reader)
        fault, began = self.fault_for(request), time.monotonic()
        if fault == "lose request":
            await reader.read()
        elif fault == "reset before":
            reset(writer)
        elif fault == "delay":
            await asyncio.sleep(self.late)
            await self.asked(request, began)
        else:
            answer = await self.asked(request, began)
            if fault == "lose answer":
                await reader.read()
            elif fault == "reset after":
                reset(writer)
            else:
                sent = {"cut answer": answer[: answer.index(b"\r\n\r\n") + 10], "bad gateway": BAD_GATEWAY}
                writer.write(sent.get(fault, answer))
                await writer.drain()

    def fault_for(self, request: bytes) -> str:
        if request.startswith(b"GET "):
            return "pass"
        self.writes += 1
        if self.fault == "pass" or not self.at <= self.writes < self.at + self.times:
            return "pass"
        self.spoiled += 1
        return self.fault

    async def asked(self, request: bytes, began: float) -> bytes:
        """What the service answers; how long after the engine asked is noted."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
        try:
            return (await reader.read()).replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
        finally:
            writer.close()
            await writer.wait_closed()
            self.answered.append((began, time.monotonic(), not request.startswith(b"GET ")))


async def one_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    return b"\r\n".join(lines) + await reader.readexactly(length)


def reset(writer: asyncio.StreamWriter) -> None:
    """Drop the connection at once."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
