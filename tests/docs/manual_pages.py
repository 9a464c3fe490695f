"""The Markdown files to check: the manual, and the files at the root that link to it."""

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
"""Every file of the manual, including SUMMARY.md, the list of pages."""
AT_ROOT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
FILES = [*PAGES, *AT_ROOT]
_MARKDOWN = MarkdownIt("commonmark").enable("table")


def name_of(file: Path) -> str:
    """Return the path of a file relative to the root."""
    return file.relative_to(ROOT).as_posix()


@cache
def blocks_of(file: Path) -> list[Token]:
    """Parse a file. Returns its block tokens."""
    return _MARKDOWN.parse(file.read_text("utf-8"))


def inlines_of(file: Path) -> Iterator[Token]:
    """Yield the inline tokens of a file: text, code, links, images."""
    for block in blocks_of(file):
        yield from block.children or ()


def headings_of(file: Path) -> list[str]:
    """Return the headings of a file as Markdown."""
    return [text.content for heading, text in pairwise(blocks_of(file)) if heading.type == "heading_open"]
