"""Comments and suggestions that a program writes for a place in a page, with a check that readers find the place."""

from __future__ import annotations

from presscheck.documents.diff.suggestion_targets import find_target
from presscheck.documents.pages.comment_text import (
    block_at,
    find_quoted_line,
    format_suggestion,
    quote,
    split_quote,
    suggestion_problem,
)
from presscheck.errors import InvalidArgument


def comment_on_text(markdown: str, words: str, text: str) -> str:
    """Return a comment on a text of a page, with the quote that anchors the comment.

    Args:
        markdown: the page.
        words: the text that the comment is about, on one line of the page.
        text: the comment.

    Raises:
        InvalidArgument: the page does not contain the words.
    """
    start = quote(words)
    about = split_quote(start)[0]
    if not about or find_quoted_line(about, enumerate(markdown.split("\n"))) is None:
        raise InvalidArgument("quote", "the page does not contain this text: quote words of one line exactly")
    return start + text


def suggestion_for_text(markdown: str, old: str, new: str, text: str) -> str:
    """Return a comment that suggests to replace a text of a page, within one block.

    Args:
        markdown: the page.
        old: the text to replace, which the page contains once.
        new: the replacement.
        text: the comment before the suggestion; may be empty.

    Raises:
        InvalidArgument: the page does not contain the text once, the text spans several blocks, or no quote finds the
            block again.
    """
    markdown = markdown.replace("\r\n", "\n")
    at = only_place(markdown, old, "old")
    block = block_at(markdown, markdown.count("\n", 0, at))
    if block is None or old not in block.text:
        raise InvalidArgument("old", "must be within one block of the page, such as a paragraph")
    for line in block.text.split("\n"):
        start = quote(line)
        target = find_target(split_quote(start)[0], markdown) if start else None
        if target and target.cell is None and target.block == block:
            before = f"{text}\n\n" if text else ""
            body = f"{start}{before}{format_suggestion(block.text.replace(old, new))}"
            if problem := suggestion_problem(body):
                raise InvalidArgument("new", problem)
            return body
    raise InvalidArgument("old", "no quote finds this block again: comment on the page instead")


def only_place(markdown: str, old: str, field: str) -> int:
    """Return the offset of a text that a page contains once.

    Raises:
        InvalidArgument: the page does not contain the text, or contains it several times; the error names `field`.
    """
    at = markdown.find(old)
    if at < 0:
        raise InvalidArgument(field, "the page does not contain this text: read it again")
    if markdown.find(old, at + 1) >= 0:
        raise InvalidArgument(field, "the page contains this text several times: give more of the text around it")
    return at
