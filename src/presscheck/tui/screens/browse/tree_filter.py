"""The filter of the tree, which hides all nodes except matches, their contents and their ancestors."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.api.content import ListPages, Pages
from presscheck.errors import PresscheckError

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.session import ContentTree
    from presscheck.tui.widgets.line_view import Match
    from presscheck.tui.widgets.tree import Tree

CHUNK = 20
"""Number of spaces whose cached pages are read between two turns of the event loop."""
REST = 0.3
"""Seconds without typing before pages that are not cached are requested."""
MOST_READ, AT_ONCE = 50, 10
"""Maximum number of spaces whose pages are requested, in total and in parallel."""


class TreeFilter:
    """The filter of the tree by a text. It includes collapsed nodes, and spaces whose pages are not loaded.

    Args:
        session: the tree and the page pane.
    """

    def __init__(self, session: ContentTree) -> None:
        self._session, self._screen = session, session.screen
        self._asked: set[str] = set()
        """The ids of the spaces whose pages were requested."""
        self._expanded: set[str] | None = None
        """The expanded nodes before the filter; None without a filter."""

    @property
    def _tree(self) -> Tree:
        return self._session.tree_view

    @property
    def search_text(self) -> str:
        """The text of the filter; empty without a filter."""
        return self._tree.search_text

    @property
    def count(self) -> int:
        """The number of visible nodes."""
        return self._tree.count

    def highlight(self, text: str) -> None:
        """Filter by a text. An empty text restores the tree, expanded down to the cursor."""
        tree, library = self._tree, self._session.library
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
        """Return the nodes that contain a text, including cached pages that were not in the tree.

        Pages that are not cached are requested, and the filter is applied again when they arrive.
        """
        if await self._add_cached_pages() and self.search_text:
            self.highlight(self.search_text)
        if text:
            self._screen.run(self._read_others, group="filter pages", exclusive=True)
        return await self._tree.find_items(text)

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Go to the next node that contains a text, or to the previous node if `step` is -1."""
        return await self._tree.search(text, step=step)

    async def _add_cached_pages(self) -> bool:
        """Add the cached pages of spaces that are not loaded. Returns True if there were any."""
        library, pages = self._session.library, dict[str, Pages]()
        for number, space in enumerate(library.spaces):
            if library.pages(space.id) is None and space.id not in library.requests:
                known = self._screen.engine.known(ListPages(space_id=space.id))
                if known:
                    pages[space.id] = known.value
            if number % CHUNK == CHUNK - 1:
                await asyncio.sleep(0)
        library.add_pages(pages)
        return bool(pages)

    async def _read_others(self) -> None:
        """Read the pages of at most `MOST_READ` spaces that are not cached, once per space, and filter again."""
        await asyncio.sleep(REST)
        engine, library = self._screen.engine, self._session.library
        if not engine.status.online or engine.missing_reason(ListPages):
            return
        missing = (space.id for space in library.spaces if library.pages(space.id) is None)
        others = [space for space in missing if space not in library.requests and space not in self._asked]
        others = others[: max(0, MOST_READ - len(self._asked))]
        for at in range(0, len(others), AT_ONCE):
            some = others[at : at + AT_ONCE]
            answers = await asyncio.gather(*map(self._read, some))
            self._asked.update(some)
            library.add_pages({space: pages for space, pages in zip(some, answers, strict=True) if pages})
            if not self.search_text:
                return
            self.highlight(self.search_text)
            self._screen.find.typed(self.search_text)

    async def _read(self, space: str) -> Pages | None:
        try:
            return await self._screen.engine.read(ListPages(space_id=space))
        except PresscheckError:  # pages of this space are not found
            return None
