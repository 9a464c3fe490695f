"""Column widths of a table: which columns are hidden and which are shortened when space is tight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from presscheck.tui.screens.admin.facts import Column

GAP = 2
"""Width in cells of the gap between two columns."""
ARROW = " ↑"
"""The mark in the heading of the column that sorts the rows."""
MARGIN = 3
"""Free cells at the right edge, needed by the line of headings."""
NARROWEST = 18
"""Minimum width in cells, with the gap, of a description, and of a column whose texts have not loaded."""
READABLE = 30
"""Width in cells, with the gap, up to which a column does not shrink: the last columns are hidden instead."""
WIDEST = 48
"""Maximum width in cells of a column, except for columns with long texts."""


def column_widths(columns: Sequence[Column], texts: Sequence[int], room: int) -> list[int]:
    """Return the widths of the visible columns in cells, gaps included.

    Columns without a fixed width share the remaining cells equally, up to `WIDEST` each, and long columns get the rest.
    If that would cut the text of a short column, all columns start at a readable minimum, and grow to their texts from
    left to right. If the minimums do not fit, the last columns are hidden.

    Args:
        columns: the columns, most important first.
        texts: the width in cells of the widest loaded text of each column; 0 for no text.
        room: the width of the table in cells.
    """
    room -= MARGIN
    shown = list(zip(columns, texts, strict=True))
    while len(shown) > 1 and _fixed(shown) + sum(_least(shown)) > room:
        shown.pop()
    room = max(0, room - _fixed(shown))
    are_open = [not column.columns for column, _ in shown]
    share = max(1, room // (sum(are_open) or 1))
    short = min(share, WIDEST)  # a short text stays close to its neighbors on a wide screen too
    is_tight = any(not column.columns and text + GAP > short for column, text in shown if not column.is_long)
    if is_tight:
        return _tight(shown, room)
    long_ones = sum(column.is_long for column, _ in shown) or 1
    long = max(share, (room - short * (sum(are_open) - long_ones)) // long_ones)
    return [column.columns + GAP if column.columns else long if column.is_long else short for column, _ in shown]


def _fixed(shown: Sequence[tuple[Column, int]]) -> int:
    return sum(column.columns + GAP for column, _ in shown if column.columns)


def _least(shown: Sequence[tuple[Column, int]]) -> list[int]:
    """Return the minimum width of each flexible column, and 0 for each column with a fixed width."""
    return [
        0
        if column.columns
        else NARROWEST
        if not text or (column.is_long and at)
        else min(max(text, len(column.title) + len(ARROW)) + GAP, READABLE)
        for at, (column, text) in enumerate(shown)
    ]


def _tight(shown: Sequence[tuple[Column, int]], room: int) -> list[int]:
    """Return widths for a tight table: columns grow from their minimum to their texts, from left to right."""
    widths = _least(shown)
    if sum(widths) > room:  # a single flexible column remains, with or without fixed columns
        return [column.columns + GAP if column.columns else max(1, room) for column, _ in shown]
    left = room - sum(widths)
    for at, (column, text) in enumerate(shown):
        if not column.columns:
            more = min(left, max(0, (text + GAP if column.is_long else min(text + GAP, WIDEST)) - widths[at]))
            widths[at] += more
            left -= more
    return [column.columns + GAP if column.columns else width for (column, _), width in zip(shown, widths, strict=True)]
