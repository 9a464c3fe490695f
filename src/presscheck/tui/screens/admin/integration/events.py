"""The tab of the events of an integration, newest first, and the details of an event with its log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.integrations import IntegrationEvent
from presscheck.text.phrases import ago, count, exact, now, parse_time, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, pad, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.admin.integration.session import event_type
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.api.integrations import LogLine, TracedEvent
    from presscheck.tui.screens.admin.integration.session import IntegrationSession

STATUS = {"success": ("✓ success", "added"), "failed": ("✗ failed", "removed")}
LEVELS = {"debug": "quiet", "info": "", "warn": "waiting", "error": "removed"}
"""Styles of log lines by level."""
DATE_COLUMNS, STATUS_COLUMNS, LABEL_COLUMNS = 10, 11, 14


class EventList(List[IntegrationEvent]):
    """The events of an integration, from all installations or a single one.

    Args:
        session: the integration.
        open_event: shows an event with its log.

    Attributes:
        installation: the id of the installation that limits the list; empty for all installations.
    """

    name, nouns, place = "Events", "events", " of this integration"
    footer = ("open", "copy", "find_here", "refresh", "close")

    def __init__(self, session: IntegrationSession, open_event: Callable[[IntegrationEvent], None]) -> None:
        self._session, self._open_event = session, open_event
        self.installation = ""
        super().__init__(
            (
                Column("when", lambda event: (Span(ago(event.created_at, now()), "quiet"),), DATE_COLUMNS),
                Column("status", _status, STATUS_COLUMNS),
                Column("event", lambda event: (Span(event_type(event), "strong"),), share=3),
                Column("organization", self._organization, share=2),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[IntegrationEvent]]:
        events = self._session.events
        if not self.installation or events.value is None:
            return events
        own = [event for event in events.value if event.installation_id == self.installation]
        return Loaded(own, events.error)

    @property
    def is_forbidden(self) -> bool:
        """True if the service lists events only for the owners of the integration."""
        return self.loaded.state(online=True) == "forbidden"

    @override
    def searched(self, item: IntegrationEvent) -> str:
        return (
            f"{event_type(item)} {item.status} {self._session.installer(item.installation_id)} {item.installation_id}"
        )

    def _organization(self, event: IntegrationEvent) -> Line:
        return (Span(self._session.installer(event.installation_id), "quiet"),)

    @override
    def summary(self) -> Line:
        events = self._session.events.value
        if not events:
            return ()
        failed = sum(event.status == "failed" for event in events)
        spans = [Span(count(len(events), "event")), Span(f"   {failed:,} failed" if failed else "", "removed")]
        if "events" in self._session.truncated:
            spans.append(Span("   the newest ones", "quiet"))
        if self.installation:
            where = self._session.installer(self.installation)
            spans.append(Span(f"   only those of {where}: {key_for('back')} shows all", "accent"))
        return (*spans, Span("   refreshed while open", "quiet"))

    @override
    def empty(self) -> Message:
        if self.installation:
            return Message(
                "No events of this installation.", f"{key_for('back')} shows the events of all installations."
            )
        return Message("No events yet.", "It gets one when it is installed, configured, or rendered.")

    @override
    def explanation(self, *, online: bool) -> Message:
        if self.is_forbidden:
            return self._session.owners_only(self.nouns)
        return super().explanation(online=online)

    def reason_open(self) -> str | None:
        """Return why the event cannot be opened: there is none."""
        return None if self.current else "no event here"

    reason_copy = reason_open

    def command_open(self) -> None:
        """Show the event with its log."""
        if event := self.current:
            self._open_event(event)

    def command_copy(self) -> None:
        """Copy the id of the event."""
        if event := self.current:
            self._session.copy(event.id, "id of the event")


def _status(event: IntegrationEvent) -> Line:
    return (Span(*STATUS.get(event.status, (sanitize(event.status), ""))),)


def event_lines(
    event: IntegrationEvent, traced: TracedEvent | None, session: IntegrationSession, columns: int, problem: str
) -> list[Line]:
    """Return the lines of an event: facts, log and payload.

    Args:
        event: the listed event, without its log.
        traced: the event with its log; None until it is loaded.
        session: the integration.
        columns: the width of the screen in cells.
        problem: why the log could not be loaded; empty on success.
    """
    columns = max(20, columns - 4)
    status = STATUS.get(event.status, (sanitize(event.status), ""))
    facts: list[tuple[str, Span]] = [
        ("status", Span(*status)),
        ("when", Span(f"{since(event.created_at, now())}  ({exact(event.created_at)})")),
        ("organization", Span(session.installer(event.installation_id))),
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
        indent = " " * (2 + len(line) - len(line.lstrip(" ")))  # wrapping removes the indentation
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
