"""The history screen of a site: when it was published and changed, by which user, and the source of each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.screens.sites.history.rows import HistoryList
from presscheck.tui.screens.sites.history.session import HistorySession
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.ui.row_filter import RowFilter
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.sites import Site


class SiteHistoryScreen(BaseScreen):
    """The history of a site, newest first.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    DEFAULT_CSS = "SiteHistoryScreen #head { margin-top: 1; } SiteHistoryScreen #row { height: 4; padding-top: 1; }"
    SCOPE = "site"
    FOOTER: ClassVar[tuple[str, ...]] = HistoryList.footer
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"open": "changes since", "act_on_marked": "compare"}

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.session = HistorySession(self, organization_id, site)
        self.list = HistoryList(self.session)

    @override
    def title_line(self) -> Line:
        return site_title(self.session.site, "History")

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="head")
        yield EmptyState()
        yield self.list.rows
        details = TextView(id="row")
        details.can_focus = False
        yield details

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self.list)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.list.rows.focus()
        self._draw()
        self.session.load()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._draw)

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the details of the new row."""
        self._draw_details()
        self.refresh_status_bars()

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.session.load()

    async def command_find_here(self) -> None:
        """Filter the rows by user, event or source."""

        def apply(text: str) -> None:
            self.list.filter(text)
            self.redraw()

        await self.find.open(RowFilter(lambda: self.list.rows, apply), self.list.rows)

    def command_back(self) -> None:
        """Remove all marks; without marks, close the screen."""
        if not self.list.rows.clear_marks():
            self.app_context.pop_screen()

    @override
    def redraw(self) -> None:
        self.when_shown("history", self._draw)

    def _draw(self) -> None:
        if self.is_leaving:
            return
        rows, empty = self.list.rows, self.query_one(EmptyState)
        heading = (Span(" " * rows.bar_width), *self.list.heading(rows.columns))
        self.list.show()
        if self.list.count:
            empty.hide()
        else:
            empty.show_message(self.list.explanation(online=self.engine.status.online))
        self.query_one("#head", StatusLine).show(heading if self.list.count else ())
        self._draw_details()
        self.refresh_status_bars()

    def _draw_details(self) -> None:
        view = self.query_one("#row", TextView)
        view.show([cut(line, max(10, view.columns)) for line in self.list.details()])
