"""The list of sites on the publish screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from typing_extensions import override

from presscheck.api.sites import Site
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.writes import mark_of
from presscheck.tui.ui.list import Column, MarkedList
from presscheck.tui.ui.loaded import Loaded
from presscheck.tui.widgets.empty_state import Message

if TYPE_CHECKING:
    from presscheck.tui.ui.screen import BaseScreen


class SiteList(MarkedList[Site]):
    """The sites of an organization.

    Args:
        screen: the publish screen.
    """

    nouns = "sites"
    loaded: Loaded[Sequence[Site]] = Loaded()

    def __init__(self, screen: BaseScreen) -> None:
        self._screen = screen
        super().__init__((Column("site", self._title), Column("state", _state, 8)), second_line=_facts)
        self.rows.id = "tree"  # the name of its width in the style sheet, and of the width that the user dragged

    @override
    def empty(self) -> Message:
        return Message("There is no site yet.", f"{key_for('add')} creates one.")

    def reason_mark(self) -> str | None:
        """Return why no site can be marked: there is none, or the structure of a site has the focus."""
        if not self.count:
            return "there is no site to mark"
        return None if self._screen.focused is self.rows else "only sites can be marked"

    reason_mark_range = reason_mark_visible = reason_mark

    def _title(self, site: Site) -> Line:
        waiting, style = mark_of(site)
        star = (Span(" ★", "accent"),) if self._screen.engine.shortcuts.is_bookmarked(f"site {site.id}") else ()
        return (Span(waiting, style), Span(sanitize(site.title), "strong"), *star)


def _state(site: Site) -> Line:
    return (Span("● live", "added") if site.published else Span("○ draft", "quiet"),)


def _facts(site: Site) -> Line:
    """Return visibility, type and address of a site."""
    address = shown_address(site, site.urls.published).partition("://")[2].rstrip("/") or site.hostname or ""
    base = f"/{site.basename}" if site.basename and not address else ""
    parts = [sanitize(part) for part in (site.visibility, site.type, address or base) if part]
    return (Span(" "), Span(" · ".join(parts), "quiet"))
