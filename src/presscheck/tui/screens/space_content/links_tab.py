"""The tab of links: each target with the page that links to it and its state, broken links first."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from presscheck.documents.pages.tree import flatten
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.page.editor import edit_page
from presscheck.tui.screens.space_content.loader import links_of_page
from presscheck.tui.screens.space_content.model import (
    SIGNS,
    STATES,
    LinkRow,
    State,
    rows_of,
    target_kind,
    target_name,
)
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.tui.screens.space_content.context import SpaceContentContext

STATE_COLUMNS, KIND_COLUMNS = 11, 17
WIDE = 90
"""From this width on, the kind of the target has a column."""
HELP = {"in app": "for members only", "external": "other addresses", "ok": "pages, files, content"}


class LinksTab:
    """The links, or those in one state.

    Args:
        screen: the screen of links and files.
    """

    name, noun = "Links", "links"
    footer = ("open", "edit", "edit_view", "find_here", "copy", "close")

    def __init__(self, screen: SpaceContentContext) -> None:
        self._screen = screen
        self._state: State | None = None
        self._page: tuple[str, tuple[LinkRow, ...]] | None = None
        """The title of the only page whose links are shown, and these; None for all pages."""
        self._rows: tuple[LinkRow, ...] = ()
        self._of: tuple[LinkRow, ...] = ()
        """All links when `_rows` was made."""
        self._is_filtered = True

    @property
    def rows(self) -> tuple[LinkRow, ...]:
        """The links that the filter shows."""
        known = self._page[1] if self._page else self._screen.model.rows
        if self._of is not known or not self._is_filtered:
            self._of, self._is_filtered = known, True
            self._rows = tuple(row for row in known if self._state in (None, row.state))
        return self._rows

    @property
    def total(self) -> int | None:
        """How many there are in all."""
        return len(self._screen.model.rows) if self._screen.model.linked else None

    @property
    def count(self) -> int:
        """The number of shown links."""
        return len(self.rows)

    def key(self, index: int) -> Hashable | None:
        """What identifies a row."""
        row = self.rows[index] if index < self.count else None
        return (row.page.id if row.page else "", row.target) if row else None

    def summary(self) -> Line:
        """How many links are in each state."""
        model, spans = self._screen.model, list[Span]()
        for state in STATES:
            (sign, style), number = SIGNS[state], model.counts[state]
            is_quiet = not number or self._state not in (None, state)
            spans += [Span(f"{sign} ", "quiet" if is_quiet else style)]
            spans += [Span(f"{number:,} {state}   ", "quiet" if is_quiet else "")]
        if self._page:
            spans.append(Span(f"only on {self._page[0]}: F shows others   ", "accent"))
        if self._state:
            spans.append(Span(f"only {self._state}: F shows others   ", "accent"))
        return tuple(spans)

    def heading(self, columns: int) -> Line:
        """The names of the columns."""
        kind = "kind" if columns >= WIDE else ""
        return self._columns((Span("state"),), (Span("page"),), (Span("links to"),), kind, columns, "quiet")

    def row(self, index: int, columns: int) -> Line:
        """State, page and target."""
        row = self.rows[index]
        sign, style = SIGNS[row.state]
        page = sanitize(row.page.title) or "(no title)" if row.page else "–"
        state = (Span(f"{sign} {row.state}", style),)
        target = (Span(target_name(row.target), style if row.state == "broken" else "link"),)
        return self._columns(state, (Span(page),), target, target_kind(row.target), columns)

    def _columns(self, state: Line, page: Line, target: Line, kind: str, columns: int, style: str = "") -> Line:
        kind_columns = KIND_COLUMNS if columns >= WIDE else 0
        room = max(0, columns - STATE_COLUMNS - kind_columns - 2)
        shown = cut(target, room - room * 2 // 5)
        line = (
            *pad(state, STATE_COLUMNS),
            *pad(cut(page, room * 2 // 5), room * 2 // 5 + 2),
            *(pad(shown, room - room * 2 // 5) if kind_columns else shown),
            *((Span(f"  {kind}", "quiet"),) if kind_columns else ()),
        )
        return tuple(span._replace(style=style) for span in line) if style else line

    def empty(self) -> tuple[str, str]:
        """Why no link is shown."""
        if self._page and not self._page[1]:
            return f"{self._page[0]} has no links.", "F shows those of other pages."
        if self._state:
            return f"No link is {self._state}.", "F shows the others."
        return "No links in this space.", ""

    def address(self, index: int) -> str:
        """The target, if it is an address."""
        row = self.rows[index] if index < self.count else None
        return (row.target.url or "") if row and row.target and row.state in ("external", "in app") else ""

    def text(self, index: int) -> str:
        """The target as it is shown."""
        return target_name(self.rows[index].target) if index < self.count else ""

    async def open(self, index: int) -> None:
        """Browse the page at the link."""
        row = self.rows[index]
        if row.page is None:
            self._screen.notify("the service does not say which page has this link")
            return
        await self._screen.open_page(row.page, row.target)

    def edit_reason(self, index: int) -> str | None:
        """Why the page of a link cannot be edited."""
        row = self.rows[index] if index < self.count else None
        return None if row and row.page else "no link here"

    async def edit(self, index: int, *, uses_other_editor: bool = False) -> None:
        """Edit the page of a link in the change request, in the usual editor or in the other one."""
        page = self.rows[index].page
        path = await self._screen.request_path() if page else None
        if page and path:
            await edit_page(self._screen, path, page.id, uses_other_editor=uses_other_editor)

    def open_web(self, index: int) -> None:
        """Open an address in the browser."""
        if address := self.address(index):
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify("this link leads to no web address: enter opens its page")

    async def choose_filter(self) -> None:
        """Choose which links are shown."""
        counts = self._screen.model.counts
        choices = [Choice("all", "All links", f"{self.total or 0:,}")]
        choices += [
            Choice(state, f"Only {state}", f"{HELP.get(state, '')}  {counts[state]:,}".strip()) for state in STATES
        ]
        offline = "" if self._screen.engine.status.online else "you are offline"
        choices.append(Choice("page", "Those of one page …", offline or "as the service has them now"))
        choice = await self._screen.ask(Picker("Links: show", choices))
        if choice == ("page",):
            await self._choose_page()
        elif choice:
            self._page, self._state = None, next((state for state in STATES if state == choice[0]), None)
            self._is_filtered = False
            self._screen.redraw()

    async def _choose_page(self) -> None:
        """Ask for a page, and show only its links, read from the service."""
        screen, content = self._screen, self._screen.model.revision
        pages = [page for page in flatten(content.pages) if page.type == "document"] if content else []
        page = await screen.choose_page("Links of which page?", pages)
        if page:
            found = rows_of(await links_of_page(screen.engine, screen.model, page.id))
            rows = (row._replace(page=row.page or page) for row in found)
            ordered = tuple(sorted(rows, key=lambda row: STATES.index(row.state)))
            self._page, self._state, self._is_filtered = (sanitize(page.title) or "(no title)", ordered), None, False
            screen.redraw()
