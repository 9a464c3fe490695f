"""The pane of one site: its state above, its structure as a tree below."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from textual.app import ComposeResult
from textual.containers import Vertical

from presscheck.api.site_structure import StructureItem
from presscheck.api.sites import Site
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.screens.publish.site_tree import Items, all_items, children_of, key_of, tree_nodes, visibility_of
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.tree import Node, Tree

_NO_ADDRESS = Span("  the address has a share key: shown to those who manage the site", "quiet")


class SitePane(Vertical):
    """Shows the site under the cursor."""

    def __init__(self, style_for: StyleLookup, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.style_for = style_for
        self.items: Items = ()
        self._expanded_site = ""
        self._pending_orders = 0

    def compose(self) -> ComposeResult:
        """State and structure."""
        yield TextView(self.style_for, id="facts")
        yield Tree(self._children, self.style_for, id="structure")

    def on_mount(self) -> None:
        """Only the structure takes the focus."""
        self.query_one("#facts").can_focus = False

    @property
    def structure(self) -> Tree:
        """The structure."""
        return self.query_one(Tree)

    @property
    def item(self) -> StructureItem | None:
        """The item under the cursor, while the structure has the focus."""
        tree = self.structure
        return (
            next((item for item in all_items(self.items) if key_of(item) == tree.key), None) if tree.has_focus else None
        )

    def show_message(self, message: str) -> None:
        """Show why there is no site."""
        self.show_items(None, ())
        self.query_one("#facts", TextView).show([(Span(f"  {message}", "quiet"),)])

    def show_site(self, site: Site, error: str = "") -> None:
        """Show title, address and visibility of a site, or an error."""
        where = Span(f"  {sanitize(site.urls.published)}", "link") if site.urls.published else _NO_ADDRESS
        state = f"visible to {visibility_of(site)}" if site.published else ""
        self.query_one("#facts", TextView).show(
            [
                (Span(f"  {sanitize(site.title)}", "title"),),
                (where if site.published else Span("  draft: P publishes it", "quiet"),),
                (Span(f"  {error or state}", "error" if error else "quiet"),),
            ]
        )

    def show_items(self, site: Site | None, items: Items) -> None:
        """Show the structure of a site, expanded at first."""
        self.items = items
        if site and self._expanded_site != site.id:
            self._expanded_site = site.id
            self.structure.expanded = {key_of(item) for item in all_items(items)}
        self.structure.show()

    @property
    def has_pending_order(self) -> bool:
        """Whether a move is being sent, so that the order of the service is not the newest."""
        return self._pending_orders > 0

    @contextmanager
    def pending_order(self) -> Generator[None]:
        """Keep the moved order on the screen inside this context, while the move is being sent."""
        self._pending_orders += 1
        try:
            yield
        finally:
            self._pending_orders -= 1

    def _children(self, key: str | None) -> list[Node]:
        contents = {key_of(item): children_of(item) for item in all_items(self.items)}
        return tree_nodes(self.items if key is None else contents.get(key, ()))
