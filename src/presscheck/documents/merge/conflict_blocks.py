"""Finds the conflict markers in a text, and replaces a conflict by one of its sides.

A conflict block is a complete set of Git's markers, each on its own line: `<<<<<<<`, `=======`, `>>>>>>>`, and
optionally the common ancestor after `|||||||`. A block in a code fence may be an example, so it counts only if an
update from main wrote it and the live page does not contain it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from presscheck.documents.markdown.block_splitter import text_lines

CONFLICT_START, CONFLICT_DIVIDER, CONFLICT_END = "<<<<<<<", "=======", ">>>>>>>"
"""The conflict markers of Git, which most editors highlight."""
OUR_NAME, THEIR_NAME = "change request", "live"
"""The names of the two sides, which follow the markers of a merge or an update."""
Side = Literal["ours", "theirs", "both"]

_marker = re.compile(r"(<{7}|\|{7}|={7}|>{7})(?:[ \t]+(.*?))?[ \t]*\r?").fullmatch
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

    @property
    def size(self) -> int:
        """The number of its lines, including the markers."""
        return self.last - self.first + 1

    @property
    def is_from_update(self) -> bool:
        """Whether its sides have the names that an update from main writes."""
        return (self.our_name, self.their_name) == (OUR_NAME, THEIR_NAME)


def conflict_blocks(markdown: str) -> list[ConflictBlock]:
    """Returns the conflict blocks of a text, in order."""
    if CONFLICT_START not in markdown or CONFLICT_END not in markdown:
        return []
    lines = markdown.split("\n")
    blocks: list[ConflictBlock] = []
    fence = ""
    marks: list[tuple[str, int, str]] = []
    for number, line in enumerate(lines):
        marker = _marker(line)
        if marker is None:
            if not marks:
                fence = fence_after(fence, (line,))
        elif marker[1] == CONFLICT_START:
            marks = [(CONFLICT_START, number, marker[2] or "")]
        elif _follows(marks, marker[1]):
            marks.append((marker[1], number, marker[2] or ""))
            if marker[1] == CONFLICT_END:
                blocks.append(_block(lines, marks, in_code=bool(fence)))
                marks = []
    return blocks


def unresolved_conflicts(markdown: str, live: str | None = None) -> list[ConflictBlock]:
    """Returns the unresolved conflict blocks of a text.

    Args:
        markdown: the text of a page in a change request.
        live: the live text of the page; without it, all conflicts in code that an update wrote are returned.
    """
    live_conflicts = {(block.ours, block.theirs) for block in conflict_blocks(live or "") if block.in_code}
    return [
        block
        for block in conflict_blocks(markdown)
        if not block.in_code or (block.is_from_update and (block.ours, block.theirs) not in live_conflicts)
    ]


def conflict_at(markdown: str, line: int) -> ConflictBlock | None:
    """Returns the conflict block at a line, or None."""
    return next((block for block in conflict_blocks(markdown) if block.first <= line <= block.last), None)


class CutText(NamedTuple):
    """A text with a placeholder paragraph for each conflict outside of code, and these conflicts.

    Line numbers are unchanged. Without the placeholders, the divider of a conflict would turn the line above it into a
    heading.
    """

    text: str
    conflicts: tuple[ConflictBlock, ...]


def cut_conflicts(markdown: str) -> CutText:
    """Replaces the conflicts in a text by placeholders, so that it can be split into blocks."""
    if CONFLICT_START not in markdown:
        return CutText(markdown, ())
    lines = text_lines(markdown)
    conflicts = tuple(block for block in conflict_blocks("\n".join(lines)) if not block.in_code)
    if not conflicts:
        return CutText(markdown, ())
    for number, block in enumerate(conflicts):
        lines[block.first : block.last + 1] = ["", f"\uf8ffconflict-{number}\uf8ff", *[""] * (block.size - 2)]
    return CutText("\n".join(lines), conflicts)


def conflict_numbers(text: str) -> list[int]:
    """Returns the numbers of the conflicts whose placeholders are in a text, in order."""
    return [int(match[1]) for match in _placeholder.finditer(text)]


def conflict_number(text: str) -> int | None:
    """Returns the number of the conflict if a text is exactly one placeholder, or None."""
    match = _placeholder.fullmatch(text.strip())
    return int(match[1]) if match else None


def resolve(markdown: str, block: ConflictBlock, side: Side) -> str:
    """Replaces a conflict block by one side, or by both without the markers."""
    lines = markdown.split("\n")
    taken = {"ours": block.ours, "theirs": block.theirs, "both": _both(block)}[side]
    lines[block.first : block.last + 1] = taken
    return "\n".join(lines)


def _both(block: ConflictBlock) -> tuple[str, ...]:
    """Returns both sides, with a blank line between them outside of code, so that they remain two paragraphs."""
    if block.in_code or not (block.ours and block.theirs) or not (block.ours[-1].strip() and block.theirs[0].strip()):
        return (*block.ours, *block.theirs)
    is_one_block = _leads_block(block.ours[-1]) and _leads_block(block.theirs[0])
    return (*block.ours, *(() if is_one_block else ("",)), *block.theirs)


_leads_block = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\||>)").match
"""Matches the start of items, table rows and quotations, which continue on the next line without a blank line."""


def _follows(marks: Sequence[tuple[str, int, str]], marker: str) -> bool:
    if not marks:
        return False
    before = marks[-1][0]
    return (
        (before == CONFLICT_START and marker in (_ANCESTOR, CONFLICT_DIVIDER))
        or (before == _ANCESTOR and marker == CONFLICT_DIVIDER)
        or (before == CONFLICT_DIVIDER and marker == CONFLICT_END)
    )


def _block(lines: Sequence[str], marks: Sequence[tuple[str, int, str]], *, in_code: bool) -> ConflictBlock:
    (_, first, our_name), (_, our_end, _) = marks[0], marks[1]
    (_, divider, _), (_, last, their_name) = marks[-2], marks[-1]
    ours, theirs = tuple(lines[first + 1 : our_end]), tuple(lines[divider + 1 : last])
    return ConflictBlock(first, last, ours, theirs, our_name, their_name, in_code)


def fence_after(fence: str, lines: Iterable[str]) -> str:
    """Returns the code fence that is open after these lines, or an empty string."""
    for line in lines:
        match = _fence(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line[match.end() :].strip():
            fence = ""
    return fence
