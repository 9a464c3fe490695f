"""The streams of the terminal, which may be gone: what can no longer be written to it is discarded."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TextIO


class TerminalStream:
    """The stream on which Textual draws, in a thread of its own.

    A write that failed would end that thread, and the app would wait for ever until its queue has room.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.fileno = stream.fileno

    def write(self, text: str) -> None:
        """Write a text."""
        self._write(lambda: self._stream.write(text))

    def flush(self) -> None:
        """Write what is in the buffer."""
        self._write(self._stream.flush)

    def _write(self, write: Callable[[], object]) -> None:
        try:
            write()
        except OSError:
            if is_terminal():
                raise
            discard(self._stream)


def is_terminal() -> bool:
    """Whether the input is a terminal; one that was closed is none any more."""
    return sys.__stdin__ is not None and sys.__stdin__.isatty()


def flush_or_discard() -> None:
    """Write what is left in the standard streams; if that fails, discard it.

    Otherwise the interpreter tries again when it ends, and replaces the exit code by its own, 120.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)


def discard(stream: TextIO) -> None:
    """Discard what is written to a stream from now on, and what is in its buffer."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
