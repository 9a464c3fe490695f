"""Runs programs in a pseudo-terminal: tests send keys and read the screen and the exit code."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyte
from pyte.screens import wcwidth
from typing_extensions import override

KEYS = {"enter": "\r", "pgdn": "\x1b[6~", "esc": "\x1b", "tab": "\t", "space": " ", "up": "\x1b[A", "down": "\x1b[B"}
ANSWERS = (
    (re.compile(rb"\x1b\[c"), b"\x1b[?62;22c"),
    (re.compile(rb"\x1b\[6n"), b"\x1b[1;1R"),
    (re.compile(rb"\x1b\[\?2026\$p"), b"\x1b[?2026;2$y"),
)
UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][\d;]*u|\x1b\[\?\d+\$p|\x1b[P_].*?\x1b\\", re.DOTALL)
LONGEST_QUESTION = 9
CUT_OFF = re.compile(rb"\x1b(?:\[(?:[<>=?][\d;]*\$?)?|[P_](?:(?!\x1b\\).)*)?\Z", re.DOTALL)
"""An incomplete sequence, which pyte does not know, at the end of the data."""

LEFT_ON = {
    b"\x1b[?1049h": b"\x1b[?1049l",  # alternate screen
    b"\x1b[?25l": b"\x1b[?25h",  # cursor hidden
    b"\x1b[?1000h": b"\x1b[?1000l",  # mouse
    b"\x1b[?1003h": b"\x1b[?1003l",
    b"\x1b[?1006h": b"\x1b[?1006l",
    b"\x1b[?2004h": b"\x1b[?2004l",  # bracketed paste
}


class Terminal:
    """Runs a command; `press` sends keys, `wait` waits until the screen shows a pattern."""

    def __init__(self, command: list[str], *, size: tuple[int, int] = (120, 40), env: dict[str, str] | None = None):
        columns, rows = size
        self.raw = self._held = b""
        self._text: str | None = None
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            left = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            # a test that does something else meanwhile is not a slow terminal
            # and the locale of the machine decides about the characters
            left |= {"PRESSCHECK_LOW_BANDWIDTH": "off", "LC_ALL": "C.UTF-8", **(env or {})}
            # also of `env`: readline, which pytest imports, gives workers of xdist the size of another terminal
            left = {name: value for name, value in left.items() if name not in ("CI", "COLUMNS", "LINES")}
            # here, not in the parent: a quick program would look before
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execvpe(command[0], command, left)
        self.status: int | None = None

    def read(self, wait: float = 0.05) -> bool:
        """Read output of the program. Returns False if the program has ended."""
        if not select.select([self.fd], [], [], wait)[0]:
            return True
        if not (data := self._output(1 << 16)):
            return False
        self.take(data)
        return True

    def _output(self, size: int) -> bytes:
        """Return output of the program; empty if it has ended."""
        try:
            return os.read(self.fd, size)
        except OSError:
            return b""

    def send(self, data: bytes) -> None:
        os.write(self.fd, data)

    def take(self, data: bytes) -> None:
        """Update the screen with output, and answer the terminal queries in it."""
        before = len(self.raw)
        self.raw += data
        for query, answer in ANSWERS:
            # a query may arrive in two parts
            for match in query.finditer(self.raw, max(0, before - LONGEST_QUESTION)):
                if match.end() > before:
                    self.send(answer)
        data = UNKNOWN_TO_PYTE.sub(b"", self._held + data)
        match_cut = CUT_OFF.search(data)
        end = match_cut.start() if match_cut else len(data)
        self._held = data[end:]
        self.stream.feed(data[:end])
        self._text = None

    @property
    def text(self) -> str:
        """The text of the screen, without blanks at the ends of lines.

        It is assembled from the cells: pyte's `display` fails on the second half of a wide character whose first half
        was overwritten. The second half is an empty cell: it is skipped after a wide character, and a blank elsewhere.
        """
        if self._text is None:  # takes 5 ms, and tests that wait read it repeatedly
            self._text = "\n".join(self._line(row) for row in range(self.screen.lines))
        return self._text

    def _line(self, row: int) -> str:
        cells = self.screen.buffer[row]
        line, before = "", ""
        for column in range(self.screen.columns):
            data = cells[column].data
            line += data or ("" if before and wcwidth(before[0]) == 2 else " ")
            before = data
        return line.rstrip()

    def wait(self, pattern: str, timeout: float = 30) -> str:
        limit = time.monotonic() + timeout
        while not re.search(pattern, self.text):
            if not self.read() or time.monotonic() > limit:
                raise AssertionError(f"never showed {pattern!r}:\n{self.text}\nlast sent: {self.raw[-500:]!r}")
        return self.text

    def insist(self, key: str, pattern: str) -> str:
        """Press a key up to three times until the screen shows a pattern, for keys that may come too early."""
        for _ in range(2):
            self.press(key)
            with suppress(AssertionError):
                return self.wait(pattern, 10)
        self.press(key)
        return self.wait(pattern)

    def down_to(self, pattern: str) -> str:
        """Move the cursor down until the screen shows a pattern, and wait for the effect of each key.

        Otherwise a busy machine could handle two keys at once, or rows could change while a list loads.
        """
        for _ in range(20):
            self.rest()
            if re.search(pattern, self.text):
                break
            at, until = self._cursors(), time.monotonic() + 5
            self.press("j")
            while self._cursors() in ([], at) and time.monotonic() < until:
                self.read()
        return self.wait(pattern)

    def rest(self, seconds: float = 0.2) -> None:
        """Wait until the program has sent nothing for `seconds`."""
        sent = -1
        while sent != len(self.raw):
            sent = len(self.raw)
            self.read(seconds)

    def _cursors(self) -> list[int]:
        """Return the numbers of the lines with a cursor; there may be none while it moves."""
        return [at for at, line in enumerate(self.text.split("\n")) if "▌" in line.partition("│")[0]]

    def gone(self, pattern: str, timeout: float = 30) -> str:
        limit = time.monotonic() + timeout
        while re.search(pattern, self.text):
            if not self.read() or time.monotonic() > limit:
                raise AssertionError(f"still shows {pattern!r}:\n{self.text}")
        return self.text

    def press(self, *names: str) -> None:
        for name in names:
            if name.startswith("ctrl+"):
                self.send(bytes([ord(name[5:]) - 96]))
            else:
                self.send(KEYS.get(name, name).encode())
            self.read(0.02)

    def end(self, timeout: float = 20) -> int:
        """Wait for the end of the program. Returns the exit code (128 + n for a signal)."""
        limit = time.monotonic() + timeout
        while self.status is None:
            self.read(0.02)
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.status = os.waitstatus_to_exitcode(status)
                while self.read(0.02):
                    pass
            elif time.monotonic() > limit:
                raise AssertionError(f"never ended:\n{self.text}")
        return self.status if self.status >= 0 else 128 - self.status

    def kill(self, which: signal.Signals = signal.SIGTERM) -> None:
        os.kill(self.pid, which)

    def left_on(self) -> list[str]:
        """Return the terminal modes that were switched on and not off again."""
        return [
            on.decode().replace("\x1b", "ESC")
            for on, off in LEFT_ON.items()
            if self.raw.rfind(on) > self.raw.rfind(off)
        ]

    def close(self) -> None:
        if self.status is None:
            self.kill(signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class SlowTerminal(Terminal):
    """A terminal with a slow connection: output is read at a limited rate, and output and keys arrive with a delay."""

    RATE = 5000
    """Bytes per second."""
    DELAY = 0.15
    """Delay in one direction, in seconds."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._to_program: deque[tuple[float, bytes]] = deque()
        self._to_screen: deque[tuple[float, bytes]] = deque()
        self._taken_at = time.monotonic()
        super().__init__(*arguments, **options)

    @override
    def send(self, data: bytes) -> None:
        self._to_program.append((time.monotonic() + self.DELAY, data))

    @override
    def read(self, wait: float = 0.05) -> bool:
        until = time.monotonic() + wait
        while True:
            now = time.monotonic()
            while self._to_program and self._to_program[0][0] <= now:
                os.write(self.fd, self._to_program.popleft()[1])
            size = min(int((now - self._taken_at) * self.RATE), self.RATE // 20)
            has_ended = False
            if size and select.select([self.fd], [], [], 0)[0]:
                data = self._output(size)
                self._taken_at = max(self._taken_at, now - 0.05) + len(data) / self.RATE
                self._to_screen.append((now + self.DELAY, data))
                has_ended = not data
            if self._to_screen and self._to_screen[0][0] <= now:
                data = self._to_screen.popleft()[1]
                if data:
                    self.take(data)
                return bool(data)
            if has_ended and len(self._to_screen) == 1:
                return False
            if now > until:
                return True
            time.sleep(0.005)


def children_of(pid: int) -> list[int]:
    """Return the ids of a process's children, which any of its threads may have started."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [int(child) for file in children for child in file.read_text().split()]
    except FileNotFoundError:
        return []
