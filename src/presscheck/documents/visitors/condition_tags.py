"""Finds the tags of conditions, `{% if … %}` and `{% endif %}`, and keeps of a text what a visitor may see.

Their names are read in any case, with or without blanks and dashes around them. A tag that cannot be read hides what
follows, to the end of the condition or of the text. This module reads titles and other words without markup;
`conditional_text` reads Markdown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from presscheck.documents.visitors.conditions import holds

if TYPE_CHECKING:
    from collections.abc import Iterator

_tag = re.compile(r"\{%[^\w%{}]*+(if|end\s*if|else\w*|elif)\b", re.IGNORECASE)

Range = tuple[int, int]
Holds = Callable[[str], bool | None]
"""Whether a condition is true for the visitor; None to keep the condition and its text as they are written."""


class ConditionTag(NamedTuple):
    """A tag of a condition; `end` is None if it is not closed."""

    start: int
    end: int | None
    name: str
    condition: str

    @property
    def is_end(self) -> bool:
        """Whether it ends a condition."""
        return self.name.startswith("end")

    @property
    def is_branch(self) -> bool:
        """Whether it is an `else` or `elif`, which the platform does not have."""
        return self.name.startswith("el")


class _Open(NamedTuple):
    """A condition whose end was not read yet."""

    shows: bool
    is_kept: bool
    """Whether its tags are shown, too."""
    before: int
    """The number of parts that were shown before it."""


def has_conditions(text: str) -> bool:
    """Whether a text may have conditions."""
    return "{%" in text and _tag.search(text) is not None


def condition_of(tag: str) -> str | None:
    """Returns the condition of `{% if … %}`; None for another tag."""
    first = next(condition_tags(tag), None)
    if first is None or (first.start, first.end) != (0, len(tag)) or first.is_end or first.is_branch:
        return None
    return first.condition


def visible_words(text: str, is_met: Holds) -> str:
    """Returns what is shown of a title or of other words without markup."""
    return visible_parts(text, (), is_met) if has_conditions(text) else text


def holds_without_claims(condition: str) -> bool:
    """Whether a condition is true for visitors without claims."""
    return holds(condition, {})


def words_without_claims(text: str) -> str:
    """Returns what visitors without claims see of a title or a name: no more of it may be in a public address."""
    return visible_words(text, holds_without_claims)


def visible_parts(text: str, code: Sequence[Range], is_met: Holds) -> str:
    """Returns what is shown of a text.

    Args:
        text: the text, with `\\n` at the ends of its lines.
        code: the parts of it, in order, in which a condition is only code.
        is_met: tells whether a condition is true.
    """
    shown: list[str] = []
    opened: list[_Open] = []
    at = 0
    for tag in condition_tags(text, code):
        is_shown = not opened or opened[-1].shows
        if is_shown:
            shown.append(text[at : tag.start])
        if tag.end is None:  # what it hides is unknown
            return "".join(shown[: opened[0].before] if opened else shown)
        at = tag.end
        is_kept = False
        if tag.is_branch:  # the platform has no other branches
            opened[-1:] = [last._replace(shows=False) for last in opened[-1:]]
        elif tag.is_end:
            is_kept = bool(opened) and opened.pop().is_kept
        else:
            verdict = is_met(tag.condition) if is_shown and tag.condition else False
            is_kept = verdict is None
            opened.append(_Open(verdict is not False, is_kept, len(shown)))
        if is_kept:
            shown.append(text[tag.start : at])
    if opened:
        return "".join(shown[: opened[0].before])
    return "".join((*shown, text[at:]))


def condition_tags(text: str, code: Sequence[Range] = ()) -> Iterator[ConditionTag]:
    """Yields the tags outside code, up to the first that is not closed."""
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


def _is_within(ranges: Sequence[Range], place: int) -> bool:
    before = bisect_right(ranges, (place, len(ranges) + place)) - 1
    return before >= 0 and place < ranges[before][1]
