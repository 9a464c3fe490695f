"""Renders a page as terminal lines, block by block, on demand or when there is time.

No line is wider than asked, and none has a character that a terminal could act on. Opening a page is fast at any
length: it is split into blocks at once, and only what is shown is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.markdown.block_splitter import Block, split_blocks
from presscheck.documents.pages.front_matter import read_description
from presscheck.documents.pages.quotes import find_quoted_line, normalize_text
from presscheck.documents.terminal.controls import Controls, Mark, block_of, is_control, marks_of, read_setting
from presscheck.documents.terminal.references import NO_REFERENCES, References
from presscheck.documents.terminal.symbols import ASCII, UNICODE
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from presscheck.documents.terminal.blocks import BlockRenderer


MAX_BLOCK = 100_000
"""Longer blocks, in characters, are shown as they are written."""

SOURCE = "source"
"""The kind of a part of such a block."""


class Heading(NamedTuple):
    """A heading of a page and its line."""

    level: int
    text: str
    line: int


class Link(NamedTuple):
    """A link of a page and its first line."""

    label: str
    target: str
    line: int


class PageLines:
    """The lines of a page, as far as they are rendered.

    `links` and `headings` are those of `lines`; `anchors` are the lines that a `#fragment` leads to.

    Args:
        markdown: the text.
        width: the width in cells.
        title: the title of the page: it is shown first, and not again if the text starts with it.
        ascii: whether the terminal has only ASCII characters.
        references: what the page refers to.
        controls: what is folded, and what scrolls; without them everything is open.
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
    ) -> None:
        self.width = max(width, 1)
        self.controls = controls
        self._references = references
        self.lines: list[Line] = []
        self.headings: list[Heading] = []
        self.links: list[Link] = []
        self.anchors: dict[str, int] = {}
        self.blocks = split_oversized(split_blocks(markdown))
        self.line_of_block: list[int] = []
        self._ascii = ascii
        self._made: BlockRenderer | None = None
        self._title = _one_line(title or "")
        self._first = 1 if self.blocks and self.blocks[0].kind == "front" else 0
        if self._title:
            self._append(self._layout.title(self._title, self.width))
            self.headings.append(Heading(1, self._title, 0))
            self._describe()

    @property
    def done(self) -> bool:
        """Whether the whole page is rendered."""
        return len(self.line_of_block) == len(self.blocks)

    def at_least(self, count: int) -> None:
        """Renders until there are this many lines or the page ends."""
        while len(self.lines) < count and not self.done:
            self._next()

    def until_block(self, number: int) -> None:
        """Renders up to and including a block."""
        while len(self.line_of_block) <= number and not self.done:
            self._next()

    def advance(self, seconds: float) -> bool:
        """Renders for some seconds; returns whether the page is done."""
        end = perf_counter() + seconds
        while not self.done and perf_counter() < end:
            self._next()
        return self.done

    def block_at(self, line: int) -> int:
        """Returns the number of the block at a line."""
        return max(bisect_right(self.line_of_block, line) - 1, 0)

    def place_of(self, line: int) -> tuple[int, int]:
        """Returns the number of the block at a line, and the line in it: a place that does not depend on the width."""
        if not self.line_of_block or line < self.line_of_block[0]:
            return -1, line
        block = self.block_at(line)
        return block, line - self.line_of_block[block]

    def line_of(self, place: tuple[int, int]) -> int:
        """Returns the line of such a place, or the one nearest to it; renders the page up to it."""
        block, line = place
        if block < 0 or not self.blocks:
            return line
        block = min(block, len(self.blocks) - 1)
        self.until_block(block + 1)
        start = self.line_of_block[block]
        following = self.line_of_block[block + 1 : block + 2] or [len(self.lines)]
        return min(start + line, max(start, following[0] - 1))

    def marks(self, line: int) -> list[Mark]:
        """Returns the blocks with controls that a line belongs to, the outermost first."""
        return list(marks_of(self.lines[line])) if line < len(self.lines) else []

    def code(self, key: str) -> str:
        """Returns the text of a code block by the key of its control."""
        return self._layout.codes.get(key, "")

    def source_of(self, line: int) -> str:
        """Returns the line of the Markdown that a line shows, as far as its words tell; else the first of its block.

        Empty above the first block, as on the title.
        """
        if self.place_of(line)[0] < 0 or not self.blocks:
            return ""
        shown = normalize_text(plain(self.lines[line])) if line < len(self.lines) else ""
        written = [text for text in self.blocks[self.block_at(line)].text.split("\n") if text.strip()]
        return next((text for text in written if _says_the_same(shown, normalize_text(text))), "".join(written[:1]))

    def line_of_quote(self, words: str) -> int | None:
        """Returns the line that shows a quoted text; None if the page does not have it. Renders the page up to it."""
        numbered = [(number, text) for number, block in enumerate(self.blocks) for text in block.text.split("\n")]
        found = find_quoted_line(words, enumerate(text for _, text in numbered))
        if found is None:
            return None
        block, source = numbered[found]
        self.until_block(block + 1)
        start, following = self.line_of_block[block], self.line_of_block[block + 1 : block + 2]
        end = following[0] if following else len(self.lines)
        shown = range(start, max(start + 1, end))
        inside = find_quoted_line(words, ((line, plain(self.lines[line])) for line in shown if line < len(self.lines)))
        if inside is not None:
            return inside
        same = (line for line in shown if line < len(self.lines))
        wanted = normalize_text(source)
        return next((line for line in same if _says_the_same(normalize_text(plain(self.lines[line])), wanted)), start)

    def set(self, address: str) -> bool:
        """Changes a control by its target and renders its block again; returns whether it is a control."""
        setting = read_setting(address)
        if setting is None or self.controls is None:
            return False
        key, value = setting
        self.controls.set(key, value)
        self._render_again(block_of(key))
        return True

    def _render_again(self, number: int) -> None:
        """Renders one block again; what is below it only moves."""
        if number >= len(self.line_of_block):
            return
        start = self.line_of_block[number]
        following = self.line_of_block[number + 1] if number + 1 < len(self.line_of_block) else None
        end = len(self.lines) if following is None else following
        while end > start and not self.lines[end - 1]:  # the space before the next block
            end -= 1
        lines = self._drawn(self.blocks[number], number)
        moved = len(lines) - (end - start)
        self.lines[start:end] = lines
        self.line_of_block[number + 1 :] = [line + moved for line in self.line_of_block[number + 1 :]]
        self.headings = [
            heading._replace(line=heading.line + moved) if heading.line >= end else heading for heading in self.headings
        ]
        inside = [link for link in self.links if link.line < start]
        after = [link._replace(line=link.line + moved) for link in self.links if link.line >= end]
        self.links = [*inside, *_links(lines, start), *after]
        self.anchors = {name: line + moved if line >= end else line for name, line in self.anchors.items()}
        for anchor in self._layout.anchors:
            self.anchors.setdefault(anchor, start)

    @property
    def _layout(self) -> BlockRenderer:
        if self._made is None:
            self._made = _new_layout(self.blocks, self._ascii, self._references, self.controls)
        return self._made

    def _next(self) -> None:
        number = len(self.line_of_block)
        block = self.blocks[number]
        is_first = number == self._first
        if block.kind == "heading":
            self._head(block, is_first)
            return
        if is_first and not self._title:
            self._describe()
        lines = self._drawn(block, number)
        goes_on = block.kind == SOURCE and number and self.blocks[number - 1].kind == SOURCE
        self.line_of_block.append(self._append(lines, space=0 if goes_on else 1))

    def _drawn(self, block: Block, number: int) -> list[Line]:
        if block.kind == "front":
            return []
        if block.kind == SOURCE:
            return self._layout.source(block.text, self.width)
        return self._layout.lines(block.text, self.width, number)

    def _head(self, block: Block, is_first: bool) -> None:
        level, text = _heading(self._layout, block)
        repeats = is_first and bool(self._title) and text.casefold() == self._title.casefold()
        at = 0
        if not repeats:
            at = self._append(self._layout.lines(block.text, self.width), space=2 if level == 2 else 1)
            self.headings.append(Heading(level, text, at))
        self.line_of_block.append(at)
        for anchor in (_slug(text), *self._layout.anchors):
            self.anchors.setdefault(anchor, at)
        if is_first and not self._title:
            self._describe()

    def _describe(self) -> None:
        """Adds the description from the front matter."""
        description = read_description(self.blocks[0].text) if self._first else ""
        if description:
            self._append(self._layout.words(description, "quiet", self.width))

    def _append(self, lines: Sequence[Line], space: int = 1) -> int:
        """Adds lines below a space; returns the number of the first."""
        if lines and self.lines:
            self.lines.extend([()] * space)
        at = len(self.lines)
        self.lines.extend(lines)
        self.links.extend(_links(lines, at))
        for anchor in self._layout.anchors:
            self.anchors.setdefault(anchor, at)
        return at


