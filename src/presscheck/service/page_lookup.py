"""Finding one's way in a stored tree of pages: nested objects as on the wire, whose paths follow from their slugs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

Page = dict[str, Any]
"""A page as it is stored: wire names, `documentId` for its text, `pages` for those below; no path."""


class Place(NamedTuple):
    """A page, the list that it stands in, the page above (None at the root), and its path."""

    page: Page
    siblings: list[Page]
    above: Page | None
    path: str


def walk(tree: list[Page], above: Page | None = None, prefix: str = "") -> Iterator[Place]:
    """Every page, parents before those below, in order."""
    for page in tree:
        path = prefix + (page.get("slug") or "")
        yield Place(page, tree, above, path)
        yield from walk(children(page), page, f"{path}/" if page.get("slug") else prefix)


def children(page: Page) -> list[Page]:
    """The pages below a page."""
    return page.get("pages") or []


def find_page(tree: list[Page], page_id: str) -> Place | None:
    """The page with an id."""
    return next((place for place in walk(tree) if place.page["id"] == page_id), None)


def page_at(tree: list[Page], path: str) -> Place | None:
    """The page at a path; links have none."""
    wanted = path.strip("/")
    return next((place for place in walk(tree) if place.page.get("slug") and place.path == wanted), None)


def free_slug(wanted: str, siblings: list[Page], page_id: str | None = None) -> str:
    """The slug, or with a number behind it where another page beside it has that one."""
    taken = {page.get("slug") for page in siblings if page["id"] != page_id}
    slug, number = wanted, 1
    while slug in taken:
        slug = f"{wanted}-{number}"
        number += 1
    return slug
