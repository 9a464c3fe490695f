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
"""Faults that a write may meet; after all of them but `pass` the client does not know whether the write arrived."""
BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


@dataclass
class Proxy:
    """Injects a fault into `times` writes from the `at`-th on, and passes all other requests.

    Attributes:
        port: port of the service.
        fault: one of `FAULTS`.
        late: seconds by which `delay` holds a write back; more than the client's time-out.
        answered: for each request, when it arrived, when the service had answered, and whether it is a write.
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
        """Return the longest time of a request in seconds; the time of a write starts when its engine marks it as sent.

        On a busy machine, a write may arrive long after its engine started to wait.
        """
        durations = [0.0]
        for arrived, done, is_write in self.answered:
            start = max((at for at in sending if at <= arrived), default=arrived) if is_write else arrived
            durations.append(done - start)
        return max(durations)

    async def quiet(self) -> None:
        """Wait until all requests that were held back have ended."""
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        request = await one_request(reader)
        fault, start = self.fault_for(request), time.monotonic()
        if fault == "lose request":
            await reader.read()
        elif fault == "reset before":
            reset(writer)
        elif fault == "delay":
            await asyncio.sleep(self.late)
            await self.forward(request, start)
        else:
            answer = await self.forward(request, start)
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

    async def forward(self, request: bytes, start: float) -> bytes:
        """Send a request to the service and record the time. Returns the response."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request.replace(b"\r\n", b"\r\nconnection: close\r\n", 1))
        try:
            return (await reader.read()).replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
        finally:
            writer.close()
            await writer.wait_closed()
            self.answered.append((start, time.monotonic(), not request.startswith(b"GET ")))


async def one_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    length = next((int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    return b"\r\n".join(lines) + await reader.readexactly(length)


def reset(writer: asyncio.StreamWriter) -> None:
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
