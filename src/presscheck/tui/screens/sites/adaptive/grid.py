"""The tab of pages and audiences: a row for each place with a condition, a column for each saved audience."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.engine.publish.audiences import AdaptivePlace
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.commands import key_for, tab_label
from presscheck.tui.screens.sites.adaptive.visitor_page import VisitorPage
from presscheck.tui.screens.sites.adaptive.visitor_tokens import ask_token
from presscheck.tui.ui.list import List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.engine.publish.audiences import Audience
    from presscheck.tui.screens.sites.adaptive.audiences import AudienceList
    from presscheck.tui.screens.sites.adaptive.session import AdaptiveContent

SIGNS = {True: ("✓", "added"), False: ("–", "quiet"), None: ("?", "waiting")}
"""Sign and style of a cell: seen, not seen, or unknown."""
NARROWEST, WIDEST = 6, 16
"""Minimum and maximum width of a column in cells."""


class SeenByGrid(List[AdaptivePlace]):
    """A grid whose cells show whether an audience (column) sees a place (row). Its cursor also moves between columns.

    Args:
        session: the adaptive content of the site.
        audiences: the list that adds audiences.
    """

    name, nouns, place = "Seen by", "pages", " of this site"
    footer = ("open", "left", "right", "all_pages", "add", "find_here", "close")

    def __init__(self, session: AdaptiveContent, audiences: AudienceList) -> None:
        self._session = session
        self._column = 0
        self._shows_all = False
        """Whether the rows include places without a condition."""
        self._audiences = audiences
        super().__init__(())

    @property
    def audience(self) -> Audience | None:
        """The audience of the column under the cursor; None without audiences."""
        audiences = self._session.audiences
        return audiences[min(self._column, len(audiences) - 1)] if audiences else None

    @override
    @property
    def loaded(self) -> Loaded[Sequence[AdaptivePlace]]:
        content, error = self._session.content.value, self._session.content.error
        if content is None:
            return Loaded(None, error)
        return Loaded(content.places if self._shows_all else self._session.limited, error)

    @override
    def key_of(self, item: AdaptivePlace) -> str:
        return item.key

    @override
    def searched(self, item: AdaptivePlace) -> str:
        return item.title

    def move(self, by: int) -> bool:
        """Move the cursor by a number of columns. Returns False without columns."""
        audiences = self._session.audiences
        self._column = max(0, min(self._column + by, len(audiences) - 1))
        self._session.screen.redraw()
        return bool(audiences)

    @override
    def summary(self) -> Line:
        place, audience = self.current, self.audience
        if not self._session.audiences:
            return (Span(f"no audience is saved yet: {key_for('add')} saves one", "waiting"),)
        if place is None or audience is None:
            return ()
        verdict = self._session.verdict(place, audience)
        sign, style = SIGNS[verdict.holds]
        before = "it cannot be told whether " if verdict.holds is None else ""
        after = " does not see it" if verdict.holds is False else " sees it"
        why = f": {verdict.reason}" if verdict.reason else ""
        off = "" if self._session.is_on else "   once adaptive content is on; now everybody sees everything"
        return (
            Span(f"{sign} ", style),
            Span(before),
            Span(sanitize(audience.name), "strong"),
            Span(after),
            Span(sanitize(why), "quiet"),
            Span(off, "waiting"),
        )

    def notes(self) -> str:
        """Return the number of places if all are listed, else the key that lists them."""
        content = self._session.content.value
        if content is None:
            return ""
        return f"all {count(len(content.places), 'place')}" if self._shows_all else f"{key_for('all_pages')}: all pages"

    @override
    def heading(self, width: int) -> Line:
        size, first, last = self._layout(width)
        room, audiences = self._room(width), self._session.audiences
        spans = [*pad((Span("page" if self._shows_all else "page with a condition", "quiet"),), room)]
        for number, audience in enumerate(audiences[first:last], first):
            style = "accent strong" if audience is self.audience else "quiet"
            more = "‹" if number == first and first else "›" if number == last - 1 < len(audiences) - 1 else ""
            name = cut((Span(f"{more}{sanitize(audience.name)}", style),), size - 1)
            spans += pad(name, size) if number < last - 1 else name  # padding after the last name could be cut with “…”
        return tuple(spans)

    @override
    def row(self, index: int, width: int) -> Line:
        place = self.items[index]
        size, first, last = self._layout(width)
        room = self._room(width)
        indent = "  " * place.depth if self._shows_all and not self._text else ""
        kind = "" if place.kind == "page" else f"  {place.kind}"
        title = (
            Span(indent),
            Span(sanitize(place.title) or "(no title)", "strong" if kind else ""),
            Span(kind, "quiet"),
        )
        spans = [*pad(cut(title, room - 1), room)]
        for audience in self._session.audiences[first:last]:
            sign, style = SIGNS[self._session.verdict(place, audience).holds]
            is_here = audience is self.audience and index == self.rows.cursor
            cell = f"[{sign}]" if is_here else f" {sign} "
            spans += pad((Span(cell, f"{style} strong" if is_here else style),), size)
        return tuple(spans)

    def _layout(self, width: int) -> tuple[int, int, int]:
        """Return the width of a column, and the range of visible columns around the cursor."""
        names = self._session.audiences
        size = max([NARROWEST, *(min(WIDEST, len(sanitize(one.name)) + 2) for one in names)])
        fit = max(1, (width - max(20, width // 3)) // size)
        at = min(self._column, max(0, len(names) - 1))
        first = max(0, min(at - fit // 2, len(names) - fit))
        return size, first, min(len(names), first + fit)

    def _room(self, width: int) -> int:
        """Return the width of the column of titles in cells."""
        size, first, last = self._layout(width)
        return max(12, width - size * (last - first))

    @override
    def empty(self) -> Message:
        hint = (
            f"{key_for('all_pages')} lists all pages. Sections and spaces get a condition "
            f"in the structure ({key_for('go_structure')})."
        )
        return Message("Nothing of this site has a condition: everybody sees the same.", hint)

    def reason_rename(self) -> str | None:
        """Return why audiences cannot be changed here: they are changed in their own tab."""
        return f"audiences are changed in their tab: {tab_label(3)} shows it"

    reason_edit = reason_edit_other = reason_delete = reason_copy = reason_rename

    def reason_open(self) -> str | None:
        """Return why the page cannot be opened: there is none, or no audience is saved."""
        if self.audience is None:
            return f"no audience is saved yet: {key_for('add')} saves one"
        return None if self.current else "no page here"

    def command_open(self) -> None:
        """Show the page as the audience sees it.

        For a section or space, show the first page that the audience may see.
        """
        session, place, audience = self._session, self.current, self.audience
        if place is None or audience is None:
            return
        verdict = session.verdict(place, audience)
        page = self._page_in(place, audience)
        if verdict.holds is False:
            session.screen.notify(f"{sanitize(audience.name)} does not see it: {sanitize(verdict.reason)}")
        elif page is None:
            session.screen.notify(f"{sanitize(audience.name)} sees no page in it")
        else:
            doubt = session.verdict(page, audience).reason
            session.screen.app_context.push_screen(VisitorPage(page, audience, session.known, doubt=doubt))

    def command_add(self) -> Awaitable[None]:
        """Save a new audience."""
        return self._audiences.command_add()

    def command_all_pages(self) -> None:
        """List all pages, or only places with a condition."""
        self._shows_all = not self._shows_all
        self._session.screen.redraw()

    def command_test_token(self) -> Awaitable[None]:
        """Test a pasted token, or create a token for the audience."""
        return ask_token(self._session, self.audience)

    def _page_in(self, place: AdaptivePlace, audience: Audience) -> AdaptivePlace | None:
        """Return the place if it is a page, else the first page in the place that the audience may see, or None."""
        content = self._session.content.value
        if place.kind == "page" or content is None:
            return place
        following = iter(content.places)
        for other in following:
            if other.key == place.key:
                break
        for other in following:
            if other.depth <= place.depth:
                break
            if other.kind == "page" and self._session.verdict(other, audience).holds is not False:
                return other
        return None
