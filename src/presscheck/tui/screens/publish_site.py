"""One site: what it is, and what it is made of as a tree."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from textual.app import ComposeResult
from textual.containers import Vertical

from presscheck.api.site_structure import StructureItem
from presscheck.api.sites import Site
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span
from presscheck.tui.screens.publish_acts import SEEN_BY
from presscheck.tui.screens.publish_structure import Items, every, inside, key_of, nodes
from presscheck.tui.widgets.lines import Lines
from presscheck.tui.widgets.strips import Look
from presscheck.tui.widgets.tree import Node, Tree


class SitePane(Vertical):
    """Facts above, structure below."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.look = look
        self.items: Items = ()
        self._unfolded = ""
        self._own_orders = 0

    def compose(self) -> ComposeResult:
        """Facts and structure."""
        yield Lines(self.look, id="facts")
        yield Tree(self._children, self.look, id="structure")

    def on_mount(self) -> None:
        """Only the structure is for moving in."""
        self.query_one("#facts").can_focus = False

    @property
    def parts(self) -> Tree:
        """The structure."""
        return self.query_one(Tree)

    @property
    def item(self) -> StructureItem | None:
        """The item under the cursor, while the structure has the focus."""
        tree = self.parts
        return next((one for one in every(self.items) if key_of(one) == tree.key), None) if tree.has_focus else None

    def show_words(self, words: str) -> None:
        """Say why there is no site."""
        self.show_items(None, ())
        self.query_one("#facts", Lines).show([(Span(f"  {words}", "quiet"),)])

    def show_site(self, site: Site, trouble: str = "") -> None:
        """Say what a site is."""
        where = sanitize(site.urls.published or "")
        state = f"seen by {SEEN_BY.get(site.visibility, sanitize(site.visibility))}" if site.published else ""
        self.query_one("#facts", Lines).show(
            [
                (Span(f"  {sanitize(site.title)}", "title"),),
                (Span(f"  {where}", "link") if site.published else Span("  not published: P publishes it", "quiet"),),
                (Span(f"  {trouble or state}", "error" if trouble else "quiet"),),
            ]
        )

    def show_items(self, site: Site | None, items: Items) -> None:
        """Show what a site is made of, all of it unfolded at first."""
        self.items = items
        if site and self._unfolded != site.id:
            self._unfolded = site.id
            self.parts.open = {key_of(item) for item in every(items)}
        self.parts.show()

    @property
    def has_own_order(self) -> bool:
        """Whether items are on their way to another place, so that the service's order is not the newest."""
        return self._own_orders > 0

    @contextmanager
    def own_order(self) -> Generator[None]:
        """While items move."""
        self._own_orders += 1
        try:
            yield
        finally:
            self._own_orders -= 1

    def _children(self, key: str | None) -> list[Node]:
        held = {key_of(item): inside(item) for item in every(self.items)}
        return nodes(self.items if key is None else held.get(key, ()))
