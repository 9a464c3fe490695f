"""HTML blocks as the platform writes them: tables, cards, figures, lists, preformatted text; other tags are dropped."""

from __future__ import annotations

import re
from collections.abc import Callable

from presscheck.documents.display_text import display_text
from presscheck.documents.rendering.code import code_lines
from presscheck.documents.rendering.glyphs import Glyphs
from presscheck.documents.rendering.inlines import Event, Runs, file_name, html_events
from presscheck.documents.rendering.tables import Table, table_lines
from presscheck.documents.rendering.wrapping import beside, room, wrap
from presscheck.documents.spans import Line, Span, plain

_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_BLOCKS = _HEADINGS | {"p", "div", "li", "ul", "ol", "dl", "dt", "dd", "blockquote", "section", "figcaption", "summary"}
_align = re.compile(r"text-align:\s*(left|right|center)").search


def html_lines(text: str, columns: int, glyphs: Glyphs) -> tuple[list[Line], list[str]]:
    """The lines of an HTML block, and the anchors in it."""
    reader = _Reader(columns, glyphs)
    for event in html_events(text):
        reader.take(event)
    return reader.finish(), reader.anchors


class _Reader:
    def __init__(self, columns: int, glyphs: Glyphs) -> None:
        self.columns, self.glyphs = columns, glyphs
        self.groups: list[list[Line]] = []
        self.anchors: list[str] = []
        self.runs = Runs(glyphs.image)
        self.marker = ""
        self.numbers: list[int] = []
        self.table: TableReader | None = None
        self.code: list[str] | None = None
        self.image: tuple[str, str] | None = None
        self.in_figure = False

    def take(self, event: Event) -> None:
        """Read one thing more."""
        kind, name, values = event
        if self.table:
            self.table.take(event)
            if self.table.is_done:
                self._end_table()
        elif self.code is not None:
            self._in_code(event)
        elif kind == "text":
            self.runs.html(event)
        elif kind == "open":
            self._open(name, values, event)
        else:
            self._close(name, event)

    def finish(self) -> list[Line]:
        """What was read, as lines."""
        if self.table:
            self._end_table()
        if self.code is not None:
            self._in_code(("close", "pre", {}))
        self._end_figure()
        self._end_paragraph()
        lines: list[Line] = []
        for group in self.groups:
            lines.extend([(), *group] if lines else group)
        return lines

    def _open(self, name: str, values: dict[str, str], event: Event) -> None:
        if name in _BLOCKS or name in {"table", "pre", "hr", "figure"}:
            self._end_paragraph()
        if name == "table":
            self.table = TableReader(self.glyphs.bullets[0], self._new_runs, cards=values.get("data-view") == "cards")
        elif name == "pre":
            self.code = []
        elif name == "hr":
            self.groups.append([(Span(self.glyphs.hairline * self.columns, "quiet"),)])
        elif name == "figure":
            self.in_figure = True
        elif name == "img" and self.in_figure:
            self.image = values.get("src", ""), values.get("alt", "")
        elif name in {"ul", "ol"}:
            self.numbers.append(0 if name == "ol" else -1)
        elif name == "li":
            self._item()
        else:
            self.runs.html(event)
            if name in _HEADINGS:
                self.runs.open("strong")

    def _close(self, name: str, event: Event) -> None:
        if name in {"ul", "ol"} and self.numbers:
            self.numbers.pop()
        if name == "figure":
            self._end_figure()
        elif name in _BLOCKS and not self.in_figure:
            self._end_paragraph()
        else:
            self.runs.html(event)

    def _new_runs(self) -> Runs:
        return Runs(self.glyphs.image)

    def _item(self) -> None:
        if self.numbers and self.numbers[-1] >= 0:
            self.numbers[-1] += 1
            self.marker = f"{self.numbers[-1]}. "
        else:
            self.marker = f"{self.glyphs.bullets[0]} "

    def _in_code(self, event: Event) -> None:
        kind, name, _ = event
        if self.code is None:
            return
        if kind == "text":
            self.code.append(name)
        elif name == "br":
            self.code.append("\n")
        elif kind == "close" and name == "pre":
            self.groups.append(code_lines("".join(self.code).strip("\n"), self.columns, self.glyphs))
            self.code = None

    def _end_table(self) -> None:
        table, self.table = self.table, None
        if table:
            self.groups.append(table_lines(table.table, self.columns, self.glyphs))
            self.runs.spans.extend(table.stray.spans)
            self._end_paragraph()

    def _end_figure(self) -> None:
        if not self.in_figure:
            return
        self.in_figure = False
        caption, self.runs = self.runs, Runs(self.glyphs.image)
        if self.image:
            words = plain(tuple(caption.spans)).strip()
            source, alternative = self.image
            self.runs.image(source, words or alternative)
            if words or alternative:
                self.runs.spans.append(Span(f"  {display_text(file_name(source))}", "quiet"))
            self.image = None
        else:
            self.runs.spans.extend(caption.spans)
        self._end_paragraph()

    def _end_paragraph(self) -> None:
        if self.in_figure:
            return
        runs, self.runs = self.runs, Runs(self.glyphs.image)
        self.anchors.extend(runs.anchors)
        depth = max(0, len(self.numbers) - 1) * 2
        marker = Span(" " * depth + self.marker)
        inner = room(self.columns, len(marker.text)) if marker.text else None
        lines = wrap(runs.spans, inner or self.columns)
        if not lines:
            return
        if inner:
            lines = beside(lines, (marker,), (Span(" " * len(marker.text)),))
        if self.marker and self.groups and self.numbers:
            self.groups[-1].extend(lines)
        else:
            self.groups.append(lines)
        self.marker = ""


