"""The filter of the tree: while a text is searched, only nodes with it and their ancestors are there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.api.content import ListPages, Pages

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.context import BrowseContext
    from presscheck.tui.widgets.line_view import Match
    from presscheck.tui.widgets.tree import Tree

CHUNK = 20
"""Spaces whose cached pages are read between two turns of the event loop."""


class TreeFilter:
    """Filters the tree by a text, also inside folded nodes and in cached pages; without a text all is as before.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen
        self._expanded: set[str] | None = None
        """The expanded nodes before the filter; None without one."""

    @property
    def _tree(self) -> Tree:
        return self._screen.tree_view

    @property
    def search_text(self) -> str:
        """The text; empty without a filter."""
        return self._tree.search_text

    @property
    def count(self) -> int:
        """The number of visible nodes."""
        return self._tree.count

    def highlight(self, text: str) -> None:
        """Filter by a text from now on; an empty text restores the tree, unfolded as far as its cursor."""
        tree, library = self._tree, self._screen.library
        if text and self._expanded is None:
            self._expanded = set(tree.expanded)
        ancestors = library.filter(text)
        if text:
            tree.expanded = ancestors
        elif self._expanded is not None:
            tree.expanded = self._expanded | set(library.ancestors(tree.key or ""))
            self._expanded = None
        tree.highlight(text)
        self._screen.redraw()

    async def find_items(self, text: str) -> Sequence[object]:
        """The nodes with a text, also in pages that are cached and were not in the tree yet."""
        if await self._add_cached_pages() and self.search_text:
            self.highlight(self.search_text)
        return await self._tree.find_items(text)

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Go to the next node with a text."""
        return await self._tree.search(text, step=step)

    async def _add_cached_pages(self) -> bool:
        """Add the cached pages of spaces that were not expanded yet; returns whether there were any."""
        library, pages = self._screen.library, dict[str, Pages]()
        for number, space in enumerate(library.spaces):
            if library.pages(space.id) is None and space.id not in library.requests:
                known = self._screen.engine.known(ListPages(space_id=space.id))
                if known:
                    pages[space.id] = known.value
            if number % CHUNK == CHUNK - 1:
                await asyncio.sleep(0)
        library.add_pages(pages)
        return bool(pages)
