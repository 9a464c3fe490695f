"""The structure of a site: its items as tree nodes, their order after a move, their names."""

from __future__ import annotations

from typing import Literal, cast

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
from presscheck.tui.widgets.tree import Node

Items = tuple[StructureItem, ...]
VISIBILITY = {
    "public": "anyone, and to search engines",
    "unlisted": "anyone with the link",
    "share-link": "everyone with the share link",
    "visitor-auth": "visitors who sign in",
}


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
    first = Span("first · ", "quiet") if item.default else Span("")
    return (first, Span(f"/{sanitize(item.path)} ", "quiet"))
