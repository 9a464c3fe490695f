"""A page as lines of a terminal, laid out block by block, when they are looked at or when there is time.

No line is wider than asked, and none holds a character that a terminal could act on. Reading a page takes a moment
whatever its length: it is cut into blocks at once, and only what is shown is parsed.
"""

from __future__ import annotations

import re
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.blocks import Block, split
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, plain

if TYPE_CHECKING:
    from presscheck.documents.rendering.layout import Layout

_hashes = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$").match


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

    Args:
        markdown: the page as the service has it.
        width: the columns that there are.
        title: the page's own: it is shown first, and not again when the text begins with it.
        ascii: use no glyph outside ASCII.
    """

    def __init__(self, markdown: str, width: int, *, title: str | None = None, ascii: bool = False) -> None:  # noqa: A002
        self.width = max(width, 1)
        self.lines: list[Line] = []
        self.headings: list[Heading] = []
        self.links: list[Link] = []
        self.blocks = split(markdown)
        self.line_of_block: list[int] = []
        self._ascii = ascii
        self._layout: Layout | None = None
        self._title = " ".join(display_text(title).split()) if title else ""
        if self._title:
            escaped = re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", self._title)
            self._append(Block("heading", f"# {escaped}", 0))

    @property
    def done(self) -> bool:
        """Whether the whole page is laid out."""
        return len(self.line_of_block) == len(self.blocks)

    def at_least(self, count: int) -> None:
        """Lay out until there are so many lines, or no more."""
        while len(self.lines) < count and not self.done:
            self._next()

    def advance(self, seconds: float) -> bool:
        """Lay out for so long; whether the page is done."""
        end = perf_counter() + seconds
        while not self.done and perf_counter() < end:
            self._next()
        return self.done

    def _next(self) -> None:
        number = len(self.line_of_block)
        block = self.blocks[number]
        self.line_of_block.append(len(self.lines))
        if block.kind == "front" or (self._title and self._repeats_title(number, block)):
            return
        self._append(block)

    def _repeats_title(self, number: int, block: Block) -> bool:
        """Whether this is the title again, which the service writes as a page's first heading."""
        is_first = all(before.kind == "front" for before in self.blocks[:number])
        found = _hashes(block.text) if is_first and block.kind == "heading" else None
        return found is not None and " ".join(display_text(found[2]).split()) == self._title

    def _append(self, block: Block) -> None:
        laid = self._laid().lines(block.text, self.width)
        if not laid:
            return
        if self.lines:
            self.lines.append(())
        start = len(self.lines)
        found = _hashes(block.text) if block.kind == "heading" else None
        if found:
            self.headings.append(Heading(len(found[1]), plain(laid[0]).strip(), start))
        self.lines.extend(laid)
        self._note_links(start)

    def _note_links(self, start: int) -> None:
        for at in range(start, len(self.lines)):
            for span in self.lines[at]:
                if span.link and (not self.links or self.links[-1].target != span.link):
                    self.links.append(Link(span.text, span.link, at))

    def _laid(self) -> Layout:
        if self._layout is None:
            # late: a first screen shows no page
            from presscheck.documents.rendering.glyphs import ASCII, UNICODE
            from presscheck.documents.rendering.grammar import parse
            from presscheck.documents.rendering.layout import Layout

            environment: dict[str, object] = {}
            for block in self.blocks:
                if block.kind in ("definition", "footnote"):
                    parse(block.text, environment)
            self._layout = Layout(environment, ASCII if self._ascii else UNICODE)
        return self._layout


def render(markdown: str, width: int, *, title: str | None = None, ascii: bool = False) -> list[Line]:  # noqa: A002
    """All lines of a page."""
    page = PageLines(markdown, width, title=title, ascii=ascii)
    page.at_least(1 << 60)
    return page.lines


def outline(markdown: str) -> list[Heading]:
    """The headings of a page, by the line of the text that each stands on."""
    found: list[Heading] = []
    for block in split(markdown):
        heading = _hashes(block.text) if block.kind == "heading" else None
        if heading:
            found.append(Heading(len(heading[1]), display_text(heading[2]), block.start_line))
    return found
