"""Applies the conditions in the text of a page: removes tags `{% if … %}`, and text that a visitor must not see.

Conditions are applied to the source before it is parsed, so they work everywhere: in a paragraph, a table cell or HTML.
Within code, tags are ordinary text. A condition that cannot be parsed hides its text from every visitor. If the end of
a condition is missing, the rest of the page is hidden.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.markdown.parser import parse
from presscheck.documents.visitors.condition_tags import (
    Holds,
    Range,
    condition_tags,
    has_conditions,
    visible_parts,
)
from presscheck.documents.visitors.conditions import problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

_line_end = re.compile(r"\r\n?")
_code_span = re.compile(r"(?<![\\`])(`+)(?!`)([^\n]*?)(?<!`)\1(?!`)")
_BLOCKS = frozenset(("fence", "code_block"))


class ConditionMistake(NamedTuple):
    """A malformed tag. Unless the tag is an extra `endif`, it hides a part of the page from every visitor."""

    line: int
    """The line of the tag, counted from 1."""
    reason: str


def visible_text(markdown: str, holds: Holds) -> str:
    """Return the text that a visitor sees.

    Args:
        markdown: the source of the page.
        holds: returns whether the visitor meets a condition, or None to keep the condition as it is written.
    """
    if not has_conditions(markdown):
        return markdown
    text = _line_end.sub("\n", markdown)
    return visible_parts(text, _code(text), holds)


def condition_mistakes(text: str, *, is_markdown: bool = True) -> list[ConditionMistake]:
    """Return the malformed tags, sorted by line. Set `is_markdown` to False for a title."""
    if not has_conditions(text):
        return []
    text = _line_end.sub("\n", text)
    opened: list[int] = []
    mistakes: list[ConditionMistake] = []
    for tag in condition_tags(text, _code(text) if is_markdown else ()):
        line = text.count("\n", 0, tag.start) + 1
        if tag.end is None:
            mistakes.append(ConditionMistake(line, "the tag is not closed with “%}”"))
        elif tag.is_branch:
            mistakes.append(ConditionMistake(line, f"“{tag.name}” is not supported: use a second “if”"))
        elif tag.is_end and opened:
            opened.pop()
        elif tag.is_end:
            mistakes.append(ConditionMistake(line, "“endif” has no “if” before it"))
        else:
            opened.append(line)
            problem = problem_of(tag.condition) if tag.condition else "it is empty"
            if problem:
                mistakes.append(ConditionMistake(line, f"its condition cannot be read: {problem}"))
    return sorted([*mistakes, *(ConditionMistake(line, "“if” has no “endif”") for line in opened)])


def _code(text: str) -> list[Range]:
    """Return the code blocks and code spans of a text, sorted by offset.

    If the text is too deeply nested to parse, the list is empty: then tags in code hide text, which is safe.
    """
    try:
        tokens = parse(text, {})
    except RecursionError:
        return []
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    blocks = [(starts[token.map[0]], starts[token.map[1]]) for token in tokens if token.type in _BLOCKS and token.map]
    spans = set(_code_spans(tokens))
    # the expression also matches backticks in HTML and across table cells, so only spans that the parser reports count
    inline = [span.span() for span in _code_span.finditer(text) if (span[1], span[2].strip()) in spans]
    return sorted((*blocks, *inline))


def _code_spans(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.markup, child.content.strip()
