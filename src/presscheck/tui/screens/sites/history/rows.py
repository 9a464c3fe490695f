"""The list of a site's history: rows can be marked, compared with each other or with the current site, and restored."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.engine.site_config.site_history import HistoryRow, changes_between
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count, exact, now, span
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain, with_prefix, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.differences import difference_lines
from presscheck.tui.screens.sites.history.restores import restore, restore_reason, time_of
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.screen import NARROW
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.engine.site_config.document import SiteConfig
    from presscheck.engine.site_config.snapshots import Snapshot
    from presscheck.tui.screens.sites.history.session import HistorySession

WHEN, WHO, WHAT, SHORT, SOURCE = 8, 16, 24, 16, 14
"""Widths of the columns in cells. A narrow list has the `SHORT` width instead of `WHAT`, and no source."""
STYLES = {"published": "added", "unpublished": "removed", "merged": "link"}
"""Styles of row kinds; other kinds have no style."""
NO_SNAPSHOT = "no snapshot: only changes from this machine have one"
LOADING: Line = (Span(" Loading …", "quiet"),)


class HistoryList(List[HistoryRow]):
    """The history of a site, newest first.

    Args:
        session: the history of the site.
    """

    nouns, place = "changes", " of this site"
    footer = ("open", "restore_snapshot", "mark", "act_on_marked", "find_here", "close")
    has_marks = True

    def __init__(self, session: HistorySession) -> None:
        self._session = session
        when, who = Column("when", _when, WHEN), Column("who", _who, WHO)
        details = Column[HistoryRow]("details", lambda row: (Span(sanitize(row.detail), "quiet"),))
        source = Column[HistoryRow]("source", lambda row: (Span(row.source, "quiet"),), SOURCE)
        self._narrow = (when, who, Column("what", _short, SHORT), details)
        self._wide = (when, who, Column("what", _what, WHAT), details, source)
        super().__init__(self._wide)

    @override
    @property
    def loaded(self) -> Loaded[Sequence[HistoryRow]]:
        history = self._session.history.value
        return Loaded(history.rows if history else None)

    @override
    def key_of(self, item: HistoryRow) -> str:
        return item.snapshot.name if item.snapshot else f"{item.kind} {item.at} {item.detail}"

    @override
    def searched(self, item: HistoryRow) -> str:
        return f"{item.who} {item.what} {item.detail} {item.source}"

    @override
    def empty(self) -> Message:
        return Message("Nothing is known yet.", "Publishing and changes from this machine are listed here.")

    @override
    def heading(self, width: int) -> Line:
        self.columns = self._wide if width >= NARROW else self._narrow
        return super().heading(width)

    @override
    def details(self, width: int) -> list[Line]:
        row, lines = self.current, list[Line]()
        if row:
            moment = exact(datetime.fromtimestamp(row.at, UTC).isoformat()) if row.at else "–"
            source = "the service" if row.source == "service" else "this machine"
            lines.append((Span(f" {moment}", "quiet"), Span(f"  known by {source}", "quiet")))
            lines.append((Span(f" {sanitize(row.detail)}"),))
            if row.snapshot:
                parts = ", ".join(part.replace("_", " ") for part in row.snapshot.parts)
                when = "of what was published" if row.kind == "published" else "before it"
                lines.append((Span(f" snapshot {when}: {parts}", "link"),))
        history = self._session.history.value
        if history and history.unread:
            lines = [*lines[:2], (Span(f" Not all is known: {sanitize(history.unread[0])}", "waiting"),)]
        return lines

    def _snapshot(self) -> Snapshot | None:
        return self.current.snapshot if self.current else None

    def reason_open(self) -> str | None:
        """Return why the changes cannot be shown: the row has no snapshot, or the app is offline."""
        if self._snapshot() is None:
            return NO_SNAPSHOT if self.current else "there is no row"
        is_online = self._session.screen.engine.status.online
        return None if is_online else "you are offline, and the service has what it is now"

    async def command_open(self) -> None:
        """Show the changes from the snapshot to the current site, field by field."""
        snapshot, session = self._snapshot(), self._session
        if snapshot is None:
            return

        async def sides() -> tuple[SiteConfig, SiteConfig]:
            before = await session.config(snapshot)
            return before, (await session.reader.read(before.parts)).config

        await self._show_changes(f"Changes since {time_of(snapshot)}", sides())

    def _marked_snapshots(self) -> list[Snapshot]:
        """Return the snapshots of the marked rows, newest first."""
        return [row.snapshot for row in self.marked if row.snapshot]

    def reason_act_on_marked(self) -> str | None:
        """Return why the marked rows cannot be compared: a comparison needs exactly two snapshots."""
        marked = len(self._marked_snapshots())
        return (
            None if marked == 2 else f"{count(marked, 'row')} marked: {key_for('mark')} marks the two rows to compare"
        )

    async def command_act_on_marked(self) -> None:
        """Show the changes from the older to the newer of two marked snapshots."""
        newer, older = self._marked_snapshots()

        async def sides() -> tuple[SiteConfig, SiteConfig]:
            return await self._session.config(older), await self._session.config(newer)

        await self._show_changes(f"Changes from {time_of(older)} to {time_of(newer)}", sides())

    async def _show_changes(self, title: str, sides: Awaitable[tuple[SiteConfig, SiteConfig]]) -> None:
        page = TextScreen(title, [LOADING])
        await self._session.screen.app_context.push_screen(page)
        try:
            before, after = await sides
            page.show(_comparison(before, after, page.size.width))
        except PresscheckError as error:
            page.show([(Span(f" Not known: {sanitize(error.message)}", "removed"),)])

    def reason_restore_snapshot(self) -> str | None:
        """Return why the snapshot cannot be restored: there is none, or the change is not allowed now."""
        snapshot = self._snapshot()
        return self.reason_open() or (restore_reason(self._session, snapshot) if snapshot else None)

    async def command_restore_snapshot(self) -> None:
        """Choose a part of the snapshot, confirm the calls that restore it, and send them."""
        snapshot = self._snapshot()
        if snapshot:
            await restore(self._session, snapshot)

    def reason_mark(self) -> str | None:
        """Return why the row cannot be marked: it has no snapshot."""
        return None if self._snapshot() else "only rows with a snapshot can be marked"

    def command_mark(self) -> None:
        """Mark the row, or remove its mark."""
        self.rows.marks.toggle()

    def reason_copy(self) -> str | None:
        """Return why the name of the snapshot cannot be copied: the row has no snapshot."""
        return None if self._snapshot() else "this row has no snapshot"

    def command_copy(self) -> None:
        """Copy the name of the snapshot, for `presscheck site restore`."""
        snapshot = self._snapshot()
        if snapshot:
            self._session.screen.app_context.copy_to_clipboard(snapshot.name)
            self._session.screen.notify("copied")


def _when(row: HistoryRow) -> Line:
    return (Span(span(max(0.0, now().timestamp() - row.at)) if row.at else "–", "quiet"),)


def _who(row: HistoryRow) -> str:
    return sanitize(row.who) or "–"


def _what(row: HistoryRow) -> Line:
    return (Span(row.what, STYLES.get(row.kind, "") if row.snapshot or row.kind in STYLES else "quiet"),)


def _short(row: HistoryRow) -> Line:
    return tuple(span._replace(text=span.text.removesuffix(" changed")) for span in _what(row))


def _comparison(before: SiteConfig, after: SiteConfig, columns: int) -> list[Line]:
    differences = changes_between(before, after)
    if not differences:
        return [(Span(" Nothing differs.", "quiet"),)]
    lines: list[Line] = [(Span(f" {count(len(differences), 'difference')}", "strong"),), ()]
    return [*lines, *(part for line in difference_lines(differences) for part in _wrapped(line, columns - 2))]


def _wrapped(line: Line, columns: int) -> list[Line]:
    """Wrap a line. Continuation lines are indented two cells more than the first line."""
    text = plain(line)
    indent = len(text) - len(text.lstrip())
    lines = wrap(line, max(20, columns - indent - 2))
    return with_prefix(lines, (Span(" " * indent),), (Span(" " * (indent + 2)),))
