"""Line input and output: reads a line at a time, and prints sanitized text that fits the width.

The terminal itself edits the typed line, so screen readers and editors handle it like the line of a shell.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Iterable, Sequence

from presscheck.errors import InvalidArgument
from presscheck.text.ascii_text import ascii_words
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, plain, wrap

WIDTH = 80
"""Columns without a terminal, or if the terminal does not report them."""
NARROWEST = 20
"""Minimum columns of a wrapped line."""
LINES_AT_ONCE = 20
"""Lines that are printed for a person at once; an empty input line prints more."""
_BYTES = 1 << 16


class EndOfInput(Exception):
    """The input has ended: ctrl+d, the end of a file or a pipe, or a closed terminal."""


class LineTerminal:
    """Standard input and output as lines.

    Args:
        is_ascii: whether to print ASCII characters only.

    Attributes:
        is_interactive: whether a person types; otherwise there is no prompt, and long texts are printed completely.
        later: the lines that `show` has not printed yet.
    """

    def __init__(self, *, is_ascii: bool) -> None:
        self.is_interactive = sys.stdin.isatty()
        self.later: Sequence[str] = ()
        self._has_screen = sys.stdout.isatty()
        self._is_ascii = is_ascii
        self._typed = bytearray()
        self._has_ended = False

    @property
    def width(self) -> int:
        """The columns of a line."""
        columns = shutil.get_terminal_size((WIDTH, 24)).columns if self._has_screen else WIDTH
        return max(columns, NARROWEST)

    def print(self, lines: Iterable[str]) -> None:
        """Print lines, wrapped between words."""
        for line in lines:
            text = sanitize(line)
            if self._is_ascii:
                text = ascii_words(text)
            indent = " " * (len(text) - len(text.lstrip()))
            parts = wrap((Span(text.lstrip()),), self.width - len(indent)) or [()]
            sys.stdout.write("".join(f"{indent}{plain(part)}".rstrip() + "\n" for part in parts))
        sys.stdout.flush()

    def show(self, lines: Sequence[str]) -> None:
        """Print all lines, or, for a person, the first lines, and keep the others for later."""
        number = LINES_AT_ONCE if self.is_interactive else len(lines)
        if len(lines) <= number + 1:  # instead of a line that says that there is one more line
            number = len(lines)
        self.print(lines[:number])
        self.later = lines[number:]
        if self.later:
            self.print([f"{count(len(self.later), 'more line')}: enter prints them."])

    async def read(self, prompt: str = "") -> str:
        """Return the next line, without its end.

        Args:
            prompt: printed before a line that a person types.

        Raises:
            EndOfInput: there is no further line.
            InvalidArgument: a line from a file or a pipe is not UTF-8.
        """
        if self.is_interactive and prompt:
            sys.stdout.write(prompt)
            sys.stdout.flush()
        while b"\n" not in self._typed and not self._has_ended:
            await self._more()
        line, end, rest = bytes(self._typed).partition(b"\n")
        self._typed = bytearray(rest)
        if not line and not end:
            if self.is_interactive:
                self.print([""])  # end the line of the prompt
            raise EndOfInput
        # files of some editors begin with a byte order mark
        return self._decoded(line.removesuffix(b"\r")).removeprefix("\ufeff")

    def _decoded(self, line: bytes) -> str:
        """Decode a line as UTF-8, or else in the encoding of the terminal that sent it."""
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            if not self.is_interactive:
                raise InvalidArgument("standard input", "is not UTF-8 text") from None
            return line.decode(sys.stdin.encoding, "replace")

    async def _more(self) -> None:
        """Wait for input and store it. Reads only on demand, so that an editor can use the terminal in between."""
        descriptor, loop = sys.stdin.fileno(), asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(descriptor, lambda: ready.done() or ready.set_result(None))
        except PermissionError:  # a file, which is always ready
            ready.set_result(None)
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
        try:
            data = os.read(descriptor, _BYTES)
        except OSError:  # the terminal is gone
            data = b""
        self._has_ended = not data
        self._typed += data
