"""The activity log: all API requests of this run, newest first, with commands that repeat them."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from presscheck.engine.connection import Entry
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.screen import NARROW
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message

STATUS_COLUMNS, DURATION_COLUMNS, SIZE_COLUMNS = 6, 7, 9
MAX_COMMAND_LINES = 3
"""Maximum number of lines for the command that repeats a request."""


class ActivityList(List[Entry]):
    """The API requests of this run, newest first, including failed requests and those answered from the cache.

    Args:
        screen: the screen of the list.
    """

    nouns = "requests"
    footer = ("open", "copy_text", "find_here", "errors", "close")

    def __init__(self, screen: ActivityScreen) -> None:
        self._screen = screen
        super().__init__(
            (
                Column("time", lambda entry: (Span(f"{entry.at.astimezone():%H:%M:%S}", "quiet"),), 9),
                Column("", lambda entry: entry.method, 7),
                Column("path", _path),
                Column(f"{'status':>{STATUS_COLUMNS}}", _status, STATUS_COLUMNS, gap=0),
                Column(f"{'ms':>{DURATION_COLUMNS}}", _duration, DURATION_COLUMNS, gap=0),
                Column(f"{'bytes':>{SIZE_COLUMNS}}", _size, SIZE_COLUMNS, gap=0),
                Column("  from", lambda entry: (Span(f"  {_source(entry)}", "quiet"),), 10, gap=0),
                Column("for", lambda entry: (Span(entry.priority.name.lower(), "quiet"),), 10, from_width=NARROW),
            )
        )

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Entry]]:
        return Loaded(self._screen.entries)

    @override
    def key_of(self, item: Entry) -> int:
        return item.number

    @override
    def searched(self, item: Entry) -> str:
        source = f"{_source(item)} {item.priority.name} {item.agent}"
        return f"{item.method} {item.path} {item.status or ''} {source} {item.again}"

    @override
    def empty(self) -> Message:
        return Message("No requests yet.", "All API requests of this run are listed here.")

    @override
    def show(self) -> None:
        """Update the rows. A cursor in the first row moves to newer requests; other cursors stay at their request."""
        self.target = self.target if self.rows.cursor else self.key(0)
        super().show()

    @override
    def details(self, width: int) -> Sequence[Line]:
        return _wrapped(self._command(self.current), width) if self.current else ()

    def reason_copy_text(self) -> str | None:
        """Return why no command can be copied: there is no request, or the request cannot be repeated."""
        return None if self.current and self.current.again else "this request cannot be repeated"

    reason_copy = reason_copy_text

    def command_copy_text(self) -> None:
        """Copy the command that repeats the request."""
        if self.current:
            self._screen.app_context.copy_to_clipboard(sanitize(self._command(self.current)))
            self._screen.notify("copied")

    command_copy = command_copy_text

    def command_open(self) -> None:
        """Show all details of the request."""
        if self.current:
            lines = _details(self.current, self._command(self.current))
            self._screen.app_context.push_screen(TextScreen("Request", lines))

    def _command(self, entry: Entry) -> str:
        """Return the command that repeats a request. It names the profile, unless that is the default or not stored."""
        profile = self._screen.app_context.profile
        if profile.name == "default" or profile.token_from is None or not entry.again:
            return entry.again
        return entry.again.replace("presscheck api", f"presscheck --profile {profile.name} api", 1)


class ActivityScreen(TabScreen):
    """The API requests of this run."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: Sequence[Entry] = ()
        self.list = ActivityList(self)
        self.lists = Tabs(self, [self.list])

    @override
    def title_line(self) -> Line:
        shown, total = self.list.count, len(self.entries)
        number = f"  {shown} of {total}" if shown < total else f"  {total}" if total else ""
        return (Span(" Activity", "strong"), Span(number, "quiet"))

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.run(self._listen, group="activity", exclusive=True)

    async def _listen(self) -> None:
        async for entries in self.engine.activity():
            self.entries = entries
            self.redraw()


def _path(entry: Entry) -> Line:
    agent = (Span(f"{sanitize(entry.agent)}: ", "accent strong"),) if entry.agent else ()
    return (*agent, Span(sanitize(entry.path)))


def _duration(entry: Entry) -> str:
    duration = "<1" if entry.milliseconds < 1 else f"{entry.milliseconds:,.0f}"
    return f"{duration:>{DURATION_COLUMNS}}"


def _size(entry: Entry) -> Line:
    return (Span(f"{entry.bytes:>{SIZE_COLUMNS},}" if entry.bytes else f"{'–':>{SIZE_COLUMNS}}", "quiet"),)


def _status(entry: Entry) -> Line:
    if entry.from_cache:
        return (Span(f"{'–':>{STATUS_COLUMNS}}", "quiet"),)
    is_good = entry.status is not None and entry.status < 400
    status = f"{'' if is_good else '✗ '}{entry.status or '–'}"
    return (Span(f"{status:>{STATUS_COLUMNS}}", "" if is_good else "removed"),)


def _source(entry: Entry) -> str:
    return "cache" if entry.from_cache else "service"


def _wrapped(text: str, columns: int) -> list[Line]:
    """Wrap a command to at most `MAX_COMMAND_LINES` lines; a longer command ends with an ellipsis."""
    shown, columns = sanitize(text), max(10, columns - 3)
    lines: list[Line] = []
    while shown and len(lines) < MAX_COMMAND_LINES:
        piece = plain(cut((Span(shown),), columns, "")) if len(lines) < MAX_COMMAND_LINES - 1 else shown
        shown = shown[len(piece) :]
        lines.append((Span(" $ " if not lines else "   ", "quiet"), *cut((Span(piece, "code"),), columns)))
    return lines


def _details(entry: Entry, again: str) -> list[Line]:
    facts = (
        ("request", f"{entry.method} {entry.path}"),
        ("when", f"{entry.at.astimezone():%H:%M:%S.%f}"[:-3]),
        ("status", "" if entry.status is None else str(entry.status)),
        ("took", f"{entry.milliseconds:,.1f} ms"),
        ("bytes", f"{entry.bytes:,}"),
        ("from", _source(entry)),
        ("for", entry.priority.name.lower()),
        ("agent", entry.agent),
    )
    lines: list[Line] = [
        (),
        *((Span(f" {key:<9}", "quiet"), Span(sanitize(value))) for key, value in facts if value),
    ]
    return [*lines, (), (Span(" $ ", "quiet"), Span(sanitize(again) or "too long to show here"))]
