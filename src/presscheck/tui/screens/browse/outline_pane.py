"""The outline pane of the browse screen: shows the headings next to the page where there is room, and goes to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presscheck.tui.screens.browse.context import BrowseContext

WIDE = 120
"""Columns of a terminal that has room for the outline."""
SHOWN = "browse outline"
"""The key under which is remembered that the outline is shown."""


class OutlinePane:
    """Shows and hides the outline, and goes to what is chosen in it.

    Args:
        screen: the browse screen.
    """

    def __init__(self, screen: BrowseContext) -> None:
        self._screen = screen
        self.is_zoomed = False
        """Whether the page has the whole width."""
        self._is_wanted: bool | None = None

    @property
    def has_room(self) -> bool:
        """Whether the terminal is wide enough, and the page does not have the whole width."""
        return self._screen.size.width >= WIDE and not self.is_zoomed

    @property
    def is_shown(self) -> bool:
        """Whether the outline is beside the page now."""
        if self._is_wanted is None:
            self._is_wanted = self._screen.engine.outbox.recall(SHOWN) == "yes"
        return self._is_wanted and self.has_room

    def toggle(self) -> None:
        """Show the outline with the focus, or hide it; remembered."""
        self._is_wanted = not self.is_shown
        self._screen.engine.outbox.remember(SHOWN, "yes" if self._is_wanted else None)
        self.arrange()
        self._screen.set_focus(self._screen.outline if self._is_wanted else self._screen.page_view)

    def arrange(self) -> None:
        """Show the outline where it is wanted and has room."""
        outline, is_shown = self._screen.outline, self.is_shown
        if outline.has_focus and not is_shown:
            self._screen.set_focus(self._screen.page_view)  # at once: a hidden pane would lose the focus
        outline.display = is_shown
        self._screen.page_view.on_drawn = outline.follow if is_shown else None
        outline.follow()

    def open(self) -> None:
        """Go to the heading under the cursor of the outline, and into the page."""
        view = self._screen.page_view
        view.go_to_heading(self._screen.outline.cursor, opens=True)
        self._screen.set_focus(view)
