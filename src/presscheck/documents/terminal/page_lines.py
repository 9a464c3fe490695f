"""Renders a page as terminal lines, block by block, on demand or in idle time.

No line is wider than requested, and no line contains control characters. Opening a page is fast at any length: it is
split into blocks at once, but only visible blocks are parsed.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property, lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.markdown.anchors import page_anchors
from presscheck.documents.markdown.block_splitter import Block, split_blocks, text_lines
from presscheck.documents.markdown.headings import Section, find_sections
from presscheck.documents.merge.conflict_blocks import (
    ConflictBlock,
    conflict_number,
    conflict_numbers,
    cut_conflicts,
)
from presscheck.documents.pages.comment_text import find_quoted_line, normalize_text
from presscheck.documents.pages.front_matter import read_description
from presscheck.documents.terminal.controls import (
    Controls,
    Mark,
    block_of,
    conflict_mark,
    is_control,
    is_section,
    marks_of,
    read_setting,
    section_key,
    target,
)
from presscheck.documents.terminal.references import NO_REFERENCES, References
from presscheck.documents.terminal.symbols import ASCII, UNICODE, Symbols
from presscheck.text.phrases import count as counted
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, plain, width, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from presscheck.documents.terminal.blocks import BlockRenderer


MAX_BLOCK = 100_000
"""Maximum number of characters of a block; longer blocks are shown as source code."""

SOURCE = "source"
"""The kind of a part of an oversized block."""
CONFLICT = "conflict"
"""The kind of a block that is a conflict."""


ROOM_OF_FOLD = 16
"""Cells that are reserved after a folded heading to show the number of hidden lines."""


class Heading(NamedTuple):
    """A heading or a conflict of a page.

    `line` is its line or, within a folded section, the line of the folded heading. `block` is the number of its block;
    -1 for the title.
    """

    level: int
    text: str
    line: int
    block: int = -1
    is_hidden: bool = False
    is_conflict: bool = False


class HiddenLine(NamedTuple):
    """A line in a folded section: the line of the folded heading, the number of its block, and its index there."""

    fold: int
    block: int
    line: int


class Link(NamedTuple):
    """A link of a page and its first line."""

    label: str
    target: str
    line: int


class _Fold:
    """A folded section.

    Args:
        number: the number of the heading's block.
        end: the number of the block after the section.
        heading: the lines of the heading, without the number of hidden lines.

    Attributes:
        blocks: the lines of the hidden blocks that are rendered so far.
    """

    def __init__(self, number: int, end: int, heading: Sequence[Line]) -> None:
        self.number, self.end, self.heading = number, end, heading
        self.blocks: list[Sequence[Line]] = []

    @property
    def is_counted(self) -> bool:
        """Whether all hidden blocks are rendered."""
        return self.number + 1 + len(self.blocks) >= self.end

    @property
    def size(self) -> int:
        """The number of hidden lines with text that are rendered so far."""
        return sum(1 for lines in self.blocks for line in lines if plain(line).strip())

    def lines(self) -> Iterator[tuple[int, int, Line]]:
        """Yield the hidden lines, each with the number of its block and its index in the block."""
        for number, lines in enumerate(self.blocks, self.number + 1):
            for at, line in enumerate(lines):
                yield number, at, line


class PageLines:
    """The lines of a page, which are rendered step by step.

    `links` and `headings` refer to `lines`. With controls, sections can be folded: `lines` lacks the content of
    folded sections, but `headings` has their headings. Folded blocks are rendered last, to be counted and searched.

    Args:
        markdown: the text.
        width: the width in cells.
        title: the title of the page, shown first. A first heading that repeats the title is not shown.
        ascii: whether the terminal has only ASCII characters.
        references: the content that the page refers to.
        controls: the state of folds, tabs and scrolling; None if everything is open.
        conflict_hint: how to resolve conflicts, shown below the title with the number of conflicts.
    """

    def __init__(
        self,
        markdown: str,
        width: int,
        *,
        title: str | None = None,
        ascii: bool = False,  # noqa: A002
        references: References = NO_REFERENCES,
        controls: Controls | None = None,
        conflict_hint: str = "",
    ) -> None:
        self.width = max(width, 1)
        self.controls = controls
        self._markdown = markdown
        self._references = references
        self.lines: list[Line] = []
        self.headings: list[Heading] = []
        self.links: list[Link] = []
        cut_text = cut_conflicts(markdown)
        self._conflict_hint = conflict_hint
        parts = _CutBlocks(cut_text.text, markdown, cut_text.conflicts)
        self._drawn_texts, self._conflicts = parts.drawn_texts, parts.conflicts
        self.blocks = split_oversized(parts.blocks)
        self.line_of_block: list[int] = []
        self._ascii = ascii
        self._renderer: BlockRenderer | None = None
        self._title = _one_line(title or "")
        self._first = 1 if self.blocks and self.blocks[0].kind == "front" else 0
        self._cached_sections: Mapping[int, Section] | None = None
        self._folds: dict[int, _Fold] = {}
        """The folded sections so far, by the heading's block, except those within other folded sections."""
        if self._title:
            self._append(self._layout.title(self._title, self.width))
            self.headings.append(Heading(1, self._title, 0))
            self._add_conflict_count()
            self._describe()

    @property
    def done(self) -> bool:
        """Whether the whole page is rendered, except for folded sections."""
        return len(self.line_of_block) == len(self.blocks)

    @property
    def complete(self) -> bool:
        """Whether everything is rendered, including folded sections."""
        return self.done and all(fold.is_counted for fold in self._folds.values())

    def at_least(self, count: int) -> None:
        """Render until there are at least `count` lines or the page ends."""
        while len(self.lines) < count and not self.done:
            self._next()

    def until_block(self, number: int) -> None:
        """Render up to and including a block."""
        while len(self.line_of_block) <= number and not self.done:
            self._next()

    def advance(self, seconds: float) -> bool:
        """Render for about `seconds`, folded sections last. Return whether the page is complete."""
        end = perf_counter() + seconds
        while not self.done and perf_counter() < end:
            self._next()
        if self._folds and self.done:
            for fold in self._folds.values():
                while not fold.is_counted and perf_counter() < end:
                    self._count_next(fold)
        return self.complete

    def block_at(self, line: int) -> int:
        """Return the number of the block at a line."""
        return max(bisect_right(self.line_of_block, line) - 1, 0)

    def place_of(self, line: int) -> tuple[int, int]:
        """Return the place of a line: the number of its block, and its index in the block.

        `line_of` finds the place again after the width has changed. Above the first block, the number is -1.
        """
        if not self.line_of_block or line < self.line_of_block[0]:
            return -1, line
        block = self.block_at(line)
        fold = self._fold_over(block)
        block = fold.number if fold else block
        return block, line - self.line_of_block[block]

    def line_of(self, place: tuple[int, int]) -> int:
        """Return the line at a place (see `place_of`), or the nearest line. Renders the page up to this line."""
        block, line = place
        if block < 0 or not self.blocks:
            return line
        block = min(block, len(self.blocks) - 1)
        self.until_block(block + 1)
        fold = self._fold_over(block)
        if fold:
            return self.line_of_block[fold.number]
        start = self.line_of_block[block]
        following = self.line_of_block[block + 1 : block + 2] or [len(self.lines)]
        return min(start + line, max(start, following[0] - 1))

    def marks(self, line: int) -> list[Mark]:
        """Return the blocks with controls that a line belongs to, outermost first."""
        return list(marks_of(self.lines[line])) if line < len(self.lines) else []

    def section_at(self, line: int) -> int | None:
        """Return the innermost section that contains a line, as the block number of its heading.

        Return None above the first heading.
        """
        block = self.place_of(line)[0]
        sections = self._sections
        while block >= 0 and not (block in sections and not sections[block].is_empty):
            block = next((number for number in range(block - 1, -1, -1) if number in sections), -1)
        return block if block >= 0 else None

    @property
    def has_folds(self) -> bool:
        """Whether any section is folded."""
        return bool(self.controls and any(part.key in self.controls.folded for part in self._sections.values()))

    def is_folded(self, number: int) -> bool:
        """Return whether the section of a heading is folded, given the number of its block."""
        section = self._sections.get(number)
        return bool(section and self.controls and section.key in self.controls.folded)

    def fold(self, number: int, *, is_folded: bool) -> None:
        """Fold or unfold the section of a heading; the page is rendered again from there."""
        section = self._sections.get(number)
        if section is None or section.is_empty or self.controls is None:
            return
        (self.controls.folded.add if is_folded else self.controls.folded.discard)(section.key)
        if not self._fold_over(number):
            self._cut_back(number)

    def fold_all(self, *, is_folded: bool) -> None:
        """Fold or unfold all sections."""
        if self.controls is None or not self._sections:
            return
        keys = {section.key for section in self._sections.values() if not section.is_empty}
        self.controls.folded = self.controls.folded | keys if is_folded else self.controls.folded - keys
        self._cut_back(min(self._sections))

    def reveal(self, number: int, *, opens: bool = False) -> bool:
        """Unfold every section that contains a block. Return whether a section was folded.

        Args:
            number: the number of the block.
            opens: whether to unfold the section of the block itself, if it is a heading.
        """
        if self.controls is None or not self.controls.folded:
            return False
        first = number + 1 if opens else number
        enclosing = [
            at for at, part in self._sections.items() if at < first and number < part.end and self.is_folded(at)
        ]
        for at in enclosing:
            self.controls.folded.discard(self._sections[at].key)
        if enclosing:
            self._cut_back(enclosing[0])
        return bool(enclosing)

    def hidden_lines(self, text: str) -> list[HiddenLine]:
        """Return the rendered lines in folded sections that contain a text (in lower case)."""
        return [
            HiddenLine(self._last_line_of(fold), block, at)
            for fold in self._folds.values()
            for block, at, line in fold.lines()
            if text in plain(line).lower()
        ]

    def hidden_block(self, link: str) -> int | None:
        """Return the number of the rendered block in folded sections that contains a link, or None."""
        for fold in self._folds.values():
            for block, _, line in fold.lines():
                if any(span.link == link for span in line):
                    return block
        return None

    def find_anchor(self, anchor: str) -> int | None:
        """Return the line of the Markdown (from 0) that an anchor leads to, or None. Parses the whole page."""
        return self._anchors.get(anchor)

    @cached_property
    def _anchors(self) -> Mapping[str, int]:
        return page_anchors(self._markdown, self._title, self._included).lines

    def _included(self, address: str) -> str | None:
        included = self._references.included(address)
        return included.markdown if included else None

    def starts_block(self, number: int) -> bool:
        """Return whether a block starts at this line of the Markdown (from 0).

        Closed tabs and expandables hide only lines inside a block, so the first line of a block is hidden only in a
        folded section.
        """
        block = self._block_of_source(number)
        return block >= 0 and self.blocks[block].start_line == number

    def _block_of_source(self, number: int) -> int:
        return bisect_right(self.blocks, number, key=lambda block: block.start_line) - 1

    def code(self, key: str) -> str:
        """Return the text of a code block, given the key of its control; empty if no block has the key."""
        return self._layout.codes.get(key, "")

    def source_of(self, line: int) -> str:
        """Return the line of the Markdown that a rendered line shows, matched by its words.

        If no line matches, return the first line of the block. Above the first block, as on the title, return an empty
        string.
        """
        source = self._source_of(line)
        return source[1] if source else ""

    def source_number_of(self, line: int) -> int | None:
        """Return the number of the line that `source_of` returns, counted from 0; None above the first block."""
        source = self._source_of(line)
        return source[0] if source else None

    def _source_of(self, line: int) -> tuple[int, str] | None:
        if self.place_of(line)[0] < 0 or not self.blocks:
            return None
        line_text = normalize_text(plain(self.lines[line])) if line < len(self.lines) else ""
        block = self.blocks[self.block_at(line)]
        numbered = enumerate(block.text.split("\n"), block.start_line)
        written = [(number, text) for number, text in numbered if text.strip()]
        matching = (source for source in written if _contains_other(line_text, normalize_text(source[1])))
        return next(matching, written[0] if written else None)

    def line_of_quote(self, words: str) -> int | None:
        """Return the line that shows a quoted text, or None if the page lacks the text.

        Renders the page up to this line.
        """
        numbered = [(number, text) for number, block in enumerate(self.blocks) for text in block.text.split("\n")]
        index = find_quoted_line(words, enumerate(text for _, text in numbered))
        if index is None:
            return None
        block, source = numbered[index]
        lines = self._revealed_lines(block)
        inside = find_quoted_line(words, ((line, plain(self.lines[line])) for line in lines))
        if inside is not None:
            return inside
        same = self._lines_with_words(source, lines)
        return same[0] if same else self.line_of_block[block]

    def line_of_source(self, number: int) -> int | None:
        """Return the rendered line that shows a line of the Markdown (from 0), matched by its words.

        If no rendered line matches, use the nearest line above it in the block. Return None if the Markdown has no such
        line. Renders the page up to the line.
        """
        block = self._block_of_source(number)
        if block < 0 or number > self.blocks[-1].start_line + self.blocks[-1].text.count("\n"):
            return None
        lines = self._revealed_lines(block)
        source_lines = self.blocks[block].text.split("\n")[: number - self.blocks[block].start_line + 1]
        for at in range(len(source_lines) - 1, 0, -1):  # some lines have no words, such as the line of a picture
            same = self._lines_with_words(source_lines[at], lines)
            if same:
                return same[min(source_lines[:at].count(source_lines[at]), len(same) - 1)]
        return self.line_of_block[block]

    def _revealed_lines(self, block: int) -> range:
        """Return the lines of a block, after rendering and unfolding it."""
        self.reveal(block)
        self.until_block(block + 1)
        start, following = self.line_of_block[block], self.line_of_block[block + 1 : block + 2]
        return range(start, min(max(start + 1, following[0] if following else len(self.lines)), len(self.lines)))

    def _lines_with_words(self, source: str, lines: range) -> list[int]:
        normalized = normalize_text(source)
        words = {line: normalize_text(plain(self.lines[line])) for line in lines}
        # an exact match first: otherwise “In B” would be found instead of “B”
        same = [line for line in lines if normalized and words[line] == normalized]
        return same or [line for line in lines if _contains_other(words[line], normalized)]

    def set(self, address: str) -> bool:
        """Set a control, given its target, and render its block again. Return whether the target is a control."""
        setting = read_setting(address)
        if setting is None or self.controls is None:
            return False
        key, value = setting
        if is_section(key):
            self.fold(block_of(key), is_folded=not value)
            return True
        self.controls.set(key, value)
        self._render_again(block_of(key))
        return True

    def _render_again(self, number: int) -> None:
        """Render one block again; the lines below it are moved."""
        if number >= len(self.line_of_block):
            return
        start = self.line_of_block[number]
        following = self.line_of_block[number + 1] if number + 1 < len(self.line_of_block) else None
        end = len(self.lines) if following is None else following
        while end > start and not self.lines[end - 1]:  # the space before the next block
            end -= 1
        lines = self._render_block(self.blocks[number], number)
        moved = len(lines) - (end - start)
        self.lines[start:end] = lines
        self.line_of_block[number + 1 :] = [line + moved for line in self.line_of_block[number + 1 :]]
        self.headings = [
            heading._replace(line=heading.line + moved) if heading.line >= end else heading for heading in self.headings
        ]
        headings = self._conflict_headings(number, start, lines, is_hidden=False) if self._conflicts else []
        if headings:
            at = next(place for place, heading in enumerate(self.headings) if heading.block == number)
            self.headings[at : at + len(headings)] = headings
        inside = [link for link in self.links if link.line < start]
        after = [link._replace(line=link.line + moved) for link in self.links if link.line >= end]
        self.links = [*inside, *_links(lines, start), *after]

    @property
    def _sections(self) -> Mapping[int, Section]:
        """The sections by the number of the heading's block, without the section of a repeated title."""
        if self._cached_sections is None:
            sections = find_sections(self.blocks) if self.controls is not None else {}
            if self._title and self._first in sections and self._repeats_title(self._first):
                del sections[self._first]
            self._cached_sections = sections
        return self._cached_sections

    def _repeats_title(self, number: int) -> bool:
        return _heading(self._layout, self.blocks[number])[1].casefold() == self._title.casefold()

    def _fold_over(self, block: int) -> _Fold | None:
        """Return the folded section that hides a block, or None."""
        return next((fold for fold in self._folds.values() if fold.number < block < fold.end), None)

    def _last_line_of(self, fold: _Fold) -> int:
        """Return the last line of a folded heading."""
        return self.line_of_block[fold.number] + len(fold.heading) - 1

    def _cut_back(self, number: int) -> None:
        """Discard all lines from a visible block on; they are rendered again on demand."""
        if number >= len(self.line_of_block):
            return
        start = self.line_of_block[number]
        del self.lines[start:], self.line_of_block[number:]
        while self.lines and not self.lines[-1]:  # the space before the block
            self.lines.pop()
        self._folds = {at: fold for at, fold in self._folds.items() if at < number}
        self.headings = [heading for heading in self.headings if heading.line < start]
        self.links = [link for link in self.links if link.line < start]

    def _lay_fold(self, number: int, end: int, heading: Sequence[Line]) -> None:
        """Skip the blocks of a folded section, after its heading."""
        self._folds[number] = _Fold(number, end, heading)
        at = self.line_of_block[number]
        for inner in range(number + 1, end):
            block = self.blocks[inner]
            if block.kind == "heading":
                level, text = _heading(self._layout, block)
                self.headings.append(Heading(level, text, at, inner, is_hidden=True))
            elif self._conflicts:
                self.headings += self._conflict_headings(inner, at, (), is_hidden=True)
            self.line_of_block.append(len(self.lines))

    def _count_next(self, fold: _Fold) -> None:
        """Render the next block of a folded section. After the last block, the heading shows the number of lines."""
        number = fold.number + 1 + len(fold.blocks)
        fold.blocks.append(self._render_block(self.blocks[number], number))
        if fold.is_counted:
            start = self.line_of_block[fold.number]
            self.lines[start : start + len(fold.heading)] = self._folded_heading(
                fold.number, fold.heading, counted(fold.size, "line")
            )

    def _folded_heading(self, number: int, heading: Sequence[Line], hidden: str) -> list[Line]:
        """Append a note about hidden lines to the last text line of a heading."""
        lines = list(heading)
        at = next((at for at in range(len(lines) - 1, -1, -1) if not is_rule(lines[at], self._layout.symbols)), 0)
        note = Span(f"  · {hidden}", "quiet", target(section_key(number), 1))
        room = max(0, self.width - width((note,)))
        if room:
            lines[at] = (*cut(lines[at], room), note)
        return lines

    @property
    def _layout(self) -> BlockRenderer:
        if self._renderer is None:
            self._renderer = _new_layout(self.blocks, self._ascii, self._references, self.controls, self._conflicts)
        return self._renderer

    def _next(self) -> None:
        number = len(self.line_of_block)
        block = self.blocks[number]
        is_first = number == self._first
        if block.kind == "heading":
            self._head(block, number)
            return
        if is_first and not self._title:
            self._describe()
        lines = self._render_block(block, number)
        goes_on = block.kind == SOURCE and number and self.blocks[number - 1].kind == SOURCE
        at = self._append(lines, space=0 if goes_on else 1)
        self.line_of_block.append(at)
        if self._conflicts:
            self.headings += self._conflict_headings(number, at, lines, is_hidden=False)

    def _render_block(self, block: Block, number: int) -> list[Line]:
        if block.kind == "front":
            return []
        if block.kind == SOURCE:
            return self._layout.source(block.text, self.width)
        drawn = self._drawn_texts.get(block.start_line) if self._drawn_texts else None
        if drawn is None:
            return self._layout.lines(block.text, self.width, number)
        lines = self._layout.lines(drawn, self.width, number)
        # a conflict may start or end within a unit such as HTML, which is then shown as source code
        return self._as_written(block, number) if self._layout.cuts_html else lines

    def _as_written(self, block: Block, number: int) -> list[Line]:
        conflicts = self._conflicts_in(number)
        title = self._layout.words(self._layout.conflict_title(conflicts[0]), "removed strong", self.width)
        return [(conflict_mark(conflicts[0]), *title[0]), *title[1:], *self._layout.source(block.text, self.width)]

    def _head(self, block: Block, number: int) -> None:
        is_first = number == self._first
        level, text = _heading(self._layout, block)
        repeats = is_first and bool(self._title) and text.casefold() == self._title.casefold()
        at = 0
        section = self._sections.get(number)
        is_folded = section is not None and not section.is_empty and self.is_folded(number)
        lines: list[Line] = []
        if not repeats:
            room = self.width - ROOM_OF_FOLD if is_folded and self.width > 2 * ROOM_OF_FOLD else self.width
            lines = self._layout.lines(block.text, room)
            is_folded = is_folded and bool(lines)
            if section and not section.is_empty and lines:
                lines[0] = (Mark("section", section_key(number), int(not is_folded), 1).span, *lines[0])
            heading_lines = self._folded_heading(number, lines, "…") if is_folded else lines
            at = self._append(heading_lines, space=2 if level == 2 else 1)
            self.headings.append(Heading(level, text, at, number))
        self.line_of_block.append(at)
        if is_first and not self._title:
            self._describe()
        if section and is_folded:
            self._lay_fold(number, section.end, lines)

    def _describe(self) -> None:
        """Add the description from the front matter."""
        description = read_description(self.blocks[0].text) if self._first else ""
        if description:
            self._append(self._layout.words(description, "quiet", self.width))

    def _add_conflict_count(self) -> None:
        if self._conflicts:
            number = counted(len(self._conflicts), "conflict")
            spans = [Span(f"{self._layout.symbols.broken} {number}", "removed strong")]
            hint = [Span(f" · {self._conflict_hint}", "quiet")] if self._conflict_hint else []
            self._append(wrap([*spans, *hint], self.width), space=0)

    def conflict_at(self, line: int) -> int:
        """Return the number of the conflict at a line, or of the last conflict above it; 0 above all conflicts."""
        block = self.place_of(line)[0]
        before = [number for number, _ in self._conflicts_up_to(block)]
        conflict_marks = [mark for at in range(line + 1) for mark in self.marks(at) if mark.kind == CONFLICT]
        return int(conflict_marks[-1].key) if conflict_marks else before[-1] if before else 0

    def _conflicts_up_to(self, block: int) -> Iterator[tuple[int, int]]:
        for number in range(min(block, len(self.blocks) - 1) + 1):
            for conflict in self._conflicts_in(number):
                yield conflict, number

    def _conflicts_in(self, number: int) -> list[int]:
        """Return the numbers of the conflicts in a block."""
        return conflict_numbers(self._drawn_texts.get(self.blocks[number].start_line, ""))

    def _conflict_headings(self, number: int, at: int, lines: Sequence[Line], *, is_hidden: bool) -> list[Heading]:
        """Return headings for the conflicts in a block whose lines begin at line `at`."""
        conflicts = self._conflicts_in(number) if self._conflicts else []
        if not conflicts:
            return []
        above = [heading for heading in self.headings if heading.block < number and not heading.is_conflict]
        level = above[-1].level + 1 if above else 1
        starts = {
            int(mark.key): row for row, line in enumerate(lines, at) for mark in marks_of(line) if mark.kind == CONFLICT
        }
        return [
            Heading(
                level,
                f"Conflict {conflict + 1} of {len(self._conflicts)}",
                starts.get(conflict, at),
                number,
                is_hidden=is_hidden,
                is_conflict=True,
            )
            for conflict in conflicts
        ]

    def _append(self, lines: Sequence[Line], space: int = 1) -> int:
        """Add lines below some blank lines. Return the number of the first line."""
        if lines and self.lines:
            self.lines.extend([()] * space)
        at = len(self.lines)
        self.lines.extend(lines)
        self.links.extend(_links(lines, at))
        return at


