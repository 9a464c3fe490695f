"""Renders tables that fit: columns with wrapped cells, or one record below another if there is no room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

from presscheck.documents.markdown.table import Cell, Row, Table
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.styled_text import BREAK, Line, Span, plain, remaining_cells, widest, width, with_prefix, wrap

GAP = 2
MIN_COLUMN = 10
"""The narrowest column, unless its content is narrower."""


def table_lines(table: Table, columns: int, symbols: Symbols) -> list[Line]:
    """Renders a table in at most this many cells."""
    if table.cards:
        return list(_cards(table, columns, symbols))
    shown = [table.visible(row) for row in (table.head, *table.rows)]
    count = max(map(len, shown), default=0)
    grid = [[*row, *[()] * (count - len(row))] for row in shown]
    if not count:
        return []
    sizes = _sizes([[_natural(cell) for cell in column] for column in zip(*grid, strict=True)], grid, columns)
    if sizes is None:
        return list(_records(grid[0], grid[1:], columns, symbols))
    return _aligned(grid, sizes, table.aligns, symbols)


def _sizes(cells: list[list[int]], grid: list[Row], columns: int) -> list[int] | None:
    """Returns the width of each column, or None if they do not fit side by side."""
    wanted = [max(1, *column) for column in cells]
    available = columns - GAP * (len(wanted) - 1)
    if sum(wanted) <= available:
        return wanted
    least = [
        min(want, max(map(_longest_word, column))) for want, column in zip(wanted, zip(*grid, strict=True), strict=True)
    ]
    if sum(least) > available:
        least = [min(size, max(MIN_COLUMN, available // len(wanted))) for size in least]
    if sum(least) > available:
        return None
    return _shared(available, least, wanted)


def _shared(available: int, sizes: list[int], wanted: list[int]) -> list[int]:
    """Distributes the remaining cells by the square root of what is missing, so that short cells do not wrap."""
    sizes = sizes[:]
    while (left := available - sum(sizes)) > 0:
        weights = [sqrt(want - size) for want, size in zip(wanted, sizes, strict=True)]
        total = sum(weights)
        more = [
            min(int(left * weight / total), want - size)
            for weight, want, size in zip(weights, wanted, sizes, strict=True)
        ]
        if not any(more):
            more[weights.index(max(weights))] = 1
        sizes = [size + one for size, one in zip(sizes, more, strict=True)]
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
    """Yields each row as lines of `Name  value`."""
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
        left = name[height] if height < len(name) else ()
        right = value[height] if height < len(value) else ()
        yield (*left, Span(" " * (label - width(left) + GAP)), *right)


def _cards(table: Table, columns: int, symbols: Symbols) -> Iterator[Line]:
    for number, row in enumerate(table.rows):
        if number:
            yield ()
        target = next(
            (span.link for n, cell in enumerate(row) if n in table.hidden for span in cell if span.link), None
        )
        cells = [cell for cell in table.visible(row) if plain(tuple(cell)).strip()]
        inner = remaining_cells(columns, 2)
        for place, cell in enumerate(cells):
            if not place and target:
                cell = [
                    span if span.link else span._replace(style=f"{span.style} link".strip(), link=target)
                    for span in cell
                ]
            lines = wrap(cell, inner or columns)
            first = Span(f"{symbols.reference[-1]} ", "quiet") if not place else Span("  ")
            yield from with_prefix(lines, (first,), (Span("  "),)) if inner else lines
