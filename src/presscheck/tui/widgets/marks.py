"""The marks of a list or a tree, and the commands that change them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from textual.message import Message

from presscheck.tui.commands import key_for
from presscheck.tui.widgets.line_view import LineView

K = TypeVar("K")


class Marks(Generic[K]):
    """The marked items of a view, and the start of a range of marks.

    Marks belong to the keys of items, not to their indexes, so they stay with their items when items are added or
    removed.

    Args:
        view: the view.
        key_at: returns the key of an item; None if the item is not loaded.
        find: returns the index of the item with a key, given its former index; None if the item is gone.
        can_mark: returns whether the item with a key can be marked.

    Attributes:
        keys: the keys of the marked items, some of which may no longer exist.
    """

    class Changed(Message):
        """Posted when marks were added or removed."""

    def __init__(
        self,
        view: LineView,
        key_at: Callable[[int], K | None],
        find: Callable[[K, int], int | None],
        can_mark: Callable[[K], bool] = lambda _: True,
    ) -> None:
        self._view, self._key_at, self._find, self._can_mark = view, key_at, find, can_mark
        self.keys: set[K] = set()
        self._range_start: tuple[K, int] | None = None
        """The key and the former index of the item at which a range starts."""

    def toggle(self) -> bool:
        """Mark the item under the cursor, or remove its mark, and move to the next item.

        Returns whether the item can be marked.
        """
        key = self._key_at(self._view.cursor)
        if key is None or not self._can_mark(key):
            return False
        self.keys ^= {key}
        self._changed()
        self._view.move(1)
        return True

    def toggle_range(self) -> bool:
        """Start a range at the cursor. The second call marks all items from the start of the range to the cursor.

        If all of these items are marked, the second call removes their marks. If the first item of the range is gone,
        the second call starts a new range.

        Returns:
            Whether a range was started.
        """
        start = None if self._range_start is None else self._find(*self._range_start)
        cursor = self._view.cursor
        if start is None:
            key = self._key_at(cursor)
            self._range_start = None if key is None else (key, cursor)
            return True
        self._range_start = None
        first, last = sorted((start, cursor))
        self._toggle(range(first, last + 1))
        return False

    def toggle_visible(self) -> None:
        """Mark all visible items; if all are marked, remove their marks."""
        self._toggle(self._view.visible_range)

    def clear(self) -> bool:
        """Remove all marks. Return whether there were any."""
        had_any = bool(self.keys) or self._range_start is not None
        self.keys.clear()
        self._range_start = None
        if had_any:
            self._changed()
        return had_any

    def command_mark(self) -> None:
        """Mark the row, or remove its mark."""
        self.toggle()

    def command_mark_range(self) -> None:
        """Start or end a range of marks."""
        if self.toggle_range():
            self._view.screen.notify(f"a range starts here: {key_for('mark_range')} ends it")

    def command_mark_visible(self) -> None:
        """Mark all visible rows; if all are marked, remove their marks."""
        self.toggle_visible()

    def _toggle(self, numbers: range) -> None:
        keys = {key for number in numbers if (key := self._key_at(number)) is not None and self._can_mark(key)}
        if keys:
            self.keys = self.keys - keys if keys <= self.keys else self.keys | keys
            self._changed()

    def _changed(self) -> None:
        self._view.redraw()
        self._view.post_message(self.Changed())
