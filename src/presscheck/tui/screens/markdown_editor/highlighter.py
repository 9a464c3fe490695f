"""Colours of Markdown source, line by line: fast enough for every key press, whatever the length of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST = 4000
"""Longer lines, in characters, have no colours."""
_FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
_WHOLE = (
    (re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$"), "heading accent"),
    (re.compile(r"^[ \t]*(?:<<<<<<<|=======|>>>>>>>)(?: .*)?$"), "removed"),
    (re.compile(r"^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$"), "quiet"),
)
_PARTS = re.compile(
    r"(?P<quiet>^[ \t]*(?:>[ \t]?)+|^[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t])(?:[ \t]+\[[ xX]\](?=[ \t]))?)"
    r"|(?P<string>`[^`\n]+`)"
    r"|(?P<keyword>\{%[^%\n]{0,400}%\}|</?[A-Za-z][^<>\n]{0,400}>)"
    r"|(?P<link>!?\[[^\[\]\n]{0,400}\]\([^()\n]{0,400}\)|https?://[^\s<>()]+)"
    r"|(?P<strong>\*\*[^*\n]{1,400}\*\*)"
    r"|(?P<emphasis>\*[^*\s][^*\n]{0,400}\*|\b_[^_\s][^_\n]{0,400}_\b)"
    r"|(?P<strike>~~[^~\n]{1,400}~~)"
    r"|(?P<number>\$\$[^$\n]{0,400}\$\$|^\$\$$)"
)


class Coloured(NamedTuple):
    """A part of a line and its style words."""

    start: int
    end: int
    style: str


def fences(lines: Sequence[str]) -> list[str]:
    """For each line, the fence of the code block that it is in, as it was opened; empty outside."""
    fence = ""
    before: list[str] = []
    for line in lines:
        before.append(fence)
        if "`" not in line and "~" not in line:
            continue
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line[match.end() :].strip():
            fence = ""
    return before


def coloured(line: str, fence: str) -> Iterator[Coloured]:
    """The coloured parts of a line that is in the code block of a fence, or in none."""
    if not line or len(line) > LONGEST:
        return
    if fence or _FENCE.match(line):
        yield Coloured(0, len(line), "string")
        return
    for pattern, style in _WHOLE:
        if pattern.match(line):
            yield Coloured(0, len(line), style)
            return
    for match in _PARTS.finditer(line):
        yield Coloured(*match.span(), match.lastgroup or "")
