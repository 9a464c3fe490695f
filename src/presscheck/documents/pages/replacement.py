"""Finds and replaces text in pages: the searched fields, the hits among matches, and pages with chosen hits replaced.

A page is searched in its title, its description and its Markdown. If the Markdown repeats the title as its first
heading, as the service does, the heading is not searched; it follows the title. Everything outside of the chosen hits
remains unchanged, byte by byte. Patterns are matched elsewhere, because a match may never end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from presscheck.documents.markdown.code_ranges import Range, code_ranges
from presscheck.documents.markdown.links import written_targets
from presscheck.documents.pages.front_matter import find_front_matter

Field = Literal["title", "description", "markdown"]
Kind = Literal["title", "description", "front matter", "code", "link target", "file", "text"]
"""The location of a hit in a page; a hit of the kind *file* is the whole target of a link to a file."""
CAREFUL_KINDS: frozenset[Kind] = frozenset(("front matter", "link target"))
"""Kinds of hits that are replaced only if chosen explicitly, because their targets might no longer be found."""
FIELDS: tuple[Field, ...] = ("title", "description", "markdown")
_KINDS: Mapping[Field, Kind] = {"title": "title", "description": "description"}
_heading = re.compile(r"\s*+#[ \t]++([^\n]++)").match
_backslash = re.compile(r"\\([!-/:-@\[-`{-~])")


@dataclass(frozen=True)
class Query:
    """A search and its replacement.

    Attributes:
        find: a text, or a regular expression in the syntax of Python.
        replacement: a text; for a regular expression, with groups such as `\\1`.
        match_case: whether upper and lower case differ.
        whole_words: whether a match must not be next to letters or digits.
        is_regex: whether `find` is a regular expression.
        in_code: whether code is searched.
    """

    find: str
    replacement: str = ""
    match_case: bool = True
    whole_words: bool = False
    is_regex: bool = False
    in_code: bool = False


@dataclass(frozen=True)
class PageText:
    """The searchable parts of a page; `markdown` is None for a page without text, such as a group."""

    title: str
    description: str = ""
    markdown: str | None = None


class Match(NamedTuple):
    """A match of the pattern in one field, and its replacement."""

    start: int
    end: int
    new: str


class Hit(NamedTuple):
    """A match that can be replaced.

    Attributes:
        field: the field of the page.
        start: its offset in the field.
        end: the offset after it.
        old: the matched text.
        new: the replacement.
        kind: its location in the page.
        line: its line in the field, from 1.
    """

    field: Field
    start: int
    end: int
    old: str
    new: str
    kind: Kind
    line: int


class Surroundings(NamedTuple):
    """The text before and after a hit on its lines."""

    before: str
    after: str


def searched_fields(page: PageText) -> dict[Field, str]:
    """Return the searched fields; a description in front matter is searched as part of the Markdown."""
    fields: dict[Field, str] = {"title": page.title} if page.title else {}
    if page.description and not (page.markdown and find_front_matter(page.markdown)):
        fields["description"] = page.description
    if page.markdown:
        fields["markdown"] = page.markdown
    return fields


def hits_of(page: PageText, matches: Mapping[Field, Sequence[Match]], *, in_code: bool) -> tuple[Hit, ...]:
    """Return the hits of a page in order.

    A match is not a hit if it is empty or would not change, if it is in the heading that repeats the title, or if it
    touches code and code is not searched.

    Args:
        page: the page.
        matches: the matches in each field, in order.
        in_code: whether code is searched.
    """
    hits: list[Hit] = []
    for field in FIELDS:
        field_matches = [match for match in matches.get(field, ()) if match.start < match.end]
        if field_matches and field == "markdown":
            hits += _markdown_hits(page, field_matches, in_code=in_code)
        elif field_matches:
            text: str = getattr(page, field)
            hits += [
                _hit(field, text, match, _KINDS[field], text.count("\n", 0, match.start) + 1) for match in field_matches
            ]
    return tuple(hit for hit in hits if hit.old != hit.new)


def hits_of_targets(page: PageText, is_found: Callable[[str], bool], new: str) -> tuple[Hit, ...]:
    """Return the hits that are whole link targets, in order. A fragment of a target is preserved.

    Args:
        page: the page.
        is_found: returns whether a target is a hit.
        new: the new target.
    """
    text, hits = page.markdown or "", list[Hit]()
    for target in written_targets(text) if text else ():
        end = target.start + len(text[target.start : target.end].partition("#")[0])
        if is_found(target.target.partition("#")[0]):
            line = text.count("\n", 0, target.start) + 1
            hits.append(_hit("markdown", text, Match(target.start, end, new), "file", line))
    return tuple(hit for hit in hits if hit.old != hit.new)


def apply_hits(page: PageText, hits: Iterable[Hit]) -> PageText:
    """Return the page with the hits replaced. If the first heading repeats the title, it changes with the title."""
    edits: dict[Field, list[Match]] = {field: [] for field in FIELDS}
    for hit in hits:
        edits[hit.field].append(Match(hit.start, hit.end, hit.new))
    title = _spliced(page.title, edits["title"])
    if page.markdown is None:
        return replace(page, title=title, description=_spliced(page.description, edits["description"]))
    repeated = title_range(page)
    if repeated and title != page.title:
        edits["markdown"].append(Match(*repeated, title))
    return PageText(title, _spliced(page.description, edits["description"]), _spliced(page.markdown, edits["markdown"]))


def title_range(page: PageText) -> Range | None:
    """Return the range of the first heading in the Markdown if it repeats the title, or None."""
    if not page.markdown or not page.title:
        return None
    front = find_front_matter(page.markdown)
    start = front.end if front else 0
    match = _heading(page.markdown[start:])
    if match is None:
        return None
    text, title = match[1].strip(), " ".join(page.title.split())
    if title not in (text, _backslash.sub(r"\1", text).strip()):
        return None
    return start + match.start(1), start + match.end(1)


def surroundings(page: PageText, hit: Hit, most: int = 400) -> Surroundings:
    """Return up to `most` characters before and after a hit, limited to its lines."""
    text: str = getattr(page, hit.field) or ""
    before = text[max(0, hit.start - most) : hit.start].rpartition("\n")[2]
    after = text[hit.end : hit.end + most].partition("\n")[0]
    return Surroundings(before, after.rstrip("\r"))


def _markdown_hits(page: PageText, matches: Sequence[Match], *, in_code: bool) -> list[Hit]:
    text = page.markdown or ""
    front, heading = find_front_matter(text), title_range(page)
    code, targets = (
        _Ranges(code_ranges(text)),
        _Ranges([(target.start, target.end) for target in written_targets(text)]),
    )
    hits: list[Hit] = []
    line, counted = 1, 0
    for match in matches:
        is_code = code.touch(match)
        if heading and match.start < heading[1] and match.end > heading[0]:
            continue
        kind: Kind = "code" if is_code else "link target" if targets.touch(match) else "text"
        if front and match.start < front.end:
            kind = "front matter"
        elif is_code and not in_code:
            continue
        line, counted = line + text.count("\n", counted, match.start), match.start
        hits.append(_hit("markdown", text, match, kind, line))
    return hits


class _Ranges:
    """Ranges of a text, in order and without overlaps."""

    def __init__(self, ranges: Sequence[Range]) -> None:
        self._starts, self._ends = [start for start, _ in ranges], [end for _, end in ranges]

    def touch(self, match: Match) -> bool:
        """Return whether a match overlaps with any of the ranges."""
        at = bisect_left(self._ends, match.start + 1)  # the first range that ends after the start of the match
        return at < len(self._starts) and self._starts[at] < match.end


def _hit(field: Field, text: str, match: Match, kind: Kind, line: int) -> Hit:
    return Hit(field, match.start, match.end, text[match.start : match.end], match.new, kind, line)


def _spliced(text: str, edits: Iterable[Match]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))
