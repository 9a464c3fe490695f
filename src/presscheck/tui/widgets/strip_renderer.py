"""Lines as strips: a line becomes exactly so many cells in the colours of a theme."""

from __future__ import annotations

from rich.segment import Segment
from textual.strip import Strip

from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.theme import StyleLookup


def drawn(line: Line, columns: int, look: StyleLookup, extra: str = "") -> Strip:
    """A line in exactly so many cells; `extra` words are added to every style."""
    line = cut(line, columns)
    missing = columns - width(line)
    tail = f" {extra}" if extra else ""
    segments = [Segment(span.text, look(span.style + tail)) for span in line if span.text]
    if missing > 0:
        segments.append(Segment(" " * missing, look(extra)))
    return Strip(segments, columns)


def raised(look: StyleLookup) -> StyleLookup:
    """The same look on the raised ground, for what lies over a place."""
    return lambda words: look(f"{words} raised")


def highlighted(line: Line, needle: str) -> Line:
    """The line with every place that holds the needle (in lower case) marked; what spans two styles is left alone."""
    if not needle or not any(needle in span.text.lower() for span in line):
        return line
    found: list[Span] = []
    for span in line:
        rest, lower = span.text, span.text.lower()
        while len(lower) == len(rest) and (at := lower.find(needle)) >= 0:
            end = at + len(needle)
            found += [span._replace(text=rest[:at]), Span(rest[at:end], f"{span.style} mark".strip(), span.link)]
            rest, lower = rest[end:], lower[end:]
        found.append(span._replace(text=rest))
    return tuple(span for span in found if span.text)
