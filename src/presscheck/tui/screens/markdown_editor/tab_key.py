"""The tab key in the editor, which goes to the next cell of a table, or indents a list item or the selected lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

Place = tuple[int, int]
"""A line and a column, from 0."""
INDENT = 2
"""Number of blanks that indent selected lines outside of lists."""
_PIPE = re.compile(r"(?<!\\)(?:\\\\)*\|")
_RULE = re.compile(r"^\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
_ITEM = re.compile(r"^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)(?:\[[ xX]\][ \t]+)?")


class TabEdit(NamedTuple):
    """The effect of a tab key: `lines` replace the lines from `first` to before `end`, and the selection moves."""

    first: int
    end: int
    lines: list[str]
    anchor: Place
    cursor: Place


def tab_edit(lines: Sequence[str], anchor: Place, cursor: Place, *, back: bool) -> TabEdit | None:
    """Return the effect of tab, or of shift+tab if `back`; None if the key has no special meaning here.

    Args:
        lines: the text.
        anchor: the place where the selection starts; equals `cursor` without a selection.
        cursor: the place of the cursor.
        back: whether shift is pressed.
    """
    if anchor == cursor and (table := _table(lines, cursor[0])):
        return _to_cell(lines, table, cursor, back=back)
    top, bottom = sorted((anchor, cursor))
    item = _ITEM.match(lines[top[0]])
    if item is None and top[0] == bottom[0]:
        return None
    end = _end_of_item(lines, top[0]) if item else top[0] + 1
    end = max(end, bottom[0] + (bottom[1] > 0 or bottom == top))
    by = _shift_of_item(lines, top[0], back=back) if item else -INDENT if back else INDENT
    shifted = [_shifted(line, by) for line in lines[top[0] : end]]

    def moved(place: Place) -> Place:
        at = place[0] - top[0]
        by = len(shifted[at]) - len(lines[place[0]]) if at < len(shifted) else 0
        return place[0], max(0, place[1] + by)

    return TabEdit(top[0], end, shifted, moved(anchor), moved(cursor))


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|") and len(_PIPE.findall(line)) > 1


def _table(lines: Sequence[str], row: int) -> range | None:
    """Return the lines of the table that contains a line; None outside of tables."""
    if not _is_row(lines[row]):
        return None
    first = row
    while first and _is_row(lines[first - 1]):
        first -= 1
    end = row + 1
    while end < len(lines) and _is_row(lines[end]):
        end += 1
    return range(first, end) if end - first > 1 and _RULE.match(lines[first + 1]) else None


def _ends_of_cells(line: str) -> list[int]:
    """Return the columns at the end of the text in each cell of a row."""
    pipes = [match.end() for match in _PIPE.finditer(line)]
    ends: list[int] = []
    for start, end in pairwise(pipes):
        text = line[start : end - 1]
        ends.append(start + len(text.rstrip()) if text.strip() else start + min(1, len(text)))
    return ends


def _to_cell(lines: Sequence[str], table: range, cursor: Place, *, back: bool) -> TabEdit | None:
    """Move to the next or the previous cell; after the last cell, add a row."""
    rows = [row for row in table if row != table.start + 1]
    places = [(row, column) for row in rows for column in _ends_of_cells(lines[row])]
    row, column = cursor
    cell = len(_PIPE.findall(lines[row][:column])) - 1
    if row == table.start + 1:  # the line below the headings has no cells of its own
        ahead = [place for place in places if (place[0] < row) == back]
    elif back:
        ahead = [place for place in places if place[0] < row] + [
            (row, end) for end in _ends_of_cells(lines[row])[: max(0, cell)]
        ]
    else:
        ahead = [(row, end) for end in _ends_of_cells(lines[row])[cell + 1 :]] + [
            place for place in places if place[0] > row
        ]
    if ahead:
        place = ahead[-1 if back else 0]
        return TabEdit(row, row, [], place, place)
    if back:
        return TabEdit(row, row, [], cursor, cursor)
    heading = lines[table.start]
    indent = heading[: len(heading) - len(heading.lstrip())]
    place = table.stop, len(indent) + 2
    return TabEdit(table.stop, table.stop, [indent + "|" + "  |" * len(_ends_of_cells(heading))], place, place)


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _end_of_item(lines: Sequence[str], row: int) -> int:
    """Return the number of the line after a list item and the lines that are indented below it."""
    end = row + 1
    while end < len(lines) and (not lines[end].strip() or _indent_of(lines[end]) > _indent_of(lines[row])):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def _shift_of_item(lines: Sequence[str], row: int, *, back: bool) -> int:
    """Return the blanks to add so that an item starts below the text of the item above; negative with `back`."""
    indent = _indent_of(lines[row])
    for line in reversed(lines[:row]):
        if not line.strip():
            continue
        item = _ITEM.match(line)
        if item and (len(item[1]) < indent if back else len(item[1]) <= indent):
            return (len(item[1]) if back else max(indent, len(item[1]) + len(item[2]))) - indent
        if not item and _indent_of(line) == 0:
            break
    return -indent if back else 0


def _shifted(line: str, by: int) -> str:
    if by >= 0:
        return " " * by + line if line.strip() else line
    return line[min(-by, _indent_of(line)) :]
