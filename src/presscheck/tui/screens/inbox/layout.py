"""The layout of the inbox: the preview below the rows or on their right, and the headings of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.tui.screens.inbox.columns import WIDE

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.context import InboxContext

HEADINGS, SIDE = "inbox headings", "inbox preview"
"""The keys under which the choices of the user are stored."""
MIN_PREVIEW = 7
"""The lines of a preview below many rows; below few rows it has all that are free."""
MIN_ROWS = 8
"""The lines that the rows have at least, so that the preview does not move when a few are added."""


class InboxLayout:
    """Decides where the preview stands, how high it is, and whether the columns have headings.

    Args:
        screen: the inbox.
    """

    def __init__(self, screen: InboxContext) -> None:
        self._screen, self._outbox = screen, screen.engine.outbox
        self._headings, self._side = self._outbox.recall(HEADINGS), self._outbox.recall(SIDE)

    def has_headings(self, columns: int) -> bool:
        """Whether a screen of that width has column headings: a wide one has, unless the user chose otherwise."""
        return self._headings == "on" if self._headings else columns >= WIDE

    def is_beside(self, columns: int) -> bool:
        """Whether the preview stands on the right of the rows."""
        return self._side == "right" and columns >= WIDE

    def preview_height(self, lines: int, rows: int) -> int:
        """The lines of a preview below the rows.

        Args:
            lines: the lines that both have together.
            rows: the lines that the rows need.
        """
        return max(MIN_PREVIEW, lines - max(rows, MIN_ROWS))

    def command_column_headings(self) -> None:
        """Show the column headings, or hide them."""
        is_on = self.has_headings(self._screen.columns)
        self._headings = "off" if is_on else "on"
        self._outbox.remember(HEADINGS, self._headings)
        self._screen.fit()

    def reason_preview_side(self) -> str | None:
        """Disabled on a narrow screen."""
        is_wide = self._screen.columns >= WIDE
        return None if is_wide else f"the preview stands on the right from {WIDE} columns on"

    def command_preview_side(self) -> None:
        """Show the preview on the right of the rows, or below them."""
        self._side = "below" if self._side == "right" else "right"
        self._outbox.remember(SIDE, self._side)
        self._screen.fit()
