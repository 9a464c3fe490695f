"""Finds the conflict markers in a text, and replaces a conflict by one of its sides.

A conflict block is a complete set of Git's markers, each on its own line: `<<<<<<<`, `=======`, `>>>>>>>`, and
optionally the common ancestor after `|||||||`. A block in a code fence may be an example, so it counts only if a merge
of presscheck wrote it and the live page does not contain it.

A marker is damaged if a user typed into it or deleted one of its characters. A damaged marker counts if it completes a
block. `damaged_marker` finds all others, so that none is saved unnoticed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import tzinfo
from typing import Literal, NamedTuple

from presscheck.documents.markdown.block_splitter import text_lines
from presscheck.text.phrases import UNKNOWN, exact

CONFLICT_START, CONFLICT_DIVIDER, CONFLICT_END = "<<<<<<<", "=======", ">>>>>>>"
"""The conflict markers of Git, which most editors highlight."""
START_SIGNS, END_SIGNS = "<<<<", ">>>>"
"""Texts that every start and end of a conflict contains, even if it is damaged."""
OUR_NAME, THEIR_NAME = "change request", "live"
"""The names of both sides in a merge without authors."""
LONGEST_NAME = 60
"""Maximum number of characters of an author's name after a conflict marker."""
MOST_JUNK = 8
"""Maximum number of typed characters before the signs of a damaged marker, or between two of its signs."""
Side = Literal["ours", "theirs", "both"]

