"""Changes between two versions of a specification: a summary for its screen, and a list of all changes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.openapi.comparison import Comparison, compare
from presscheck.engine.openapi.versions import SeenVersions
from presscheck.errors import PresscheckError
from presscheck.paths import places
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.row_filter import RowFilter
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.empty_state import EmptyState
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.openapi import OpenAPISpec
    from presscheck.api.organizations import Organization
    from presscheck.engine.openapi.comparison import Change

CHANGE_COLUMNS = 34
"""Width in cells of the column of changes."""
NO_OTHER = "no other version was seen on this computer yet"


class VersionComparison:
    """The comparison of the latest version of a specification with the version seen before.

    Each new version is stored for the next comparison.

    Args:
        screen: the screen of the specification.
        organization: the organization of the specification.
        specification: the specification.
    """

    def __init__(self, screen: BaseScreen, organization: Organization, specification: OpenAPISpec) -> None:
        self._screen, self._organization, self._specification = screen, organization, specification
        self._comparison: Comparison | None = None
        self._seen_at = ""
        self._problem = ""
        self._is_running = False

    @property
    def is_known(self) -> bool:
        """True if there is a result or an error to show."""
        return self._comparison is not None or bool(self._problem)

    def start(self, description: Mapping[str, Any]) -> None:
        """Compare a version with the version seen before, in a thread."""
        self._is_running = True
        self._screen.run(lambda: self._compare(description), group="compare", exclusive=True)

    async def _compare(self, description: Mapping[str, Any]) -> None:
        directory = places().openapi_versions(self._screen.app_context.profile.name)
        seen = SeenVersions(directory, self._organization.id, self._specification.slug)
        self._problem = ""
        try:
            before = await asyncio.to_thread(seen.keep, description)
            if before:
                self._comparison = await asyncio.to_thread(lambda: compare(before.description(), description))
                self._seen_at = before.seen_at
        except PresscheckError as error:
            self._problem = error.message
        self._is_running = False
        self._screen.redraw()

    def line(self) -> Line:
        """Return the error, or the summary of the changes; empty without both."""
        if self._problem:
            return (Span(f" {sanitize(self._problem)}", "waiting"),)
        if self._comparison is None:
            return ()
        sign, style = sign_of(self._comparison)
        when = f"   since the version seen {since(self._seen_at, now())}"
        return (Span(f" {sign} {self._comparison.summary}", style), Span(when, "quiet"))

    def reason_history(self) -> str | None:
        """Return why no changes can be listed: there is no older version, or the comparison is not complete."""
        if self._comparison is not None:
            return None
        return "it is being compared" if self._is_running else self._problem or NO_OTHER

    def command_history(self) -> None:
        """List the changes between the version seen before and the latest version."""
        if self._comparison is not None:
            name = sanitize(self._specification.slug)
            self._screen.app_context.push_screen(ComparisonScreen(name, self._comparison, self._seen_at))


class ComparisonScreen(BaseScreen):
    """The changes between two versions, breaking changes first.

    Args:
        name: the name of the specification, as display text.
        comparison: the changes.
        seen_at: the time when the older version was seen.
    """

    SCOPE = "admin"
    FOOTER: ClassVar[tuple[str, ...]] = ("open", "down", "half_down", "find_here", "copy_text", "close")
    DEFAULT_CSS = "ComparisonScreen #result { margin-top: 1; } ComparisonScreen RowList { margin-top: 1; }"

    def __init__(self, name: str, comparison: Comparison, seen_at: str) -> None:
        super().__init__()
        self._name, self._comparison, self._seen_at = name, comparison, seen_at  # pyrefly: ignore[bad-override-mutable-attribute]
        self._shown: Sequence[Change] = comparison.changes

    @override
    def title_line(self) -> Line:
        return (
            Span(" Administration › OpenAPI › ", "quiet"),
            Span(self._name, "title"),
            Span(" › Changes", "quiet"),
        )

    @override
    def body(self) -> ComposeResult:
        yield StatusLine(id="result")
        yield EmptyState()
        yield RowList(self._row, key=lambda index: index, has_mark_column=False)

    @override
    def on_mount(self) -> None:
        super().on_mount()
        self._rows.focus()
        self._show()

    @property
    def _rows(self) -> RowList:
        return self.query_one(RowList)

    def _show(self) -> None:
        sign, style = sign_of(self._comparison)
        when = f"   since the version seen {since(self._seen_at, now())}"
        more = f"; only the first {len(self._comparison.changes):,} are listed" if self._comparison.is_cut else ""
        self.query_one("#result", StatusLine).show(
            (Span(f" {sign} {self._comparison.summary}{more}", style), Span(when, "quiet"))
        )
        self._rows.show(len(self._shown))
        self._rows.display = bool(self._shown)
        empty = self.query_one(EmptyState)
        if self._shown:
            empty.hide()
        elif self._comparison.changes:
            empty.show_empty("No change has this text.")
        else:
            empty.show_empty("Nothing that clients send or receive has changed.", "Descriptions may have.")
        self.refresh_status_bars()

    def _row(self, index: int, columns: int) -> Line:
        change = self._shown[index]
        sign, style = ("✗", "removed") if change.is_breaking else ("✓", "added")
        change_columns = min(CHANGE_COLUMNS, columns // 2)
        room = max(10, columns - change_columns)
        names = len(change.operations)
        uses = Span(f"   {count(names, 'operation')}" if names > 1 else "", "quiet")
        place = cut((Span(f" {sign} ", style), Span(sanitize(change.place), "strong"), uses), room - 1)
        return (*pad(place, room), *cut((Span(sanitize(change.text), style),), change_columns))

    @on(RowList.RowHighlighted)
    def row_highlighted(self) -> None:
        """Show the commands of the new row."""
        self.refresh_status_bars()

    def reason_open(self) -> str | None:
        """Return why no change can be opened: the list is empty."""
        return None if self._shown else "nothing has changed"

    def command_open(self) -> None:
        """Show a change with all affected operations."""
        if self._rows.cursor < len(self._shown):
            change = self._shown[self._rows.cursor]
            result = Span("breaking", "removed") if change.is_breaking else Span("compatible", "added")
            lines: list[Line] = [(), (Span("  "), result, Span(f"   {sanitize(change.text)}", "strong")), ()]
            lines.append((Span(f"  {count(len(change.operations), 'operation')}", "title"),))
            lines += [(Span(f"  {sanitize(name)}"),) for name in change.operations]
            self.app_context.push_screen(TextScreen(sanitize(change.place), lines))

    reason_copy_text = reason_open

    def command_copy_text(self) -> None:
        """Copy the listed changes as text."""
        lines = [
            f"{'breaking' if change.is_breaking else 'compatible'}: {change.place}: {change.text}"
            for change in self._shown
        ]
        self.app_context.copy_to_clipboard(sanitize("\n".join(lines), lines=True))
        self.notify(f"copied {count(len(lines), 'change')}")

    async def command_find_here(self) -> None:
        """Show only changes that contain a text."""

        def apply(text: str) -> None:
            changes = self._comparison.changes
            self._shown = [each for each in changes if text in f"{each.place} {each.text}".lower()]
            self._show()

        await self.find.open(RowFilter(lambda: self._rows, apply), self._rows)


def sign_of(comparison: Comparison) -> tuple[str, str]:
    """Return the sign and the style of an outcome."""
    signs = {"breaking": ("✗", "removed"), "compatible": ("✓", "added"), "identical": ("✓", "quiet")}
    return signs[comparison.outcome]
