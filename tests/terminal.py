"""A real pseudo-terminal with a program in it, for tests: keys go in, the screen and the exit are looked at."""

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
"""The beginning of a sequence that pyte does not know, whose end comes later."""

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
        """Take in what was sent; False when the program has ended."""
        if not select.select([self.fd], [], [], wait)[0]:
            return True
        if not (data := self._output(1 << 16)):
            return False
        self.take(data)
        return True

    def _output(self, size: int) -> bytes:
        """What the program sent; empty when it has ended."""
        try:
            return os.read(self.fd, size)
        except OSError:
            return b""

    def send(self, data: bytes) -> None:
        """Send input to the program."""
        os.write(self.fd, data)

    def take(self, data: bytes) -> None:
        """Show what the program sent, and answer its questions."""
        before = len(self.raw)
        self.raw += data
        for question, answer in ANSWERS:
            # a question may arrive in two parts
            for asked in question.finditer(self.raw, max(0, before - LONGEST_QUESTION)):
                if asked.end() > before:
                    self.send(answer)
        data = UNKNOWN_TO_PYTE.sub(b"", self._held + data)
        cut = CUT_OFF.search(data)
        end = cut.start() if cut else len(data)
        self._held = data[end:]
        self.stream.feed(data[:end])
        self._text = None

    @property
    def text(self) -> str:
        """What the screen shows, without blanks at the ends of lines.

        Made from the cells: `display` of pyte fails on the second half of a wide character whose first half was
        drawn over. That half is an empty cell: after its first half it is nothing, alone it is a blank.
        """
        if self._text is None:  # made in 5 ms, and a test that waits asks for it all the time
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
        """Press a key until the screen shows a pattern, as people do, where the first may come too early."""
        for _ in range(2):
            self.press(key)
            with suppress(AssertionError):
                return self.wait(pattern, 10)
        self.press(key)
        return self.wait(pattern)

    def down_to(self, pattern: str) -> str:
        """Move the cursor down until the screen shows a pattern, each key once what it did is seen.

        A busy machine would handle two keys before the next look, and while a list loads its rows come and go.
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
        """Wait until nothing was sent for so long."""
        sent = -1
        while sent != len(self.raw):
            sent = len(self.raw)
            self.read(seconds)

    def _cursors(self) -> list[int]:
        """The numbers of the lines with a cursor; while it moves, there may be none."""
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
        """Wait until the program has ended; its exit code (128 + n for a signal)."""
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
        """The modes that were switched on and not off again."""
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
    """A terminal at the end of a slow connection.

    What the program sends is taken from it at a rate, as from a full connection, and arrives later, as keys do.
    """

    RATE = 5000
    """Bytes a second."""
    DELAY = 0.15
    """Seconds for one way."""

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
    """The processes that this one has started, in any of its threads."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [int(child) for file in children for child in file.read_text().split()]
    except FileNotFoundError:
        return []
