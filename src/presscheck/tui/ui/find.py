"""Text search in the pane of a screen, or in more content than the pane shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual.widget import AwaitMount, Widget

from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.line_view import LineView, Match
from presscheck.tui.widgets.search_inputs import FindBar, SearchInput

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from presscheck.tui.app_context import AppContext

NO_MATCH = Span("no match", "waiting")


class Searchable(Protocol):
    """Content to search: the text of a pane, or all pages of a pane that shows a single page."""

    @property
    def search_text(self) -> str:
        """The highlighted text; empty without a search."""
        ...

    @property
    def count(self) -> int:
        """The number of items; if it changes, the matches are out of date."""
        ...

    def highlight(self, text: str) -> None:
        """Highlight every match of a text; an empty text ends the highlighting."""
        ...

    async def find_items(self, text: str) -> Sequence[object]:
        """Return the matches of a text, in order."""
        ...

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Go to the next match of a text (the previous match if `step` is -1), wrapping at the end."""
        ...


class FindContext(Protocol):
    """What the search needs from its screen."""

    @property
    def app_context(self) -> AppContext:
        """The app, which buffers typed keys while the search works."""
        ...

    @property
    def text_pane(self) -> LineView | None:
        """The pane to search."""
        ...

    def set_focus(self, widget: Widget | None) -> None:
        """Give a widget the focus."""
        ...

    def mount(self, *widgets: Widget) -> AwaitMount:
        """Add a widget."""
        ...

    def run(self, work: Callable[[], Awaitable[None]], *, group: str = "work", exclusive: bool = False) -> object:
        """Run asynchronous work, which is cancelled when the screen is closed."""
        ...

    def refresh_status_bars(self) -> None:
        """Draw the status bar and the footer."""
        ...


class Find:
    """The search of a screen: an input for the text, highlighted matches, and the number of the current match.

    Args:
        screen: the screen whose panes are searched.
    """

    def __init__(self, screen: FindContext) -> None:
        self._screen = screen
        self.pane: Searchable | None = None
        """The pane of the last search; None before the first search."""
        self._focus: Widget | None = None
        """The widget that gets the focus when the input closes."""
        self._bar: FindBar | None = None
        self._last = ""
        self._match: Match | None = None
        self._size = 0
        """The number of items at the last search; if it differs now, the count of matches is out of date."""

    async def command_find_here(self) -> None:
        """Open the search input for the focused pane."""
        pane = self._screen.text_pane
        if pane:
            await self.open(pane, pane)

    async def open(self, pane: Searchable, focus: Widget) -> None:
        """Open the search input; `focus` gets the focus when the input closes."""
        self.end()
        bar = FindBar(self._last)
        self.pane, self._focus, self._bar = pane, focus, bar
        self._screen.app_context.type_ahead.hold(FindBar)  # mounting takes long on a busy machine
        try:
            await self._screen.mount(bar)
            if self._bar is bar:  # not closed in the meantime
                self._screen.set_focus(bar.query_one(SearchInput))  # at once, for keys that were typed ahead
        finally:
            self._screen.app_context.type_ahead.release(FindBar)

    def command_find_next(self) -> None:
        """Go to the next match."""
        self._go(1)

    def command_find_previous(self) -> None:
        """Go to the previous match."""
        self._go(-1)

    def show(self, pane: Searchable, text: str) -> None:
        """Highlight a text, and go to its first match after the cursor."""
        self.end()
        self.pane, self._last = pane, text
        pane.highlight(text)
        self._go(1)

    def typed(self, text: str) -> None:
        """Highlight and count the matches while the text is typed."""
        pane, bar = self.pane, self._bar
        if pane is None or bar is None:
            return
        pane.highlight(text)

        async def count_matches() -> None:
            number = len(await pane.find_items(text))
            if self._bar is bar:
                found = Span(count(number, "match", "matches"), "quiet") if number else NO_MATCH
                bar.show_count((found,) if text else ())

        self._screen.run(count_matches, group="find", exclusive=True)

    def submitted(self, text: str) -> None:
        """Close the input and go to the first match after the cursor; an empty text ends the search."""
        if text:
            self._last = text
            self.close_bar()
            self._go(1)
        else:
            self.end()
            self._screen.app_context.type_ahead.release(FindBar)

    @property
    def is_open(self) -> bool:
        """Whether the search input is open."""
        return self._bar is not None

    def close_bar(self) -> None:
        """Close the input; the matches stay highlighted."""
        bar, self._bar = self._bar, None
        if bar is None:
            return
        if self._focus and bar.has_focus_within:
            self._screen.set_focus(self._focus)
        bar.remove()

    def end(self) -> bool:
        """Remove the highlighting and the input. Return True if there was a search to end."""
        pane, self._match = self.pane, None
        is_finding = self._bar is not None or bool(pane and pane.search_text)
        if is_finding:
            self.close_bar()
        if pane and is_finding:
            pane.highlight("")
        return is_finding

    def line(self) -> Line:
        """Return the searched text with the number of the current match, for the footer.

        The line is empty without a search and while the input is open.
        """
        pane = self.pane
        if pane is None or self._bar or not pane.search_text:
            return ()
        text = Span(f"/{sanitize(self._last)}  ", "quiet")
        if pane.count != self._size:
            return (text,)
        return (text, Span(f"{self._match.number} of {self._match.total}", "accent") if self._match else NO_MATCH)

    def _go(self, step: int) -> None:
        pane = self.pane or self._screen.text_pane
        if pane is None or not self._last:
            return
        self.pane = pane

        async def search() -> None:
            try:
                self._match = await pane.search(self._last, step=step)
            finally:
                self._screen.app_context.type_ahead.release(FindBar)  # the match is selected, or there is none
            self._size = pane.count
            self._screen.refresh_status_bars()

        self._screen.run(search, group="find", exclusive=True)
