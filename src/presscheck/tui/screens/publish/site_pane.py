"""The pane of one site: its state above, its structure as a tree below; the order of items after a move."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal, cast

from textual.app import ComposeResult
from textual.containers import Vertical

from presscheck.api.site_structure import (
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    StructureItem,
    StructureItemPointer,
    StructurePosition,
)
from presscheck.api.sites import Site
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.tree import Node, Tree

Items = tuple[StructureItem, ...]
VISIBILITY = {
    "public": "anyone, and to search engines",
    "unlisted": "anyone with the link",
    "share-link": "everyone with the share link",
    "visitor-auth": "visitors who sign in",
}
_NO_ADDRESS = Span("  the address has a share key: shown to those who manage the site", "quiet")


def visibility_of(site: Site) -> str:
    """Who can see a published site, after the words `visible to`."""
    return VISIBILITY.get(site.visibility, sanitize(site.visibility))


def key_of(item: StructureItem) -> str:
    """The key of an item in the tree."""
    return f"{item.object} {item.id}"


def pointer(item: StructureItem) -> StructureItemPointer:
    """An item as the API refers to it."""
    kind = item.object if item.object.startswith("site-s") else "site-external-link"
    return StructureItemPointer(
        type=cast("Literal['site-space', 'site-section', 'site-section-group', 'site-external-link']", kind), id=item.id
    )


def children_of(item: StructureItem) -> Items:
    """The items below an item."""
    if isinstance(item, SiteSection):
        return item.site_spaces
    return item.children if isinstance(item, SiteSectionGroup) else ()


def all_items(items: Items) -> Items:
    """All items, depth first."""
    return tuple(nested for item in items for nested in (item, *all_items(children_of(item))))


def tree_nodes(items: Items) -> list[Node]:
    """Items as nodes of a tree."""
    return [Node(key_of(item), _label(item), _note(item), expandable=bool(children_of(item))) for item in items]


def move_item(items: Items, key: str, by: Literal[1, -1]) -> tuple[Items, StructurePosition] | None:
    """The structure after an item was moved by one among its siblings, and its new position for the API.

    None if there is no such sibling.
    """
    for at, item in enumerate(items):
        if key_of(item) == key:
            other = at + by
            if not 0 <= other < len(items):
                return None
            swapped = list(items)
            swapped[at], swapped[other] = swapped[other], swapped[at]
            sibling = pointer(items[other])
            return tuple(swapped), StructurePosition(after=sibling) if by > 0 else StructurePosition(before=sibling)
        change = move_item(children_of(item), key, by)
        if change:
            field = "site_spaces" if isinstance(item, SiteSection) else "children"
            return (*items[:at], item.model_copy(update={field: change[0]}), *items[at + 1 :]), change[1]
    return None


def title_of(item: StructureItem) -> str:
    """The title of an item, as display text."""
    return sanitize(item.title or (item.space.title if isinstance(item, SiteSpace) else "")) or "(no title)"


def _label(item: StructureItem) -> Line:
    style = {"site-section": "strong", "site-section-group": "heading"}.get(item.object, "")
    draft = (Span("  draft", "waiting"),) if getattr(item, "draft", None) else ()
    return (Span(title_of(item), style), *draft)


def _note(item: StructureItem) -> Line:
    if not isinstance(item, SiteSpace | SiteSection):
        return ()
    default = Span("default · ", "quiet") if item.default else Span("")
    return (default, Span(f"/{sanitize(item.path)} ", "quiet"))


class SitePane(Vertical):
    """Shows the site under the cursor."""

    def __init__(self, style_for: StyleLookup, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.style_for = style_for
        self.items: Items = ()
        self._facts: list[Line] = []
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

    def show_site(self, site: Site, checks: Line, error: str = "") -> None:
        """Show title, address and visibility of a site, or an error; then what its checks found."""
        where = Span(f"  {sanitize(site.urls.published)}", "link") if site.urls.published else _NO_ADDRESS
        state = f"visible to {visibility_of(site)}" if site.published else ""
        self._facts = [
            (Span(f"  {sanitize(site.title)}", "title"),),
            (where if site.published else Span("  draft: P publishes it", "quiet"),),
            (Span(f"  {error or state}", "error" if error else "quiet"),),
        ]
        self.show_checks(checks)

    def show_checks(self, checks: Line) -> None:
        """Show what the checks of the site found, below its facts."""
        self.query_one("#facts", TextView).show([*self._facts, (Span("  "), *checks)])

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
