"""Renders lines as Textual strips of an exact width, in the colours of the theme."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.theme import StyleLookup


def render_strip(line: Line, columns: int, style_for: StyleLookup, extra: str = "") -> Strip:
    """A strip of exactly `columns` cells; the style words `extra` are added to every span."""
    line = cut(line, columns)
    missing = columns - width(line)
    tail = f" {extra}" if extra else ""
    segments = [Segment(span.text, style_for(span.style + tail)) for span in line if span.text]
    if missing > 0:
        segments.append(Segment(" " * missing, style_for(extra)))
    return Strip(segments, columns)


def raised(style_for: StyleLookup) -> StyleLookup:
    """The same styles on the raised background, for dialogs."""
    return lambda words: style_for(f"{words} raised")


def highlighted(line: Line, search_text: str) -> Line:
    """The line with every match of a lower-case text marked; matches across two spans are ignored."""
    if not search_text or not any(search_text in span.text.lower() for span in line):
        return line
    spans: list[Span] = []
    for span in line:
        rest, lower = span.text, span.text.lower()
        while len(lower) == len(rest) and (at := lower.find(search_text)) >= 0:
            end = at + len(search_text)
            spans += [span._replace(text=rest[:at]), Span(rest[at:end], f"{span.style} mark".strip(), span.link)]
            rest, lower = rest[end:], lower[end:]
        spans.append(span._replace(text=rest))
    return tuple(span for span in spans if span.text)