def render_page(markdown: str, width: int, *, title: str | None = None, ascii: bool = False) -> list[Line]:  # noqa: A002
    """Renders all lines of a page."""
    page = PageLines(markdown, width, title=title, ascii=ascii)
    page.advance(float("inf"))
    return page.lines


@lru_cache(512)
def comment_lines(markdown: str, columns: int) -> Sequence[Line]:
    """Renders a comment; one that would render to nothing is shown as it is written."""
    renderer = _new_layout((), only_ascii=False)
    return renderer.lines(markdown.strip("\n"), columns) or renderer.source(markdown, columns)


def outline(markdown: str) -> list[Heading]:
    """Returns the headings of a page, each with its line (from 0) in the Markdown."""
    blocks = split_blocks(markdown)
    layout = _new_layout(blocks, only_ascii=False)
    found = [(block.start_line, *_heading(layout, block)) for block in blocks if block.kind == "heading"]
    return [Heading(level, text, line) for line, level, text in found]


def split_oversized(blocks: Sequence[Block]) -> list[Block]:
    """Returns the blocks, with oversized ones split into parts that are shown as they are written."""
    return [piece for block in blocks for piece in ([block] if len(block.text) <= MAX_BLOCK else _pieces(block))]


def _pieces(block: Block) -> Iterator[Block]:
    size = MAX_BLOCK // 8
    held: list[str] = []
    length, start = 0, block.start_line
    for number, line in enumerate(block.text.split("\n"), block.start_line):
        for at in range(0, len(line) or 1, size):
            if length + len(line) > size and held:
                yield Block(SOURCE, "\n".join(held), start)
                held, length, start = [], 0, number
            held.append(line[at : at + size])
            length += len(held[-1]) + 1
    yield Block(SOURCE, "\n".join(held), start)


def _new_layout(
    blocks: Sequence[Block],
    only_ascii: bool,
    references: References = NO_REFERENCES,
    controls: Controls | None = None,
) -> BlockRenderer:
    # 32 ms: it loads markdown-it, which no first screen needs
    from presscheck.documents.terminal.blocks import BlockRenderer

    layout = BlockRenderer(ASCII if only_ascii else UNICODE, references, controls)
    for block in blocks:
        if block.kind == "definition":
            layout.parse(block.text)
    return layout


def _heading(layout: BlockRenderer, block: Block) -> tuple[int, str]:
    level, runs = layout.heading_runs(block.text)
    return level, " ".join(plain(tuple(runs)).split())


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())


def _says_the_same(one: str, other: str) -> bool:
    """Whether one of two texts, without markup, is part of the other."""
    return bool(one and other) and (one in other or other in one)


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-")


def _links(lines: Sequence[Line], start: int) -> Iterator[Link]:
    """Yields the links in lines; a link that continues in the next span or line is one."""
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
