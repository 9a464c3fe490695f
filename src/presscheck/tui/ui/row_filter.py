"""Filters the rows of a list by a text that is typed after `/`: while it is searched, only rows with it are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presscheck.tui.widgets.line_view import Match
    from presscheck.tui.widgets.row_list import RowList


class RowFilter:
    """A text that is found in a list by showing only the rows with it.

    Args:
        rows: returns the list.
        apply: shows only the rows with a text, in lower case; all without a text.
    """

    def __init__(self, rows: Callable[[], RowList], apply: Callable[[str], None]) -> None:
        self._rows, self._apply = rows, apply

    @property
    def search_text(self) -> str:
        """The text; empty without a filter."""
        return self._rows().search_text

    @property
    def count(self) -> int:
        """The number of rows that are there."""
        return self._rows().count

    def highlight(self, text: str) -> None:
        """Show only the rows with a text from now on."""
        self._rows().highlight(text)
        self._apply(text.lower())

    async def find_items(self, text: str) -> Sequence[object]:
        """The rows with a text."""
        return range(self.count) if text else ()

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Go to the next row with a text."""
        return await self._rows().search(text, step=step)
