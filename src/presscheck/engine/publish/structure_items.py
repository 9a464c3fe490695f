"""The items of the structure of a site: their keys, kinds, titles and children, and how the API refers to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from presscheck.api.site_structure import (
    SiteSection,
    SiteSectionGroup,
    SiteSpace,
    StructureItem,
    StructureItemPointer,
)
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from typing import Literal

Items = tuple[StructureItem, ...]
_SLUG = re.compile(r"\w+(?:[-.]\w+)*")
_ICON = re.compile(r"[a-z0-9-]*")
KINDS = {"site-space": "space", "site-section": "section", "site-section-group": "group"}
"""The nouns of the kinds of items."""


def key_of(item: StructureItem) -> str:
    """The key of an item in the tree."""
    return f"{item.object} {item.id}"


def kind_of(item: StructureItem) -> str:
    """The noun of an item."""
    return KINDS.get(item.object, "link")


def pointer(item: StructureItem) -> StructureItemPointer:
    """An item as the API refers to it."""
    kind = item.object if item.object in KINDS else "site-external-link"
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


def title_of(item: StructureItem) -> str:
    """The title of an item, as display text."""
    return sanitize(item.title or (item.space.title if isinstance(item, SiteSpace) else "")) or "(no title)"


def path_problem(text: str, taken: Mapping[str, str]) -> str | None:
    """Why a text cannot be a path; None if it can.

    Args:
        text: the text.
        taken: the titles of the items beside it, by their paths.
    """
    if text != text.lower():
        return "small letters only"
    if not _SLUG.fullmatch(text):
        return "small letters, digits, _ and single - or ."
    return f"it is the path of {taken[text]}" if text in taken else None


def icon_problem(text: str) -> str | None:
    """Why a text cannot be the name of an icon; None if it can."""
    return None if _ICON.fullmatch(text) else "small letters, digits and - only"
