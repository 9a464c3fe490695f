"""Suggestions: comments that contain a replacement for a block, which one key applies.

A suggestion is a code block of the language `suggestion`, as on GitHub, readable wherever the comment is shown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.documents.markdown.block_splitter import Block, split_blocks
from presscheck.documents.pages.quotes import split_quote

_fenced = re.compile(
    r"^ {0,3}(?P<fence>`{3,})suggestion(?P<info>[ \t]+[^\n`]*)?\n(?P<words>.*?)^ {0,3}(?P=fence)`*[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_opening = re.compile(r"(?<!`)`{3,}+suggestion(?![^ \t])")
_ticks = re.compile(r"`{3,}")


class Suggestion(NamedTuple):
    """A suggestion in a comment: the replacement of a block as Markdown, and the rest of the comment around it."""

    words: str
    before: str
    after: str
    start: int
    """The first character of the words in the comment."""

    @property
    def end(self) -> int:
        """The character after the words in the comment."""
        return self.start + len(self.words)


def block_at(markdown: str, line: int) -> Block | None:
    """Returns the block at a line of a page, counted from 0."""
    for block in split_blocks(markdown):
        if block.start_line <= line < block.start_line + len(block.text.split("\n")):
            return block
    return None


def format_suggestion(text: str) -> str:
    """Formats a suggestion that contains the text of a block as it is, ready to be edited."""
    longest = max((len(run) for run in _ticks.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}suggestion\n{text}\n{fence}\n"


def parse_suggestion(comment: str) -> Suggestion | None:
    """Returns the first suggestion in the Markdown of a comment."""
    comment = comment.replace("\r\n", "\n")
    match = _fenced.search(comment)
    if match is None:
        return None
    words = match["words"].removesuffix("\n")
    return Suggestion(words, comment[: match.start()], comment[match.end() :], match.start("words"))


def suggestion_problem(comment: str) -> str | None:
    """Returns why a suggestion in a comment cannot be read, or None; quotes of suggestions do not count."""
    lines = comment.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines):
        opening = _opening.search(line)
        before = line[: opening.start()].strip() if opening else ""
        if opening is None or "`" in line[opening.end() :] or before.startswith(">"):
            continue
        if before:
            return "```suggestion must start a line of its own"
        if parse_suggestion("\n".join(lines[number:])) is None:
            return "the suggestion has no end: close it with ``` on a line of its own"
    return None


def without_fingerprint(comment: str) -> str:
    """Returns a comment without what earlier versions wrote after `suggestion`: a hash that no reader needs."""
    match = _fenced.search(comment)
    return comment[: match.start("info")] + comment[match.end("info") :] if match and match["info"] else comment


def replace_block(markdown: str, block: Block, words: str) -> str:
    """Replaces a block of a page."""
    lines = markdown.replace("\r\n", "\n").split("\n")
    lines[block.start_line : block.start_line + len(block.text.split("\n"))] = words.split("\n") if words else []
    return "\n".join(lines)


def comment_words(markdown: str) -> str:
    """The text of a comment in one line, without its quote and without the fence of a suggestion; untrusted text."""
    text = split_quote(markdown)[1]
    if suggestion := parse_suggestion(text):
        text = f"{suggestion.before} suggestion: {suggestion.words or 'delete this text'} {suggestion.after}"
    return " ".join(text.split())
