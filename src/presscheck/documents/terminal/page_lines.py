"""A page as lines of a terminal, laid out block by block, when they are looked at or when there is time.

No line is wider than asked, and none holds a character that a terminal could act on. To open a page takes a moment
whatever its length: it is cut into blocks at once, and only what is shown is parsed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.markdown.block_splitter import Block, split_blocks
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from presscheck.documents.terminal.blocks import BlockRenderer


MAX_BLOCK = 100_000
"""The characters of a block, beyond which it is shown as it is written."""

SOURCE = "source"
"""The kind of a piece of such a block."""


class Heading(NamedTuple):
    """A heading of a page, and the line that it stands on."""

    level: int
    text: str
    line: int


class Link(NamedTuple):
    """A link of a page, and the line that it begins on."""

    label: str
    target: str
    line: int


class PageLines:
    """The lines of a page, as far as they are laid out.

    `title` is the page's own: it is shown first, and not again when the text begins with it. `links` and `headings`
    are those of `lines`; `anchors` are the lines that the `#part` of an address leads to.
    """

    def __init__(self, markdown: str, width: int, *, title: str | None = None, ascii: bool = False) -> None:  # noqa: A002
        self.width = max(width, 1)
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
        """Whether the whole page is laid out."""
        return len(self.line_of_block) == len(self.blocks)

    def at_least(self, count: int) -> None:
        """Lay out until there are so many lines, or no more."""
        while len(self.lines) < count and not self.done:
            self._next()

    def until_block(self, number: int) -> None:
        """Lay out up to a block, and with it."""
        while len(self.line_of_block) <= number and not self.done:
            self._next()

    def advance(self, seconds: float) -> bool:
        """Lay out for so long; whether the page is done."""
        end = perf_counter() + seconds
        while not self.done and perf_counter() < end:
            self._next()
        return self.done

    def block_at(self, line: int) -> int:
        """The number of the block that a line belongs to."""
        return max(bisect_right(self.line_of_block, line) - 1, 0)

    @property
    def _layout(self) -> BlockRenderer:
        if self._made is None:
            self._made = _new_layout(self.blocks, self._ascii)
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
        lines = self._drawn(block)
        goes_on = block.kind == SOURCE and number and self.blocks[number - 1].kind == SOURCE
        self.line_of_block.append(self._append(lines, space=0 if goes_on else 1))

    def _drawn(self, block: Block) -> list[Line]:
        if block.kind == "front":
            return []
        if block.kind == SOURCE:
            return self._layout.source(block.text, self.width)
        return self._layout.lines(block.text, self.width)

    def _head(self, block: Block, is_first: bool) -> None:
        level, text = _heading(self._layout, block)
        lines = self._layout.lines(block.text, self.width)
        repeats = is_first and bool(self._title) and text.casefold() == self._title.casefold()
        at = 0 if repeats else self._append(lines, space=2 if level == 2 else 1)
        self.line_of_block.append(at)
        for anchor in (_slug(text), *self._layout.anchors):
            self.anchors.setdefault(anchor, at)
        if not repeats:
            self.headings.append(Heading(level, text, at))
        if is_first and not self._title:
            self._describe()

    def _describe(self) -> None:
        """Show the description that stands in front of the page."""
        description = _description(self.blocks[0].text) if self._first else ""
        if description:
            self._append(self._layout.words(description, "quiet", self.width))

    def _append(self, lines: Sequence[Line], space: int = 1) -> int:
        """Add lines below a space; the number of the first of them."""
        if lines and self.lines:
            self.lines.extend([()] * space)
        at = len(self.lines)
        self.lines.extend(lines)
        self.links.extend(_links(lines, at))
        for anchor in self._layout.anchors:
            self.anchors.setdefault(anchor, at)
        return at


def render_page(markdown: str, width: int, *, title: str | None = None, ascii: bool = False) -> list[Line]:  # noqa: A002
    """All the lines of a page."""
    page = PageLines(markdown, width, title=title, ascii=ascii)
    page.advance(float("inf"))
    return page.lines


@lru_cache(512)
def comment_lines(markdown: str, columns: int) -> Sequence[Line]:
    """Renders a comment; one that would render to nothing is shown as it is written."""
    renderer = _new_layout((), only_ascii=False)
    return renderer.lines(markdown.strip("\n"), columns) or renderer.source(markdown, columns)


def outline(markdown: str) -> list[Heading]:
    """The headings of a page, each with its line (from 0) in the Markdown."""
    blocks = split_blocks(markdown)
    layout = _new_layout(blocks, only_ascii=False)
    found = [(block.start_line, *_heading(layout, block)) for block in blocks if block.kind == "heading"]
    return [Heading(level, text, line) for line, level, text in found]


def split_oversized(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with those that would take too long to lay out at once cut into pieces, to be shown as written."""
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


def _new_layout(blocks: Sequence[Block], only_ascii: bool) -> BlockRenderer:
    # the parser takes longer to load than a first screen may wait
    from presscheck.documents.terminal.blocks import BlockRenderer
    from presscheck.documents.terminal.symbols import ASCII, UNICODE

    layout = BlockRenderer(ASCII if only_ascii else UNICODE)
    for block in blocks:
        if block.kind == "definition":
            layout.parse(block.text)
    return layout


def _heading(layout: BlockRenderer, block: Block) -> tuple[int, str]:
    level, runs = layout.heading_runs(block.text)
    return level, _one_line(plain(tuple(runs)))


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())


def _slug(text: str) -> str:
    return re.sub(r"[^\w]+", "-", text.lower()).strip("-")


def _links(lines: Sequence[Line], start: int) -> Iterator[Link]:
    """The links in lines; one that goes on in the next span or line is one."""
    label, target, at = "", "", 0
    for number, line in enumerate(lines, start):
        for span in line:
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


_described = re.compile(r"^description:[ \t]*(?:[>|][-+]?[ \t]*)?((?:.*\n)(?:[ \t]+.*\n|\n)*)", re.MULTILINE)


def _description(front: str) -> str:
    found = _described.search(front)
    text = " ".join(found[1].split()) if found else ""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1].replace("''", "'").replace('\\"', '"')
    return text
