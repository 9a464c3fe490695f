"""The tab of the events of an integration, the newest first, and the lines of one event with its log."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Hashable
from typing import TYPE_CHECKING

from presscheck.text.phrases import ago, count, exact, now, parse_time, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, wrap
from presscheck.tui.screens.admin.integration.model import event_type

if TYPE_CHECKING:
    from presscheck.api.integrations import IntegrationEvent, LogLine, TracedEvent
    from presscheck.errors import PresscheckError
    from presscheck.tui.screens.admin.integration.context import IntegrationContext
    from presscheck.tui.screens.admin.integration.model import IntegrationModel

NEWEST = 200
"""Events that are listed; the service keeps more."""
STATUS = {"success": ("✓ success", "added"), "failed": ("✗ failed", "removed")}
LEVELS = {"debug": "quiet", "info": "", "warn": "waiting", "error": "removed"}
"""The styles of the lines of a log."""
DATE_COLUMNS, STATUS_COLUMNS, LABEL_COLUMNS = 10, 11, 14


class EventsTab:
    """The events.

    Args:
        screen: the screen of the integration.
    """

    name, noun = "Events", "events"
    footer = ("open", "copy", "find_here", "refresh", "close")

    def __init__(self, screen: IntegrationContext) -> None:
        self._screen = screen
        self.installation = ""
        """The id of the installation whose events are shown; empty for all."""

    @property
    def _shown(self) -> list[IntegrationEvent]:
        shown = self._screen.model.events.shown
        return [event for event in shown if not self.installation or event.installation_id == self.installation]

    @property
    def error(self) -> PresscheckError | None:
        """Why they could not be loaded."""
        return self._screen.model.events.error

    @property
    def total(self) -> int | None:
        """Not shown: only the newest are listed."""
        return len(self._screen.model.events.items or ()) if self._screen.model.events.items is not None else None

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._shown)

    @property
    def current(self) -> IntegrationEvent | None:
        """The event under the cursor."""
        at, shown = self._screen.rows.cursor, self._shown
        return shown[at] if at < len(shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        shown = self._shown
        return shown[index].id if index < len(shown) else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._screen.model.events.text = text

    def summary(self) -> Line:
        """How many failed, and which are shown."""
        events = self._screen.model.events
        if not events.items:
            return ()
        failed = sum(event.status == "failed" for event in events.items)
        spans = [Span(count(len(events.items), "event")), Span(f"   {failed:,} failed" if failed else "", "removed")]
        if events.has_more:
            spans.append(Span("   the newest ones", "quiet"))
        if self.installation:
            where = self._screen.model.installer(self.installation)
            spans.append(Span(f"   only those of {where}: esc shows all", "accent"))
        return (*spans, Span("   refreshed while open", "quiet"))

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        line = self._columns((Span("when"),), (Span("status"),), (Span("event"),), (Span("organization"),), columns)
        return tuple(span._replace(style="quiet") for span in line)

    def row(self, index: int, columns: int) -> Line:
        """An event."""
        event = self._shown[index]
        return self._columns(
            (Span(ago(event.created_at, now()), "quiet"),),
            (Span(*STATUS.get(event.status, (sanitize(event.status), ""))),),
            (Span(event_type(event), "strong"),),
            (Span(self._screen.model.installer(event.installation_id), "quiet"),),
            columns,
        )

    def _columns(self, when: Line, status: Line, event: Line, where: Line, columns: int) -> Line:
        room = max(12, (columns - DATE_COLUMNS - STATUS_COLUMNS) * 3 // 5)
        rest = max(0, columns - DATE_COLUMNS - STATUS_COLUMNS - room)
        first = (*pad(when, DATE_COLUMNS), *pad(status, STATUS_COLUMNS))
        return (*first, *pad(cut(event, room - 1), room), *cut(where, rest))

    def empty(self) -> tuple[str, str]:
        """Why there are none."""
        if self.installation:
            return "No events of this installation.", "esc shows the events of all installations."
        return "No events yet.", "It gets one when it is installed, configured, or rendered."

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if command in ("add", "rename", "delete"):
            return "events cannot be changed"
        if command == "web":
            return "events have no web address"
        return None if self.current else "no event here"

    def run(self, command: str) -> Awaitable[None] | None:
        """Run a command."""
        event = self.current
        if event and command == "copy":
            self._screen.app_context.copy_to_clipboard(sanitize(event.id))
            self._screen.notify("copied the id of the event")
        elif event:
            self._screen.show_event(event)
        return None


def event_lines(
    event: IntegrationEvent, traced: TracedEvent | None, model: IntegrationModel, columns: int, problem: str
) -> list[Line]:
    """An event with its log and its payload.

    Args:
        event: the event as it is listed.
        traced: the event with its log; None until it is loaded.
        model: what is known of the integration.
        columns: the width of the screen.
        problem: why the log could not be loaded; empty if it could.
    """
    columns = max(20, columns - 4)
    status = STATUS.get(event.status, (sanitize(event.status), ""))
    facts: list[tuple[str, Span]] = [
        ("status", Span(*status)),
        ("when", Span(f"{since(event.created_at, now())}  ({exact(event.created_at)})")),
        ("organization", Span(model.installer(event.installation_id))),
        ("id", Span(sanitize(event.id))),
    ]
    lines: list[Line] = [(Span("  "), *pad((Span(name, "quiet"),), LABEL_COLUMNS), value) for name, value in facts]
    lines += [(), (Span("  Log", "title"),)]
    logs = traced.trace.logs if traced and traced.trace else ()
    if problem:
        lines.append((Span(f"  ✗ could not be loaded: {problem}", "removed"),))
    elif traced is None:
        lines.append((Span("  Loading the log …", "quiet"),))
    elif not logs:
        lines.append((Span("  It wrote no log.", "quiet"),))
    for log in logs:
        lines += _log_lines(log, columns)
    lines += [(), (Span("  Payload", "title"),)]
    payload = json.dumps(event.payload or {}, ensure_ascii=False, indent=2)
    for line in payload.splitlines():
        indent = " " * (2 + len(line) - len(line.lstrip(" ")))  # wrapping drops it
        rows = wrap((Span(sanitize(line), "quiet"),), max(20, columns + 2 - len(indent)))
        lines += [(Span(indent), *row) for row in rows]
    return lines


def _log_lines(log: LogLine, columns: int) -> list[Line]:
    moment = parse_time(log.timestamp)
    when = f"{moment:%H:%M:%S}" if moment else "–"
    level = sanitize(log.level or "info")
    style = LEVELS.get(level, "")
    text: list[Line] = []
    for part in (log.message or "").splitlines() or [""]:
        text += wrap((Span(sanitize(part), style),), max(20, columns - 18)) or [()]
    first: Line = (*pad((Span(f"  {when}", "quiet"),), 12), *pad((Span(level, style),), 6))
    return [(*(first if number == 0 else (Span(" " * 18),)), *line) for number, line in enumerate(text)]
