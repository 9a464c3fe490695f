"""A tab of `presscheck web` without a browser: its WebSocket, and the terminal that it would show."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import aiohttp
import pyte
from tests.terminal import UNKNOWN_TO_PYTE

COLUMNS, ROWS = 120, 40


class WebProgram:
    """A running `presscheck web`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        self.process = process
        self.url_with_key = process.stdout.readline().strip()
        self.url = self.url_with_key.partition("?")[0]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def interrupt(self) -> int:
        """Press ctrl+c, which every process of the terminal gets. Returns the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(20)


@contextmanager
def web_program(environment: Mapping[str, str], *options: str, before: tuple[str, ...] = ()) -> Generator[WebProgram]:
    """Run `presscheck web`; the options `before` are those of the app."""
    command = [sys.executable, "-m", "presscheck", *before, "web", "--port", "0", "--no-open", *options]
    with subprocess.Popen(
        command,
        env={**environment, "PRESSCHECK_LOW_BANDWIDTH": "off"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield WebProgram(process)
        finally:
            process.terminate()
            process.wait(20)


class TabScreen:
    """What a terminal shows."""

    def __init__(self, columns: int = COLUMNS, rows: int = ROWS) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)

    def take(self, data: bytes) -> None:
        """Show more output."""
        self._stream.feed(UNKNOWN_TO_PYTE.sub(b"", data))

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)


class Tab(TabScreen):
    """An open tab; `messages` has what the server sent to the page."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__()
        self.socket = socket
        self.messages: list[Any] = []

    async def press(self, *keys: str) -> None:
        """Send keys, or texts."""
        for key in keys:
            await self.socket.send_json(["stdin", key])

    async def read(self) -> bool:
        """Take in a message. Returns False at the end of the connection."""
        message = await self.socket.receive(30)
        if message.type == aiohttp.WSMsgType.BINARY:
            self.take(message.data)
        elif message.type == aiohttp.WSMsgType.TEXT:
            self.messages.append(json.loads(message.data))
        return message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)

    async def wait(self, pattern: str) -> str:
        """Wait until the screen shows a pattern."""
        try:
            async with asyncio.timeout(40):
                while not re.search(pattern, self.text):
                    assert await self.read(), f"ended without {pattern!r}:\n{self.text}"
        except TimeoutError:
            raise AssertionError(f"never showed {pattern!r}:\n{self.text}") from None
        return self.text

    async def end(self) -> str:
        """Wait for the end of the connection. Returns the last screen."""
        while await self.read():
            pass
        return self.text


@asynccontextmanager
async def signed_in(program: WebProgram) -> AsyncGenerator[aiohttp.ClientSession]:
    """A browser that spent the key."""
    jar = aiohttp.CookieJar(unsafe=True)  # it keeps cookies of addresses without a name
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        async with session.get(program.url_with_key) as answer:
            assert answer.status == 200
        yield session


@asynccontextmanager
async def opened_tab(program: WebProgram, session: aiohttp.ClientSession) -> AsyncGenerator[Tab]:
    """A tab, which is closed at the end."""
    socket = f"{program.url}socket?width={COLUMNS}&height={ROWS}"
    async with session.ws_connect(socket, origin=program.url.rstrip("/")) as connection:
        tab = Tab(connection)
        await connection.send_json(["focus"])
        yield tab
