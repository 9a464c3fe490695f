"""Reads HTML blocks event by event; subclasses handle the parts.

Tables, cards, figures, lists and preformatted text are recognized; other tags are ignored, but not their content.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeVar

from presscheck.documents.markdown.inline_runs import HtmlEvent, InlineRuns, html_events
from presscheck.documents.markdown.table import Table

HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_TEXTS = frozenset(["p", "div", "blockquote", "section", "figcaption", "summary", "details"])
_BLOCKS = HEADINGS | _TEXTS | {"li", "ul", "ol", "dl", "dt", "dd"}
_align = re.compile(r"text-align:\s*(left|right|center)").search
_REFERENCES = frozenset(["content-ref", "files", "image", "users"])
"""The types of columns whose cells are references."""
Collected = TypeVar("Collected", bound=InlineRuns)


class HtmlBlockReader(ABC, Generic[Collected]):
    """Reads an HTML block and passes each finished part to an abstract method.

    Args:
        bullet: the marker of list items.

    Attributes:
        runs: the current paragraph.
        marker: the marker of the list item that starts with the next paragraph, or empty.
        numbers: the current item number of each open list, outermost first; -1 for bullets.
        align: the alignment of the current paragraph, or empty.
        code_values: the attributes of the last preformatted text.
        marked_lines: the numbers of the highlighted lines in the last preformatted text, from 0.
    """

    def __init__(self, bullet: str) -> None:
        self._bullet = bullet
        self.runs = self.new_runs()
        self.marker = ""
        self.numbers: list[int] = []
        self.in_figure = False
        self.align = ""
        self.code_values: dict[str, str] = {}
        self.marked_lines: set[int] = set()
        self._is_marked = False
        self._table: TableReader[Collected] | None = None
        self._code: list[str] | None = None

    @abstractmethod
    def new_runs(self) -> Collected:
        """Create the collector for the inline text of a paragraph or a cell."""

    @abstractmethod
    def rule(self) -> None:
        """Handle a divider."""

    @abstractmethod
    def code(self, text: str) -> None:
        """Handle preformatted text."""

    @abstractmethod
    def table(self, table: Table) -> None:
        """Handle a table or its cards."""

    @abstractmethod
    def figure(self, runs: Collected) -> None:
        """Handle a figure: its images and its caption."""

    @abstractmethod
    def paragraph(self, runs: Collected) -> bool:
        """Handle a paragraph after its `marker`. Return whether the paragraph has content."""

    def tag(self, event: HtmlEvent) -> None:
        """Handle an opening tag that starts no known block."""
        self.runs.html(event)

    def read(self, text: str) -> None:
        """Read a whole block."""
        for event in html_events(text):
            self._take(event)
        if self._table:
            self._end_table(self._table)
        self._end_code()
        self._end_figure()
        self.end_paragraph()

    def end_paragraph(self) -> None:
        """End the current paragraph and pass it on, unless it is inside a figure."""
        if self.in_figure:
            return
        runs, self.runs = self.runs, self.new_runs()
        if self.paragraph(runs):
            self.marker = ""
        self.align = ""

    def _take(self, event: HtmlEvent) -> None:
        kind, name, values = event
        if self._table:
            self._table.take(event)
            if self._table.is_done:
                self._end_table(self._table)
        elif self._code is not None:
            self._in_code(self._code, event)
        elif kind == "text":
            self.runs.html(event)
        elif kind == "open":
            self._open(name, values, event)
        else:
            self._close(name, event)

    def _open(self, name: str, values: dict[str, str], event: HtmlEvent) -> None:
        if name in _BLOCKS or name in {"table", "pre", "hr", "figure"}:
            self.end_paragraph()
        if name == "p" or name in HEADINGS:
            self.align = values.get("align", "")
        if name == "table":
            self._table = TableReader(self._bullet, self.new_runs, cards=values.get("data-view") == "cards")
        elif name == "pre":
            self._code = []
            self.code_values, self.marked_lines, self._is_marked = values, set(), False
        elif name == "hr":
            self.rule()
        elif name == "figure":
            self.in_figure = True
        elif name in {"ul", "ol"}:
            self.numbers.append(0 if name == "ol" else -1)
        elif name == "li":
            self._item()
        else:
            self.tag(event)

    def _close(self, name: str, event: HtmlEvent) -> None:
        if name in {"ul", "ol"} and self.numbers:
            self.end_paragraph()
            self.numbers.pop()
        elif name == "figure":
            self._end_figure()
        elif name in _BLOCKS and not self.in_figure:
            self.end_paragraph()
        else:
            self.runs.html(event)

    def _item(self) -> None:
        if self.numbers and self.numbers[-1] >= 0:
            self.numbers[-1] += 1
            self.marker = f"{self.numbers[-1]}."
        else:
            self.marker = self._bullet

    def _in_code(self, code: list[str], event: HtmlEvent) -> None:
        kind, name, values = event
        if kind == "text":
            if self._is_marked:
                first = "".join(code).count("\n")
                self.marked_lines.update(range(first, first + name.rstrip("\n").count("\n") + 1))
            code.append(name)
        elif name == "strong":
            self._is_marked = kind == "open"
        elif name == "code" and kind == "open":
            self.code_values = {**values, **self.code_values}
        elif name == "br":
            code.append("\n")
        elif kind == "close" and name == "pre":
            self._end_code()

    def _end_code(self) -> None:
        code, self._code = self._code, None
        if code is not None:
            text = "".join(code)
            before = len(text) - len(text.lstrip("\n"))
            self.marked_lines = {number - before for number in self.marked_lines}
            self.code(text.strip("\n"))

    def _end_table(self, table: TableReader[Collected]) -> None:
        self._table = None
        self.table(table.table)
        self.runs.spans.extend(table.stray.spans)
        self.end_paragraph()

    def _end_figure(self) -> None:
        if self.in_figure:
            self.in_figure = False
            runs, self.runs = self.runs, self.new_runs()
            self.figure(runs)


class TableReader(Generic[Collected]):
    """Reads one table; a nested table becomes part of its cell.

    Args:
        bullet: the marker of list items in a cell.
        new_runs: creates the collector for a cell.
        cards: whether each row is a card.

    Attributes:
        table: the table as read so far.
        stray: text in the table outside of cells.
    """

    def __init__(self, bullet: str, new_runs: Callable[[], Collected], *, cards: bool) -> None:
        self._bullet, self._new_runs = bullet, new_runs
        self.table = Table(cards=cards)
        self.stray = new_runs()
        self.cell: Collected | None = None
        self.depth = 1
        self.all_head = True
        self._is_code = False

    @property
    def is_done(self) -> bool:
        """Whether the table has ended."""
        return self.depth == 0

    def take(self, event: HtmlEvent) -> None:
        """Process one event."""
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
        self.cell, self._is_code = None, False
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
        if "data-card-target" in values:
            self.table.target = len(row)
        if "data-card-cover" in values:
            self.table.cover = len(row)
        if name == "th" and values.get("data-type"):
            self.table.kinds[len(row)] = values["data-type"]
        align = _align(values.get("style", ""))
        if len(self.table.rows) == 1 and not self.table.head:
            self.table.aligns.append(align[1] if align else values.get("align", ""))
        self.cell = self._new_runs()
        self.cell.names_targets = name == "td" and self.table.kinds.get(len(row)) in _REFERENCES
        row.append(self.cell.spans)

    def _end_row(self) -> None:
        """Make the first row the head if all its cells are head cells."""
        if len(self.table.rows) == 1 and self.all_head and not self.table.head:
            self.table.head = self.table.rows.pop()

    def _in_cell(self, cell: InlineRuns, event: HtmlEvent) -> None:
        kind, name, _ = event
        if name == "pre" and kind != "text":
            self._is_code = kind == "open"
            (cell.begin_line if self._is_code else cell.end_block)()
        elif kind == "text" and self._is_code:
            for number, line in enumerate(name.strip("\n").split("\n")):
                if number:
                    cell.line_end()
                cell.html(("text", line, {}))
        elif kind == "open" and name in _BLOCKS:
            cell.begin_line()
            if name == "li":
                cell.text(f"{self._bullet} ")
        elif kind != "close" or name not in _BLOCKS:
            cell.html(event)
