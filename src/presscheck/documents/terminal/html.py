"""Renders HTML blocks as terminal lines."""

from __future__ import annotations

from presscheck.documents.markdown.html_blocks import HEADINGS, HtmlBlockReader
from presscheck.documents.markdown.inline_runs import HtmlEvent, InlineRuns, file_name
from presscheck.documents.markdown.table import Table
from presscheck.documents.terminal.code import code_lines
from presscheck.documents.terminal.symbols import Symbols
from presscheck.documents.terminal.tables import table_lines
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain, remaining_cells, with_prefix, wrap


def html_lines(text: str, columns: int, symbols: Symbols) -> tuple[list[Line], list[str]]:
    """Renders an HTML block; returns its lines and its anchors."""
    reader = _Reader(columns, symbols)
    reader.read(text)
    lines: list[Line] = []
    for group in reader.groups:
        lines.extend([(), *group] if lines else group)
    return lines, reader.anchors


class _Reader(HtmlBlockReader[InlineRuns]):
    """Renders each part of an HTML block as a group of lines."""

    def __init__(self, columns: int, symbols: Symbols) -> None:
        self.columns, self.symbols = columns, symbols
        self.groups: list[list[Line]] = []
        self.anchors: list[str] = []
        self.image: tuple[str, str] | None = None
        super().__init__(symbols.bullets[0])

    def new_runs(self) -> InlineRuns:
        return InlineRuns(self.symbols.image)

    def rule(self) -> None:
        self.groups.append([(Span(self.symbols.hairline * self.columns, "quiet"),)])

    def code(self, text: str) -> None:
        self.groups.append(code_lines(text, self.columns, self.symbols))

    def table(self, table: Table) -> None:
        self.groups.append(table_lines(table, self.columns, self.symbols))

    def tag(self, event: HtmlEvent) -> None:
        _, name, values = event
        if name == "img" and self.in_figure:
            self.image = values.get("src", ""), values.get("alt", "")
            return
        self.runs.html(event)
        if name in HEADINGS:
            self.runs.open("strong")

    def figure(self, runs: InlineRuns) -> None:
        if self.image:
            words = plain(tuple(runs.spans)).strip()
            source, alternative = self.image
            self.runs.image(source, words or alternative)
            if words or alternative:
                self.runs.spans.append(Span(f"  {sanitize(file_name(source))}", "quiet"))
            self.image = None
        else:
            self.runs.spans.extend(runs.spans)
        self.end_paragraph()

    def paragraph(self, runs: InlineRuns) -> bool:
        self.anchors.extend(runs.anchors)
        depth = max(0, len(self.numbers) - 1) * 2
        marker = Span(" " * depth + (f"{self.marker} " if self.marker else ""))
        inner = remaining_cells(self.columns, len(marker.text)) if marker.text else None
        lines = wrap(runs.spans, inner or self.columns)
        if not lines:
            return False
        if inner:
            lines = with_prefix(lines, (marker,), (Span(" " * len(marker.text)),))
        if self.marker and self.groups and self.numbers:
            self.groups[-1].extend(lines)
        else:
            self.groups.append(lines)
        return True
