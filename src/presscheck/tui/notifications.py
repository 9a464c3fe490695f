"""Messages and errors of the app: one line at a time, a list of all errors, desktop notifications, tracebacks."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic

from presscheck.errors import PresscheckError, RequestError
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

MIN_SECONDS = 1.5
"""Seconds that a message stays visible, even if keys are pressed."""
HISTORY_LIMIT = 500
"""The number of messages that are kept for the list of errors."""


@dataclass(frozen=True)
class Notice:
    """A message or an error, and when it was shown."""

    text: str
    at: datetime
    is_error: bool


class Notifications:
    """All messages of this run and the one that is shown now.

    Args:
        log: the file that tracebacks are written to.
    """

    def __init__(self, log: Path | None = None) -> None:
        self.history: list[Notice] = []
        self.log = log
        self._shown_at: float | None = None

    def show(self, text: str, *, is_error: bool = False) -> None:
        """Show a message."""
        self.history = [*self.history[1 - HISTORY_LIMIT :], Notice(sanitize(text), now(), is_error)]
        self._shown_at = monotonic()

    def show_error(self, error: PresscheckError) -> None:
        """Show an error with its request."""
        request = f" ({error.request})" if isinstance(error, RequestError) else ""
        self.show(f"{error.message}{request}", is_error=True)

    def line(self) -> Line:
        """The message shown now; empty if there is none."""
        if self._shown_at is None:
            return ()
        last = self.history[-1]
        if last.is_error:
            return (Span(" ✗ ", "error"), Span(last.text, "error"), Span("   ! all errors", "quiet"))
        return (Span(f" {last.text}", "waiting"),)

    def clear(self, moment: float | None = None) -> None:
        """Clear the message; given a time (monotonic seconds), only if it was shown long enough until then."""
        if moment is None or (self._shown_at is not None and moment - self._shown_at >= MIN_SECONDS):
            self._shown_at = None

    def write_traceback(self, error: BaseException) -> None:
        """Write the traceback of an internal error to the log."""
        if self.log:
            handler = logging.FileHandler(self.log, encoding="utf-8")
            logger = logging.getLogger("presscheck")
            logger.addHandler(handler)
            logger.error("presscheck crashed", exc_info=error)
            handler.close()
            logger.removeHandler(handler)
