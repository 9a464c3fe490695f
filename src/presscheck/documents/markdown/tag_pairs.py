"""Pairs opening and closing tags by line: `{% hint %}` … `{% endhint %}`, `<details>` … `</details>`, at any depth.

Tags inside fenced code do not count. A tag that is never closed opens nothing, so that a typo cannot swallow the rest
of a page. One pass, linear in the length of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

HTML_NAMES = ("details", "div", "table", "figure", "ul", "ol")

TagPairs = dict[tuple[int, str], int]
"""Opening line and tag name, mapped to the closing line."""

_lead = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*").match
_fence = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})").match
_tag = re.compile(r"\{%-?\s*([a-zA-Z][\w-]*)")
_end_tag = re.compile(r"\{%-?\s*end([a-zA-Z][\w-]*)\s*-?%\}\s*$")
_html = re.compile(rf"(?<!`)<(/?)({'|'.join(HTML_NAMES)})\b[^<>]*>", re.IGNORECASE)


def tag_pairs(lines: Sequence[str]) -> TagPairs:
    """Pairs the tags of a text, given as lines."""
    found = _TagMatcher()
    fence, quoted = "", False
    for number, line in enumerate(lines):
        if fence:
            if not (quoted and ">" not in line):
                fence = "" if _closes(fence, line) else fence
                continue
            # the end of a quotation closes a fence inside it
            fence = ""
        if "{%" in line:
            found.take_tags(number, line)
        elif "<" in line:
            found.take_html(number, line)
        elif "```" in line or "~~~" in line:
            start = _start(line)
            opened = _fence(line, start)
            fence, quoted = (opened[1], ">" in line[:start]) if opened else ("", False)
    return found.pairs


def _start(line: str) -> int:
    """Returns where the text of a line starts, after quotation and list marks."""
    lead = _lead(line)
    return lead.end() if lead else 0


def _closes(fence: str, line: str) -> bool:
    text = line.strip(" \t>")
    return text.startswith(fence) and not text.strip(fence[0])


class _TagMatcher:
    """Matches tags with a stack of open ones."""

    def __init__(self) -> None:
        self.pairs: TagPairs = {}
        self._open: list[tuple[str, int]] = []
        self._count: Counter[str] = Counter()

    def take_tags(self, number: int, line: str) -> None:
        """Reads a line with `{%`: tags count at its start, closing tags at its end too."""
        at_start = _tag.match(line, _start(line))
        if at_start and not at_start[1].startswith("end"):
            self._opens(at_start[1], number)
        at_end = _end_tag.search(line)
        if at_end:
            self._closes(at_end[1], number)
        elif at_start and at_start[1].startswith("end"):
            self._closes(at_start[1][3:], number)

    def take_html(self, number: int, line: str) -> None:
        """Reads a line with `<`: opening tags count at the start of a line, closing tags anywhere."""
        begins = line.startswith("<", _start(line))
        for closing, name in _html.findall(line):
            if closing:
                self._closes(name.lower(), number)
            elif begins:
                self._opens(name.lower(), number)

    def _opens(self, name: str, number: int) -> None:
        self._open.append((name, number))
        self._count[name] += 1

    def _closes(self, name: str, number: int) -> None:
        while self._count[name]:
            opened, line = self._open.pop()
            self._count[opened] -= 1
            if opened == name:
                # a later closing tag on the same line belongs to an outer element
                self.pairs[line, name] = number
                return
