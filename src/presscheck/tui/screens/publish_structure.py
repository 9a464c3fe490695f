"""The structure of a site as a tree, and as it is once an item has moved among its siblings."""

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
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.widgets.tree import Node

Items = tuple[StructureItem, ...]


def key_of(item: StructureItem) -> str:
    """What an item is in the tree."""
    return f"{item.object} {item.id}"


def pointer(item: StructureItem) -> StructureItemPointer:
    """An item as the service is told of it."""
    kind = item.object if item.object.startswith("site-s") else "site-external-link"
    return StructureItemPointer(
        type=cast("Literal['site-space', 'site-section', 'site-section-group', 'site-external-link']", kind), id=item.id
    )


def inside(item: StructureItem) -> Items:
    """What an item holds."""
    if isinstance(item, SiteSection):
        return item.site_spaces
    return item.children if isinstance(item, SiteSectionGroup) else ()


def every(items: Items) -> Items:
    """The items and all that they hold, in the order in which they are seen."""
    return tuple(one for item in items for one in (item, *every(inside(item))))


def nodes(items: Items) -> list[Node]:
    """Items as nodes of a tree."""
    return [Node(key_of(item), _label(item), _note(item), expandable=bool(inside(item))) for item in items]


def moved(items: Items, key: str, by: Literal[1, -1]) -> tuple[Items, StructurePosition] | None:
    """The structure once an item has changed places with the sibling after or before it, and how the service is told.

    None where there is no such sibling.
    """
    for at, item in enumerate(items):
        if key_of(item) == key:
            other = at + by
            if not 0 <= other < len(items):
                return None
            swapped = list(items)
            swapped[at], swapped[other] = swapped[other], swapped[at]
            beside = pointer(items[other])
            return tuple(swapped), StructurePosition(after=beside) if by > 0 else StructurePosition(before=beside)
        found = moved(inside(item), key, by)
        if found:
            field = "site_spaces" if isinstance(item, SiteSection) else "children"
            return (*items[:at], item.model_copy(update={field: found[0]}), *items[at + 1 :]), found[1]
    return None


def title_of(item: StructureItem) -> str:
    """What an item is called, as display text."""
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
