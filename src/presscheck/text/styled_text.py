"""Styled text by the cell: a line is a tuple of spans, and widths are counted in terminal cells, never in characters.

A style is a few words separated by spaces (`strong link`, `hint-info`), each of which a theme gives a look. Spans say
what something is, never what colour it has.
"""

from __future__ import annotations

from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

ELLIPSIS = "…"

_WORDS = (
    "text quiet accent link added removed waiting heading title strong emphasis strike underline code keyword string "
    "comment number you error hint-info hint-success hint-warning hint-danger mark cursor"
)
STYLES = frozenset(_WORDS.split())
"""Every word that a style may be made of."""


class Span(NamedTuple):
    """A run of display text in one style, and where it leads when it is a link."""

    text: str
    style: str = ""
    link: str | None = None


Line = tuple[Span, ...]
"""One line of a terminal."""


BREAK = Span("\n")
"""A run that ends the line."""


def width(line: Line) -> int:
    """How many cells a line takes."""
    return sum(cell_len(span.text) for span in line)


def plain(line: Line) -> str:
    """The words alone."""
    return "".join(span.text for span in line)


def cut(line: Line, columns: int, ellipsis: str = ELLIPSIS) -> Line:
    """The line in at most so many cells, with an ellipsis where it was cut; a wide character is never halved."""
    if width(line) <= columns:
        return line
    left = columns - cell_len(ellipsis)
    if left < 0:
        return (Span(set_cell_size(ellipsis, columns)),) if columns > 0 else ()
    kept: list[Span] = []
    for span in line:
        size = cell_len(span.text)
        if size > left:
            # a halved wide character leaves a blank, which the ellipsis may as well follow
            kept.append(span._replace(text=set_cell_size(span.text, left) + ellipsis))
            break
        kept.append(span)
        left -= size
    return tuple(kept)


def pad(line: Line, columns: int, style: str = "") -> Line:
    """The line in exactly so many cells: blanks in that style are added, or the end is cut."""
    missing = columns - width(line)
    if missing < 0:
        return pad(cut(line, columns), columns, style)
    return (*line, Span(" " * missing, style)) if missing else line
