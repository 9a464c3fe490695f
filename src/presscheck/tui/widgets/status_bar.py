"""Lines with clickable parts: status bar, footer with key hints, and the next keys of a key sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import cast

from textual import events
from textual.message import Message
from textual.message_pump import MessagePump
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, pad, span_at, width
from presscheck.tui.commands import CommandTable, FirstKey, Keymap, shown
from presscheck.tui.keyboard import press_keys
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.line_view import render_strip, style_of

MAX_HINTS = 6
"""Maximum number of key hints in the footer, not counting the help."""
GAP = 4
_PRESS = "\0press "
"""The prefix of links that press keys. Sanitized text has no control characters, so it cannot contain the prefix."""


def pressing(keys: str, *spans: Span) -> Line:
    """Make a text clickable: a click presses keys."""
    return tuple(span._replace(link=_PRESS + keys) for span in spans)


class ClickableLines(Widget):
    """Lines with clickable parts. A click posts the link of a span, or presses the keys of a link from `pressing`."""

    @dataclass
    class TargetClicked(Message):
        """Posted when a part with a target was clicked."""

        widget: Widget
        target: str

    is_raised: bool | None = None
    """Whether the background is raised; None if it is raised in dialogs only."""

    @cached_property
    def style_for(self) -> StyleLookup:
        """The function that returns the style for style words, with the background of this widget."""
        return style_of(self, is_raised=self.is_raised)

    def line_at(self, y: int) -> Line:
        """Return the line of a row."""
        return ()

    @override
    def render_line(self, y: int) -> Strip:
        return render_strip(self.line_at(y), self.size.width, self.style_for)

    def on_click(self, event: events.Click) -> None:
        """Press the keys of a part, or post its target."""
        clicked = span_at(self.line_at(event.y), event.x)
        target = clicked[0].link if clicked else None
        if target is None:
            return
        event.stop()
        if target.startswith(_PRESS):
            press_keys(cast("MessagePump", self.app), target.removeprefix(_PRESS))
        else:
            self.post_message(self.TargetClicked(self, target))


class StatusLine(ClickableLines):
    """A line with a left and a right part. If they do not fit, the left part is cut first, to a third of the line."""

    DEFAULT_CSS = "StatusLine { height: 1; }"

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.left: Line = ()
        self.right: Line = ()

    def show(self, left: Line, right: Line = ()) -> None:
        """Replace both parts."""
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    @override
    def line_at(self, y: int) -> Line:
        columns = self.size.width
        if not self.right:
            return cut(self.left, columns)
        right = cut(self.right, max(columns * 2 // 3, columns - width(self.left) - 3, 0))
        left = cut(self.left, max(0, columns - width(right) - 3))
        gap = max(1, columns - width(left) - width(right) - 1)
        return (*left, Span(" " * gap), *right, Span(" "))


def pending_keys(keys: Sequence[str]) -> Line:
    """Return the line that shows the pressed keys of an incomplete sequence; empty without keys."""
    return (Span(f" {shown(' '.join(keys))} …", "accent"),) if keys else ()


def key_hints(
    names: Sequence[str],
    table: CommandTable,
    keymap: Keymap,
    columns: int,
    titles: Mapping[str, str] = MappingProxyType({}),
) -> Line:
    """Return as many key hints as fit: for commands, then for own commands, and always for help at the end.

    `titles` maps names of commands to titles that replace the general titles.
    """
    *keys, help_key = table.first_keys((*names[:MAX_HINTS], "help"), keymap, titles)
    return _hint_line((*keys, *table.own_keys(keymap), help_key), columns)


@lru_cache(maxsize=64)
def _hint_line(keys: tuple[FirstKey, ...], columns: int) -> Line:
    """Return a line of key hints. It is cached, because every key press draws it and it rarely changes."""
    hints: list[Line] = []
    for key in keys:
        label = Span(f" {key.label}", "quiet" if key.is_disabled else "accent")
        hints.append((*pressing(key.key, label, Span(f" {key.title}", "quiet")), Span("  ", "quiet")))
    while len(hints) > 1 and sum(map(width, hints)) > columns - 3:
        hints.pop(-2)
    return tuple(span for hint in hints for span in hint)


class WhichKey(ClickableLines):
    """A popup above the footer with keys and command titles in columns; a click presses the keys of an entry."""

    DEFAULT_CSS = "WhichKey { layer: above; dock: bottom; margin-bottom: 1; display: none; }"

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.entries: Sequence[tuple[str, str]] = ()

    def open(self, title: str, entries: Sequence[tuple[str, str]], columns: int) -> None:
        """Show pairs of keys and command titles; `columns` is the width of the screen."""
        self.title, self.entries = title, entries
        self.styles.height = len(self._lines(columns))
        self.display = True
        self.refresh()

    def close(self) -> None:
        """Hide the popup."""
        self.display = False

    @override
    def line_at(self, y: int) -> Line:
        lines = self._lines(self.size.width)
        return lines[y] if y < len(lines) else ()

    def _lines(self, columns: int) -> list[Line]:
        cells = [pressing(key, Span(f" {key}", "accent strong"), Span(f" {title}")) for key, title in self.entries]
        size = max((width(cell) for cell in cells), default=0) + GAP
        per_line = max(1, columns // size)
        rule: Line = (Span(f" {self.title} ", "title"), Span("─" * max(0, columns - len(self.title) - 3), "quiet"))
        rows = [cells[at : at + per_line] for at in range(0, len(cells), per_line)]
        return [rule, *(tuple(span for cell in row for span in pad(cell, size)) for row in rows)]
