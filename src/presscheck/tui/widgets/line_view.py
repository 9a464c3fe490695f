"""The base class of widgets made of lines. Only visible lines are rendered, and only changed lines repainted.

After a change, a subclass calls `redraw`, which compares the new strips with the painted ones. Scrolling is not
animated. The cost depends only on the number of visible lines. All text must have passed `sanitize`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget
from typing_extensions import override

from presscheck.text.styled_text import Line, Span, cut, plain, span_at, split_cells, width
from presscheck.tui.theme import StyleLookup

END = 1 << 30
"""A line number beyond the end of any widget."""
WHEEL_LINES = 3
"""Lines per step of the mouse wheel."""
SHORT_SCROLL = 3
"""Maximum distance, in lines, of a scroll without context on slow connections."""
SEARCH_CHUNK = 500
"""Number of lines that a search checks before it yields to other tasks."""
FOLD_MARKS = "▸▾"
"""Characters that a click folds or unfolds."""
_SELECTED = Style(reverse=True)


def render_strip(line: Line, columns: int, style_for: StyleLookup, extra: str = "") -> Strip:
    """Return a strip of exactly `columns` cells. The style words `extra` are added to every span."""
    missing = columns - sum([cell_len(span.text) for span in line])  # measured once, for every line that is drawn
    if missing < 0:
        line = cut(line, columns)
        missing = columns - width(line)
    tail = f" {extra}" if extra else ""
    segments = [Segment(span.text, style_for(span.style + tail)) for span in line if span.text]
    if missing > 0:
        segments.append(Segment(" " * missing, style_for(extra)))
    return Strip(segments, columns)


def style_of(widget: Widget, *, is_raised: bool | None = None) -> StyleLookup:
    """Return the style lookup of a mounted widget; by default only dialogs have the raised background."""
    style_for: StyleLookup = cast("Any", widget.app).style_for
    if widget.screen.is_modal if is_raised is None else is_raised:
        return lambda words: style_for(f"{words} raised")
    return style_for


def highlighted(line: Line, search_text: str) -> Line:
    """Highlight every match of a lower-case text in a line. Matches across spans are ignored."""
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


class _Strips(dict[int, Strip]):
    """The strips of visible lines by line number; a missing key draws all missing strips.

    Textual looks up every line that it paints, so a look-up must cost no more than a dict access.
    """

    def __init__(self, draw_missing: Callable[[int], None]) -> None:
        super().__init__()
        self._draw_missing = draw_missing

    def __missing__(self, y: int) -> Strip:
        self._draw_missing(y)
        return self[y]


Place = tuple[int, int]
"""The index of an item, and the index of a line in the item."""


RIGHT = 3
"""The number of the right mouse button."""


class Match(NamedTuple):
    """The current match: its number, counted from 1, and the number of all matches."""

    number: int
    total: int


class LineView(Widget, can_focus=True, inherit_bindings=False):
    """A scrolling list of items with a cursor; a subclass defines `count` and `item`.

    Each item takes `item_height` lines. `cursor` is the index of the item with the bar on its left, and `top` is the
    first visible line. Without `has_cursor`, movements scroll.

    A click moves the cursor, follows a link or folds. A double click opens the item. A right click moves the cursor and
    requests a menu. Dragging selects text; Textual stores the selection by lines of the content, so it survives
    scrolling.

    Args:
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class LinkChosen(Message):
        """Posted when a link is followed."""

        view: LineView
        target: str

    class MenuRequested(Message):
        """Posted when an item was clicked with the right button, after the cursor moved to it."""

    class WheelTurned(Message):
        """Posted when the mouse wheel scrolled the view. The cursor does not move."""

    DEFAULT_CSS = "LineView { height: 1fr; }"
    has_cursor = True
    looks_focused = False
    """Whether the cursor is drawn as if the widget had the focus."""
    bar_width = 1
    """The width of the margin, which contains the cursor bar, in cells."""
    is_raised: bool | None = None
    """Whether the background is raised; None if it is raised in dialogs only."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.top: int = 0
        self.cursor: int = 0
        self.item_height: int = 1
        self.search_text = ""
        self._strips = _Strips(self._draw_missing)
        self._selection: Selection | None = None
        self._drag_start: Offset | None = None
        self._has_dragged = False

    @cached_property
    def style_for(self) -> StyleLookup:
        """The function that returns the style for style words, with the background of this widget."""
        return style_of(self, is_raised=self.is_raised)

    @property
    def count(self) -> int:
        """The number of items."""
        return 0

    def item(self, number: int, part: int, columns: int) -> Line:
        """Return a line of an item; `part` is the index of the line in the item, `columns` the width in cells."""
        return ()

    def items(self, places: Sequence[Place], columns: int) -> list[Line]:
        """Return the lines at several places. A subclass can override it to render them together."""
        return [self.item(number, part, columns) for number, part in places]

    def margins(self, places: Sequence[Place]) -> list[Line]:
        """Return the left margins of the lines at several places, with a bar at the item under the cursor."""
        blank = (Span(" " * self.bar_width),)
        if not self.has_cursor:
            return [blank] * len(places)
        style = "accent" if self.has_focus or self.looks_focused else "quiet"
        bar = (Span("▌", style), Span(" " * (self.bar_width - 1)))
        return [bar if number == self.cursor else blank for number, _ in places]

    def cursor_moved(self) -> None:
        """Handle a move of the cursor to another item."""

    def choose(self) -> None:
        """Open the item under the cursor, after a double click."""

    def fold(self) -> None:
        """Fold or unfold the item under the cursor, after a click on its fold mark."""
        self.choose()

    def is_fold_mark(self, number: int, part: int, column: int) -> bool:
        """Return whether a cell of an item is its fold mark."""
        hit = span_at(self.item(number, part, self.columns), column)
        return hit is not None and hit[1] in FOLD_MARKS

    def ensure_lines(self, lines: int) -> None:
        """Make sure that at least this many lines are laid out."""

    @property
    def columns(self) -> int:
        """The width of an item in cells, without the margin."""
        return max(0, self.size.width - self.bar_width)

    @property
    def half_page(self) -> int:
        """The number of items in half the height of the widget, at least 1."""
        return max(1, self.size.height // self.item_height // 2)

    @property
    def visible_range(self) -> range:
        """The indexes of the visible items."""
        first = self.top // self.item_height
        return range(first, min(self.count, -(-(self.top + self.size.height) // self.item_height)))

    def move(self, by: int) -> None:
        """Move the cursor by a number of items; without a cursor, scroll."""
        if self.has_cursor:
            self.move_to(self.cursor + by)
        else:
            self.scroll_lines(by)

    def move_half_pages(self, count: int) -> None:
        """Move the cursor and scroll by a number of half pages."""
        by = count * self.half_page
        if self.has_cursor:
            self._move_cursor(self.cursor + by, self.top + by * self.item_height)
        else:
            self.scroll_lines(by)

    def move_to(self, number: int, *, top: int | None = None) -> None:
        """Move the cursor to an item and make it visible; `top` is the preferred first visible line."""
        self._move_cursor(number, top)

    def jump_to(self, number: int) -> None:
        """Move the cursor to an item and show its context.

        An item outside the upper two thirds of the view is placed a third from the top.
        """
        line, height = number * self.item_height, self.size.height
        is_placed = self.top <= line <= self.top + height * 2 // 3
        self.move_to(number, top=None if is_placed else line - height // 3)

    def scroll_lines(self, by: int) -> None:
        """Scroll without moving the cursor."""
        top = self._clamped_top(self.top + by)
        if top != self.top:
            self.top = top
            self.redraw()

    def redraw(self, items: Iterable[int] | None = None) -> None:
        """Render the visible lines, of all items or only of `items`, and repaint those that changed."""
        columns, height = self.size
        if not columns or not self.is_mounted:
            return
        self.ensure_lines(self.top + height)
        lines = range(height) if items is None else self._lines_of(items)
        dirty: list[Region] = []
        for y, new in zip(lines, self._draw(lines), strict=True):
            old = self._strips.get(y)
            self._strips[y] = new
            if new != old:
                dirty.append(Region(0, y, columns, 1))
        if dirty:
            self.refresh(*dirty)

    def highlight(self, text: str) -> None:
        """Highlight every match of a text; an empty text ends the highlighting."""
        self.search_text = text.lower()
        self.redraw()

    async def find_items(self, text: str) -> list[int]:
        """Return the indexes of all items that contain a text."""
        self.ensure_lines(END)
        text, columns, items = text.lower(), max(self.columns, 1000), list[int]()
        number = 0
        while text and number < self.count:  # the items may change while other tasks run
            lines = (plain(self.item(number, part, columns)).lower() for part in range(self.item_height))
            if any(text in line for line in lines):
                items.append(number)
            number += 1
            if number % SEARCH_CHUNK == 0:
                await asyncio.sleep(0)
        return items

    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Highlight a text and go to the next match (the previous match if `step` is -1), wrapping at the end."""
        self.highlight(text)
        items = await self.find_items(text)
        if not items:
            return None
        ahead = [item for item in items if (item - self.cursor) * step > 0] or items
        target = ahead[0 if step > 0 else -1]
        self.jump_to(target)
        return Match(items.index(target) + 1, len(items))

    @override
    @property
    def render_line(self) -> Callable[[int], Strip]:  # pyrefly: ignore[bad-override]  # a look-up
        """The function that returns the strip of a visible line; Textual calls it for each line that it paints."""
        return self._strips.__getitem__

    @override
    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """Render everything again for the new size."""
        self._strips.clear()
        self.ensure_lines(self.top + self.size.height)
        self.top = self._top_with_cursor(self.top) if self.has_cursor else self._clamped_top(self.top)
        self.refresh()

    def on_focus(self) -> None:
        """Repaint the cursor bar."""
        self.redraw((self.cursor,))

    def on_blur(self) -> None:
        """Repaint the cursor bar."""
        self.redraw((self.cursor,))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor, follow a link or fold; a double click opens the item, the right button requests its menu."""
        column, line = self._place_of(event)
        number, part = divmod(line, self.item_height)
        if self._has_dragged or not 0 <= number < self.count:
            return
        clicked = span_at(self.item(number, part, self.columns), column - self.bar_width)
        is_fold_mark = self.has_cursor and self.is_fold_mark(number, part, column - self.bar_width)
        if self.has_cursor:
            self.move_to(number)
        if event.button == RIGHT:
            if self.has_cursor and self.cursor == number:  # not if the cursor skips a heading
                self.post_message(self.MenuRequested())
        elif is_fold_mark:
            self.fold()
        elif clicked and clicked[0].link:
            if event.chain == 1:
                self.post_message(self.LinkChosen(self, clicked[0].link))
        elif event.chain == 2 and (not self.has_cursor or self.cursor == number):  # not if the cursor skips a heading
            self.choose()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Store the start of a possible selection."""
        self._has_dragged = False
        if event.button == 1:
            self._drag_start = self._place_of(event)
            self.capture_mouse()  # at once: the first move may already be outside

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Select the text between the start of the drag and the pointer; scroll at the edges."""
        if self._drag_start is None or event.button != 1:
            return
        if not self._has_dragged and self._place_of(event) == self._drag_start:
            return
        self._has_dragged = True
        height = self.size.height
        self.scroll_lines(event.y if event.y < 0 else max(0, event.y - height + 1))
        column, line = self._place_of(event)
        place = Offset(max(0, column), max(0, min(line, self.top + height - 1)))
        first, last = sorted((self._drag_start, place), key=lambda offset: (offset.y, offset.x))
        self.screen.selections = {self: Selection(first, last + Offset(1, 0))}

    def on_mouse_up(self) -> None:
        """End the selection, which stays until the next key or click."""
        self.release_mouse()

    def on_mouse_release(self) -> None:
        """Stop selecting, also if another screen was opened during the drag."""
        self._drag_start = None

    @override
    def selection_updated(self, selection: Selection | None) -> None:
        self._selection = selection
        self.redraw()

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, without margins and trailing blanks."""
        first, last = selection.start or Offset(0, 0), selection.end or Offset(0, self.count * self.item_height - 1)
        texts: list[str] = []
        for line in range(first.y, min(last.y + 1, self.count * self.item_height)):
            text = plain(self.item(*divmod(line, self.item_height), self.columns))
            start, end = selection.get_span(line) or (0, 0)
            text = text if end < 0 else split_cells(text, max(0, end - self.bar_width))[0]
            texts.append(split_cells(text, max(0, start - self.bar_width))[1].rstrip())
        return "\n".join(texts), "\n"

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down by `WHEEL_LINES`."""
        event.stop()
        self.scroll_lines(WHEEL_LINES)
        self.post_message(self.WheelTurned())

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up by `WHEEL_LINES`."""
        event.stop()
        self.scroll_lines(-WHEEL_LINES)
        self.post_message(self.WheelTurned())

    def _draw_missing(self, y: int) -> None:
        missing = [line for line in range(max(self.size.height, y + 1)) if line not in self._strips]
        self._strips.update(zip(missing, self._draw(missing), strict=True))

    def _draw(self, lines: Sequence[int]) -> list[Strip]:
        """Return the strips of visible lines. They are rendered in one pass, because every key press draws lines."""
        count, columns, size = self.count, self.columns, self.size.width
        places = [divmod(self.top + y, self.item_height) for y in lines]
        shown = [place for place in places if place[0] < count]
        contents = self.items(shown, columns)
        margins = self.margins(shown) if self.bar_width else [()] * len(shown)
        cursor = self.cursor if self.has_cursor else None
        drawn = iter(
            [
                render_strip(
                    (*margin, *(highlighted(content, self.search_text) if self.search_text else content)),
                    size,
                    self.style_for,
                    "cursor" if number == cursor else "",
                )
                for (number, _), content, margin in zip(shown, contents, margins, strict=True)
            ]
        )
        strips = [next(drawn) if number < count else Strip.blank(size, self.style_for("")) for number, _ in places]
        return self._with_selection(lines, strips, self._selection) if self._selection else strips

    def _with_selection(self, lines: Sequence[int], strips: Sequence[Strip], selection: Selection) -> list[Strip]:
        result: list[Strip] = []
        for y, strip in zip(lines, strips, strict=True):
            start, end = selection.get_span(self.top + y) or (0, 0)
            start = max(start, self.bar_width)
            end = strip.cell_length if end < 0 else min(end, strip.cell_length)
            if start < end:
                parts = strip.crop(0, start), strip.crop(start, end).apply_style(_SELECTED), strip.crop(end)
                result.append(Strip.join(parts))
            else:
                result.append(strip)
        return result

    def _place_of(self, event: events.MouseEvent) -> Offset:
        """Return the column and the line of the content under the pointer."""
        return Offset(event.x - self.gutter.left, self.top + event.y - self.gutter.top)

    def _move_cursor(self, number: int, top: int | None) -> None:
        before, self.cursor = self.cursor, max(0, min(number, self.count - 1))
        self.ensure_lines((self.cursor + 1) * self.item_height)
        new_top = self._top_with_cursor(self.top if top is None else top)
        if new_top != self.top:
            self.top = new_top
            self.redraw()
        elif before != self.cursor:
            self.redraw((before, self.cursor))
        if before != self.cursor:
            self.cursor_moved()

    def _top_with_cursor(self, top: int) -> int:
        """Return the first visible line so that the cursor is in view. Scrolling adds a third of a page of context.

        On slow connections, a view at the left edge of the terminal adds none to a short scroll: there, the terminal
        moves the other lines, and each line of context would be sent.
        """
        height = self.size.height
        if not height:  # not laid out yet; `on_resize` scrolls to the cursor later
            return top
        first, last = self.cursor * self.item_height, (self.cursor + 1) * self.item_height - 1
        lowest = max(0, self.count * self.item_height - height)
        top = max(0, min(top, lowest))
        beyond = max(top - first, last + 1 - top - height)
        is_scrolled = cast("Any", self.app).bandwidth.is_low and beyond <= SHORT_SCROLL and self.region.x == 0
        context = 0 if is_scrolled else height // 3
        if first < top:
            top = first - context
        elif last >= top + height:
            top = last + 1 - height + context
        return max(0, min(top, lowest))

    def _clamped_top(self, top: int) -> int:
        return max(0, min(top, self.count * self.item_height - self.size.height))

    def _lines_of(self, items: Iterable[int]) -> list[int]:
        lines = (item * self.item_height + part - self.top for item in items for part in range(self.item_height))
        return [y for y in lines if 0 <= y < self.size.height]


class TextView(LineView):
    """A view of lines that are already laid out."""

    has_cursor = False
    bar_width = 0
    lines: Sequence[Line] = ()

    @override
    @property
    def count(self) -> int:
        return len(self.lines)

    @override
    def item(self, number: int, part: int, columns: int) -> Line:
        return self.lines[number]

    def show(self, lines: Sequence[Line]) -> None:
        """Replace the lines."""
        self.lines = lines
        self.top = self._clamped_top(self.top)
        self.redraw()
