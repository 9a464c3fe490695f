"""The commands that every place has: moving in the pane that has the focus, between panes, and finding in it."""

from __future__ import annotations

from textual.screen import Screen

from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.tree import Tree

END = 1 << 30


class Moving(Screen[None], inherit_bindings=False):
    """A screen whose methods are the commands of the table that move and find."""

    @property
    def pane(self) -> LineView | None:
        """The line-drawn widget that has the focus."""
        return self.focused if isinstance(self.focused, LineView) else None

    def command_down(self) -> None:
        """Down one line."""
        self._move(1)

    def command_up(self) -> None:
        """Up one line."""
        self._move(-1)

    def command_top(self) -> None:
        """To the top."""
        self._move(-END)

    def command_bottom(self) -> None:
        """To the bottom."""
        self._move(END)

    def command_half_down(self) -> None:
        """Half a page down."""
        if self.pane:
            self.pane.page(1)

    def command_half_up(self) -> None:
        """Half a page up."""
        if self.pane:
            self.pane.page(-1)

    def command_left(self) -> None:
        """Fold, or one pane to the left."""
        if not (isinstance(self.pane, Tree) and self.pane.fold()):
            self.command_previous_pane()

    def command_right(self) -> None:
        """Unfold, or one pane to the right."""
        if not (isinstance(self.pane, Tree) and self.pane.unfold()):
            self.command_next_pane()

    def command_next_pane(self) -> None:
        """The next pane."""
        self.focus_next()

    def command_previous_pane(self) -> None:
        """The pane before."""
        self.focus_previous()

    def command_open(self) -> None:
        """Open what the cursor stands on."""
        if self.pane:
            self.pane.choose()

    def command_labels(self) -> None:
        """Label the links of the page."""
        for page in self.query(PageView):
            if page.display and page.label_links():
                page.focus()
                return

    def command_find_here(self) -> None:
        """Ask for a text, and go to it."""
        from presscheck.tui.widgets.find_line import FindLine

        if self.pane:
            FindLine.open(self, self.pane)

    def command_find_next(self) -> None:
        """The next match."""
        if self.pane and self.pane.needle:
            self.run_worker(self.pane.search(self.pane.needle), group="find", exclusive=True)

    def command_find_previous(self) -> None:
        """The match before."""
        if self.pane and self.pane.needle:
            self.run_worker(self.pane.search(self.pane.needle, step=-1), group="find", exclusive=True)

    def _move(self, by: int) -> None:
        if self.pane:
            self.pane.move(by)
