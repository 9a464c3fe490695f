"""A search target that filters the rows of a list by the text typed after `/`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from presscheck.tui.widgets.line_view import Match

if TYPE_CHECKING:
    from presscheck.tui.widgets.row_list import RowList


def has_words(searched: str, text: str) -> bool:
    """Return whether a row with the text `searched` contains all words of a lower-case text."""
    searched = searched.lower()
    return all(word in searched for word in text.split())


class RowFilter:
    """A `Searchable` that shows only the rows that match the searched text.

    Args:
        rows: the list.
        apply: shows only rows that match a lower-case text; an empty text shows all.
    """

    def __init__(self, rows: RowList, apply: Callable[[str], None]) -> None:
        self._rows, self._apply = rows, apply
        self._is_active = False

    @property
    def search_text(self) -> str:
        """The text of the filter; empty without a filter."""
        return self._rows.search_text

    @property
    def count(self) -> int:
        """The number of rows that match."""
        return self._rows.count

    def highlight(self, text: str) -> None:
        """Show only the rows that match a text; an empty text shows all."""
        self._is_active = bool(text)
        self._rows.highlight(text)
        self._apply(text.lower())

    async def find_items(self, text: str) -> Sequence[object]:
        """Return the indexes of all shown rows, which all match; empty for an empty text."""
        return range(self.count) if text else ()

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Go to the next matching row, or to the previous row if `step` is -1."""
        rows = self._rows
        if not self._is_active:
            return await rows.search(text, step=step)
        if not rows.count:
            return None
        rows.jump_to((rows.cursor + step) % rows.count)  # each row matches, perhaps in a text that is not shown
        return Match(rows.cursor + 1, rows.count)
