"""Commands of every screen: moving in the focused pane, going from pane to pane, and finding text in it."""

from __future__ import annotations

from typing import Any

from textual.screen import Screen

from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.search_inputs import FindLine
from presscheck.tui.widgets.tree import Tree

END = 1 << 30


class PaneCommands:
    """Handles the commands that move and find in the pane that has the focus.

    Args:
        screen: the screen whose panes these are.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    @property
    def pane(self) -> LineView | None:
        """The focused list, tree or text; None if something else has the focus."""
        focused = self._screen.focused
        return focused if isinstance(focused, LineView) else None

    def command_down(self) -> None:
        """Move down one line."""
        self._move(1)

    def command_up(self) -> None:
        """Move up one line."""
        self._move(-1)

    def command_top(self) -> None:
        """Move to the top."""
        self._move(-END)

    def command_bottom(self) -> None:
        """Move to the bottom."""
        self._move(END)

    def command_half_down(self) -> None:
        """Move half a page down."""
        if self.pane:
            self.pane.move_half_pages(1)

    def command_half_up(self) -> None:
        """Move half a page up."""
        if self.pane:
            self.pane.move_half_pages(-1)

    def command_left(self) -> None:
        """Collapse a tree node, or focus the pane on the left."""
        if not (isinstance(self.pane, Tree) and self.pane.collapse_node()):
            self.command_previous_pane()

    def command_right(self) -> None:
        """Expand a tree node, or focus the pane on the right."""
        if not (isinstance(self.pane, Tree) and self.pane.expand_node()):
            self.command_next_pane()

    def command_next_pane(self) -> None:
        """Focus the next pane."""
        self._screen.focus_next()

    def command_previous_pane(self) -> None:
        """Focus the previous pane."""
        self._screen.focus_previous()

    def command_open(self) -> None:
        """Open what is under the cursor."""
        if self.pane:
            self.pane.choose()

    def command_labels(self) -> None:
        """Label the links of the first page shown, to follow one by its label."""
        for page in self._screen.query(PageView):
            if page.display and page.label_links():
                page.focus()
                return

    def command_find_here(self) -> None:
        """Ask for a text and go to its first match."""
        if self.pane:
            FindLine.open(self._screen, self.pane)

    def command_find_next(self) -> None:
        """Go to the next match."""
        self._find(1)

    def command_find_previous(self) -> None:
        """Go to the previous match."""
        self._find(-1)

    def _find(self, step: int) -> None:
        pane = self.pane
        if pane and pane.search_text:
            self._screen.run_worker(pane.search(pane.search_text, step=step), group="find", exclusive=True)

    def _move(self, by: int) -> None:
        if self.pane:
            self.pane.move(by)
