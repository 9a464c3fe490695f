"""The activity log: all API requests of this run, newest first, with commands that repeat them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, plain
from presscheck.tui.commands import key_for
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.screen import NARROW, BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import FilterLine
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.engine.connection import Entry

FIXED_COLUMNS = 48
"""Columns of a row without its path."""
PRIORITY_COLUMNS = 10
"""Columns of the priority, on wide screens only."""
MAX_COMMAND_LINES = 3
"""Maximum lines of the command of a request."""


class ActivityScreen(BaseScreen):
    """The API requests of this run, newest first: answered by the service, answered from the cache, or failed."""

    DEFAULT_CSS = "ActivityScreen #head { margin-top: 1; } ActivityScreen #again { height: 4; padding-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "copy_text", "find_here", "errors", "close")

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[Entry, ...] = ()
        self.matching: tuple[Entry, ...] = ()
        self.words = ""

    @override
    def title_line(self) -> Line:
        count = f"{len(self.matching)} of {len(self.entries)}" if self.words else f"{len(self.entries)}"
        only = (Span("  only ", "quiet"), Span(sanitize(self.words), "accent")) if self.words else ()
        return (Span(" Activity", "strong"), Span(f"  {count}" if self.entries else "", "quiet"), *only)

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="head")
        yield EmptyState()
        yield RowList(self._row, key=lambda at: self.matching[at].number)
        again = TextView(id="again")
        again.can_focus = False
        yield again

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RowList).focus()
        self.run(self._listen, group="activity", exclusive=True)

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._show)

    def on_row_list_row_highlighted(self) -> None:
        """Show the command of the request under the cursor."""
        self._show_command()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        """Filter the requests."""
        self.words = event.text.strip()
        self._show()

    def command_find_here(self) -> None:
        """Open the filter."""
        FilterLine.open(self, self.query_one(RowList), self.words)

    def command_back(self) -> None:
        """Clear the filter; without a filter, close the screen."""
        if self.words:
            self.words = ""
            self._show()
        else:
            self.app_context.close_screen()

    def reason_copy_text(self) -> str | None:
        """Return why no command can be copied: there is no request, or the request cannot be repeated."""
        current = self._current
        return None if current and current.again else "this request cannot be repeated"

    reason_copy = reason_copy_text

    def command_copy_text(self) -> None:
        """Copy the command that repeats the request."""
        if self._current:
            self.app_context.copy_to_clipboard(sanitize(self._line(self._current)))
            self.notify("copied")

    command_copy = command_copy_text

    def command_open(self) -> None:
        """Show all details of the request."""
        if self._current:
            self.app_context.push_screen(TextScreen("Request", _details(self._current, self._line(self._current))))

    @property
    def _current(self) -> Entry | None:
        at = self.query_one(RowList).cursor
        return self.matching[at] if at < len(self.matching) else None

    async def _listen(self) -> None:
        async for entries in self.engine.activity():
            self.entries = entries
            self.when_shown("activity", self._show)

    def _show(self) -> None:
        rows, empty_state = self.query_one(RowList), self.query_one(EmptyState)
        words = self.words.lower().split()
        self.matching = tuple(entry for entry in self.entries if _matches(entry, words)) if words else self.entries
        rows.show(len(self.matching), cursor=0 if rows.cursor == 0 else None)
        if self.matching:
            empty_state.hide()
        elif self.entries:
            empty_state.show_empty("No requests match the filter.", f"{key_for('back')} shows all.")
        else:
            empty_state.show_empty("No requests yet.", "All API requests of this run are listed here.")
        self.query_one("#head", StatusLine).show(self._head() if self.matching else ())
        self._show_command()
        self.refresh_status_bars()

    def _show_command(self) -> None:
        lines, current = self.query_one("#again", TextView), self._current
        lines.show(_wrapped(self._line(current), lines.columns) if current else ())

    def _line(self, entry: Entry) -> str:
        """Return the command that repeats a request, with the profile if it is stored and not the default."""
        profile = self.app_context.profile
        if profile.name == "default" or profile.token_from is None or not entry.again:
            return entry.again
        return entry.again.replace("presscheck api", f"presscheck --profile {profile.name} api", 1)

    def _head(self) -> Line:
        path, is_wide = self._columns(self.query_one(RowList).columns)
        priority = "for" if is_wide else ""
        titles = f"  {'time':<9}{'':<7}{'path':<{path}}{'status':>6}{'ms':>7}{'bytes':>9}  {'from':<8}{priority}"
        return (Span(titles.rstrip(), "quiet"),)

    def _columns(self, columns: int) -> tuple[int, bool]:
        """Return the width of the path, and whether the priority is shown."""
        is_wide = columns >= NARROW
        return max(10, columns - FIXED_COLUMNS - PRIORITY_COLUMNS * is_wide), is_wide

    def _row(self, at: int, columns: int) -> Line:
        entry = self.matching[at]
        path, is_wide = self._columns(columns)
        head = (Span(f"{entry.at.astimezone():%H:%M:%S} ", "quiet"), Span(f"{entry.method:<7}"))
        agent = (Span(f"{sanitize(entry.agent)}: ", "accent strong"),) if entry.agent else ()
        path_cell = pad(cut((*agent, Span(sanitize(entry.path))), path - 1), path)
        duration = "<1" if entry.milliseconds < 1 else f"{entry.milliseconds:,.0f}"
        facts = (Span(f"{duration:>7}"), Span(f"{entry.bytes:>9,}" if entry.bytes else f"{'–':>9}", "quiet"))
        priority = entry.priority.name.lower() if is_wide else ""
        return (*head, *path_cell, _status(entry), *facts, Span(f"  {_source(entry):<8}{priority}", "quiet"))


def _status(entry: Entry) -> Span:
    if entry.from_cache:
        return Span(f"{'–':>6}", "quiet")
    if entry.status is None:
        return Span(f"{'✗ –':>6}", "removed")
    is_good = entry.status < 400
    return Span(f"{entry.status:>6}" if is_good else f"{f'✗ {entry.status}':>6}", "" if is_good else "removed")


def _source(entry: Entry) -> str:
    return "cache" if entry.from_cache else "service"


def _matches(entry: Entry, words: list[str]) -> bool:
    source = f"{_source(entry)} {entry.priority.name} {entry.agent}"
    text = f"{entry.method} {entry.path} {entry.status or ''} {source} {entry.again}"
    return all(word in text.lower() for word in words)


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
