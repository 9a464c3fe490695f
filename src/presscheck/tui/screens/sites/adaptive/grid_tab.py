"""The tab of who sees what: a row for each place with a condition, a column for each saved audience."""

from __future__ import annotations

from collections.abc import Awaitable, Hashable
from typing import TYPE_CHECKING

from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.sites.adaptive.visitor_page import VisitorPage

if TYPE_CHECKING:
    from presscheck.engine.publish.audiences import AdaptivePlace, Audience, Verdict
    from presscheck.tui.screens.sites.adaptive.context import AdaptiveContext

SIGNS = {True: ("✓", "added"), False: ("–", "quiet"), None: ("?", "waiting")}
"""The sign of a cell, and its style, by whether the audience sees the place."""
NARROWEST, WIDEST = 6, 16
"""Cells of a column."""


class GridTab:
    """Who sees what.

    Args:
        screen: the screen of adaptive content.
    """

    name, noun = "Seen by", "pages"
    footer = ("open", "left", "right", "all_pages", "add", "find_here", "close")

    def __init__(self, screen: AdaptiveContext) -> None:
        self._screen = screen
        self._text = ""
        self._column = 0
        self._state: tuple[int, bool, str] | None = None
        """What the listed places were found for."""
        self._shown: list[AdaptivePlace] = []
        self.shows_all = False
        """Whether places without a condition are listed, too."""

    @property
    def _audiences(self) -> tuple[Audience, ...]:
        return self._screen.model.audiences

    @property
    def audience(self) -> Audience | None:
        """The audience of the column under the cursor."""
        audiences = self._audiences
        return audiences[min(self._column, len(audiences) - 1)] if audiences else None

    @property
    def shown(self) -> list[AdaptivePlace]:
        """The places that are listed; found once for every row of a drawing."""
        state = (self._screen.model.version, self.shows_all, self._text)
        if self._state != state:
            content = self._screen.model.content
            places = content.places if content else ()
            self._state = state
            self._shown = [
                place for place in places if (self.shows_all or place.condition) and self._text in place.title.lower()
            ]
        return self._shown

    @property
    def total(self) -> int | None:
        """How many there are."""
        content = self._screen.model.content
        if content is None:
            return None
        return sum(bool(self.shows_all or place.condition) for place in content.places)

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.shown)

    @property
    def _current(self) -> AdaptivePlace | None:
        at, shown = self._screen.rows.cursor, self.shown
        return shown[at] if at < len(shown) else None

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        shown = self.shown
        return shown[index].key if index < len(shown) else None

    def filter(self, text: str) -> None:
        """Show only the rows with a text."""
        self._text = text

    def move(self, by: int) -> bool:
        """Go to another column; returns whether there are columns."""
        self._column = max(0, min(self._column + by, len(self._audiences) - 1))
        return bool(self._audiences)

    def summary(self) -> Line:
        """The cell under the cursor in words."""
        place, audience = self._current, self.audience
        if not self._audiences:
            return (Span("no audience is saved yet: a saves one", "waiting"),)
        if place is None or audience is None:
            return ()
        verdict = self._verdict(place, audience)
        sign, style = SIGNS[verdict.holds]
        before = "it cannot be told whether " if verdict.holds is None else ""
        after = {True: " sees it", False: " does not see it", None: " sees it"}[verdict.holds]
        why = f": {verdict.reason}" if verdict.reason else ""
        off = "" if self._screen.model.is_on else "   once adaptive content is on; now everybody sees everything"
        return (
            Span(f"{sign} ", style),
            Span(before),
            Span(sanitize(audience.name), "strong"),
            Span(after),
            Span(sanitize(why), "quiet"),
            Span(off, "waiting"),
        )

    def _verdict(self, place: AdaptivePlace, audience: Audience) -> Verdict:
        return self._screen.model.verdict(place, audience)

    def heading(self, columns: int) -> Line:
        """The names of the audiences."""
        size, first, last = self._columns(columns)
        spans = [*pad((Span("page" if self.shows_all else "page with a condition", "quiet"),), self._room(columns))]
        for number, audience in enumerate(self._audiences[first:last], first):
            style = "accent strong" if audience is self.audience else "quiet"
            more = "‹" if number == first and first else "›" if number == last - 1 < len(self._audiences) - 1 else ""
            name = cut((Span(f"{more}{sanitize(audience.name)}", style),), size - 1)
            spans += pad(name, size) if number < last - 1 else name  # blanks behind the last one could be cut with “…”
        return tuple(spans)

    def row(self, index: int, columns: int) -> Line:
        """A place, and a sign for each audience."""
        place = self.shown[index]
        size, first, last = self._columns(columns)
        room = self._room(columns)
        indent = "  " * place.depth if self.shows_all and not self._text else ""
        kind = "" if place.kind == "page" else f"  {place.kind}"
        title = (
            Span(indent),
            Span(sanitize(place.title) or "(no title)", "strong" if kind else ""),
            Span(kind, "quiet"),
        )
        spans = [*pad(cut(title, room - 1), room)]
        for audience in self._audiences[first:last]:
            sign, style = SIGNS[self._verdict(place, audience).holds]
            is_here = audience is self.audience and index == self._screen.rows.cursor
            cell = f"[{sign}]" if is_here else f" {sign} "
            spans += pad((Span(cell, f"{style} strong" if is_here else style),), size)
        return tuple(spans)

    def _columns(self, columns: int) -> tuple[int, int, int]:
        """The width of a column, and the first and the one after the last that fit around the one of the cursor."""
        names = self._audiences
        size = max([NARROWEST, *(min(WIDEST, len(sanitize(one.name)) + 2) for one in names)])
        fit = max(1, (columns - max(20, columns // 3)) // size)
        at = min(self._column, max(0, len(names) - 1))
        first = max(0, min(at - fit // 2, len(names) - fit))
        return size, first, min(len(names), first + fit)

    def _room(self, columns: int) -> int:
        """The width of the titles."""
        size, first, last = self._columns(columns)
        return max(12, columns - size * (last - first))

    def empty(self) -> tuple[str, str]:
        """What to do without conditions."""
        return (
            "Nothing of this site has a condition: everybody sees the same.",
            "& lists all pages. Sections and spaces get a condition in the structure (g u).",
        )

    def reason(self, command: str) -> str | None:
        """Why a command cannot run now."""
        if command == "add":
            return None
        if command != "open":
            return "audiences are changed in their tab: 3 shows it"
        if self.audience is None:
            return "no audience is saved yet: a saves one"
        return None if self._current else "no page here"

    def run(self, command: str) -> Awaitable[None] | None:
        """Show the page as the audience gets it."""
        place, audience = self._current, self.audience
        if place is None or audience is None:
            return None
        verdict = self._verdict(place, audience)
        page = self._page_in(place, audience)
        if verdict.holds is False:
            self._screen.notify(f"{sanitize(audience.name)} does not see it: {sanitize(verdict.reason)}")
        elif page is None:
            self._screen.notify(f"{sanitize(audience.name)} sees no page in it")
        else:
            model = self._screen.model
            self._screen.app_context.push_screen(
                VisitorPage(page, audience, model.known, doubt=self._verdict(page, audience).reason)
            )
        return None

    def _page_in(self, place: AdaptivePlace, audience: Audience) -> AdaptivePlace | None:
        """The page itself; of a section or space the first page in it that is not hidden from the audience."""
        content = self._screen.model.content
        if place.kind == "page" or content is None:
            return place
        following = iter(content.places)
        for other in following:
            if other.key == place.key:
                break
        for other in following:
            if other.depth <= place.depth:
                break
            if other.kind == "page" and self._verdict(other, audience).holds is not False:
                return other
        return None

    def notes(self) -> str:
        """How many places are listed."""
        content = self._screen.model.content
        if content is None:
            return ""
        return f"all {count(len(content.places), 'place')}" if self.shows_all else "&: all pages"
