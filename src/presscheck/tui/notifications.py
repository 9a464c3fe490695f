"""Notices of the app: messages, errors and events; the current notice, the log of notices, and tracebacks."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from presscheck.errors import PresscheckError, RequestError
from presscheck.paths import private_opener
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for

HISTORY_LIMIT = 500
"""Maximum number of notices in the log."""


@dataclass(frozen=True)
class Notice:
    """A message, an error or an event, with its time.

    `space` and `request` are the ids of the space and the change request of an event; empty for other notices.
    """

    text: str
    at: datetime
    is_error: bool = False
    space: str = ""
    request: str = ""


class Notifications:
    """All notices of this run, and the current notice.

    Args:
        log: the file for tracebacks.
    """

    def __init__(self, log: Path | None = None) -> None:
        self.history: list[Notice] = []
        self.log = log
        self.shown: Notice | None = None
        """The current notice."""
        self._place: object = None
        self._shows_summary = False
        self._listeners: list[Callable[[], None]] = []

    def show(self, text: str, place: object = None, *, is_error: bool = False) -> None:
        """Show a message in a place, such as a screen, and add it to the log."""
        self.add(Notice(sanitize(text), now(), is_error))
        self.shown, self._place, self._shows_summary = self.history[-1], place, False

    def show_error(self, error: PresscheckError, place: object = None) -> None:
        """Show an error in a place, with the failed API request if any, and add it to the log."""
        request = f" ({error.request})" if isinstance(error, RequestError) else ""
        self.show(f"{error.message}{request}", place, is_error=True)

    def show_summary(self, text: str, place: object = None) -> bool:
        """Show a summary of events, which are in the log already. Return False if a message is shown in the place.

        The message may tell what became of the user's last command.
        """
        if self.shown and not self._shows_summary and self._place is place:
            return False
        self.shown, self._place, self._shows_summary = Notice(sanitize(text), now()), place, True
        return True

    def add(self, notice: Notice) -> None:
        """Add a notice to the log."""
        self.history = [*self.history[1 - HISTORY_LIMIT :], notice]
        for listener in self._listeners:
            listener()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener for each new notice. Return a function that removes the listener."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def line(self, place: object = None) -> Line:
        """Return the current notice of a place; empty without a notice."""
        shown = self.shown
        if shown is None or self._place is not place:
            return ()
        if shown.is_error:
            return (
                Span("✗ ", "error"),
                Span(shown.text, "error"),
                Span(f"   {key_for('errors')} all notices", "quiet"),
            )
        return (Span(shown.text, "waiting"),)

    def clear(self) -> None:
        """Clear the current notice."""
        self.shown = None

    def write_traceback(self, error: BaseException, failure: str = "presscheck crashed") -> None:
        """Write the traceback of an internal error to the log file, below what failed."""
        if self.log:
            logger = logging.getLogger("presscheck")
            with open(self.log, "a", encoding="utf-8", opener=private_opener) as file:
                handler = logging.StreamHandler(file)
                logger.addHandler(handler)
                logger.error("%s", failure, exc_info=error)
                logger.removeHandler(handler)
