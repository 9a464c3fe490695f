"""The layout of the inbox: the preview below the rows or on their right, its size, and the headings of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import clamp

from presscheck.tui.screens.inbox.row_renderer import WIDE
from presscheck.tui.widgets.pane_border import MIN_COLUMNS

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.context import InboxContext

HEADINGS, SIDE = "inbox headings", "inbox preview"
"""The keys under which the choices of the user are stored."""
SHARES = {False: "inbox preview height", True: "inbox preview width"}
"""The keys under which the size of a preview below the rows, and of one beside them, are stored."""
WHOLE = 1000
"""A size is stored as a share of all lines or columns, so that it fits terminals of every size: this is all of them."""
MIN_PREVIEW = 7
"""The lines of a preview below many rows; below few rows it has all that are free."""
MIN_ROWS = 8
"""The lines that the rows have at least, so that the preview does not move when a few are added."""
LEAST_LINES = 3
"""The lines that rows and preview have at least, whatever the user chose."""


class InboxLayout:
    """Decides where the preview stands, how large it is, and whether the columns have headings.

    Args:
        screen: the inbox.
    """

    def __init__(self, screen: InboxContext) -> None:
        self._screen, self._outbox = screen, screen.engine.outbox
        self._headings, self._side = self._outbox.recall(HEADINGS), self._outbox.recall(SIDE)
        self._shares = {is_beside: self._recall_share(is_beside) for is_beside in SHARES}

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
        share = self._shares[False]
        if share is not None:
            return clamp(round(lines * share / WHOLE), LEAST_LINES, max(LEAST_LINES, lines - LEAST_LINES))
        return max(MIN_PREVIEW, lines - max(rows, MIN_ROWS))

    def preview_width(self, columns: int) -> int:
        """The columns of a preview on the right of the rows, with the border; 0 if it is below them."""
        if not self.is_beside(columns):
            return 0
        share = self._shares[True]
        if share is None:
            return columns * 9 // 20
        return clamp(round(columns * share / WHOLE), MIN_COLUMNS + 1, columns - MIN_COLUMNS)

    def set_preview_size(self, size: int, total: int, *, is_beside: bool, is_kept: bool) -> None:
        """Give the preview this number of lines or columns.

        Args:
            size: those of the preview, with the border.
            total: those of rows and preview together.
            is_beside: whether it stands on the right of the rows.
            is_kept: whether the size is stored.
        """
        self._shares[is_beside] = share = clamp(round(size * WHOLE / max(1, total)), 0, WHOLE)
        if is_kept:
            self._outbox.remember(SHARES[is_beside], str(share))
        self._screen.fit()

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

    def _recall_share(self, is_beside: bool) -> int | None:
        """The share of the preview that was stored, in thousandths."""
        share = self._outbox.recall(SHARES[is_beside]) or ""
        return int(share) if share.isdecimal() else None
