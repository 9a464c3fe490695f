"""Splits Markdown into comparable segments: paragraphs, items, table rows, lines of code, tags.

A segment lists the containers around it, so that it can be rendered alone. Every word of the text belongs to a segment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from presscheck.documents.block_tags import ALERT, BLOCK_TAGS
from presscheck.documents.markdown.block_splitter import Block, split_blocks, text_lines
from presscheck.documents.merge.conflict_blocks import ConflictBlock, conflict_number, conflict_numbers, cut_conflicts

CONTAINERS = frozenset(tag.name for tag in BLOCK_TAGS.values() if tag.content == "blocks")
"""Paired tags that contain blocks."""
BY_LINE = frozenset(("code", "meta", "line"))
"""Kinds of single-line segments; for adjacent changes, all old lines are shown before all new lines."""


class Segment(NamedTuple):
    """A part of a page.

    `kind` is heading, paragraph, item, row, align (of a table), fence, code (one line), tag, end (of a tag), meta (one
    line of front matter), conflict, or the kind of a block. `mark` is the bullet of an item, `head` for the first row
    of a table, the info string of a fence, or the number of a step. `within` lists the containers: `hint-info`,
    `quote`, `step`, or blanks. `opener` is the index of the tag that an end closes, or of the first segment of a table
    or code block.
    """

    kind: str
    text: str
    line: int
    size: int = 1
    mark: str = ""
    within: tuple[str, ...] = ()
    opener: int = -1

    @property
    def key(self) -> Hashable:
        """A key that is equal for segments that read the same."""
        if self.kind in BY_LINE:
            return self.kind, self.text.rstrip()
        if self.kind == "align":
            return self.kind, tuple((cell[:1] == ":", cell[-1:] == ":") for cell in table_cells(self.text))
        if self.kind == "row":
            return self.kind, tuple(table_cells(self.text))
        depth = sum(not container.strip() for container in self.within) if self.kind == "item" else 0
        return self.kind, depth, self.mark[-1:] in ".)", " ".join(self.text.split())


def split_segments(markdown: str) -> list[Segment]:
    """Split a page into segments; a conflict block outside of code is one segment."""
    splitter = _SegmentSplitter()
    cut = cut_conflicts(markdown)
    splitter.take(cut.text, 0, ())
    if not cut.conflicts:
        return splitter.segments
    source_lines = text_lines(markdown)
    return [_with_conflict(piece, cut.conflicts, source_lines) for piece in splitter.segments]


def _with_conflict(piece: Segment, conflicts: Sequence[ConflictBlock], lines: Sequence[str]) -> Segment:
    """Return a segment with its placeholder replaced by the conflict."""
    if not conflict_numbers(piece.text):
        return piece
    number = conflict_number(piece.text)
    block = None if number is None or number >= len(conflicts) else conflicts[number]
    if block is None or piece.line != block.first + 1:  # the placeholder is inside of a larger segment, such as HTML
        return piece._replace(text="\n".join(lines[piece.line : piece.line + piece.size]))
    text = "\n".join(lines[block.first : block.last + 1])
    return Segment("conflict", text, block.first, block.size, within=piece.within)


def line_segments(markdown: str) -> list[Segment]:
    """Return the lines of a page as segments, including blank lines."""
    return [Segment("line", text, number) for number, text in enumerate(text_lines(markdown.rstrip("\n")))]


def table_cells(row: str) -> list[str]:
    """Return the cells of a table row."""
    text = row.strip().removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return [cell.strip() for cell in _bar(text)]


def table_cell_spans(row: str) -> list[tuple[int, int]]:
    """Return the start and end of each cell in a table row, without surrounding blanks."""
    start = len(row) - len(row.lstrip())
    start += row[start : start + 1] == "|"
    text = row.rstrip()[start:]
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    spans: list[tuple[int, int]] = []
    for cell in _bar(text):
        words = cell.strip()
        before = len(cell) - len(cell.lstrip()) if words else min(1, len(cell))
        spans.append((start + before, start + before + len(words)))
        start += len(cell) + 1
    return spans


class TableRow(NamedTuple):
    """A table row: its source, its cells, and the cells of the head; `heads` is empty for the head itself."""

    text: str
    cells: list[str]
    heads: list[str]


def table_row_at(markdown: str, line: int) -> TableRow | None:
    """Return the table row at a line of a page, or None. The delimiter row counts as the head."""
    segments = split_segments(markdown)
    for segment in segments:
        if segment.line == line and segment.kind in ("row", "align"):
            head = segments[segment.opener]
            if segment.kind == "align" or segment.mark == "head":
                return TableRow(head.text, table_cells(head.text), [])
            return TableRow(segment.text, table_cells(segment.text), table_cells(head.text))
    return None


_bar = re.compile(r"(?<!\\)\|").split
_item = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])(?:([ \t]{1,4})(?=\S)|[ \t]*(?=\n|$))").match
_plain_item = re.compile(r"[^#`~>+_{<|\-*\d\s]|\*\*?\w|\d+\w|`[^`]").match
_fence = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)").match
_opening = re.compile(r"[ \t]*\{%-?\s*+([\w-]++)([^{}]*?(?:\{[^{}]*+\}[^{}]*?)*?)-?%\}[ \t]*").fullmatch
_style = re.compile(r"style=[\"']?(\w+)").search
_summary = re.compile(r"[ \t]*<details[^<>]*>\s*<summary>.*?</summary>[ \t]*", re.DOTALL | re.IGNORECASE).match
_is_tagged = re.compile(r" {0,3}[{<]").match
_lead = re.compile(r"^[ \t]+").sub
_alert = ALERT.match


def _untabbed(lead: re.Match[str]) -> str:
    return lead[0].expandtabs(4)


class _SegmentSplitter:
    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def take(self, markdown: str, line: int, within: tuple[str, ...]) -> None:
        """Split a text that starts at `line` of the page."""
        for block in split_blocks(markdown):
            at = line + block.start_line
            cut = None if _is_tagged(block.text) else _CUT.get(block.kind)
            if cut:
                cut(self, block.text.split("\n"), at, within)
            elif block.kind not in CONTAINERS or not self._container(block, at, within):
                self._add(block.kind, block.text, at, within)

    def _add(self, kind: str, text: str, line: int, within: tuple[str, ...], mark: str = "", opener: int = -1) -> None:
        self.segments.append(Segment(kind, text, line, text.count("\n") + 1, mark, within, opener))

    def front(self, lines: Sequence[str], line: int, within: tuple[str, ...]) -> None:
        """Split front matter into lines."""
        for number, text in enumerate(lines[1:-1], 1):
            self._add("meta", text, line + number, within)

    def code(self, lines: Sequence[str], line: int, within: tuple[str, ...]) -> None:
        """Split code into lines."""
        opener = len(self.segments)
        fence = _fence(lines[0])
        if not fence:
            for number, text in enumerate(lines):
                self._add("code", re.sub(r"^(?: {4}|\t)", "", text), line + number, within, opener=opener)
            return
        self._add("fence", lines[0], line, within, fence[2].strip())
        indent = len(lines[0]) - len(lines[0].lstrip(" "))
        last = lines[-1].strip()
        is_closed = len(lines) > 1 and last.startswith(fence[1]) and not last.strip(fence[1][0])
        for number, text in enumerate(lines[1 : len(lines) - is_closed], 1):
            inner = text[indent:] if text.startswith(" " * indent) else text.lstrip(" ")
            self._add("code", inner, line + number, within, opener=opener)

    def table(self, lines: Sequence[str], line: int, within: tuple[str, ...]) -> None:
        """Split a table into rows."""
        opener = len(self.segments)
        for number, text in enumerate(lines):
            kind = "align" if number == 1 else "row"
            self._add(kind, text, line + number, within, "" if number else "head", opener)

    def quote(self, lines: Sequence[str], line: int, within: tuple[str, ...]) -> None:
        """Split a quotation or an alert."""
        inner = [re.sub(r"^[ \t]{0,3}>[ \t]?", "", text) for text in lines]
        alert = _alert(inner[0])
        if alert:
            self._add("tag", alert[0].strip(), line, within, alert[1].lower())
            inner[0] = inner[0][alert.end() :]
            self.take("\n".join(inner), line, (*within, f"hint-{alert[1].lower()}"))
        else:
            self.take("\n".join(inner), line, (*within, "quote"))

    def list(self, lines: Sequence[str], line: int, within: tuple[str, ...]) -> None:
        """Split a list into items."""
        lines = [_lead(_untabbed, text) if "\t" in text else text for text in lines]
        starts: list[int] = []
        content_column = 0
        for number, text in enumerate(lines):
            item = (
                _item(text)
                if number == 0 or text[:1] != " " or len(text) - len(text.lstrip(" ")) < content_column
                else None
            )
            if item:
                starts.append(number)
                content_column = item.end() if item[3] else len(item[1]) + len(item[2]) + 1
        before, number = "", 0
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            item = _item(lines[start])
            mark = item[2] if item else ""
            if mark[:-1]:
                # numbers are counted as rendered, not as written
                number = number + 1 if mark[-1] == before else int(mark[:-1])
            before = mark[-1:]
            self._one_item(lines[start:end], line + start, within, f"{number}{before}" if mark[:-1] else mark)

    def _one_item(self, lines: Sequence[str], line: int, within: tuple[str, ...], mark: str) -> None:
        item = _item(lines[0])
        if not item:
            self.take("\n".join(lines), line, within)
            return
        indent = item.end() if item[3] else len(item[1]) + len(item[2]) + 1
        first = lines[0][item.end() :]
        if len(lines) == 1 and (not first or _plain_item(first)):
            self._add("item", first, line, within, mark)
            return
        rest = [text[indent:] if not text[:indent].strip() else text.lstrip(" ") for text in lines[1:]]
        at = len(self.segments)
        self.take("\n".join([first, *rest]), line, (*within, " " * (len(mark) + 1)))
        inner = self.segments[at] if len(self.segments) > at else None
        if inner and inner.kind == "paragraph" and inner.line == line:
            self.segments[at] = inner._replace(kind="item", mark=mark, within=within)
        else:
            moved = [
                segment._replace(opener=segment.opener + 1) if segment.opener >= at else segment
                for segment in self.segments[at:]
            ]
            self.segments[at:] = [Segment("item", "", line, 1, mark, within), *moved]

    def _container(self, block: Block, line: int, within: tuple[str, ...]) -> bool:
        """Split a paired tag and its content. Return False unless both tags are on separate lines, around content."""
        lines = block.text.split("\n")
        opening = _opening(lines[0])
        summary = _summary(block.text) if not opening else None
        end = lines[-1].strip()
        is_closed = re.fullmatch(rf"\{{%-?\s*end{block.kind}\s*-?%\}}", end, re.I) if opening else end == "</details>"
        if len(lines) < 3 or not is_closed or not (opening or summary):
            return False
        head = summary[0].count("\n") + 1 if summary else 1
        opener = len(self.segments)
        self._add("tag", "\n".join(lines[:head]), line, within, self._number(block.kind, within))
        inside = _tags_within(block.kind, opening[2] if opening else "")
        self.take("\n".join(lines[head:-1]), line + head, (*within, *inside))
        self._add("end", lines[-1], line + len(lines) - 1, within, opener=opener)
        return True

    def _number(self, name: str, within: tuple[str, ...]) -> str:
        """Return the number of a step among its siblings, or an empty string for any other tag."""
        if name != "step":
            return ""
        number = 1
        for segment in reversed(self.segments):
            if segment.kind == "tag" and segment.mark and segment.within == within:
                number += 1
            elif segment.kind == "tag" and len(segment.within) <= len(within):
                break
        return str(number)


def _tags_within(name: str, attributes: str) -> tuple[str, ...]:
    if name == "hint":
        style = _style(attributes)
        return (f"hint-{style[1] if style else 'info'}",)
    return {"step": ("step",), "details": ("  ",)}.get(name, ())


_CUT: dict[str, Callable[[_SegmentSplitter, Sequence[str], int, tuple[str, ...]], None]] = {
    "front": _SegmentSplitter.front,
    "code": _SegmentSplitter.code,
    "table": _SegmentSplitter.table,
    "quote": _SegmentSplitter.quote,
    "list": _SegmentSplitter.list,
}
