"""The activity log: every request of this run, the newest first, and how the one under the cursor is said again."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span, cut, pad, plain
from presscheck.tui.screens.base_screen import NARROW, BaseScreen
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.search_inputs import FilterLine
from presscheck.tui.widgets.status_line import StatusLine
from presscheck.tui.widgets.text_view import TextView

if TYPE_CHECKING:
    from presscheck.desk.activity import Entry

FACTS = 48
"""Columns of a row beside its path."""
WANTED = 10
"""More of them, where there is room: how urgent it is."""
TALLEST = 3
"""Lines that the request under the cursor may take."""


class ActivityScreen(BaseScreen):
    """What was asked, of the service and of the store."""

    DEFAULT_CSS = "ActivityScreen #head { margin-top: 1; } ActivityScreen #again { height: 4; padding-top: 1; }"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "copy_text", "find_here", "errors", "close")

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[Entry, ...] = ()
        self.matching: tuple[Entry, ...] = ()
        self.words = ""

    def title_line(self) -> Line:
        """What this is, and how much of it there is."""
        count = f"{len(self.matching)} of {len(self.entries)}" if self.words else f"{len(self.entries)}"
        only = (Span("  only ", "quiet"), Span(display_text(self.words), "accent")) if self.words else ()
        return (Span(" Activity", "strong"), Span(f"  {count}" if self.entries else "", "quiet"), *only)

    def body(self) -> ComposeResult:
        """The requests, and the one under the cursor as it is typed."""
        yield StatusLine(self.style_for, id="head")
        yield EmptyState(self.style_for)
        yield RowList(self._row, self.style_for, key=lambda at: self.matching[at].number)
        again = TextView(self.style_for, id="again")
        again.can_focus = False
        yield again

    def on_mount(self) -> None:
        """Follow what is asked from now on."""
        super().on_mount()
        self.query_one(RowList).focus()
        self.run(self._listen, group="activity", exclusive=True)

    def on_resize(self) -> None:
        """The columns are as wide as the screen."""
        super().on_resize()
        self.call_after_refresh(self._show)

    def on_row_list_row_pointed(self) -> None:
        """Show how that one is typed."""
        self._show_again()

    def on_row_list_row_chosen(self) -> None:
        """Read all of it."""
        self.command_open()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        """Show these only."""
        self.words = event.text.strip()
        self._show()

    def command_find_here(self) -> None:
        """Show only what holds some words."""
        FilterLine.open(self, self.query_one(RowList), self.words)

    def command_back(self) -> None:
        """Show all again; then back."""
        if self.words:
            self.words = ""
            self._show()
        else:
            self.app_context.close_screen()

    def reason_copy_text(self) -> str | None:
        """There is nothing to copy here."""
        current = self._current
        return None if current and current.again else "there is no request here that can be said again"

    reason_copy = reason_copy_text

    def command_copy_text(self) -> None:
        """Copy the line that says it again."""
        if self._current:
            self.app_context.copy_to_clipboard(display_text(self._line(self._current)))
            self.notify("copied")

    command_copy = command_copy_text

    def command_open(self) -> None:
        """Read all of it."""
        if self._current:
            self.app_context.push_screen(TextScreen("Request", _details(self._current, self._line(self._current))))

    @property
    def _current(self) -> Entry | None:
        at = self.query_one(RowList).cursor
        return self.matching[at] if at < len(self.matching) else None

    async def _listen(self) -> None:
        async for entries in self.desk.activity():
            self.entries = entries
            self.when_shown("activity", self._show)

    def _show(self) -> None:
        rows, block = self.query_one(RowList), self.query_one(EmptyState)
        words = self.words.lower().split()
        self.matching = tuple(one for one in self.entries if _holds(one, words)) if words else self.entries
        rows.show(len(self.matching), cursor=0 if rows.cursor == 0 else None)
        if self.matching:
            block.away()
        elif self.entries:
            block.empty("No request holds these words.", "esc shows all of them.")
        else:
            block.empty("Nothing was asked yet.", "Every request of this run is listed here.")
        self.query_one("#head", StatusLine).show(self._head() if self.matching else ())
        self._show_again()
        self.refresh_status_bars()

    def _show_again(self) -> None:
        lines, current = self.query_one("#again", TextView), self._current
        lines.show(_wrapped(self._line(current), lines.columns) if current else ())

    def _line(self, entry: Entry) -> str:
        """The line for the profile that this is; one that is in no file can be named to nobody."""
        profile = self.app_context.profile
        if profile.name == "default" or profile.token_from is None or not entry.again:
            return entry.again
        return entry.again.replace("presscheck api", f"presscheck --profile {profile.name} api", 1)

    def _head(self) -> Line:
        path, is_wide = self._columns(self.query_one(RowList).columns)
        wanted = "for" if is_wide else ""
        heads = f"  {'time':<9}{'':<7}{'path':<{path}}{'status':>6}{'ms':>7}{'bytes':>9}  {'from':<8}{wanted}"
        return (Span(heads.rstrip(), "quiet"),)

    def _columns(self, columns: int) -> tuple[int, bool]:
        """How many the path has, and whether there is room for how urgent it is."""
        is_wide = columns >= NARROW
        return max(10, columns - FACTS - WANTED * is_wide), is_wide

    def _row(self, at: int, columns: int) -> Line:
        one = self.matching[at]
        path, is_wide = self._columns(columns)
        head = (Span(f"{one.at.astimezone():%H:%M:%S} ", "quiet"), Span(f"{one.method:<7}"))
        where = pad(cut((Span(display_text(one.path)),), path - 1), path)
        spent = "<1" if one.milliseconds < 1 else f"{one.milliseconds:,.0f}"
        facts = (Span(f"{spent:>7}"), Span(f"{one.bytes:>9,}" if one.bytes else f"{'–':>9}", "quiet"))
        wanted = one.priority.name.lower() if is_wide else ""
        return (*head, *where, _status(one), *facts, Span(f"  {_source(one):<8}{wanted}", "quiet"))


def _status(one: Entry) -> Span:
    if one.from_cache:
        return Span(f"{'–':>6}", "quiet")
    if one.status is None:
        return Span(f"{'✗ –':>6}", "removed")
    is_good = one.status < 400
    return Span(f"{one.status:>6}" if is_good else f"{f'✗ {one.status}':>6}", "" if is_good else "removed")


def _source(one: Entry) -> str:
    return "cache" if one.from_cache else "service"


def _holds(one: Entry, words: list[str]) -> bool:
    text = f"{one.method} {one.path} {one.status or ''} {_source(one)} {one.priority.name.lower()} {one.again}".lower()
    return all(word in text for word in words)


def _wrapped(text: str, columns: int) -> list[Line]:
    """A line in pieces that can be put together again; what is too long ends with an ellipsis."""
    shown, columns = display_text(text), max(10, columns - 3)
    lines: list[Line] = []
    while shown and len(lines) < TALLEST:
        piece = plain(cut((Span(shown),), columns, "")) if len(lines) < TALLEST - 1 else shown
        shown = shown[len(piece) :]
        lines.append((Span(" $ " if not lines else "   ", "quiet"), *cut((Span(piece, "code"),), columns)))
    return lines


def _details(one: Entry, again: str) -> list[Line]:
    facts = (
        ("request", f"{one.method} {one.path}"),
        ("when", f"{one.at.astimezone():%H:%M:%S.%f}"[:-3]),
        ("status", "" if one.status is None else str(one.status)),
        ("took", f"{one.milliseconds:,.1f} ms"),
        ("bytes", f"{one.bytes:,}"),
        ("from", _source(one)),
        ("for", one.priority.name.lower()),
    )
    lines: list[Line] = [(), *((Span(f" {key:<9}", "quiet"), Span(display_text(said))) for key, said in facts if said)]
    return [*lines, (), (Span(" $ ", "quiet"), Span(display_text(again) or "it is too long to be said here"))]
