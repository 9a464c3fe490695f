"""A widget that shows a page: visible lines are laid out at once, the rest in small steps while the app is idle.

So a long page opens as fast as a short one. The cursor is on a line of the page.
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

STEP = 0.004
"""Seconds of layout per step: too short to delay a key press."""
PAUSE = 0.016
"""Seconds between two steps."""
LABELS = "asdfghjklqwertyuiopzxcvbnm"


class Heading(Protocol):
    """A heading: its level, text and line."""

    @property
    def level(self) -> int: ...  # noqa: D102
    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def line(self) -> int: ...  # noqa: D102


class PageLayout(Protocol):
    """A page that is laid out in steps, such as `documents.terminal.page_lines.PageLines`."""

    lines: list[Line]

    @property
    def headings(self) -> Sequence[Heading]: ...  # noqa: D102
    @property
    def done(self) -> bool: ...  # noqa: D102
    def at_least(self, count: int) -> None: ...  # noqa: D102
    def advance(self, seconds: float) -> bool: ...  # noqa: D102


class PageView(LineView):
    """Shows a page, with headings to jump to and links that are followed by labels.

    Args:
        style_for: returns the style for style words.
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class LinkChosen(Message):
        """Posted when a link is followed."""

        page: PageView
        target: str

    def __init__(self, style_for: StyleLookup, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(style_for, id=id, classes=classes)
        self.document: PageLayout | None = None
        self._make_layout: Callable[[int], PageLayout] | None = None
        self._labels: dict[str, str] = {}
        self._is_laying_out = False
        self._goes_to_end = False

    @property
    def count(self) -> int:
        """The number of lines that are laid out."""
        return len(self.document.lines) if self.document else 0

    @property
    def is_labelled(self) -> bool:
        """Whether links are labelled, so that the next key chooses one."""
        return bool(self._labels)

    def item(self, number: int, part: int, columns: int) -> Line:
        """A line; its links are labelled while `is_labelled`."""
        line = self.document.lines[number] if self.document else ()
        return self._with_labels(line) if self._labels else line

    def show(self, make: Callable[[int], PageLayout] | None, *, line: int | None = 0) -> None:
        """Show another page at a line, or (None) at the current scroll position; `make` lays it out for a width."""
        self._make_layout, self._labels, self._goes_to_end = make, {}, False
        if line is not None:
            self.cursor = self.top = line
        self._lay_out()
        self.redraw()

    def ensure_lines(self, lines: int) -> None:
        """Lay out at least this number of lines, and one screen more."""
        if self.document and not self.document.done:
            self.document.at_least(lines + self.size.height)

    def move_to(self, number: int, *, top: int | None = None) -> None:
        """Go to a line; far past the last line that is laid out, go to the end once the layout is complete."""
        self._goes_to_end = self.document is not None and not self.document.done and number > self.count + 1000
        if not self._goes_to_end:
            self.ensure_lines(number + 1)
            super().move_to(number, top=top)

    def next_heading(self, by: int = 1) -> None:
        """Go to the next heading, or with -1 to the previous one."""
        if not self.document:
            return
        lines = [heading.line for heading in self.document.headings]
        after = [line for line in lines if line > self.cursor]
        before = [line for line in lines if line < self.cursor]
        candidates = after if by > 0 else before[::-1]
        if candidates:
            self.move_to(candidates[0], top=candidates[0])

    def label_links(self) -> bool:
        """Label the visible links; returns whether there are any."""
        targets = dict.fromkeys(
            span.link
            for number in self.visible_range
            for span in (self.document.lines[number] if self.document else ())
            if span.link
        )
        self._labels = dict(zip(LABELS, (target for target in targets if target), strict=False))
        self.redraw()
        return bool(self._labels)

    def on_key(self, event: events.Key) -> None:
        """While links are labelled, follow the link of a label; any other key removes the labels."""
        if self._labels:
            event.stop()
            event.prevent_default()
            target = self._labels.get(event.character or "")
            self._labels = {}
            self.redraw()
            if target is not None:
                self.post_message(self.LinkChosen(self, target))

    def on_resize(self) -> None:
        """Lay the page out for the new width, and keep the cursor at a line that exists."""
        part = self.cursor / self.count if self.count else 0
        if self.document is None or getattr(self.document, "width", None) != self.columns:
            self._lay_out()
            if self.document and part:
                self.ensure_lines(self.cursor + 1)
                self.cursor = min(self.cursor, max(0, self.count - 1))

    def _lay_out(self) -> None:
        self.document = self._make_layout(self.columns) if self._make_layout and self.size.width else None
        if self.document:
            self.ensure_lines(self.top + self.size.height)
            self.cursor = max(0, min(self.cursor, self.count - 1))
            self.top = self._top_with_cursor(self.top)
            if not self.document.done and not self._is_laying_out:
                self._is_laying_out = True
                self.set_timer(PAUSE, self._continue)

    def _continue(self) -> None:
        done = self.document is None or self.document.advance(STEP)
        self._is_laying_out = not done
        if not done:
            self.set_timer(PAUSE / 8 if self._goes_to_end else PAUSE, self._continue)
        elif self._goes_to_end:
            self.move_to(self.count - 1)

    def _with_labels(self, line: Line) -> Line:
        names = {target: name for name, target in self._labels.items()}
        spans: list[Span] = []
        before: str | None = None
        for span in line:
            if span.link in names and span.link != before:
                spans.append(Span(f"[{names[span.link]}]", "accent strong"))
            before = span.link
            spans.append(span)
        return tuple(spans)