_marker = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?:[ \t]+(.*?))?[ \t]*\r?").fullmatch
_whole_signs = re.compile(r"(?<!<)<{7}(?!<)|(?<!>)>{7}(?!>)").search
_SIGNS = (START_SIGNS, END_SIGNS, "====", "|||||||")
_code_span = re.compile(r"(`{1,3})[^`]{0,400}\1").sub
_merge_wrote = re.compile(
    r"change request|live|you|somebody else|.*, (?:draft of|revision of|revision by|as of) .*"
).fullmatch
"""Matches the names of sides that merges write, including merges of earlier versions."""
_fence = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(`{3,}|~{3,})").match
_ANCESTOR = "|||||||"


_placeholder = re.compile("\uf8ffconflict-(\\d+)\uf8ff")
"""Matches the placeholder of a conflict while a page is split: private-use characters, which pages do not contain."""


class ConflictBlock(NamedTuple):
    """A conflict in a text; lines are counted from 0, and `last` is the line of the last marker."""

    first: int
    last: int
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    our_name: str
    their_name: str
    in_code: bool
    damaged: tuple[int, ...] = ()
    """The lines of its damaged markers."""

    @property
    def size(self) -> int:
        """The number of lines, including the markers."""
        return self.last - self.first + 1

    @property
    def is_from_merge(self) -> bool:
        """Whether both sides have names in the form that a merge of presscheck writes."""
        return bool(_merge_wrote(self.our_name) and _merge_wrote(self.their_name))


class DamagedMarker(NamedTuple):
    """A conflict marker that is damaged, or intact but without the other markers of a block. Lines count from 0."""

    line: int
    is_complete: bool
    """Whether the marker itself is intact."""

    def __str__(self) -> str:
        fault = "a conflict marker without its other markers" if self.is_complete else "a damaged conflict marker"
        return f"line {self.line + 1} is {fault}"


class _Mark(NamedTuple):
    number: int
    marker: str
    name: str
    is_intact: bool


def draft_name(author: str, at: str, zone: tzinfo | None = None) -> str:
    """Return the name of a side that is a draft: `Noor Haddad, draft of 2026-03-14 12:03 +0000`."""
    return f"{_one_line(author) or 'somebody'}, draft of {exact(at, zone)}"


def revision_name(place: str, author: str, at: str | None, zone: tzinfo | None = None) -> str:
    """Return the name of a side that is saved: `main, revision by Mika Brandt, 2026-03-14 12:03 +0000`.

    The name stays in the page until the conflict is resolved, so its time is absolute.

    Args:
        place: where the side is saved, such as `main` or `#5`.
        author: the user who saved it; empty if unknown.
        at: the time of saving; None if unknown.
        zone: the time zone, by default the local one.
    """
    when = exact(at, zone)
    if not _one_line(author):
        return f"{place}, revision of {when}"
    return f"{place}, revision by {_one_line(author)}" + (f", {when}" if when != UNKNOWN else "")


def _one_line(name: str) -> str:
    return " ".join(name.split())[:LONGEST_NAME]


def side_name(name: str) -> str:
    """Return the display name of a side of a conflict. A default name, from a merge without authors, becomes *main*."""
    return "main" if name == THEIR_NAME else name


def conflict_blocks(markdown: str) -> list[ConflictBlock]:
    """Return the conflict blocks of a text, in order."""
    if START_SIGNS not in markdown or END_SIGNS not in markdown:
        return []
    return _read(markdown)[0]


def damaged_marker(markdown: str, before: str = "") -> DamagedMarker | None:
    """Return the first damaged conflict marker of a text, or else its first marker outside of a block, or None.

    Args:
        markdown: the text to save.
        before: the text before the edit; markers that it already has are ignored.
    """
    if START_SIGNS not in markdown and END_SIGNS not in markdown:
        return None
    lines, old = markdown.split("\n"), before.split("\n")
    known = {old[marker.line] for marker in _read(before)[1]}
    markers = [marker for marker in _read(markdown)[1] if lines[marker.line] not in known]
    return min(markers, key=lambda marker: (marker.is_complete, marker.line), default=None)


def _read(markdown: str) -> tuple[list[ConflictBlock], list[DamagedMarker]]:
    """Return the conflict blocks of a text, and the markers that are damaged or belong to no block.

    Only lines with signs and fences are inspected, because the editor calls this for each key press in a text with
    conflicts.
    """
    lines = markdown.split("\n")
    signed, fenced = _lines_with(markdown, _SIGNS), _lines_with(markdown, ("```", "~~~"))
    marks = [mark for number in signed if (mark := _mark(number, lines[number]))]
    starts = [at for at, mark in enumerate(marks) if mark.marker == CONFLICT_START]
    at_line = {marks[at].number: marks[at:end] for at, end in zip(starts, [*starts[1:], len(marks)], strict=False)}
    by_line = {mark.number: mark for mark in marks if mark.marker in (CONFLICT_START, CONFLICT_END)}
    blocks: list[ConflictBlock] = []
    damaged: list[DamagedMarker] = []
    fence = ""
    at = 0
    for number in signed:
        if number < at:
            continue  # in a block
        between = fenced[bisect_left(fenced, at) : bisect_left(fenced, number)]
        fence = fence_after(fence, (lines[line] for line in between))
        at = number + 1
        block = _block(lines, at_line[number], in_code=bool(fence)) if number in at_line else None
        if block and (not (fence and block.damaged) or block.is_from_merge):
            blocks.append(block)
            damaged += [DamagedMarker(line, is_complete=False) for line in block.damaged]
            at = block.last + 1
            continue
        mark = by_line.get(number)
        if (mark is not None and _merge_wrote(mark.name)) if fence else _has_signs(lines[number]):
            damaged.append(DamagedMarker(number, is_complete=mark is not None and mark.is_intact))
        fence = fence_after(fence, (lines[number],))
    return blocks, damaged


def _lines_with(text: str, signs: Iterable[str]) -> list[int]:
    """Return the numbers of the lines that contain any of the signs, in order."""
    numbers = set[int]()
    for sign in signs:
        number, counted, at = 0, 0, text.find(sign)
        while at >= 0:
            number += text.count("\n", counted, at)
            numbers.add(number)
            counted = at
            end = text.find("\n", at)
            at = text.find(sign, end) if end >= 0 else -1
    return sorted(numbers)


def _mark(number: int, line: str) -> _Mark | None:
    """Parse a line as a conflict marker, intact or damaged. Return None for other lines."""
    match = _marker(line)
    if match:
        return _Mark(number, match[1], match[2] or "", is_intact=True)
    for marker in (CONFLICT_START, CONFLICT_DIVIDER, CONFLICT_END):
        # a marker has seven signs, not eight
        has_signs = marker[:4] in line and marker + marker[0] not in line
        name = _name_behind(marker, line) if has_signs else None
        if name is not None:
            return _Mark(number, marker, name, is_intact=False)
    return None


def _name_behind(marker: str, line: str) -> str | None:
    """Return the name after a damaged marker, or None if the line is not a marker."""
    sign, text = marker[0], line.strip()
    first = last = text.index(sign)
    while (following := text.find(sign, last + 1)) > 0 and _is_junk(text[last + 1 : following].rstrip()):
        last = following
    signs, name = text[first : last + 1], text[last + 1 :].strip()
    # one insertion leaves four of seven signs together
    is_marker = (marker[:5] in signs or signs.count(sign) > 5) and signs.count(sign) < 9
    is_named = marker != CONFLICT_DIVIDER or _is_junk(name)
    return name if is_marker and is_named and _is_junk(text[:first]) else None


def _is_junk(text: str) -> bool:
    """Return whether a text is so short that it may have been typed into a marker."""
    return len(text) <= MOST_JUNK and len(text.split()) < 2


def _has_signs(line: str) -> bool:
    """Return whether a line has the signs of a start or an end, perhaps damaged or at the end of other text."""
    if START_SIGNS not in line and END_SIGNS not in line:
        return False
    line = _code_span("", line)
    mark = _mark(0, line)
    return bool(_whole_signs(line)) or (mark is not None and mark.marker != CONFLICT_DIVIDER)


def unresolved_conflicts(markdown: str, live: str | None = None) -> list[ConflictBlock]:
    """Return the unresolved conflict blocks of a text.

    Args:
        markdown: the text of a page in a change request.
        live: the live text of the page; without it, all conflicts in code that a merge wrote are returned.
    """
    live_conflicts = {(block.ours, block.theirs) for block in conflict_blocks(live or "") if block.in_code}
    return [
        block
        for block in conflict_blocks(markdown)
        if not block.in_code or (block.is_from_merge and (block.ours, block.theirs) not in live_conflicts)
    ]


def conflict_at(markdown: str, line: int) -> ConflictBlock | None:
    """Return the conflict block at a line, or None."""
    return next((block for block in conflict_blocks(markdown) if block.first <= line <= block.last), None)


class CutText(NamedTuple):
    """A text with a placeholder paragraph for each conflict outside of code, and these conflicts.

    Line numbers are unchanged. Without the placeholders, the divider of a conflict would turn the line above it into a
    heading.
    """

    text: str
    conflicts: tuple[ConflictBlock, ...]


def cut_conflicts(markdown: str) -> CutText:
    """Replace the conflicts in a text by placeholders, so that the text can be split into blocks."""
    if START_SIGNS not in markdown:
        return CutText(markdown, ())
    lines = text_lines(markdown)
    conflicts = tuple(block for block in conflict_blocks("\n".join(lines)) if not block.in_code)
    if not conflicts:
        return CutText(markdown, ())
    for number, block in enumerate(conflicts):
        lines[block.first : block.last + 1] = ["", f"\uf8ffconflict-{number}\uf8ff", *[""] * (block.size - 2)]
    return CutText("\n".join(lines), conflicts)


def conflict_numbers(text: str) -> list[int]:
    """Return the numbers of the conflicts whose placeholders are in a text, in order."""
    return [int(match[1]) for match in _placeholder.finditer(text)]


def conflict_number(text: str) -> int | None:
    """Return the number of the conflict whose placeholder is the whole text, or None."""
    match = _placeholder.fullmatch(text.strip())
    return int(match[1]) if match else None


def resolve(markdown: str, block: ConflictBlock, side: Side) -> str:
    """Replace a conflict block by one side, or by both without the markers."""
    lines = markdown.split("\n")
    replacement = {"ours": block.ours, "theirs": block.theirs, "both": _both(block)}[side]
    lines[block.first : block.last + 1] = replacement
    return "\n".join(lines)


def _both(block: ConflictBlock) -> tuple[str, ...]:
    """Return both sides, with a blank line between them outside of code, so that they remain two paragraphs."""
    if block.in_code or not (block.ours and block.theirs) or not (block.ours[-1].strip() and block.theirs[0].strip()):
        return (*block.ours, *block.theirs)
    is_one_block = _leads_block(block.ours[-1]) and _leads_block(block.theirs[0])
    return (*block.ours, *(() if is_one_block else ("",)), *block.theirs)


_leads_block = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\||>)").match
"""Matches the start of items, table rows and quotations, which continue on the next line without a blank line."""


def _block(lines: Sequence[str], marks: Sequence[_Mark], *, in_code: bool) -> ConflictBlock | None:
    """Return the block that starts at the first marker, or None if it has no divider or end.

    `marks` are the markers up to the next start. An intact marker takes precedence over a damaged one, because
    headings and quotations may look like damaged markers.
    """
    start = marks[0]
    divider = _first_mark(marks, CONFLICT_DIVIDER, start.number)
    end = _first_mark(marks, CONFLICT_END, divider.number) if divider else None
    if divider is None or end is None:
        return None
    inner = (mark.number for mark in marks if mark.marker == _ANCESTOR and mark.number < divider.number)
    ours = tuple(lines[start.number + 1 : next(inner, divider.number)])
    theirs = tuple(lines[divider.number + 1 : end.number])
    damaged = tuple(mark.number for mark in (start, divider, end) if not mark.is_intact)
    return ConflictBlock(start.number, end.number, ours, theirs, start.name, end.name, in_code, damaged)


def _first_mark(marks: Sequence[_Mark], marker: str, after: int) -> _Mark | None:
    """Return the first intact marker of a kind after a line, or else the damaged marker if there is only one.

    Return None if there is neither.
    """
    same = [mark for mark in marks if mark.marker == marker and mark.number > after]
    intact = next((mark for mark in same if mark.is_intact), None)
    return intact or (same[0] if len(same) == 1 else None)


def fence_after(fence: str, lines: Iterable[str]) -> str:
    """Return the code fence that is open after these lines, or an empty string."""
    for line in lines:
        match = _fence(line) if "`" in line or "~" in line else None
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line[match.end() :].strip():
            fence = ""
    return fence
