"""The tags of the platform in a comparison: one line each, where a page shows what they hold in one piece."""

from __future__ import annotations

import re
from html import unescape

from presscheck.documents.diff.segments import Segment
from presscheck.documents.markdown.parser import parse_attributes
from presscheck.documents.terminal.custom_tags import HINTS
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width

_tag = re.compile(r"[ \t]*\{%-?\s*([\w-]+)(.*?)-?%\}", re.DOTALL).match
_summary = re.compile(r"<summary>(.*?)</summary>", re.DOTALL | re.IGNORECASE).search
_html = re.compile(r"<[^<>]*>")


def tag_line(piece: Segment, columns: int, glyphs: Symbols) -> Line | None:
    """What is shown of a tag; None for those that show only what they hold."""
    opened = _tag(piece.text)
    summary = _summary(piece.text)
    name = opened[1].lower() if opened else "details" if summary else "hint" if piece.mark in HINTS else ""
    values = parse_attributes(opened[2]) if opened else {}
    if name == "hint":
        word, style = HINTS.get(values.get("style", piece.mark or "info"), HINTS["info"])
        return Span(f"{glyphs.hint} ", style), Span(word, f"{style} strong")
    if name == "step":
        return (Span(piece.mark, "accent strong"),)
    if name == "details":
        words = sanitize(" ".join(unescape(_html.sub("", summary[1])).split())) if summary else "Details"
        return cut((Span(f"{glyphs.opened} ", "accent"), Span(words, "strong")), columns)
    title = title_of(piece) or ("Tab" if name == "tab" else "")
    return _titled(sanitize(title), columns, glyphs) if title else None


def title_of(piece: Segment) -> str:
    """What a tab, a piece of code or an update is called."""
    opened = _tag(piece.text)
    values = parse_attributes(opened[2]) if opened else {}
    return values.get("title") or values.get("date") or ""


def _titled(title: str, columns: int, glyphs: Symbols) -> Line:
    """A hairline with a title in it."""
    name = cut((Span(title, "accent strong"),), max(columns - 4, 1))
    left = columns - width(name) - 3
    rule = glyphs.hairline
    return (Span(f"{rule} ", "quiet"), *name, Span(f" {rule * left}", "quiet")) if left > 0 else name
