"""The bar of the tour: above the footer of a screen, or at the top of a dialog."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.widgets.status_bar import ClickableLines

OVER_DIALOGS = "tour"
"""The layer of the bar above a dialog, so that the dialog keeps its position."""


class TourBar(ClickableLines):
    """The two lines of the tour, with keys at the right of the second. Above a dialog, only the first line is shown.

    Args:
        is_over_dialog: whether the bar is shown on top of a dialog.
    """

    DEFAULT_CSS = f"""
    TourBar {{ height: 2; background: $ink-raised; }}
    TourBar.over-dialog {{ height: 1; dock: top; layer: {OVER_DIALOGS}; }}
    """

    is_raised = True

    def __init__(self, *, is_over_dialog: bool) -> None:
        super().__init__(classes="over-dialog" if is_over_dialog else "")
        self._lines: Sequence[Line] = ()
        self._keys: Line = ()

    def show(self, lines: Sequence[Line], keys: Line) -> None:
        """Replace the lines and the keys on the right of the last line."""
        if (lines, keys) != (self._lines, self._keys):
            self._lines, self._keys = lines, keys
            self.refresh()

    @override
    def line_at(self, y: int) -> Line:
        line = self._lines[y] if y < len(self._lines) else ()
        if y != 1:
            return line
        columns = self.size.width
        line = cut(line, max(0, columns - width(self._keys) - 3))
        return (*line, Span(" " * max(1, columns - width(line) - width(self._keys) - 1)), *self._keys)