class TableReader:
    """Reads one table; a table within it becomes part of its cell.

    Args:
        bullet: the mark of a list's item in a cell.
        new_runs: makes what collects the runs of a cell.
        cards: whether each row is a thing of its own.
    """

    def __init__(self, bullet: str, new_runs: Callable[[], Runs], *, cards: bool) -> None:
        self._bullet, self._new_runs = bullet, new_runs
        self.table = Table(cards=cards)
        self.stray = new_runs()
        self.cell: Runs | None = None
        self.depth = 1
        self.all_head = True

    @property
    def is_done(self) -> bool:
        """Whether the table has ended."""
        return self.depth == 0

    def take(self, event: Event) -> None:
        """Read one thing more."""
        kind, name, values = event
        if name == "table" and kind != "text":
            self.depth += 1 if kind == "open" else -1
            if self.is_done:
                self._end_row()
        elif kind == "open" and name in {"tr", "td", "th"}:
            self._open(name, values)
        elif kind == "close" and name in {"td", "th"}:
            self.cell = None
        elif self.cell is not None:
            self._in_cell(self.cell, event)
        elif kind == "text" and name.strip():
            self.stray.html(event)

    def _open(self, name: str, values: dict[str, str]) -> None:
        self.cell = None
        if name == "tr" or not self.table.rows:
            self._end_row()
            self.table.rows.append([])
            self.all_head = True
        if name == "tr":
            return
        row = self.table.rows[-1]
        self.all_head = self.all_head and name == "th"
        if "data-hidden" in values:
            self.table.hidden.add(len(row))
        align = _align(values.get("style", ""))
        if len(self.table.rows) == 1 and not self.table.head:
            self.table.aligns.append(align[1] if align else values.get("align", ""))
        self.cell = self._new_runs()
        row.append(self.cell.spans)

    def _end_row(self) -> None:
        """The first row is the head, when it is made of nothing but head cells."""
        if len(self.table.rows) == 1 and self.all_head and not self.table.head:
            self.table.head = self.table.rows.pop()

    def _in_cell(self, cell: Runs, event: Event) -> None:
        kind, name, _ = event
        if kind == "open" and name in _BLOCKS:
            if cell.spans and plain(tuple(cell.spans)).strip():
                cell.line_end()
            if name == "li":
                cell.text(f"{self._bullet} ")
        elif kind != "close" or name not in _BLOCKS:
            cell.html(event)
