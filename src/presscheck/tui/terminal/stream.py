"""Streams that discard output once the terminal is gone."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO


class TerminalStream:
    """A stream for a thread of Textual, which discards output once the terminal is gone.

    A failed write would end the thread. The app would then wait forever for room in the thread's queue.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.fileno = stream.fileno

    def write(self, text: str) -> None:
        """Write a text, or discard it if the terminal is gone."""
        self._write(lambda: self._stream.write(text))

    def flush(self) -> None:
        """Flush the buffer, or discard it if the terminal is gone."""
        self._write(self._stream.flush)

    def _write(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError:
            if is_terminal():
                raise
            discard(self._stream)


def is_terminal() -> bool:
    """Return whether the input is a terminal that is still open."""
    return sys.__stdin__ is not None and sys.__stdin__.isatty()


def flush_or_discard() -> None:
    """Flush the standard streams, and discard output that cannot be written.

    Otherwise the interpreter tries to flush again at exit, and replaces the exit code by 120.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)


def discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, including its buffered output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
