"""A service that answers reads with minimal data, and each write with the status in its path: `/spaces/403/…`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.tcp_server import listening

ME = {"object": "user", "id": "u1", "displayName": "Me"}


def answer(status: int, body: Any) -> bytes:
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} Some\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    return head.encode() + content


@asynccontextmanager
async def refusing_service() -> AsyncIterator[tuple[str, list[str]]]:
    """Run the service. Yields its address, and a list of the writes that it receives: their methods and paths."""
    asked: list[str] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n"):
            sizes = [line.split(":")[1] for line in head if line.lower().startswith("content-length:")]
            await reader.readexactly(int(sizes[0]) if sizes else 0)
            method, path, _ = head[0].split(" ")
            if method == "GET":
                writer.write(answer(200, ME if path.endswith("/user") else {"items": [], "count": 0}))
                continue
            asked.append(f"{method} {path}")
            status = int(path.removeprefix("/v1").split("/")[2])
            writer.write(answer(status, {"error": {"code": status, "message": f"because of {status}"}}))

    async with listening(talk) as address:
        yield address, asked
