"""A document: what is seen is laid out at once, the rest in small slices when nothing else is to be done.

Opening a page takes the same moment whatever its length. The cursor is a line, so that one can speak of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from textual import events
from textual.message import Message

from presscheck.text.styled_text import Line, Span
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import LineView

SLICE = 0.004
"""Seconds of laying out at a time: too short to be felt between two keys."""
PAUSE = 0.016
LABELS = "asdfghjklqwertyuiopzxcvbnm"


class HeadingLike(Protocol):
    """A heading and its line."""

    @property
    def level(self) -> int: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def line(self) -> int: ...  # noqa: D102


class PageLike(Protocol):
    """What is shown: `documents.terminal.page_lines.PageLines` or similar."""

    lines: list[Line]

    @property
    def headings(self) -> Sequence[HeadingLike]: ...  # noqa: D102
    @property
    def done(self) -> bool: ...  # noqa: D102
    def at_least(self, count: int) -> None: ...  # noqa: D102
    def advance(self, seconds: float) -> bool: ...  # noqa: D102


class PageView(LineView):
    """A page to read, with headings to jump to and links to follow by label.

    Args:
        look: the theme.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class LinkChosen(Message):
        """A link was followed."""

        page: PageView
        target: str

    def __init__(self, look: StyleLookup, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(look, id=id, classes=classes)
        self.document: PageLike | None = None
        self._make: Callable[[int], PageLike] | None = None
        self._labels: dict[str, str] = {}
        self._is_laying_out = False
        self._wants_end = False

    @property
    def count(self) -> int:
        """How many lines are laid out."""
        return len(self.document.lines) if self.document else 0

    @property
    def is_labelled(self) -> bool:
        """Whether the next key is the label of a link."""
        return bool(self._labels)

    def item(self, number: int, part: int, columns: int) -> Line:
        """A line, with its links labelled while one is to be chosen."""
        line = self.document.lines[number] if self.document else ()
        return self._labelled(line) if self._labels else line

    def show(self, make: Callable[[int], PageLike] | None, *, line: int | None = 0) -> None:
        """Show another page, laid out for a width; from a line on, or (None) at the current scroll position."""
        self._make, self._labels, self._wants_end = make, {}, False
        if line is not None:
            self.cursor = self.top = line
        self._lay_out()
        self.redraw()

    def ensure(self, lines: int) -> None:
        """Lay out what is about to be seen."""
        if self.document and not self.document.done:
            self.document.at_least(lines + self.size.height)

    def point(self, number: int, *, top: int | None = None) -> None:
        """Go to a line; past the last one laid out, go there as soon as the rest is."""
        self._wants_end = self.document is not None and not self.document.done and number > self.count + 1000
        if not self._wants_end:
            self.ensure(number + 1)
            super().point(number, top=top)

    def next_heading(self, by: int = 1) -> None:
        """Go to the next heading, or to one before."""
        if not self.document:
            return
        lines = [heading.line for heading in self.document.headings]
        found = (
            [line for line in lines if line > self.cursor] if by > 0 else [x for x in lines if x < self.cursor][::-1]
        )
        if found:
            self.point(found[0], top=found[0])

    def label_links(self) -> bool:
        """Label the links that are seen; whether there are any."""
        targets = dict.fromkeys(
            span.link
            for number in self.seen
            for span in (self.document.lines[number] if self.document else ())
            if span.link
        )
        self._labels = dict(zip(LABELS, (target for target in targets if target), strict=False))
        self.redraw()
        return bool(self._labels)

    def on_key(self, event: events.Key) -> None:
        """While links are labelled, a key is a label; any other key takes the labels away."""
        if self._labels:
            event.stop()
            event.prevent_default()
            target = self._labels.get(event.character or "")
            self._labels = {}
            self.redraw()
            if target is not None:
                self.post_message(self.LinkChosen(self, target))

    def on_resize(self) -> None:
        """Lay the page out for the new width; what is read stays in place as far as can be told."""
        part = self.cursor / self.count if self.count else 0
        if self.document is None or getattr(self.document, "width", None) != self.columns:
            self._lay_out()
            if self.document and part:
                self.ensure(self.cursor + 1)
                self.cursor = min(self.cursor, max(0, self.count - 1))

    def _lay_out(self) -> None:
        self.document = self._make(self.columns) if self._make and self.size.width else None
        if self.document:
            self.ensure(self.top + self.size.height)
            self.cursor = max(0, min(self.cursor, self.count - 1))
            self.top = self._with_cursor(self.top)
            if not self.document.done and not self._is_laying_out:
                self._is_laying_out = True
                self.set_timer(PAUSE, self._continue)

    def _continue(self) -> None:
        done = self.document is None or self.document.advance(SLICE)
        self._is_laying_out = not done
        if not done:
            self.set_timer(PAUSE / 8 if self._wants_end else PAUSE, self._continue)
        elif self._wants_end:
            self.point(self.count - 1)

    def _labelled(self, line: Line) -> Line:
        names = {target: name for name, target in self._labels.items()}
        spans: list[Span] = []
        before: str | None = None
        for span in line:
            if span.link in names and span.link != before:
                spans.append(Span(f"[{names[span.link]}]", "accent strong"))
            before = span.link
            spans.append(span)
        return tuple(spans)
