"""Suggestions: comments that contain a replacement for a block, which one key applies.

A suggestion is a code block of the language `suggestion`, as on GitHub, readable wherever the comment is shown. A short
fingerprint of the block follows the language; it shows whether the block has changed since.
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
    """The replacement of a block as Markdown, and the fingerprint of that block if there is one."""

    words: str
    print: str


def block_at(markdown: str, line: int) -> Block | None:
    """Returns the block at a line of a page, counted from 0."""
    for block in split_blocks(markdown):
        if block.start_line <= line < block.start_line + len(block.text.split("\n")):
            return block
    return None


def format_suggestion(block: Block) -> str:
    """Formats a suggestion that contains the block as it is, ready to be edited."""
    longest = max((len(run) for run in _ticks.findall(block.text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}suggestion {fingerprint(block)}\n{block.text}\n{fence}\n"


def parse_suggestion(comment: str) -> Suggestion | None:
    """Returns the first suggestion in the Markdown of a comment."""
    match = _fenced.search(comment.replace("\r\n", "\n"))
    return Suggestion(match["words"].removesuffix("\n"), match["print"] or "") if match else None


def fingerprint(block: Block) -> str:
    """Returns a short fingerprint of a block; blanks at line ends do not count."""
    text = "\n".join(line.rstrip() for line in block.text.split("\n"))
    return blake2s(text.encode(), digest_size=4).hexdigest()


def replace_block(markdown: str, block: Block, words: str) -> str:
    """Replaces a block of a page."""
    lines = markdown.replace("\r\n", "\n").split("\n")
    lines[block.start_line : block.start_line + len(block.text.split("\n"))] = words.split("\n") if words else []
    return "\n".join(lines)
