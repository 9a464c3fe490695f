"""Reads ATX headings (`# Title #`) in time linear to their length."""

from __future__ import annotations

import re
from typing import NamedTuple

_marks = re.compile(r" {0,3}#{1,6}[ \t]++(?=.)").match
_title = re.compile(r"\s*+#[ \t]++([^\n]++)\n*+").match


class LeadingTitle(NamedTuple):
    """The title at the start of a page, and the offset of the text after it."""

    title: str
    end: int


def heading_text(line: str) -> str | None:
    """Returns the text of a heading without its marks; None for any other line."""
    marks = _marks(line)
    return _without_closing_marks(line[marks.end() :]) if marks else None


def leading_title(text: str) -> LeadingTitle | None:
    """Returns the heading of level 1 that a text starts with."""
    match = _title(text)
    title = _without_closing_marks(match[1]).strip() if match else ""
    return LeadingTitle(title, match.end()) if match and title else None


def _without_closing_marks(text: str) -> str:
    text = text.rstrip(" \t")
    return text.rstrip("#").rstrip(" \t") or text[:1]
