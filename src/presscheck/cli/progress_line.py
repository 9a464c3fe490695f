"""The progress of a long command on stderr: a rewritten line on a terminal, otherwise a line per second."""

from __future__ import annotations

import shutil
import sys
import time

from presscheck.cli.output import print_message
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, cut, plain

LINE_INTERVAL = 1.0
"""Seconds between two progress lines without a terminal."""


class ProgressLine:
    """A line on stderr with the progress of a command."""

    def __init__(self) -> None:
        self._has_terminal = sys.stderr.isatty()
        self._line, self._next, self._is_open = "", time.monotonic() + LINE_INTERVAL, False

    def update(self, line: str) -> None:
        """Print the progress if `line` differs from the last line; without a terminal, at most once per
        `LINE_INTERVAL`.
        """
        if line == self._line or (not self._has_terminal and time.monotonic() < self._next):
            return
        self._line, self._next = line, time.monotonic() + LINE_INTERVAL
        if self._has_terminal:
            columns = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r" + plain(cut((Span(sanitize(line)),), columns)).ljust(columns))
            sys.stderr.flush()
            self._is_open = True
        else:
            print_message(line)

    def clear(self) -> None:
        """Clear the line for the output that follows."""
        if self._is_open:
            sys.stderr.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            sys.stderr.flush()
