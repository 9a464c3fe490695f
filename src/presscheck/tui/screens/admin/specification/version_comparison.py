"""Changes between two versions of a specification: a summary for the specification's screen, and a list of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.openapi.comparison import Change, Comparison, compare
from presscheck.engine.openapi.versions import SeenVersions
from presscheck.errors import PresscheckError
from presscheck.paths import places
from presscheck.text.phrases import count, now, since
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.text_screen import TextScreen
from presscheck.tui.ui.list import Column, List
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.ui.tabs import Tabs, TabScreen
from presscheck.tui.widgets.empty_state import Message
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from presscheck.api.openapi import OpenAPISpec
    from presscheck.api.organizations import Organization
    from presscheck.tui.ui.screen import BaseScreen

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
        """Compare a version with the version seen before, in the background."""
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
        return _summary(self._comparison, self._seen_at) if self._comparison else ()

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


class ChangeList(List[Change]):
    """The changes between two versions, breaking changes first.

    Args:
        screen: the screen of the list.
        changes: the changes.
    """

    nouns = "changes"
    footer = ("open", "down", "half_down", "find_here", "copy_text", "close")

    def __init__(self, screen: BaseScreen, changes: Sequence[Change]) -> None:
        self._screen, self._changes = screen, changes
        super().__init__((Column("place", _place, share=3), Column("change", _change, share=2)))

    @override
    @property
    def loaded(self) -> Loaded[Sequence[Change]]:
        return Loaded(self._changes)

    @override
    def key_of(self, item: Change) -> int:
        return id(item)

    @override
    def empty(self) -> Message:
        return Message("Nothing that clients send or receive has changed.", "Descriptions may have.")

    def reason_open(self) -> str | None:
        """Return why no change can be opened: the list is empty."""
        return None if self.current else "nothing has changed"

    def command_open(self) -> None:
        """Show a change with all affected operations."""
        change = self.current
        if change:
            result = Span("breaking", "removed") if change.is_breaking else Span("compatible", "added")
            lines: list[Line] = [(), (Span("  "), result, Span(f"   {sanitize(change.text)}", "strong")), ()]
            lines.append((Span(f"  {count(len(change.operations), 'operation')}", "title"),))
            lines += [(Span(f"  {sanitize(name)}"),) for name in change.operations]
            self._screen.app_context.push_screen(TextScreen(sanitize(change.place), lines))

    reason_copy_text = reason_open

    def command_copy_text(self) -> None:
        """Copy the listed changes as text."""
        lines = [
            f"{'breaking' if change.is_breaking else 'compatible'}: {change.place}: {change.text}"
            for change in self.items
        ]
        self._screen.app_context.copy_to_clipboard(sanitize("\n".join(lines), lines=True))
        self._screen.notify(f"copied {count(len(lines), 'change')}")


class ComparisonScreen(TabScreen):
    """The changes between two versions.

    Args:
        name: the name of the specification, as display text.
        comparison: the changes.
        seen_at: the time when the older version was seen.
    """

    SCOPE = "admin"
    DEFAULT_CSS = "ComparisonScreen #result { margin-top: 1; }"

    def __init__(self, name: str, comparison: Comparison, seen_at: str) -> None:
        super().__init__()
        self._name, self._comparison, self._seen_at = name, comparison, seen_at  # pyrefly: ignore[bad-override-mutable-attribute]
        self.lists = Tabs(self, [ChangeList(self, comparison.changes)])

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
        yield from super().body()

    @override
    def on_mount(self) -> None:
        super().on_mount()
        listed = len(self._comparison.changes)
        more = f"; only the first {listed:,} are listed" if self._comparison.is_cut else ""
        self.query_one("#result", StatusLine).show(_summary(self._comparison, self._seen_at, more))
        self.redraw()


def _summary(comparison: Comparison, seen_at: str, more: str = "") -> Line:
    signs = {"breaking": ("✗", "removed"), "compatible": ("✓", "added"), "identical": ("✓", "quiet")}
    sign, style = signs[comparison.outcome]
    when = f"   since the version seen {since(seen_at, now())}"
    return (Span(f" {sign} {comparison.summary}{more}", style), Span(when, "quiet"))


def _place(change: Change) -> Line:
    sign, style = ("✗", "removed") if change.is_breaking else ("✓", "added")
    names = len(change.operations)
    uses = Span(f"   {count(names, 'operation')}" if names > 1 else "", "quiet")
    return (Span(f"{sign} ", style), Span(sanitize(change.place), "strong"), uses)


def _change(change: Change) -> Line:
    return (Span(sanitize(change.text), "removed" if change.is_breaking else "added"),)