class _CutBlocks:
    """The blocks of a page with conflicts. A conflict is a separate block, or a part of another block.

    Args:
        text: the page with placeholders for its conflicts.
        markdown: the page.
        conflicts: the conflicts.

    Attributes:
        blocks: the blocks with their source text.
        drawn_texts: the text to render instead of the source, by the first line of the block.
        conflicts: the conflicts; a side with rows of a table also has the head of the table.
    """

    def __init__(self, text: str, markdown: str, conflicts: Sequence[ConflictBlock]) -> None:
        self.blocks = split_blocks(text)
        self.drawn_texts: dict[int, str] = {}
        self.conflicts = list(conflicts)
        if conflicts:
            self._lines = text_lines(markdown)  # pyrefly: ignore[possibly-uninitialized-attribute]
            head = ""
            for at, block in enumerate(self.blocks):
                head = self._head(block, head)
                self.blocks[at] = self._with_conflict_source(block, head)

    def _head(self, block: Block, head: str) -> str:
        """Return the head of the table that a block belongs to, even after a conflict in the table; empty otherwise."""
        if block.kind == "table":
            return "\n".join(block.text.split("\n")[:2])
        return head if conflict_number(block.text) is not None or block.text.startswith("|") else ""

    def _with_conflict_source(self, block: Block, head: str) -> Block:
        number = conflict_number(block.text)
        if number is not None:
            conflict = self.conflicts[number]
            if head and all(line.startswith("|") for line in (*conflict.ours, *conflict.theirs)):
                sides = [(*head.split("\n"), *side) if side else () for side in (conflict.ours, conflict.theirs)]
                self.conflicts[number] = conflict._replace(ours=sides[0], theirs=sides[1])
            self.drawn_texts[conflict.first] = block.text
            text = "\n".join(self._lines[conflict.first : conflict.last + 1])
            return Block(CONFLICT, text, conflict.first)
        if conflict_numbers(block.text):
            self.drawn_texts[block.start_line] = block.text
            size = block.text.count("\n") + 1
            return block._replace(text="\n".join(self._lines[block.start_line : block.start_line + size]))
        if head and block.kind == "paragraph":  # the rows of a table below a conflict
            self.drawn_texts[block.start_line] = f"{head}\n{block.text}"
        return block


