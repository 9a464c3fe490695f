"""Keeps of a page what a visitor may see: its text without the tags `{% if … %}`, and without what they hide.

Conditions are read in the text, before it is parsed: so they hold wherever they stand, in a paragraph, a table cell or
HTML. What cannot be read is hidden, to the end of the condition or of the text. In code, a condition is code.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
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
    """Why visitors do not see a part of a text, whoever they are; lines count from 1."""

    line: int
    reason: str


class _Tag(NamedTuple):
    """A tag outside code; `end` is None if it is not closed."""

    start: int
    end: int | None
    kind: str
    condition: str


def has_conditions(markdown: str) -> bool:
    """Whether a text may have conditions."""
    return _tag.search(markdown) is not None


def visible_text(markdown: str, holds: Callable[[str], bool]) -> str:
    """Returns what is shown of a text; `holds` tells whether a condition is true for the visitor."""
    if not has_conditions(markdown):
        return markdown
    text = _line_end.sub("\n", markdown)
    shown: list[str] = []
    opened: list[tuple[bool, int]] = []  # whether its content is shown, and how much was shown before it
    at = 0
    for tag in _tags(text):
        is_shown = not opened or opened[-1][0]
        if is_shown:
            shown.append(text[at : tag.start])
        if tag.end is None:  # what it hides is unknown
            opened.append((False, len(shown)))
            break
        at = tag.end
        if tag.kind == "if":
            opened.append((is_shown and tag.condition != "" and holds(tag.condition), len(shown)))
        elif opened and tag.kind.startswith("end"):
            opened.pop()
        elif opened:  # no other branches are known
            opened[-1] = (False, opened[-1][1])
    if opened:
        return "".join(shown[: opened[0][1]])
    return "".join((*shown, text[at:]))


def condition_mistakes(markdown: str) -> list[ConditionMistake]:
    """Returns the tags of conditions that cannot be read, in the order of the text."""
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
    """Yields the tags up to the first that is not closed."""
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


def _is_within(ranges: list[Range], place: int) -> bool:
    before = bisect_right(ranges, (place, len(ranges) + place)) - 1
    return before >= 0 and place < ranges[before][1]


def _code(text: str) -> list[Range]:
    """Returns the parts of a text that are code, in order; none if it is nested too deep to parse."""
    try:
        tokens = parse(text, {})
    except RecursionError:
        return []
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    blocks = [(starts[token.map[0]], starts[token.map[1]]) for token in tokens if token.type in _BLOCKS and token.map]
    spans = set(_code_spans(tokens))
    # a span is one only if the parser found it, too: backticks in HTML or of two table cells are none
    inline = [span.span() for span in _code_span.finditer(text) if (span[1], span[2].strip()) in spans]
    return sorted((*blocks, *inline))


def _code_spans(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.markup, child.content.strip()
