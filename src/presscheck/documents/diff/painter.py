"""Renders the segments of a diff as terminal lines with marks in the margin: text, tables, code and tags.

Lines of code are compared as text, not by their colors: an added quotation mark recolors everything after it although
one character changed. A diff color takes precedence over a syntax color. Table columns are wide enough for both
texts, so that old and new rows align.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import unescape
from typing import NamedTuple

from rich.cells import cell_len

from presscheck.documents.block_tags import HINTS, hint_of
from presscheck.documents.diff.block_pairs import SegmentPair
from presscheck.documents.diff.inline_marks import (
    StyledToken,
    is_rewritten,
    merged_spans,
    one_side,
    styled_tokens,
    tint_line,
    token_runs,
)
from presscheck.documents.diff.segments import BY_LINE, Segment, table_cells
from presscheck.documents.diff.sequence_matcher import Gap, gaps
from presscheck.documents.diff.word_diff import Run, RunKind
from presscheck.documents.markdown.parser import parse_attributes
from presscheck.documents.merge.conflict_blocks import conflict_blocks, side_name
from presscheck.documents.terminal.blocks import HEADING_STYLES, BlockRenderer
from presscheck.documents.terminal.code import highlight, split_spans
from presscheck.documents.terminal.custom_tags import titled_rule
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, pad, plain, split_cells, width, wrap

MAX_HIGHLIGHTED = 100_000
"""Maximum number of characters of code that are highlighted in one diff (20 ms); code beyond it has one color."""
_OF_DIFFERENCES = frozenset(("code added", "code removed"))
"""Styles of code in the language `diff`, which would look like changes here."""
_NO_PIECE = Segment("", "", 0)
GAP = 2
"""Number of cells between the columns of a table."""
MIN_COLUMN = 9
"""Minimum width of a column; with less room, the cells of a row are joined on one line."""
SEPARATOR = Span(" │ ", "quiet")
_markup = re.compile(r"\]\((?:[^)\]]++|\](?!\())*\)|\*\*|[`\[]|<[^<>]*>")
_tag = re.compile(r"[ \t]*\{%-?\s*+([\w-]++)(.*?)-?%\}", re.DOTALL).match
_summary = re.compile(r"<summary>((?:(?!<summary>).)*?)</summary>", re.DOTALL | re.IGNORECASE).search
_element = re.compile(r"<(/?)([\w-]+)").match
_html = re.compile(r"<[^<>]*>")
MIN_WIDTH = 12
"""Minimum number of cells for a segment next to its containers; with fewer, the containers are not drawn."""
READS_THE_SAME = Span("reads the same, but is written differently", "quiet")
INLINE = frozenset(("paragraph", "heading", "item"))
"""Segments that have inline text only."""
AS_WRITTEN = BY_LINE | {"fence", "tag", "end", "align", "definition"}
"""Segments whose old and new source are shown one below the other."""
_NO_LANGUAGE = frozenset(("", "text", "txt", "none", "plain"))
_task = re.compile(r"\[([ xX])\][ \t]+").match


class _Block(NamedTuple):
    """A code block. It is highlighted as a whole, because comments and strings span lines."""

    language: str
    lines: list[Segment]


class CodeBlocks:
    """The code blocks of two texts, highlighted on demand."""

    def __init__(self, paired: Iterable[SegmentPair]) -> None:
        self._blocks: dict[tuple[str, int], _Block] = {}
        self._languages: dict[tuple[str, int], str] = {}
        self._lines: dict[tuple[str, int], Sequence[Line]] = {}
        self._highlighted: dict[tuple[str, str], Sequence[Line]] = {}
        self._characters_left = MAX_HIGHLIGHTED
        for pair in paired:
            if (pair.after or pair.before or _NO_PIECE).kind in ("fence", "code"):
                for side, piece in (("before", pair.before), ("after", pair.after)):
                    if piece:
                        self._take(side, piece)

    def line(self, pair: SegmentPair, segment: Segment) -> Line:
        """Return a highlighted line of code."""
        key = "before" if segment is pair.before else "after", segment.opener
        block = self._blocks[key]
        if key not in self._lines:
            self._lines[key] = self._highlight(block)
        lines = self._lines[key]
        return lines[segment.line - block.lines[0].line] if lines else (Span(sanitize(segment.text), "code"),)

    def _take(self, side: str, piece: Segment) -> None:
        if piece.kind == "fence":
            self._languages[side, piece.line] = language_of(piece).lower()
        elif (side, piece.opener) in self._blocks:
            self._blocks[side, piece.opener].lines.append(piece)
        else:
            self._blocks[side, piece.opener] = _Block(self._languages.get((side, piece.line - 1), ""), [piece])

    def _highlight(self, block: _Block) -> Sequence[Line]:
        """Return the highlighted lines of a block, cached by text.

        The result is empty if the block has no language, or if the code exceeds the limit.
        """
        size = sum(len(line.text) + 1 for line in block.lines) if block.language else 0
        if not 0 < size <= self._characters_left:
            return ()
        text = block.language, "\n".join(sanitize(line.text) for line in block.lines)
        if text not in self._highlighted:
            self._characters_left -= size
            self._highlighted[text] = [tuple(map(_plainer, line)) for line in highlight(text[1], block.language)]
        return self._highlighted[text]


def _plainer(span: Span) -> Span:
    return span._replace(style="code") if span.style in _OF_DIFFERENCES else span


def language_of(fence: Segment) -> str:
    """Return the language of a fence."""
    return sanitize(fence.mark.partition(" ")[0])


def mark_line_changes(segment: Segment, lines: tuple[Line, Line], ground: str = "") -> tuple[tuple[Line, Line], bool]:
    """Mark the changed words in an old and a new line, and return whether the line is mostly rewritten.

    Args:
        segment: the segment of the lines.
        lines: the old line and the new line.
        ground: the style of unstyled old words outside of code.
    """
    if segment.kind != "code":
        runs = token_runs(*map(styled_tokens, lines))
        return (one_side(runs, "removed", ground), one_side(runs, "added")), is_rewritten(runs)
    runs = token_runs(*(styled_tokens([Span(plain(line), "code")]) for line in lines))
    return (_side(runs, "removed", lines[0]), _side(runs, "added", lines[1])), is_rewritten(runs)


def _side(runs: Iterable[Run[StyledToken]], side: RunKind, line: Line) -> Line:
    """Return one side of code: diff colors for changed words, syntax colors for the others."""
    spans: list[Span] = []
    rest: Sequence[Span] = line
    for span in one_side(runs, side, "code"):
        same, rest = split_spans(rest, len(span.text))
        spans += same if span.style == "code" else [span]
    return tuple(spans)


def wrap_code(line: Line, columns: int) -> list[Line]:
    """Wrap a line of code to lines of exactly `columns` cells."""
    return [pad(part, columns, "code") for part in _by_cell(line, columns)]


def _by_cell(line: Line, columns: int) -> Iterator[Line]:
    row: list[Span] = []
    columns_left = max(columns, 2)
    for span in line:
        rest = span.text
        while rest:
            head, rest = split_cells(rest, columns_left)
            if head:
                row.append(span._replace(text=head))
                columns_left -= cell_len(head)
            if rest:
                yield tuple(row)
                row, columns_left = [], max(columns, 2)
    yield tuple(row)


class TableColumns:
    """The column widths of each table in a diff, wide enough for the old and the new text."""

    def __init__(self, paired: Iterable[SegmentPair]) -> None:
        self._sizes: dict[int, list[int] | None] = {}
        self._table_of: dict[tuple[str, int], int] = {}
        self._widths: list[list[tuple[int, int]]] = []
        for pair in paired:
            if (pair.after or pair.before or _NO_PIECE).kind == "row":
                self._take(pair)

    def row(self, pair: SegmentPair, cells: Sequence[Sequence[Span]], columns: int) -> list[Line]:
        """Render a row in at most `columns` cells."""
        sizes = self._sizes_of(pair, columns)
        if sizes is None:
            joined = [span for number, cell in enumerate(cells) for span in ((SEPARATOR, *cell) if number else cell)]
            return wrap(joined, columns)
        laid = [wrap(cell, size) for cell, size in zip(cells, sizes, strict=False)]
        height = max((len(cell) for cell in laid), default=0)
        return [_joined(laid, sizes, number) for number in range(height)]

    def rule(self, pair: SegmentPair, columns: int, hairline: str) -> Line:
        """Render the hairline below a table's head."""
        sizes = self._sizes_of(pair, columns)
        text = (" " * GAP).join(hairline * size for size in sizes) if sizes else hairline * columns
        return (Span(text, "quiet"),)

    def _take(self, pair: SegmentPair) -> None:
        keys = [(side, piece.opener) for side, piece in (("a", pair.after), ("b", pair.before)) if piece]
        table = next((self._table_of[key] for key in keys if key in self._table_of), len(self._widths))
        if table == len(self._widths):
            self._widths.append([])
        self._table_of.update(dict.fromkeys(keys, table))
        widths = self._widths[table]
        for piece in (pair.before, pair.after):
            for number, cell in enumerate(table_cells(piece.text) if piece else ()):
                text = _markup.sub("", cell)
                word = max(map(cell_len, text.split()), default=1)
                cell_widths = widths[number] if number < len(widths) else (1, 1)
                widths[number : number + 1] = [(max(cell_len(text), cell_widths[0]), max(word, cell_widths[1]))]

    def _sizes_of(self, pair: SegmentPair, columns: int) -> list[int] | None:
        key = ("a", pair.after.opener) if pair.after else ("b", pair.before.opener if pair.before else -1)
        table = self._table_of.get(key, -1)
        if table < 0:
            return None
        if table not in self._sizes:
            self._sizes[table] = _column_widths(self._widths[table], columns)
        return self._sizes[table]