def render_page(markdown: str, width: int, *, title: str | None = None, ascii: bool = False) -> list[Line]:  # noqa: A002
    """Render all lines of a page."""
    page = PageLines(markdown, width, title=title, ascii=ascii)
    page.advance(float("inf"))
    return page.lines


@lru_cache(512)
def comment_lines(markdown: str, columns: int) -> Sequence[Line]:
    """Render a comment. A comment that would render to nothing is shown as source."""
    renderer = _new_layout((), only_ascii=False)
    return renderer.lines(markdown.strip("\n"), columns) or renderer.source(markdown, columns)


def outline(markdown: str) -> list[Heading]:
    """Return the headings of a page with their lines (from 0) in the Markdown."""
    blocks = split_blocks(markdown)
    layout = _new_layout(blocks, only_ascii=False)
    headings = [(block.start_line, *_heading(layout, block)) for block in blocks if block.kind == "heading"]
    return [Heading(level, text, line) for line, level, text in headings]


def split_oversized(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks. Oversized blocks are split into parts that are shown as source code."""
    return [piece for block in blocks for piece in ([block] if len(block.text) <= MAX_BLOCK else _pieces(block))]


def _pieces(block: Block) -> Iterator[Block]:
    size = MAX_BLOCK // 8
    collected: list[str] = []
    length, start = 0, block.start_line
    for number, line in enumerate(block.text.split("\n"), block.start_line):
        for at in range(0, len(line) or 1, size):
            if length + len(line) > size and collected:
                yield Block(SOURCE, "\n".join(collected), start)
                collected, length, start = [], 0, number
            collected.append(line[at : at + size])
            length += len(collected[-1]) + 1
    yield Block(SOURCE, "\n".join(collected), start)


def _new_layout(
    blocks: Sequence[Block],
    only_ascii: bool,
    references: References = NO_REFERENCES,
    controls: Controls | None = None,
    conflicts: Sequence[ConflictBlock] = (),
) -> BlockRenderer:
    # importing takes 32 ms because of markdown-it, which the first screen does not need
    from presscheck.documents.terminal.blocks import BlockRenderer

    layout = BlockRenderer(ASCII if only_ascii else UNICODE, references, controls, conflicts)
    for block in blocks:
        if block.kind == "definition":
            layout.parse(block.text)
    return layout


def _heading(layout: BlockRenderer, block: Block) -> tuple[int, str]:
    level, runs = layout.heading_runs(block.text)
    return level, " ".join(plain(tuple(runs)).split())


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())


def _contains_other(first: str, second: str) -> bool:
    """Return whether one of two normalized texts contains the other."""
    return bool(first and second) and (first in second or second in first)


def is_rule(line: Line, symbols: Symbols) -> bool:
    """Return whether a line is a hairline."""
    return not plain(line).strip(symbols.hairline)


def _links(lines: Sequence[Line], start: int) -> Iterator[Link]:
    """Yield the links in lines; a link that continues in the next span or line is yielded once."""
    label, target, at = "", "", 0
    for number, line in enumerate(lines, start):
        for span in line:
            if span.link and is_control(span.link):
                continue
            if span.link == target and target:
                label += span.text
            elif span.link:
                if target:
                    yield Link(label.strip(), target, at)
                label, target, at = span.text, span.link, number
            elif target and span.text.strip():
                yield Link(label.strip(), target, at)
                target = ""
        label += " " if target else ""
    if target:
        yield Link(label.strip(), target, at)
