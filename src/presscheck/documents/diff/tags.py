"""Block tags in a diff: one line each."""

from __future__ import annotations

import re
from html import unescape

from presscheck.documents.block_tags import HINTS, hint_of
from presscheck.documents.diff.segments import Segment
from presscheck.documents.markdown.parser import parse_attributes
from presscheck.documents.terminal.custom_tags import titled_rule
from presscheck.documents.terminal.symbols import Symbols
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut

_tag = re.compile(r"[ \t]*\{%-?\s*+([\w-]++)(.*?)-?%\}", re.DOTALL).match
_summary = re.compile(r"<summary>((?:(?!<summary>).)*?)</summary>", re.DOTALL | re.IGNORECASE).search
_element = re.compile(r"<(/?)([\w-]+)").match
_html = re.compile(r"<[^<>]*>")


def tag_line(segment: Segment, columns: int, symbols: Symbols) -> Line | None:
    """Renders a tag; None for tags that show only their content."""
    opened = _tag(segment.text)
    summary = _summary(segment.text)
    name = opened[1].lower() if opened else "details" if summary else "hint" if segment.mark in HINTS else ""
    values = parse_attributes(opened[2]) if opened else {}
    if name == "hint":
        hint = hint_of(values.get("style", segment.mark or "info"))
        return Span(f"{symbols.hint} ", hint.style), Span(hint.label, f"{hint.style} strong")
    if name == "step":
        return (Span(segment.mark, "accent strong"),)
    if name == "details":
        words = sanitize(" ".join(unescape(_html.sub("", summary[1])).split())) if summary else "Details"
        return cut((Span(f"{symbols.opened} ", "accent"), Span(words, "strong")), columns)
    title = title_of(segment) or ("Tab" if name == "tab" else "")
    return titled_rule(sanitize(title), columns, symbols) if title else None


def tag_words(segment: Segment) -> str:
    """Names a tag with its attributes, as readers never see it: `[code title="a.py"]`, `[end of tabs]`."""
    text = segment.text.strip()
    opened, element = _tag(text), _element(text)
    if opened:
        name = opened[1]
        words = f"end of {name[3:]}" if name.startswith("end") else " ".join(f"{name} {opened[2]}".split())
    elif element:
        words = f"end of {element[2]}" if element[1] else element[2]
    else:
        return sanitize(text)
    return sanitize(f"[{words}]")


def title_of(segment: Segment) -> str:
    """Returns the title of a tab, a code block or an update."""
    opened = _tag(segment.text)
    values = parse_attributes(opened[2]) if opened else {}
    return values.get("title") or values.get("date") or ""
