"""The controls of a page: folds, tabs and horizontal scrolling, and their marks in lines.

A control is a span with a link target that authors cannot write, because it begins with a character that `sanitize`
removes. Therefore clicks, enter and labels activate a control like a link. A mark is a span of this kind without text,
which identifies the block that a line belongs to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from presscheck.text.styled_text import Line, Span

_SIGN = "\0"
PICTURE = f"{_SIGN}picture "
"""Prefix of the target of a picture's mark, before its name."""


class Mark(NamedTuple):
    """A block with a control, as marked in its lines: its kind, its key, its current value, and the maximum value.

    The value is the number of the current tab, 1 for an open fold, or the first visible column of a wide block.
    """

    kind: str
    key: str
    value: int
    most: int

    @property
    def span(self) -> Span:
        """The span that marks a line."""
        return Span("", "", f"{_SIGN}mark {self.kind} {self.key} {self.value} {self.most}")


class Controls:
    """The state of the controls of one page, by the keys of their blocks.

    Attributes:
        shows_all: whether everything is open: all tabs, all expandables, and every column of a table.
        hides: whether a part of the page was not drawn.
        folded: the keys of folded sections. Edits to other parts of the page do not change these keys.
    """

    def __init__(self) -> None:
        self.shows_all = self.hides = False
        self.folded: set[str] = set()
        self._values: dict[str, int] = {}

    def value(self, key: str, default: int = 0) -> int:
        """Return the value of a control, or `default` if it was not set."""
        return self._values.get(key, default)

    def set(self, key: str, value: int) -> None:
        """Change the value of a control."""
        self._values[key] = value


def target(key: str, value: int) -> str:
    """Return the target of a control that sets a value."""
    return f"{_SIGN}set {key} {value}"


def section_key(number: int) -> str:
    """Return the key of a section's control, given the number of the heading's block."""
    return f"{number}.section"


def is_section(key: str) -> bool:
    """Return whether a key belongs to a section."""
    return key.endswith(".section")


def conflict_mark(number: int) -> Span:
    """Return the span at the start of a conflict, given its number."""
    return Mark("conflict", str(number), 0, 0).span


def section_mark(line: Line) -> Mark | None:
    """Return the mark of the section whose heading starts on a line, or None."""
    link = line[0].link if line else None
    return next(marks_of(line[:1])) if link and link.startswith(f"{_SIGN}mark section ") else None


def is_control(address: str | None) -> bool:
    """Return whether a target belongs to a control or a mark instead of a link."""
    return bool(address) and str(address).startswith(_SIGN)


def is_setting(address: str | None) -> bool:
    """Return whether a target belongs to a control."""
    return bool(address) and str(address).startswith(f"{_SIGN}set ")


def read_setting(address: str) -> tuple[str, int] | None:
    """Return the key and the value that a control sets, or None for other targets."""
    parts = address.split(" ")
    return (parts[1], int(parts[2])) if is_setting(address) and len(parts) == 3 else None


def marks_of(line: Line) -> Iterator[Mark]:
    """Yield the marks of a line, outermost block first."""
    for span in line:
        if span.link and span.link.startswith(f"{_SIGN}mark "):
            _, kind, key, value, most = span.link.split(" ")
            yield Mark(kind, key, int(value), int(most))


def picture_mark(name: str) -> Span:
    """Return the span for a picture that is not drawn yet, given its name."""
    return Span("", "", PICTURE + name)


def block_of(key: str) -> int:
    """Return the number of the block of the page that contains a control."""
    return int(key.partition(".")[0])
