"""The widths of the columns of a table: what is left out where there is little room, and what is shortened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.facts import Column

GAP = 2
"""Cells between two columns."""
ARROW = " ↑"
"""What follows the heading of the column by which rows are sorted."""
MARGIN = 3
"""Cells at the right that stay free: a line of headings needs them."""
NARROWEST = 18
"""The least cells, with the gap, of a description, and of a column whose texts are not known yet."""
READABLE = 30
"""The cells, with the gap, that such a column keeps as long as columns at its right can be left out instead."""
WIDEST = 48
"""The most cells of such a column, unless its texts are long."""


def column_widths(columns: Sequence[Column], texts: Sequence[int], room: int) -> list[int]:
    """The widths of the columns that there is room for, the gaps included.

    A column whose width is not fixed is as wide as its texts, so that names and addresses can be read: the last columns
    are left out for it. Only where that is not enough its texts are shortened. What is left over is shared.

    Args:
        columns: the columns, the most important ones first.
        texts: the cells of the widest text of each column, as far as that is known.
        room: the cells of the table.
    """
    room -= MARGIN
    shown = list(zip(columns, texts, strict=True))
    while len(shown) > 1 and _fixed(shown) + sum(_least(shown)) > room:
        shown.pop()
    room = max(0, room - _fixed(shown))
    are_open = [not column.columns for column, _ in shown]
    share = max(1, room // (sum(are_open) or 1))
    short = min(share, WIDEST)  # what follows stands near the name on a wide screen too
    is_tight = any(not column.columns and text + GAP > short for column, text in shown if not column.is_long)
    if is_tight:
        return _tight(shown, room)
    long_ones = sum(column.is_long for column, _ in shown) or 1
    long = max(share, (room - short * (sum(are_open) - long_ones)) // long_ones)
    return [column.columns + GAP if column.columns else long if column.is_long else short for column, _ in shown]


def _fixed(shown: Sequence[tuple[Column, int]]) -> int:
    return sum(column.columns + GAP for column, _ in shown if column.columns)


def _least(shown: Sequence[tuple[Column, int]]) -> list[int]:
    """The cells that each column needs besides the fixed ones; a description is cut before anything is left out."""
    return [
        0
        if column.columns
        else NARROWEST
        if not text or (column.is_long and at)
        else min(max(text, len(column.title) + len(ARROW)) + GAP, READABLE)
        for at, (column, text) in enumerate(shown)
    ]


def _tight(shown: Sequence[tuple[Column, int]], room: int) -> list[int]:
    """Widths where an equal share is too little for some: each gets what it needs, the first ones first."""
    widths = _least(shown)
    if sum(widths) > room:  # one column, or one and fixed ones
        return [column.columns + GAP if column.columns else max(1, room) for column, _ in shown]
    left = room - sum(widths)
    for at, (column, text) in enumerate(shown):
        if not column.columns:
            more = min(left, max(0, (text + GAP if column.is_long else min(text + GAP, WIDEST)) - widths[at]))
            widths[at] += more
            left -= more
    return [column.columns + GAP if column.columns else width for (column, _), width in zip(shown, widths, strict=True)]
