"""Headings (`# Title #`), read in time linear to their length, and the sections of a page below them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from presscheck.documents.markdown.block_splitter import Block

_marks = re.compile(r" {0,3}#{1,6}[ \t]++(?=.)").match
_title = re.compile(r"\s*+#[ \t]++([^\n]++)\n*+").match


class LeadingTitle(NamedTuple):
    """The title at the start of a page, and the offset of the text after it."""

    title: str
    end: int


def heading_text(line: str) -> str | None:
    """Returns the text of a heading without its marks; None for any other line."""
    marks = _marks(line)
    return _without_closing_marks(line[marks.end() :]) if marks else None


def leading_title(text: str) -> LeadingTitle | None:
    """Returns the heading of level 1 that a text starts with."""
    match = _title(text)
    title = _without_closing_marks(match[1]).strip() if match else ""
    return LeadingTitle(title, match.end()) if match and title else None


def _without_closing_marks(text: str) -> str:
    text = text.rstrip(" \t")
    return text.rstrip("#").rstrip(" \t") or text[:1]


class Section(NamedTuple):
    """The section of a heading.

    `key` is the text of the heading, with a number if several have the same: it stays when other parts of the page
    change. `first` is the number of the block of the heading, `end` that of the block after the section.
    """

    key: str
    level: int
    first: int
    end: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands below the heading."""
        return self.end <= self.first + 1


def find_sections(blocks: Sequence[Block]) -> dict[int, Section]:
    """Returns the sections by the numbers of the blocks of their headings, in order; none without a text."""
    found: dict[int, Section] = {}
    open_ones: list[Section] = []
    seen: Counter[str] = Counter()
    for number, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        text = " ".join(block.text.split())
        seen[text] += 1
        level = heading_level(block.text)
        while open_ones and open_ones[-1].level >= level:
            closed = open_ones.pop()
            found[closed.first] = closed._replace(end=number)
        if text.strip("# "):
            section = Section(f"{text} {seen[text]}", level, number, len(blocks))
            found[number] = section
            open_ones.append(section)
    return found


def heading_level(text: str) -> int:
    """Returns the level of the heading that a block of this text is."""
    marks = text.lstrip(" ")
    if marks.startswith("#"):
        return min(6, len(marks) - len(marks.lstrip("#")))
    return 1 if text.rstrip().endswith("=") else 2
