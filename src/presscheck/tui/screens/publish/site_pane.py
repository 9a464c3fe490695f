"""The pane of a site, with its facts above its structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from typing_extensions import override

from presscheck.api.sites import Site
from presscheck.documents.sites.content import key_of
from presscheck.engine.publish.plan_limits import plan_limits
from presscheck.engine.publish.shown_addresses import shown_address
from presscheck.engine.publish.site_structure import children_of
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, wrap
from presscheck.tui.commands import key_for
from presscheck.tui.screens.sites.details import visibility_of
from presscheck.tui.screens.sites.structure.rows import nodes, path_columns
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.tree import Node, Tree

if TYPE_CHECKING:
    from presscheck.tui.screens.sites.structure.model import SiteTree

FACTS_HEIGHT = 7
"""Number of lines above the structure, without the lines about plan limits. It is the same for sites that were never
published and have one fact less, because Textual lays out the whole screen again when a height changes.
"""
_NO_ADDRESS = Span("  the address has a share key: shown to those who manage the site", "quiet")


class SitePane(Vertical):
    """A pane with the facts and the structure of the site under the cursor.

    Args:
        published: returns a description of the last publish of a site; empty if unknown.
        id: the id of the widget.
    """

    def __init__(
        self,
        published: Callable[[Site], str],
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._published = published
        self._site: Site | None = None
        self.model: SiteTree | None = None
        self._facts: list[Line] = []
        self._limits: list[str] = []
        """Messages about features that the plan of the site limits."""
        self._checks: Line = ()
        self._expanded_site = ""

    @override
    def compose(self) -> ComposeResult:
        yield TextView(id="facts")
        yield Tree(self._children, id="structure")

    def on_mount(self) -> None:
        """Make the facts unfocusable."""
        self.query_one("#facts").can_focus = False

    def on_resize(self) -> None:
        """Wrap the paths and the plan limits to the new width."""
        self.structure.show()
        if self._facts:
            self.show_checks(self._checks)

    @property
    def structure(self) -> Tree:
        """The tree that shows the structure."""
        return self.query_one(Tree)

    def show_message(self, message: str) -> None:
        """Show a message in place of a site."""
        self.show_structure(None)
        self._facts = []
        self.query_one("#facts", TextView).show([(Span(f"  {message}", "quiet"),)])

    def show_site(self, site: Site, model: SiteTree, checks: Line, error: str = "") -> None:
        """Show the facts of a site, the summary of its checks, and its structure. An error replaces the visibility."""
        self._site = site
        address = sanitize(shown_address(site, site.urls.published))
        where = Span(f"  {address}", "link") if address else _NO_ADDRESS
        state = f"visible to {visibility_of(site)}" if site.published else ""
        self._facts = [
            (Span(f"  {sanitize(site.title)}", "title"),),
            (where if site.published else Span(f"  draft: {key_for('publish')} publishes it", "quiet"),),
            (Span(f"  {error or state}", "error" if error else "quiet"),),
        ]
        self._limits = [sanitize(line) for line in plan_limits(site)]
        self._checks = checks
        self.show_structure(model)

    def show_checks(self, checks: Line) -> None:
        """Show the summary of the checks, below the facts and the plan limits of the site."""
        self._checks = checks
        limits: list[Line] = []
        for limit in self._limits:
            first, *rest = wrap((Span(limit, "quiet"),), max(self.size.width - 5, 20))
            limits.append((Span("  ⚠ ", "waiting"), *first))
            limits += [(Span("    "), *line) for line in rest]
        # not cached: a check of a live site may record a publish that was unknown
        when = self._published(self._site) if self._site else ""
        published: list[Line] = [(Span(f"  {when} · {key_for('history')} more", "quiet"),)] if when else []
        facts = self.query_one("#facts", TextView)
        facts.styles.height = FACTS_HEIGHT + len(limits)
        content = ((Span(f"  {self._content()}", "quiet"),),)
        facts.show([*self._facts, *published, *content, *limits, (Span("  "), *checks)])

    def _content(self) -> str:
        """Return the numbers of spaces and open change requests, and whether adaptive content is on, as text."""
        if not (self.model and self.model.loaded.value):
            return ""
        spaces = {item.space.id: item.space for item in self.model.site_spaces}
        open_requests = sum(space.change_requests_open for space in spaces.values())
        adaptive = self.model.site.adaptive_content
        parts = [
            count(len(spaces), "space"),
            count(open_requests, "open change request") if open_requests else "",
            "adaptive content" if adaptive and adaptive.enabled else "",
        ]
        return " · ".join(part for part in parts if part)

    def show_structure(self, model: SiteTree | None) -> None:
        """Show the structure of a site. All items are expanded when the site changes."""
        self.model = model
        if model and model.loaded.value and self._expanded_site != model.site.id:
            self._expanded_site = model.site.id
            self.structure.expanded = {key_of(item) for item in model.in_order if children_of(item)}
        self.structure.show()
        if self._facts:
            self.show_checks(self._checks)

    def _children(self, key: str | None) -> Sequence[Node]:
        return nodes(self.model.below(key), path_columns(self.model, self.size.width)) if self.model else ()
