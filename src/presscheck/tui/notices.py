"""What the app has to say: one line at a time, all of it kept until the app ends, and tracebacks in the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic

from presscheck.errors import PresscheckError, RequestError
from presscheck.text.relative_time import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

TO_READ = 1.5
"""Seconds for which a notice stays whatever is pressed."""
KEPT = 500


@dataclass(frozen=True)
class Notice:
    """Something that was said, when, and whether it was an error."""

    text: str
    at: datetime
    is_error: bool


class Notices:
    """Everything said so far, and what is to be said now.

    Args:
        log: where a traceback goes.
    """

    def __init__(self, log: Path | None = None) -> None:
        self.said: list[Notice] = []
        self.log = log
        self._shown_at: float | None = None

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Say this from now on."""
        self.said = [*self.said[1 - KEPT :], Notice(sanitize(text), now(), is_error)]
        self._shown_at = monotonic()

    def complain(self, error: PresscheckError) -> None:
        """Say what went wrong, with the request."""
        request = f" ({error.request})" if isinstance(error, RequestError) else ""
        self.say(f"{error.message}{request}", is_error=True)

    def line(self) -> Line:
        """What is to be said now; empty where nothing is."""
        if self._shown_at is None:
            return ()
        last = self.said[-1]
        if last.is_error:
            return (Span(" ✗ ", "error"), Span(last.text, "error"), Span("   ! all errors", "quiet"))
        return (Span(f" {last.text}", "waiting"),)

    def forget(self, moment: float | None = None) -> None:
        """Say nothing; given a moment, only if there was time to read it until then."""
        if moment is None or (self._shown_at is not None and moment - self._shown_at >= TO_READ):
            self._shown_at = None

    def write_traceback(self, error: BaseException) -> None:
        """Keep what a bug looked like."""
        if self.log:
            handler = logging.FileHandler(self.log, encoding="utf-8")
            logger = logging.getLogger("presscheck")
            logger.addHandler(handler)
            logger.error("the app ended by a bug", exc_info=error)
            handler.close()
            logger.removeHandler(handler)
