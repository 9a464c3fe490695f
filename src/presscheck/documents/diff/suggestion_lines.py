"""Renders comments with a suggestion as terminal lines; the suggestion is a diff by word."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from presscheck.documents.diff.page_diff import compare, difference_lines
from presscheck.documents.pages.comment_text import parse_suggestion
from presscheck.documents.terminal.page_lines import comment_lines
from presscheck.text.styled_text import Line, Span


@lru_cache(512)
def comment_with_suggestion(markdown: str, columns: int, text: str | None = None) -> Sequence[Line]:
    """Render a comment, with its suggestion as a diff.

    Args:
        markdown: the comment.
        columns: the cells of a line.
        text: the text that the suggestion replaces, or None if it is unknown.
    """
    suggestion = parse_suggestion(markdown)
    if suggestion is None:
        return comment_lines(markdown, columns)
    before, after = suggestion.before, suggestion.after
    lines = [*comment_lines(before, columns), ()] if before.strip() else []
    lines += suggestion_lines(text, suggestion.words, columns)
    lines += [(), *comment_lines(after, columns)] if after.strip() else []
    return lines


def suggestion_lines(text: str | None, words: str, columns: int) -> list[Line]:
    """Render a suggestion below a title.

    Args:
        text: the text that the suggestion replaces, or None if it is unknown.
        words: the new text; empty to delete the old one.
        columns: the cells of a line.
    """
    if text == words:
        return [(Span("suggestion: no change", "quiet"),)]
    if not words:
        title = "suggestion: delete this text"
    else:
        title = "suggestion:" if text is not None else "suggestion (the text it is about was not found):"
    difference = difference_lines(compare(text or "", words), columns, context=None)
    return [(Span(title, "quiet"),), *difference.lines]
