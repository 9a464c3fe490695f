"""Applies the conditions in the text of a page: removes the tags `{% if … %}`, and text that a visitor must not see.

Conditions are applied to the source before it is parsed, so they work everywhere: in a paragraph, a table cell or HTML.
In code, a tag is ordinary text. A condition that cannot be read hides its text from every visitor. If the end of a
condition is missing, the rest of the page is hidden.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.markdown.parser import parse
from presscheck.documents.visitors.conditions import problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

_tag = re.compile(r"\{%[^\w%{}]*+(if|end\s*if|else\w*|elif)\b", re.IGNORECASE)
_line_end = re.compile(r"\r\n?")
_code_span = re.compile(r"(?<![\\`])(`+)(?!`)([^\n]*?)(?<!`)\1(?!`)")
_BLOCKS = frozenset(("fence", "code_block"))

Range = tuple[int, int]


class ConditionMistake(NamedTuple):
    """A tag that cannot be read. It hides a part of the page from every visitor, unless it is an extra `endif`."""

    line: int
    """The line of the tag, counted from 1."""
    reason: str


class _Tag(NamedTuple):
    """A tag of a condition, outside code."""

    start: int
    end: int | None
    """The offset after the tag; None if the tag is not closed."""
    kind: str
    condition: str


def has_conditions(markdown: str) -> bool:
    """Returns whether a text may have conditions. A quick check: a tag in code counts, too."""
    return _tag.search(markdown) is not None


def visible_text(markdown: str, holds: Callable[[str], bool]) -> str:
    """Returns the text that a visitor sees.

    Args:
        markdown: the source of the page.
        holds: returns whether a condition is true for the visitor.
    """
    if not has_conditions(markdown):
        return markdown
    text = _line_end.sub("\n", markdown)
    shown: list[str] = []
    opened: list[tuple[bool, int]] = []  # of each open `if`: whether its content is shown, the length of `shown` before
    at = 0
    for tag in _tags(text):
        is_shown = not opened or opened[-1][0]
        if is_shown:
            shown.append(text[at : tag.start])
        if tag.end is None:  # the end of what it hides is unknown
            opened.append((False, len(shown)))
            break
        at = tag.end
        if tag.kind == "if":
            opened.append((is_shown and tag.condition != "" and holds(tag.condition), len(shown)))
        elif opened and tag.kind.startswith("end"):
            opened.pop()
        elif opened:  # `else` and `elif` are not supported: their content is hidden
            opened[-1] = (False, opened[-1][1])
    if opened:
        return "".join(shown[: opened[0][1]])
    return "".join((*shown, text[at:]))


def condition_mistakes(markdown: str) -> list[ConditionMistake]:
    """Returns the tags that cannot be read, sorted by line."""
    if not has_conditions(markdown):
        return []
    text = _line_end.sub("\n", markdown)
    opened: list[int] = []
    mistakes: list[ConditionMistake] = []
    for tag in _tags(text):
        line = text.count("\n", 0, tag.start) + 1
        if tag.end is None:
            mistakes.append(ConditionMistake(line, "the tag is not closed with “%}”"))
        elif tag.kind == "if":
            opened.append(line)
            problem = problem_of(tag.condition) if tag.condition else "it is empty"
            if problem:
                mistakes.append(ConditionMistake(line, f"its condition cannot be read: {problem}"))
        elif not tag.kind.startswith("end"):
            mistakes.append(ConditionMistake(line, f"“{tag.kind}” is not supported: use a second “if”"))
        elif opened:
            opened.pop()
        else:
            mistakes.append(ConditionMistake(line, "“endif” has no “if” before it"))
    return sorted([*mistakes, *(ConditionMistake(line, "“if” has no “endif”") for line in opened)])


def _tags(text: str) -> Iterator[_Tag]:
    """Yields the tags outside code. Stops after a tag that is not closed."""
    code = _code(text)
    at = 0
    for tag in _tag.finditer(text):
        if tag.start() < at or _is_within(code, tag.start()):
            continue
        at = text.find("%}", tag.end()) + len("%}")
        condition = text[tag.end() : at - len("%}")].removesuffix("-").strip()
        is_closed = at >= len("%}") and "{%" not in condition
        yield _Tag(tag.start(), at if is_closed else None, tag[1].lower(), condition)
        if not is_closed:
            return


def _is_within(ranges: list[Range], offset: int) -> bool:
    before = bisect_right(ranges, offset, key=itemgetter(0)) - 1
    return before >= 0 and offset < ranges[before][1]


def _code(text: str) -> list[Range]:
    """Returns the code blocks and code spans of a text, sorted by offset.

    If the text is nested too deep to parse, the list is empty: tags in code then hide text, which is the safe side.
    """
    try:
        tokens = parse(text, {})
    except RecursionError:
        return []
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    blocks = [(starts[token.map[0]], starts[token.map[1]]) for token in tokens if token.type in _BLOCKS and token.map]
    spans = set(_code_spans(tokens))
    # the expression also matches backticks in HTML and across table cells, which are not code: the parser decides
    inline = [span.span() for span in _code_span.finditer(text) if (span[1], span[2].strip()) in spans]
    return sorted((*blocks, *inline))


def _code_spans(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.markup, child.content.strip()
