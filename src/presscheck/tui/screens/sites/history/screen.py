"""The screen of the history of a site: when it was published and changed, by which user, and who knows that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.site_config.site_history import HistoryRow, SiteHistory, read_history
from presscheck.engine.site_config.snapshots import Snapshot
from presscheck.text.phrases import exact, now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.sites.history.restore_actions import RestoreActions
from presscheck.tui.screens.sites.title import site_title
from presscheck.tui.status_bar import StatusLine
from presscheck.tui.ui.row_filter import RowFilter
from presscheck.tui.ui.screen import NARROW, BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.sites import Site

WHEN, WHO, WHAT, SHORT, SOURCE = 8, 16, 23, 15, 14
"""Cells of the columns; the details get the rest. Narrow screens have a short *what*, and show the source below."""
STYLES = {"published": "added", "unpublished": "removed", "merged": "link"}
"""The styles of kinds of rows; the others are plain."""


class SiteHistoryScreen(BaseScreen):
    """What happened to a site, the newest first.

    Args:
        organization_id: the organization of the site.
        site: the site.
    """

    DEFAULT_CSS = "SiteHistoryScreen #head { margin-top: 1; } SiteHistoryScreen #row { height: 4; padding-top: 1; }"
    SCOPE = "site"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "restore_snapshot", "mark", "act_on_marked", "find_here", "close")
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"open": "changes since", "act_on_marked": "compare"}

    def __init__(self, organization_id: str, site: Site) -> None:
        super().__init__()
        self.organization_id, self.site = organization_id, site
        self.history: SiteHistory | None = None
        self.rows: tuple[HistoryRow, ...] = ()
        """The rows that are listed: all, or those with the text of the filter."""
        self._filter = RowFilter(lambda: self.query_one(RowList), lambda _: self._show())
        self._actions = RestoreActions(self)

    @override
    def title_line(self) -> Line:
        return site_title(self.site, "History")

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="head")
        yield EmptyState()
        yield RowList(self._row, key=self._key)
        details = TextView(id="row")
        details.can_focus = False
        yield details

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._actions)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RowList).focus()
        self._show()
        self.run(self.reload, group="history", exclusive=True)

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.call_after_refresh(self._show)

    def on_row_list_row_highlighted(self) -> None:
        """Show more about another row."""
        self._show_details()
        self.refresh_status_bars()

    async def reload(self) -> None:
        """Read the history again."""
        self.history = await read_history(self.engine, self.organization_id, self.site.id)
        self.when_shown("history", self._show)

    @property
    def row(self) -> HistoryRow | None:
        """The row under the cursor."""
        at = self.query_one(RowList).cursor if self.is_mounted else 0
        return self.rows[at] if at < len(self.rows) else None

    @property
    def marked(self) -> Sequence[Snapshot]:
        """The snapshots of the marked rows, newest first."""
        marked = self.query_one(RowList).marked if self.is_mounted else set[object]()
        rows = self.history.rows if self.history else ()
        return [row.snapshot for row in rows if row.snapshot and row.snapshot.name in marked]

    @override
    def command_refresh(self) -> None:
        super().command_refresh()
        self.run(self.reload, group="history", exclusive=True)

    async def command_find_here(self) -> None:
        """Filter the rows by a text: a name, what happened, or the source."""
        await self.find.open(self._filter, self.query_one(RowList))

    def reason_mark(self) -> str | None:
        """Disabled without a snapshot."""
        return None if self.row and self.row.snapshot else "only rows with a snapshot can be marked"

    def command_mark(self) -> None:
        """Mark the row, or remove its mark."""
        self.query_one(RowList).mark()

    def reason_copy(self) -> str | None:
        """Disabled without a snapshot."""
        return None if self.row and self.row.snapshot else "this row has no snapshot"

    def command_copy(self) -> None:
        """Copy the name of the snapshot, for `presscheck site restore`."""
        if self.row and self.row.snapshot:
            self.app_context.copy_to_clipboard(self.row.snapshot.name)
            self.notify("copied")

    def command_back(self) -> None:
        """Remove all marks; without marks, close."""
        if not self.query_one(RowList).clear_marks():
            self.app_context.pop_screen()

    def _show(self) -> None:
        rows, empty = self.query_one(RowList), self.query_one(EmptyState)
        every = self.history.rows if self.history else ()
        text = rows.search_text.lower()
        self.rows = tuple(row for row in every if text in _searched(row)) if text else every
        rows.show(len(self.rows))
        if self.rows:
            empty.hide()
        elif self.history is None:
            empty.show_loading("Loading the history …")
        elif text:
            empty.show_empty("No row has this text.")
        else:
            empty.show_empty("Nothing is known yet.", "Publishing and changes from this machine are listed here.")
        self.query_one("#head", StatusLine).show(self._head(rows.columns) if self.rows else ())
        self._show_details()
        self.refresh_status_bars()

    def _show_details(self) -> None:
        row, lines = self.row, list[Line]()
        if row:
            moment = exact(datetime.fromtimestamp(row.at, UTC).isoformat()) if row.at else "–"
            lines.append((Span(f" {moment}", "quiet"), Span(f"  known by {_source_words(row)}", "quiet")))
            lines.append((Span(f" {sanitize(row.detail)}"),))
            if row.snapshot:
                parts = ", ".join(part.replace("_", " ") for part in row.snapshot.parts)
                when = "of what was published" if row.kind == "published" else "before it"
                lines.append((Span(f" snapshot {when}: {parts}", "link"),))
        if self.history and self.history.unread:
            lines = [*lines[:2], (Span(f" Not all is known: {sanitize(self.history.unread[0])}", "waiting"),)]
        details = self.query_one("#row", TextView)
        details.show([cut(line, max(10, details.columns)) for line in lines])

    def _key(self, at: int) -> str | None:
        row = self.rows[at] if at < len(self.rows) else None
        if row is None:
            return None
        return row.snapshot.name if row.snapshot else f"{row.kind} {row.at} {row.detail}"

    def _head(self, columns: int) -> Line:
        is_wide = columns >= NARROW
        what, source = (WHAT, "source") if is_wide else (SHORT, "")
        rest = max(4, columns - WHEN - WHO - what - (SOURCE if is_wide else 0) - 3)
        names = f"   {'when':<{WHEN}}{'who':<{WHO}}{'what':<{what}}{'details':<{rest}}{source}"
        return (Span(names.rstrip(), "quiet"),)

    def _row(self, at: int, columns: int) -> Line:
        row = self.rows[at]
        is_wide = columns >= NARROW
        what, words = (WHAT, row.what) if is_wide else (SHORT, row.what.removesuffix(" changed"))
        rest = max(4, columns - WHEN - WHO - what - (SOURCE if is_wide else 0) - 1)
        when = span(max(0.0, now().timestamp() - row.at)) if row.at else "–"
        style = STYLES.get(row.kind, "") if row.snapshot or row.kind in STYLES else "quiet"
        return (
            Span(f"{when:<{WHEN}}", "quiet"),
            *pad(cut((Span(sanitize(row.who) or "–"),), WHO - 1), WHO),
            *pad((Span(words, style),), what),
            *pad(cut((Span(sanitize(row.detail), "quiet"),), rest - 1), rest),
            *((Span(row.source, "quiet"),) if is_wide else ()),
        )


def _source_words(row: HistoryRow) -> str:
    return "the service" if row.source == "service" else "this machine"


def _searched(row: HistoryRow) -> str:
    return f"{row.who} {row.what} {row.detail} {row.source}".lower()
