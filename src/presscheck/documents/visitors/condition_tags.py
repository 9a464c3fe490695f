"""Finds the tags of conditions, `{% if … %}` and `{% endif %}`, and removes text that a visitor must not see.

The names of the tags are case-insensitive, with or without blanks and dashes around them. A condition that cannot be
parsed hides its text from every visitor. If the end of a condition is missing, the rest of the text is hidden. This
module handles titles and other plain text; `conditional_text` handles Markdown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.visitors.conditions import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

_tag = re.compile(r"\{%[^\w%{}]*+(if|end\s*if|else\w*|elif)\b", re.IGNORECASE)

Range = tuple[int, int]
Holds = Callable[[str], bool | None]
"""Returns whether a visitor meets a condition, or None to keep the condition as it is written."""


class ConditionTag(NamedTuple):
    """A tag of a condition, outside of code."""

    start: int
    end: int | None
    """The offset after the tag, or None if the tag is not closed."""
    name: str
    condition: str

    @property
    def is_end(self) -> bool:
        """Whether the tag ends a condition."""
        return self.name.startswith("end")

    @property
    def is_branch(self) -> bool:
        """Whether the tag is an `else` or `elif`, which the platform does not support."""
        return self.name.startswith("el")


class _Open(NamedTuple):
    """An `if` without `endif` so far."""

    shows: bool
    """Whether its content is shown."""
    is_kept: bool
    """Whether its tags are shown, too."""
    before: int
    """The number of parts that were shown before the tag."""


def has_conditions(text: str) -> bool:
    """Return whether a text may have conditions. Because the check is quick, tags in code count, too."""
    return "{%" in text and _tag.search(text) is not None


def condition_of(tag: str) -> str | None:
    """Return the condition of a tag `{% if … %}`, or None for other tags."""
    first = next(condition_tags(tag), None)
    if first is None or (first.start, first.end) != (0, len(tag)) or first.is_end or first.is_branch:
        return None
    return first.condition


def visible_words(text: str, is_met: Holds) -> str:
    """Return a title or other plain text as a visitor sees it."""
    return visible_parts(text, (), is_met) if has_conditions(text) else text


def holds_without_claims(condition: str) -> bool:
    """Return whether a condition is true for visitors without claims."""
    return holds(condition, {})


def words_without_claims(text: str) -> str:
    """Return a title or a name as visitors without claims see it. Public URLs are derived from this text."""
    return visible_words(text, holds_without_claims)


def visible_parts(text: str, code: Sequence[Range], is_met: Holds) -> str:
    """Return a text as a visitor sees it.

    Args:
        text: the text, whose lines end with a line feed.
        code: the code blocks and code spans of the text, sorted by offset.
        is_met: returns whether a condition is true, or None to keep the condition as it is written.
    """
    parts: list[str] = []
    opened: list[_Open] = []
    at = 0
    for tag in condition_tags(text, code):
        is_shown = not opened or opened[-1].shows
        if is_shown:
            parts.append(text[at : tag.start])
        if tag.end is None:  # the tag is not closed, so the end of its content is unknown
            return "".join(parts[: opened[0].before] if opened else parts)
        at = tag.end
        is_kept = False
        if tag.is_branch:  # `else` and `elif` are not supported: their content is hidden
            opened[-1:] = [last._replace(shows=False) for last in opened[-1:]]
        elif tag.is_end:
            is_kept = bool(opened) and opened.pop().is_kept
        else:
            met = is_met(tag.condition) if is_shown and tag.condition else False
            is_kept = met is None
            opened.append(_Open(met is not False, is_kept, len(parts)))
        if is_kept:
            parts.append(text[tag.start : at])
    if opened:
        return "".join(parts[: opened[0].before])
    return "".join((*parts, text[at:]))


def condition_tags(text: str, code: Sequence[Range] = ()) -> Iterator[ConditionTag]:
    """Yield the tags outside of code, up to and including the first tag that is not closed."""
    at = 0
    for tag in _tag.finditer(text):
        if tag.start() < at or _is_within(code, tag.start()):
            continue
        at = text.find("%}", tag.end()) + len("%}")
        condition = text[tag.end() : at - len("%}")].removesuffix("-").strip()
        is_closed = at >= len("%}") and "{%" not in condition
        yield ConditionTag(tag.start(), at if is_closed else None, tag[1].lower(), condition)
        if not is_closed:
            return


def _is_within(ranges: Sequence[Range], offset: int) -> bool:
    before = bisect_right(ranges, offset, key=itemgetter(0)) - 1
    return before >= 0 and offset < ranges[before][1]
