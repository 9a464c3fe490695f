"""Finds a page in a stored page tree by its path."""

from __future__ import annotations

from collections.abc import Sequence

from presscheck.documents.pages.tree import Page, PagePosition, children, walk

__all__ = ["Page", "PagePosition", "children", "page_at", "walk"]


def page_at(tree: Sequence[Page], path: str) -> PagePosition | None:
    """The page at a path; link pages have no path."""
    normalized = path.strip("/")
    return next((place for place in walk(tree) if place.path and place.path == normalized), None)
