"""A tab of `presscheck web` without a browser: its WebSocket and an emulated terminal."""

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
        """Send SIGINT to the process group, as ctrl+c does. Returns the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(20)


@contextmanager
def web_program(environment: Mapping[str, str], *options: str, before: tuple[str, ...] = ()) -> Generator[WebProgram]:
    """Run `presscheck web`; `before` are options in front of the command."""
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
    """An emulated terminal screen."""

    def __init__(self, columns: int = COLUMNS, rows: int = ROWS) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)

    def take(self, data: bytes) -> None:
        """Feed output to the terminal."""
        self._stream.feed(UNKNOWN_TO_PYTE.sub(b"", data))

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)


class Tab(TabScreen):
    """An open tab; `messages` are the text messages from the server."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        super().__init__()
        self.socket = socket
        self.messages: list[Any] = []

    async def press(self, *keys: str) -> None:
        """Send keys or text as input."""
        for key in keys:
            await self.socket.send_json(["stdin", key])

    async def read(self) -> bool:
        """Receive a message. Returns False at the end of the connection."""
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
    """Open a session that has exchanged the key in the URL for a cookie."""
    jar = aiohttp.CookieJar(unsafe=True)  # keeps cookies of IP addresses
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        async with session.get(program.url_with_key) as response:
            assert response.status == 200
        yield session


@asynccontextmanager
async def opened_tab(program: WebProgram, session: aiohttp.ClientSession) -> AsyncGenerator[Tab]:
    """Open a tab; it is closed at the end."""
    socket = f"{program.url}socket?width={COLUMNS}&height={ROWS}"
    async with session.ws_connect(socket, origin=program.url.rstrip("/")) as connection:
        tab = Tab(connection)
        await connection.send_json(["focus"])
        yield tab
