"""A suggestion: a comment that carries what should stand instead of a block, so that one key puts it there.

It is a code block of the language `suggestion`, as forges write it, readable wherever the comment is shown. Behind the
language stands a short print of the block that it was written for, which tells whether that has changed since.
"""

from __future__ import annotations

import re
from hashlib import blake2s
from typing import NamedTuple

from presscheck.documents.markdown.block_splitter import Block, split_blocks

_fenced = re.compile(
    r"^(?P<fence>`{3,})suggestion(?:[ \t]+(?P<print>[0-9a-f]+))?[ \t]*\n(?P<words>.*?)^(?P=fence)[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_ticks = re.compile(r"`{3,}")


class Suggestion(NamedTuple):
    """What should stand instead of a block: Markdown; the print of that block, or nothing where it has none."""

    words: str
    print: str


def block_at(markdown: str, line: int) -> Block | None:
    """The block that a line of a page, from 0, belongs to."""
    for block in split_blocks(markdown):
        if block.start_line <= line < block.start_line + len(block.text.split("\n")):
            return block
    return None


def format_suggestion(block: Block) -> str:
    """The beginning of a suggestion: the block as it is, to be changed."""
    longest = max((len(run) for run in _ticks.findall(block.text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}suggestion {fingerprint(block)}\n{block.text}\n{fence}\n"


def parse_suggestion(comment: str) -> Suggestion | None:
    """The first suggestion in a comment's Markdown."""
    found = _fenced.search(comment.replace("\r\n", "\n"))
    return Suggestion(found["words"].removesuffix("\n"), found["print"] or "") if found else None


def fingerprint(block: Block) -> str:
    """A short print of a block's words; blanks at the ends of lines do not count."""
    text = "\n".join(line.rstrip() for line in block.text.split("\n"))
    return blake2s(text.encode(), digest_size=4).hexdigest()


def replace_block(markdown: str, block: Block, words: str) -> str:
    """The page with other words instead of a block of it."""
    lines = markdown.replace("\r\n", "\n").split("\n")
    lines[block.start_line : block.start_line + len(block.text.split("\n"))] = words.split("\n") if words else []
    return "\n".join(lines)
