"""The app process of a tab, which exchanges packets of Textual's web driver over pipes.

A packet is a letter, the length of the payload (four bytes, big-endian), and the payload: terminal input or output for
`D`, a JSON object for `M`. The app writes a fixed first line before its packets.
"""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from presscheck.config.browser_tab import DRIVER, DRIVER_VARIABLE

FIRST_LINE = b"__GANGLION__\n"
"""The line before the first packet."""
LONGEST_END = 10.0
"""Maximum seconds for an app to read its input, or to exit after its tab is closed (normally it takes three)."""
LONGEST_ERROR = 4096
"""Number of bytes kept from the end of the app's standard error."""
OF_THE_TERMINAL = frozenset(
    ("TMUX", "STY", "SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION")
) | {"LC_TERMINAL", "COLORTERM"}
"""Environment variables about the terminal of `presscheck web`. They do not apply to the app in the browser."""


class Size(NamedTuple):
    """A size in cells."""

    columns: int = 80
    rows: int = 24


class Packet(NamedTuple):
    """A packet from the app."""

    kind: bytes
    payload: bytes


class AppProcess:
    """The process of an app.

    Args:
        command: the program and its arguments; there is no shell.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: Process | None = None
        self._error = b""

    async def start(self, size: Size) -> None:
        """Start the app.

        Raises:
            OSError: the program could not be started.
        """
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment(os.environ, size),
            start_new_session=True,  # only the server receives ctrl+c; it then closes each app
        )

    async def packets(self) -> AsyncIterator[Packet]:
        """Yield the packets of the app until it exits."""
        process = self._process
        if process is None or process.stdout is None or process.stderr is None:
            return
        errors = asyncio.create_task(self._read_errors(process.stderr))
        with suppress(asyncio.IncompleteReadError):
            while await process.stdout.readuntil() != FIRST_LINE:
                pass
            while True:
                head = await process.stdout.readexactly(5)
                yield Packet(head[:1], await process.stdout.readexactly(int.from_bytes(head[1:])))
        await errors
        await process.wait()

    async def _read_errors(self, stream: asyncio.StreamReader) -> None:
        while part := await stream.read(LONGEST_ERROR):
            self._error = (self._error + part)[-LONGEST_ERROR:]

    def failure(self) -> str:
        """Return the standard error of the app if it failed, or an empty text if it succeeded or is running."""
        if self._process is None or not self._process.returncode:
            return ""
        return self._error.decode(errors="replace").strip() or f"it ended with exit code {self._process.returncode}"

    async def type(self, text: str) -> None:
        """Send keys, as a terminal does.

        Raises:
            TimeoutError: the app does not read its input.
        """
        await self._send(b"D", text.encode(errors="replace"))

    async def tell(self, kind: str, **values: int) -> None:
        """Send a message from the browser, such as `resize`."""
        await self._send(b"M", json.dumps({"type": kind, **values}).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        if self._process and self._process.stdin:
            with suppress(ConnectionError):  # the app has ended
                self._process.stdin.write(kind + len(payload).to_bytes(4) + payload)
                async with asyncio.timeout(LONGEST_END):
                    await self._process.stdin.drain()

    async def end(self) -> None:
        """Close the input of the app, so that it saves its drafts and exits. Kill it if it does not exit."""
        if self._process is None:
            return
        if self._process.stdin:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(LONGEST_END):
                await self._process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


def environment(outer: Mapping[str, str], size: Size) -> dict[str, Any]:
    """Return the environment of an app for a tab of this size.

    Args:
        outer: the environment of the server.
        size: the size of the tab.
    """
    own = {name: value for name, value in outer.items() if name not in OF_THE_TERMINAL}
    return own | {
        DRIVER_VARIABLE: DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "TERM_PROGRAM": "xterm.js",
        "COLUMNS": str(size.columns),
        "ROWS": str(size.rows),
    }
