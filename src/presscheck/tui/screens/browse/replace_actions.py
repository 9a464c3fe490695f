"""Opens find and replace for the space under the cursor, in the change request that it is browsed in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from presscheck.tui.screens.page_editor import stays_locked

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from presscheck.api.spaces import Space
    from presscheck.tui.screens.browse.context import BrowseContext


class ReplaceActions:
    """Handles the command that finds and replaces text in all pages of a space.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen

    def reason_find_replace(self) -> str | None:
        """Disabled without a space."""
        item = self._screen.item
        return None if item and item.space else "go to a space or a page first"

    def command_find_replace(self) -> Awaitable[None] | None:
        """Ask what to find, and list the hits."""
        item = self._screen.item
        return self._open(item.space) if item and item.space else None

    async def _open(self, space: Space) -> None:
        # 40 ms of imports, only when it is first opened
        from presscheck.tui.screens.replace.screen import ReplaceScreen
        from presscheck.tui.screens.replace.task import TextTask, ask_query

        screen = self._screen
        if await stays_locked(screen, space.id):
            return
        query = await ask_query(screen, space)
        if query:
            request = screen.library.requests.get(space.id)
            show_request = partial(screen.browse_in, space.id)
            screen.app_context.push_screen(ReplaceScreen(space, request, TextTask(space, query), show_request))
