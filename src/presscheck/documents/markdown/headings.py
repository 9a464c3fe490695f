"""Headings (`# Title #`), read in linear time, and the sections of a page below them."""

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
    """Return the text of a heading without its marks, or None for other lines."""
    marks = _marks(line)
    return _without_closing_marks(line[marks.end() :]) if marks else None


def leading_title(text: str) -> LeadingTitle | None:
    """Return the level-1 heading that a text starts with, or None."""
    match = _title(text)
    title = _without_closing_marks(match[1]).strip() if match else ""
    return LeadingTitle(title, match.end()) if match and title else None


def _without_closing_marks(text: str) -> str:
    text = text.rstrip(" \t")
    return text.rstrip("#").rstrip(" \t") or text[:1]


class Section(NamedTuple):
    """The section of a heading.

    Attributes:
        key: the text of the heading, with a number if several headings are equal. Edits to other parts of the page do
            not change the key.
        level: the level of the heading.
        first: the number of the heading's block.
        end: the number of the block after the section.
    """

    key: str
    level: int
    first: int
    end: int

    @property
    def is_empty(self) -> bool:
        """Whether the section has nothing but its heading."""
        return self.end <= self.first + 1


def find_sections(blocks: Sequence[Block]) -> dict[int, Section]:
    """Return the sections of headings with text, by the numbers of the headings' blocks, in order."""
    sections: dict[int, Section] = {}
    open_sections: list[Section] = []
    seen: Counter[str] = Counter()
    for number, block in enumerate(blocks):
        if block.kind != "heading":
            continue
        text = " ".join(block.text.split())
        seen[text] += 1
        level = heading_level(block.text)
        while open_sections and open_sections[-1].level >= level:
            closed = open_sections.pop()
            sections[closed.first] = closed._replace(end=number)
        if text.strip("# "):
            section = Section(f"{text} {seen[text]}", level, number, len(blocks))
            sections[number] = section
            open_sections.append(section)
    return sections


def heading_level(text: str) -> int:
    """Return the level of a heading, given the text of its block."""
    marks = text.lstrip(" ")
    if marks.startswith("#"):
        return min(6, len(marks) - len(marks.lstrip("#")))
    return 1 if text.rstrip().endswith("=") else 2
