"""Finds the sections of a page: a heading and the blocks below it, up to the next heading that is not below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from presscheck.documents.markdown.block_splitter import Block


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
