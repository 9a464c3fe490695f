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
from presscheck.tui.screens.publish.site_tree import Items, every, inside, key_of, nodes, visibility_of
from presscheck.tui.widgets.strip_renderer import StyleLookup
from presscheck.tui.widgets.text_view import TextView
from presscheck.tui.widgets.tree import Node, Tree

_NO_ADDRESS = Span("  the address has a share key: shown to those who manage the site", "quiet")


class SitePane(Vertical):
    """Shows the site under the cursor."""

    def __init__(self, look: StyleLookup, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.look = look
        self.items: Items = ()
        self._unfolded = ""
        self._own_orders = 0

    def compose(self) -> ComposeResult:
        """State and structure."""
        yield TextView(self.look, id="facts")
        yield Tree(self._children, self.look, id="structure")

    def on_mount(self) -> None:
        """Only the structure takes the focus."""
        self.query_one("#facts").can_focus = False

    @property
    def parts(self) -> Tree:
        """The structure."""
        return self.query_one(Tree)

    @property
    def item(self) -> StructureItem | None:
        """The item under the cursor, while the structure has the focus."""
        tree = self.parts
        return next((item for item in every(self.items) if key_of(item) == tree.key), None) if tree.has_focus else None

    def show_words(self, words: str) -> None:
        """Show why there is no site."""
        self.show_items(None, ())
        self.query_one("#facts", TextView).show([(Span(f"  {words}", "quiet"),)])

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
        if site and self._unfolded != site.id:
            self._unfolded = site.id
            self.parts.open = {key_of(item) for item in every(items)}
        self.parts.show()

    @property
    def has_own_order(self) -> bool:
        """Whether a move is being sent, so that the order of the service is not the newest."""
        return self._own_orders > 0

    @contextmanager
    def own_order(self) -> Generator[None]:
        """A context in which a move is being sent."""
        self._own_orders += 1
        try:
            yield
        finally:
            self._own_orders -= 1

    def _children(self, key: str | None) -> list[Node]:
        contents = {key_of(item): inside(item) for item in every(self.items)}
        return nodes(self.items if key is None else contents.get(key, ()))
