"""The Markdown files that are checked: the manual, and the texts at the root that link to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from tests.manual import DOCS
from tests.root import ROOT

PAGES = sorted(DOCS.rglob("*.md"))
"""Every file of the manual, its list of pages included."""
AT_ROOT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
FILES = [*PAGES, *AT_ROOT]
_MARKDOWN = MarkdownIt("commonmark").enable("table")


def name_of(file: Path) -> str:
    """The path of a file, for the name of a test."""
    return file.relative_to(ROOT).as_posix()


@cache
def blocks_of(file: Path) -> list[Token]:
    """The blocks of a file."""
    return _MARKDOWN.parse(file.read_text("utf-8"))


def inlines_of(file: Path) -> Iterator[Token]:
    """What stands in the lines of a file: text, code, links, images."""
    for block in blocks_of(file):
        yield from block.children or ()


def headings_of(file: Path) -> list[str]:
    """The headings of a file, as they are written."""
    return [text.content for heading, text in pairwise(blocks_of(file)) if heading.type == "heading_open"]
