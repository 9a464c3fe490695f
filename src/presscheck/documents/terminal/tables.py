"""Renders tables as columns with wrapped cells if they fit, otherwise as records or as columns that scroll.

The first column stays while the columns to its right scroll. A line below the table has the numbers of the visible
columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from urllib.parse import unquote

from presscheck.documents.markdown.table import Cell, Row, Table
from presscheck.documents.terminal.controls import Controls, Mark, target
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import (
    BREAK,
    Line,
    Span,
    cut,
    plain,
    remaining_cells,
    widest,
    width,
    with_prefix,
    wrap,
)

GAP = 2
MIN_COLUMN = 10
"""Minimum width of a column, unless its content is narrower."""


WIDEST_COLUMN = 32
"""Maximum width of a column in a table that scrolls; longer cells wrap."""
MOST_STARS = 10


def table_lines(
    table: Table, columns: int, symbols: Symbols, controls: Controls | None = None, key: str = ""
) -> list[Line]:
    """Render a table in at most `columns` cells; with controls, a table that does not fit scrolls horizontally."""
    if table.kinds:
        table.rows = [
            [_typed(cell, table.kinds.get(n, ""), symbols) for n, cell in enumerate(row)] for row in table.rows
        ]
        table.kinds = {}
    if table.cards:
        return list(_cards(table, columns, symbols))
    visible_rows = [table.visible(row) for row in (table.head, *table.rows)]
    count = max(map(len, visible_rows), default=0)
    grid = [[*row, *[()] * (count - len(row))] for row in visible_rows]
    if not count:
        return []
    natural = [[_natural(cell) for cell in column] for column in zip(*grid, strict=True)]
    sizes = _sizes(natural, grid, columns)
    if sizes is not None:
        return _aligned(grid, sizes, table.aligns, symbols)
    if controls and not controls.shows_all:
        is_wrapped = bool(controls.value(f"{key}w"))
        scrolled = None if is_wrapped else _scrolled(grid, natural, table.aligns, columns, symbols, controls, key)
        if scrolled:
            controls.hides = True
            return scrolled
        mark = Mark("wide", key, 0, 0).span
        return [(mark, *line) for line in _records(grid[0], grid[1:], columns, symbols)]
    return list(_records(grid[0], grid[1:], columns, symbols))


def _typed(cell: Cell, kind: str, symbols: Symbols) -> Cell:
    text = plain(tuple(cell)).strip().lower()
    if kind == "checkbox" and text in ("true", "false"):
        return [Span(symbols.checked if text == "true" else symbols.unchecked)]
    if kind == "rating" and text.isdecimal() and len(text) < 7 and int(text) <= MOST_STARS:
        return [Span(symbols.star * int(text) or symbols.no_star)]
    return cell


def _scrolled(
    grid: list[Row],
    natural: list[list[int]],
    aligns: Sequence[str],
    columns: int,
    symbols: Symbols,
    controls: Controls,
    key: str,
) -> list[Line] | None:
    """Render the first column, and next to it as many columns as fit, from the chosen column on.

    Return None if there is no room for two columns.
    """
    natural_sizes = [min(max(1, *column), WIDEST_COLUMN) for column in natural]
    first = min(natural_sizes[0], max(columns // 3, 1))
    room = columns - first - GAP
    if len(natural_sizes) < 2 or room < MIN_COLUMN:
        return None
    others = [min(size, room) for size in natural_sizes[1:]]
    most = len(others) - _fitting(others[::-1], room)
    offset = min(max(controls.value(key), 0), most)
    count = _fitting(others[offset:], room)
    chosen = [0, *range(offset + 1, offset + 1 + count)]
    sizes = [first, *others[offset : offset + count]]
    part = [[row[number] for number in chosen] for row in grid]
    lines = _aligned(part, sizes, [aligns[n] if n < len(aligns) else "" for n in chosen], symbols)
    dash = "-" if symbols.is_ascii else "–"
    name = f"columns {offset + 2}{dash}{offset + 1 + count} of {len(natural_sizes)}"
    before = Span(f"{symbols.before} ", "accent", target(key, max(0, offset - count))) if offset else Span("  ")
    after = Span(f" {symbols.after}", "accent", target(key, min(most, offset + count))) if offset < most else Span("")
    mark = Mark("wide", key, offset, most).span
    return [(mark, *line) for line in (*lines, cut((before, Span(name, "quiet"), after), columns))]


def _fitting(sizes: Sequence[int], room: int) -> int:
    """Return the number of columns that fit, from the first on; at least 1."""
    used = -GAP
    for number, size in enumerate(sizes):
        used += size + GAP
        if used > room:
            return max(number, 1)
    return len(sizes)


def _sizes(cells: list[list[int]], grid: list[Row], columns: int) -> list[int] | None:
    """Return the width of each column, or None if the columns do not fit side by side."""
    natural_sizes = [max(1, *column) for column in cells]
    available = columns - GAP * (len(natural_sizes) - 1)
    if sum(natural_sizes) <= available:
        return natural_sizes
    smallest = [
        min(want, max(map(_longest_word, column)))
        for want, column in zip(natural_sizes, zip(*grid, strict=True), strict=True)
    ]
    if sum(smallest) > available:
        smallest = [min(size, max(MIN_COLUMN, available // len(natural_sizes))) for size in smallest]
    if sum(smallest) > available:
        return None
    return _shared(available, smallest, natural_sizes)


def _shared(available: int, sizes: list[int], natural_sizes: list[int]) -> list[int]:
    """Distribute the remaining cells in proportion to the square root of the width that each column lacks.

    Columns with short cells, which lack little, then get enough and do not wrap.
    """
    sizes = sizes[:]
    while (columns_left := available - sum(sizes)) > 0:
        weights = [sqrt(want - size) for want, size in zip(natural_sizes, sizes, strict=True)]
        total = sum(weights)
        more = [
            min(int(columns_left * weight / total), want - size)
            for weight, want, size in zip(weights, natural_sizes, sizes, strict=True)
        ]
        if not any(more):
            more[weights.index(max(weights))] = 1
        sizes = [size + extra for size, extra in zip(sizes, more, strict=True)]
    return sizes


def _natural(cell: Cell) -> int:
    return widest(wrap(cell, 10_000)) if BREAK in cell else width(tuple(cell))


def _longest_word(cell: Cell) -> int:
    text = "".join(span.text for span in cell)
    return max((width((Span(word),)) for word in text.split()), default=0)


def _aligned(grid: list[Row], sizes: list[int], aligns: Sequence[str], symbols: Symbols) -> list[Line]:
    rows = [[wrap(cell, size) for cell, size in zip(row, sizes, strict=True)] for row in grid]
    is_tall = any(len(cell) > 1 for row in rows[1:] for cell in row)
    rule: Line = (Span((" " * GAP).join(symbols.hairline * size for size in sizes), "quiet"),)
    lines = [*_row(_headed(rows[0]), sizes, aligns), rule] if any(rows[0]) else []
    for number, row in enumerate(rows[1:]):
        if number and is_tall:
            lines.append(())
        lines.extend(_row(row, sizes, aligns))
    return lines


def _headed(cells: list[list[Line]]) -> list[list[Line]]:
    return [[tuple(_strong(span) for span in line) for line in cell] for cell in cells]


def _strong(span: Span) -> Span:
    return span if "strong" in span.style else span._replace(style=f"{span.style} strong".strip())


def _row(cells: list[list[Line]], sizes: list[int], aligns: Sequence[str]) -> Iterator[Line]:
    for height in range(max(map(len, cells))):
        line: list[Span] = []
        blank = 0
        for number, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
            part = cell[height] if height < len(cell) else ()
            missing = size - width(part)
            align = aligns[number] if number < len(aligns) else ""
            before = missing if align == "right" else missing // 2 if align == "center" else 0
            if part:
                if blank + before:
                    line.append(Span(" " * (blank + before)))
                line.extend(part)
                blank = missing - before + GAP
            else:
                blank += size + GAP
        yield tuple(line)


def _records(head: Row, rows: list[Row], columns: int, symbols: Symbols) -> Iterator[Line]:
    """Yield each row as lines of `Name  value`."""
    names = [wrap(cell, columns) for cell in head]
    label = min(widest([line for name in names for line in name]), columns // 3)
    inner = remaining_cells(columns, label + GAP)
    for number, row in enumerate(rows):
        if number:
            yield (Span(symbols.hairline * columns, "quiet"),)
        for name, cell in zip(head, row, strict=True):
            if inner is None or not label:
                yield from _headed([wrap(name, columns)])[0]
                yield from wrap(cell, columns)
            else:
                yield from _record(_headed([wrap(name, label)])[0], wrap(cell, inner), label)


def _record(name: list[Line], value: list[Line], label: int) -> Iterator[Line]:
    for height in range(max(len(name), len(value))):
        name_line = name[height] if height < len(name) else ()
        right = value[height] if height < len(value) else ()
        yield (*name_line, Span(" " * (label - width(name_line) + GAP)), *right)


def _cards(table: Table, columns: int, symbols: Symbols) -> Iterator[Line]:
    for number, row in enumerate(table.rows):
        if number:
            yield ()
        hidden = (number for number in table.hidden if number != table.cover and table.target is None)
        links = (table.link_in(row, number) for number in (table.target, *sorted(hidden)))
        target, sign = next((link for link in links if link[0]), ("", ()))
        cells = [cell for cell in table.visible(row) if plain(tuple(cell)).strip()]
        inner = remaining_cells(columns, 2)
        cover, cover_sign = table.link_in(row, table.cover)
        if cover:
            name = sanitize(unquote(cover.partition("?")[0].rpartition("/")[2]) or cover)
            caption = Span(f"{symbols.image} {name}", "quiet", cover)
            after = _broken(cover_sign, symbols)
            before = cut((Span("  " if inner else ""), caption), max(columns - width(after), 1), symbols.ellipsis)
            yield (*before, *after) if width(after) < columns else before
        for place, cell in enumerate(cells):
            if not place and target:
                cell = [
                    span if span.link else span._replace(style=f"{span.style} link".strip(), link=target)
                    for span in cell
                ]
                cell += [span for span in _broken(sign, symbols) if span not in cell]
            lines = wrap(cell, inner or columns)
            first = Span(f"{symbols.reference[-1]} ", "quiet") if not place else Span("  ")
            yield from with_prefix(lines, (first,), (Span("  "),)) if inner else lines


def _broken(after: Cell, symbols: Symbols) -> Line:
    """Return the sign of a broken link, or nothing. `after` has the runs after the link."""
    return tuple(span for span in after[:1] if span.text.strip() == symbols.broken)
