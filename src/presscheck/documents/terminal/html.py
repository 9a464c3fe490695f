"""Renders HTML blocks as terminal lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from typing_extensions import override

from presscheck.documents.markdown.html_blocks import HEADINGS, HtmlBlockReader
from presscheck.documents.markdown.inline_runs import HtmlEvent, InlineRuns, InlineWords, file_name
from presscheck.documents.markdown.table import Table
from presscheck.documents.terminal.code import CodeLook
from presscheck.documents.terminal.controls import Controls
from presscheck.documents.terminal.symbols import Symbols
from presscheck.documents.terminal.tables import table_lines
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain, remaining_cells, width, with_prefix, wrap


class HtmlContext(Protocol):
    """The parts of the page renderer that HTML blocks use."""

    @property
    def symbols(self) -> Symbols:
        """The symbols for drawing the page."""
        ...

    @property
    def inline_words(self) -> InlineWords:
        """The display forms of formulas, icons and the like."""
        ...

    @property
    def controls(self) -> Controls | None:
        """The state of the page's controls; None if everything is open."""
        ...

    def code_block(
        self, text: str, columns: int, look: CodeLook, key: str, *, collapsed: int | None = None
    ) -> list[Line]:
        """Render code."""
        ...

    def pictured(self, sources: Sequence[str], caption: Sequence[Span], columns: int) -> list[Line]:
        """Render pictures above their caption."""
        ...


def html_lines(page: HtmlContext, text: str, columns: int, key: str) -> list[Line]:
    """Render an HTML block; `key` is the key of its controls."""
    reader = _Reader(page, columns, key)
    reader.read(text)
    lines: list[Line] = []
    for group in reader.groups:
        lines.extend([(), *group] if lines else group)
    return lines


class _Reader(HtmlBlockReader[InlineRuns]):
    """Renders each part of an HTML block as a group of lines."""

    def __init__(self, page: HtmlContext, columns: int, key: str) -> None:
        self.page, self.columns, self.symbols = page, columns, page.symbols
        self._key, self._number = key, 0
        self.groups: list[list[Line]] = []
        self.image: tuple[str, str] | None = None
        self._figure: list[str] = []
        """The source of the image in the last figure."""
        super().__init__(self.symbols.bullets[0])

    def new_runs(self) -> InlineRuns:
        return InlineRuns(self.symbols.image, words=self.page.inline_words)

    def key(self) -> str:
        """Return the key of the next part with controls."""
        self._number += 1
        return f"{self._key}-{self._number}"

    def rule(self) -> None:
        self.groups.append([(Span(self.symbols.hairline * self.columns, "quiet"),)])

    def code(self, text: str) -> None:
        values = self.code_values
        look = CodeLook(
            language=_language(values.get("class", "")),
            title=values.get("data-title", ""),
            is_numbered=values.get("data-line-numbers", "false") != "false",
            is_wrapped=values.get("data-overflow") != "scroll",
            marked=frozenset(self.marked_lines),
        )
        collapsed = values.get("data-collapsed-line-count", "10")
        is_expandable = (
            values.get("data-expandable", "false") != "false" and collapsed.isdecimal() and len(collapsed) < 7
        )
        self.groups.append(
            self.page.code_block(
                text, self.columns, look, self.key(), collapsed=int(collapsed) if is_expandable else None
            )
        )

    def table(self, table: Table) -> None:
        self.groups.append(table_lines(table, self.columns, self.symbols, self.page.controls, self.key()))

    @override
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
            self._figure = [source]
        else:
            self.runs.spans.extend(runs.spans)
        self.end_paragraph()

    def paragraph(self, runs: InlineRuns) -> bool:
        depth = max(0, len(self.numbers) - 1) * 2
        marker = Span(" " * depth + (f"{self.marker} " if self.marker else ""))
        inner = remaining_cells(self.columns, len(marker.text)) if marker.text else None
        if runs.images:
            lines = self.page.pictured(self._figure or runs.lone_images, runs.spans, inner or self.columns)
        else:
            lines = wrap(runs.spans, inner or self.columns)
        self._figure = []
        if not lines:
            return False
        if self.align in ("center", "right"):
            lines = [_aligned(line, self.align, inner or self.columns) for line in lines]
        if inner:
            lines = with_prefix(lines, (marker,), (Span(" " * len(marker.text)),))
        if self.marker and self.groups and self.numbers:
            self.groups[-1].extend(lines)
        else:
            self.groups.append(lines)
        return True


_language_class = re.compile(r"(?:language|lang)-(\S+)").search


def _language(names: str) -> str:
    match = _language_class(names)
    return match[1] if match else ""


def _aligned(line: Line, align: str, columns: int) -> Line:
    missing = columns - width(line)
    before = missing // 2 if align == "center" else missing
    return (Span(" " * before), *line) if before > 0 else line
