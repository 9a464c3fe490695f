"""Styled text measured in terminal cells: a line is a tuple of spans, its width is counted in cells.

A style is a few words separated by spaces (`strong link`, `hint-info`), which a theme gives a look. Spans have
a meaning, never a color.
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
"""Every word that a style may contain."""


class Span(NamedTuple):
    """Display text in one style, with its target if it is a link."""

    text: str
    style: str = ""
    link: str | None = None


Line = tuple[Span, ...]
"""One line of a terminal."""


BREAK = Span("\n")
"""A run that ends the line."""


def width(line: Line) -> int:
    """Returns the width of a line in cells."""
    return sum([cell_len(text) for text, _, _ in line])  # a list: it is counted for every line that is drawn


def plain(line: Line) -> str:
    """Returns the text of a line without styles."""
    return "".join(span.text for span in line)


def cut(line: Line, columns: int, ellipsis: str = ELLIPSIS) -> Line:
    """Truncates a line to a number of cells, with an ellipsis; a wide character is never halved."""
    if width(line) <= columns:
        return line
    left = columns - cell_len(ellipsis)
    if left < 0:
        return (Span(set_cell_size(ellipsis, columns)),) if columns > 0 else ()
    spans: list[Span] = []
    for span in line:
        size = cell_len(span.text)
        if size > left:
            # where a wide character would be halved, a blank stands before the ellipsis
            spans.append(span._replace(text=set_cell_size(span.text, left) + ellipsis))
            break
        spans.append(span)
        left -= size
    return tuple(spans)


def pad(line: Line, columns: int, style: str = "") -> Line:
    """Pads or truncates a line to exactly a number of cells."""
    missing = columns - width(line)
    if missing < 0:
        return pad(cut(line, columns), columns, style)
    return (*line, Span(" " * missing, style)) if missing else line