def _column_widths(widths: Sequence[tuple[int, int]], columns: int) -> list[int] | None:
    """Return column widths that fit into `columns`, or None if there is not enough room.

    All columns get their minimum width. Then a binary search finds the largest width limit with which they fit.

    Args:
        widths: for each column, the width of its widest cell and of its longest word.
        columns: the available cells.
    """
    columns_left = columns - GAP * (len(widths) - 1)
    smallest = [min(natural, max(MIN_COLUMN, min(word, columns // 4))) for natural, word in widths]
    if sum(smallest) > columns_left:
        return None
    low, high = 0, columns
    while low < high:
        cap = (low + high + 1) // 2
        fits = (
            sum(min(natural, max(small, cap)) for (natural, _), small in zip(widths, smallest, strict=True))
            <= columns_left
        )
        low, high = (cap, high) if fits else (low, cap - 1)
    return [min(natural, max(small, low)) for (natural, _), small in zip(widths, smallest, strict=True)]


def _joined(cells: Sequence[Sequence[Line]], sizes: Sequence[int], number: int) -> Line:
    return tuple(_parts(cells, sizes, number))


def _parts(cells: Sequence[Sequence[Line]], sizes: Sequence[int], number: int) -> Iterator[Span]:
    blank = 0
    for cell, size in zip(cells, sizes, strict=False):
        line = cell[number] if number < len(cell) else ()
        if line and blank:
            yield Span(" " * blank)
            blank = 0
        yield from line
        blank += size - width(line) + GAP


def tag_line(segment: Segment, columns: int, symbols: Symbols) -> Line | None:
    """Render a tag, or return None for tags that show only their content."""
    opened = _tag(segment.text)
    summary = _summary(segment.text)
    name = opened[1].lower() if opened else "details" if summary else "hint" if segment.mark in HINTS else ""
    values = parse_attributes(opened[2]) if opened else {}
    if name == "hint":
        hint = hint_of(values.get("style", segment.mark or "info"))
        return Span(f"{symbols.hint} ", hint.style), Span(hint.label, f"{hint.style} strong")
    if name == "step":
        return (Span(segment.mark, "accent strong"),)
    if name == "details":
        words = sanitize(" ".join(unescape(_html.sub("", summary[1])).split())) if summary else "Details"
        return cut((Span(f"{symbols.opened} ", "accent"), Span(words, "strong")), columns)
    title = title_of(segment) or ("Tab" if name == "tab" else "")
    return titled_rule(sanitize(title), columns, symbols) if title else None


def tag_words(segment: Segment) -> str:
    """Describe a tag in words, for changes that readers do not see: `[code title="a.py"]`, `[end of tabs]`."""
    text = segment.text.strip()
    opened, element = _tag(text), _element(text)
    if opened:
        name = opened[1]
        words = f"end of {name[3:]}" if name.lower().startswith("end") else " ".join(f"{name} {opened[2]}".split())
    elif element:
        words = f"end of {element[2]}" if element[1] else element[2]
    else:
        return sanitize(text)
    return sanitize(f"[{words}]")


def title_of(segment: Segment) -> str:
    """Return the title of a tab or a code block, or the date of an update."""
    opened = _tag(segment.text)
    values = parse_attributes(opened[2]) if opened else {}
    return values.get("title") or values.get("date") or ""


class MarkedLine(NamedTuple):
    """A line with its mark: empty, added, removed, changed or moved."""

    mark: str
    line: Line


class SegmentPainter:
    """Renders the segments of one diff.

    With `is_whole`, the whole page was added or removed, and segments are rendered without diff colors.
    """

    def __init__(self, paired: Sequence[SegmentPair], columns: int, symbols: Symbols, *, is_whole: bool) -> None:
        self._columns, self._symbols, self._is_whole = columns, symbols, is_whole
        self._tables = TableColumns(paired)
        self._codes = CodeBlocks(paired)
        self._layout = BlockRenderer(symbols)
        for piece in (piece for pair in paired for piece in (pair.before, pair.after)):
            if piece and piece.kind == "definition":
                self._layout.parse(piece.text)
        self._new_tags = _indices(paired)
        self._draw: dict[str, Callable[[SegmentPair, Segment, int], list[Line]]] = {
            "item": self._item,
            "row": self._row,
            "align": self._rule,
            "code": self._code,
            "fence": self._fence,
            "line": self._source_lines,
            "meta": self._source_lines,
            "tag": self._tag,
            "end": self._end,
            "conflict": self._conflict,
        }

    def pair_lines(self, pair: SegmentPair) -> list[MarkedLine]:
        """Render one pair of segments."""
        piece = pair.after or pair.before
        if not piece:
            return []
        if pair.kind == "changed" and pair.before:
            before, columns = self._room(piece.within)
            drawn = self._changed(pair, pair.before, piece, columns)
            return [MarkedLine(mark, before + line) for mark, line in drawn]
        mark = "" if pair.kind == "same" else pair.kind
        tint = mark if mark in ("added", "removed") else ""
        if piece.kind == "conflict":
            tint = ""
        elif self._is_whole:
            tint = "quiet" if tint == "removed" else ""
        return [MarkedLine(mark, tint_line(line, tint)) for line in self._read(pair, piece)]

    def around(self, within: Sequence[str]) -> Line:
        """Return the prefix of a line inside these containers."""
        return self._room(within)[0]

    def _room(self, within: Sequence[str]) -> tuple[Line, int]:
        line = tuple(self._bar(container) for container in within)
        columns_left = self._columns - width(line)
        return (line, columns_left) if columns_left >= MIN_WIDTH else ((), self._columns)

    def _bar(self, within: str) -> Span:
        if within.startswith("hint-"):
            return Span(f"{self._symbols.hint} ", hint_of(within[5:]).style)
        if within in ("quote", "step"):
            return Span(f"{self._symbols.quote} ", "quiet")
        return Span(within)

    def _read(self, pair: SegmentPair, segment: Segment) -> list[Line]:
        """Render a segment with its containers."""
        before, columns = self._room(segment.within)
        draw = self._draw.get(segment.kind)
        lines = draw(pair, segment, columns) if draw else self._layout.lines(segment.text, columns)
        if not lines and pair.kind in ("added", "removed") and segment.kind != "end":
            # the segment renders to nothing, but must be visible as a difference
            lines = self._layout.words(segment.text, "quiet", columns)
        return [before + line for line in lines]

    def _words(self, text: str) -> list[Span] | None:
        """Return the runs of a text if it is inline text only, or None."""
        tokens = self._layout.parse(text)
        if len(tokens) != 3 or tokens[1].type != "inline":
            return None if tokens else []
        style = HEADING_STYLES[int(tokens[0].tag[1]) - 1] if tokens[0].type == "heading_open" else ""
        return self._layout.runs(tokens[1], style)

    def _item(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        task = _task(segment.text)
        spans = self._words(segment.text[task.end() :] if task else segment.text)
        return self._hanging(segment, spans or [], columns, task[1] if task else "")

    def _hanging(self, segment: Segment, spans: Sequence[Span], columns: int, task: str = "") -> list[Line]:
        """Render an item with its marker and a hanging indent."""
        depth = sum(not container.strip() for container in segment.within)
        bullet = self._symbols.bullets[depth % len(self._symbols.bullets)]
        mark = segment.mark if segment.mark[-1:] in ".)" else bullet
        if task:
            mark = self._symbols.unchecked if task == " " else self._symbols.checked
        lines = wrap(spans, max(columns - len(mark) - 1, 1)) or [()]
        blank = Span(" " * (len(mark) + 1))
        return [(Span(f"{mark} ", "quiet") if not number else blank, *line) for number, line in enumerate(lines)]

    def _row(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        return self._tables.row(pair, [self._cell(segment, cell) for cell in table_cells(segment.text)], columns)

    def _cell(self, segment: Segment, text: str) -> list[Span]:
        words = self._words(text)
        spans = [Span(sanitize(text))] if words is None else words
        return [span._replace(style=f"{span.style} strong".strip()) for span in spans] if segment.mark else spans

    def _rule(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        return [self._tables.rule(pair, columns, self._symbols.hairline)]

    def _code(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        return wrap_code(self._codes.line(pair, segment), columns)

    def _fence(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        language = language_of(segment)
        if language.lower() in _NO_LANGUAGE and pair.kind == "same":
            return []
        return [pad((Span(f"{language or 'code'}  ".rjust(columns), "code quiet"),), columns, "code")]

    def _source_lines(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        style = "quiet" if segment.kind != "line" else "heading" if segment.text.startswith("#") else ""
        return self._folded(segment, (Span(_source_text(segment), style),), columns)

    def _tag(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        line = tag_line(segment, columns, self._symbols)
        return [line] if line else [] if pair.kind == "same" else self._source_lines(pair, segment, columns)

    def _end(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        """Render the end of a tag if it changed, unless the tag itself was added or removed."""
        side = "after" if pair.after else "before"
        is_plain = pair.kind == "same" or (side, segment.opener) in self._new_tags
        return [] if is_plain else self._source_lines(pair, segment, columns)

    def _conflict(self, pair: SegmentPair, segment: Segment, columns: int) -> list[Line]:
        """Render both sides of a conflict, one below the other."""
        [block, *_] = conflict_blocks(segment.text)
        bar = Span(f"{self._symbols.hint} ", "removed")
        room = columns - width((bar,))
        lines = wrap((Span("Conflict: both sides changed this text", "removed strong"),), room)
        for label, name, side in (("ours", block.our_name, block.ours), ("theirs", block.their_name, block.theirs)):
            text = self._layout.lines("\n".join(side), room)
            lines.append((Span(label, "strong"), Span(f"  {sanitize(side_name(name))}", "quiet")))
            lines += text or [(Span("(no text)", "quiet"),)]
        return [(bar, *line) for line in lines]

    def _changed(self, pair: SegmentPair, before: Segment, after: Segment, columns: int) -> list[MarkedLine]:
        if after.kind == "conflict":
            old, new = (self._conflict(pair, segment, columns) for segment in (before, after))
            return [*mark_all("removed", old, ""), *mark_all("added", new, "")]
        if before.kind == after.kind == "row":
            return self._changed_row(pair, before, after, columns)
        if before.kind in INLINE and after.kind in INLINE:
            old, new = self._words(before.text), self._words(after.text)
            if old is not None and new is not None:
                return self._changed_words(pair, token_runs(styled_tokens(old), styled_tokens(new)), columns)
        if before.kind == after.kind == "tag":
            tags = [tag_line(piece, columns, self._symbols) for piece in (before, after)]
            if tags[0] and tags[1] and plain(tags[0]) != plain(tags[1]):
                return [*mark_all("removed", [tags[0]]), *mark_all("added", [tags[1]])]
        if after.kind in AS_WRITTEN:
            return self._below(before, after, *self._as_written(pair, before, after), columns)
        return self._changed_lines(before, after, columns)

    def _changed_words(self, pair: SegmentPair, runs: Sequence[Run[StyledToken]], columns: int) -> list[MarkedLine]:
        before, after = pair.before, pair.after
        if not before or not after:
            return []
        is_same = all(run.kind == "same" for run in runs)
        if is_same or is_rewritten(runs):
            bare = (piece._replace(within=()) for piece in (before, after))
            old, new = (self._read(SegmentPair("same", piece, piece), piece) for piece in bare)
            if is_same and old == new:
                return [*(MarkedLine("", line) for line in new), MarkedLine("changed", (READS_THE_SAME,))]
            return [*mark_all("removed", old), *mark_all("added", new)]
        spans = list(merged_spans(runs))
        lines = self._hanging(after, spans, columns) if after.kind == "item" else wrap(spans, columns)
        return [mark_changes(line) for line in lines]

    def _changed_row(self, pair: SegmentPair, before: Segment, after: Segment, columns: int) -> list[MarkedLine]:
        old, new = table_cells(before.text), table_cells(after.text)
        cells: list[list[Span]] = []
        for number in range(max(len(old), len(new))):
            sides = [self._cell(after, side[number] if number < len(side) else "") for side in (old, new)]
            cells.append(list(merged_spans(token_runs(styled_tokens(sides[0]), styled_tokens(sides[1])))))
        return [mark_changes(line) for line in self._tables.row(pair, cells, columns)]

    def _changed_lines(self, before: Segment, after: Segment, columns: int) -> list[MarkedLine]:
        """Render segments that are more than inline text, such as cards, and mark the lines that read differently."""
        old, new = (self._layout.lines(piece.text, columns) for piece in (before, after))
        drawn: list[MarkedLine] = []
        for part in gaps([reading_text(line) for line in old], [reading_text(line) for line in new]):
            new_lines = new[part.after.start : part.after.stop] if isinstance(part, Gap) else ()
            if not isinstance(part, Gap):
                drawn += [MarkedLine("", line) for line in new[part.after : part.after + part.size]]
            elif len(part.before) == len(part.after):
                pairs = zip(old[part.before.start : part.before.stop], new_lines, strict=True)
                rows = [
                    row
                    for old_line, new_line in pairs
                    for row in self._below(before, after, old_line, new_line, columns)
                ]
                drawn += sorted(rows, key=lambda row: row.mark != "removed")
            else:
                drawn += mark_all("removed", old[part.before.start : part.before.stop]) + mark_all("added", new_lines)
        return drawn if any(row.mark for row in drawn) else [*drawn, MarkedLine("changed", (READS_THE_SAME,))]

    def _as_written(self, pair: SegmentPair, before: Segment, after: Segment) -> tuple[Line, Line]:
        """Return the old and the new source, one line each; tags are described in words."""
        if after.kind == "code":
            return self._codes.line(pair, before), self._codes.line(pair, after)
        return (Span(_source_text(before)),), (Span(_source_text(after)),)

    def _below(self, before: Segment, after: Segment, old: Line, new: Line, columns: int) -> list[MarkedLine]:
        sides, is_new = mark_line_changes(after, (old, new), "quiet")
        sides = (tint_line(old, "removed"), tint_line(new, "added")) if is_new else sides
        first = self._folded(before, sides[0], columns)
        return [*mark_all("removed", first, ""), *mark_all("added", self._folded(after, sides[1], columns), "")]

    def _folded(self, segment: Segment, line: Line, columns: int) -> list[Line]:
        """Wrap a source line: code by cell, other text by word with its indent."""
        if segment.kind == "code":
            return wrap_code(line, columns)
        if width(line) <= columns:
            return [line]
        text = plain(line)
        indent = min(len(text) - len(text.lstrip(" ")), columns // 2)
        lead = (Span(" " * indent),) if indent else ()
        return [lead + part for part in wrap(line, columns - indent)] or [()]


def _indices(paired: Sequence[SegmentPair]) -> set[tuple[str, int]]:
    """Return the segments that were added or removed, as pairs of side and index."""
    indices: set[tuple[str, int]] = set()
    counts = {"before": 0, "after": 0}
    for pair in paired:
        sides = (("before", pair.before if pair.kind != "moved" or not pair.after else None), ("after", pair.after))
        for side, piece in sides:
            if piece:
                if pair.kind in ("added", "removed"):
                    indices.add((side, counts[side]))
                counts[side] += 1
    return indices


def _source_text(segment: Segment) -> str:
    """Return the source of a segment; a tag is described in words."""
    return tag_words(segment) if segment.kind in ("tag", "end") else sanitize(segment.text)


def mark_all(mark: str, lines: Sequence[Line], tint: str | None = None) -> list[MarkedLine]:
    """Give all lines the same mark and its color, or the color `tint`; with an empty `tint`, they keep their colors."""
    return [MarkedLine(mark, tint_line(line, mark if tint is None else tint)) for line in lines]


def mark_changes(line: Line) -> MarkedLine:
    """Return a line, marked as changed if it has changed words."""
    is_changed = any("added" in span.style or "removed" in span.style for span in line)
    return MarkedLine("changed" if is_changed else "", line)


def reading_text(line: Line) -> tuple[str, ...]:
    """Return the text and links of a line, independent of column widths."""
    words = " ".join(re.sub(r"([─-])\1+", r"\1", plain(line)).split())
    return words, *(span.link for span in line if span.link)
