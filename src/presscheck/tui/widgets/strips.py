"""Lines as strips of cells: a line becomes exactly so many cells, and two strips are told apart by the cell."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from presscheck.documents.spans import Line, Span, cut, width

Look = Callable[[str], Style]
"""What the words of a style look like, as the theme has it."""


def drawn(line: Line, columns: int, look: Look, extra: str = "") -> Strip:
    """A line in exactly so many cells; `extra` words are added to every style."""
    line = cut(line, columns)
    missing = columns - width(line)
    tail = f" {extra}" if extra else ""
    segments = [Segment(span.text, look(span.style + tail)) for span in line if span.text]
    if missing > 0:
        segments.append(Segment(" " * missing, look(extra)))
    return Strip(segments, columns)


def raised(look: Look) -> Look:
    """The same look on the raised ground, for what lies over a place."""
    return lambda words: look(f"{words} raised")


def differing(old: Strip, new: Strip) -> int:
    """How many cells, from the left, hold all that differs; 0 where the strips look the same."""
    before, after = [*old], [*new]
    same = 0
    while before and after:
        (text, style, _), (other, other_style, _) = before[-1], after[-1]
        if style != other_style:
            break
        if text != other:
            same += _same_end(text, other)
            break
        same += cell_len(text)
        before.pop()
        after.pop()
    if not before and not after:
        return 0
    return new.cell_length - same


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


def _same_end(text: str, other: str) -> int:
    most = min(len(text), len(other))
    same = next((n for n in range(most) if text[-1 - n] != other[-1 - n]), most)
    return cell_len(text[len(text) - same :])
