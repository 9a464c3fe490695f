"""The base of all widgets made of lines: renders visible lines only, repaints changed lines only.

After a change a subclass calls `redraw`, which compares the new strips with the painted ones. Scrolling has no
animation, and the cost depends only on the visible lines. All text must have passed `sanitize`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from presscheck.text.styled_text import Line, Span, cut, plain, width
from presscheck.tui.theme import StyleLookup

WHEEL_LINES = 3
"""Lines per step of the mouse wheel."""
SEARCH_CHUNK = 500
"""Lines that a search checks before it yields to other tasks."""


def render_strip(line: Line, columns: int, style_for: StyleLookup, extra: str = "") -> Strip:
    """A strip of exactly `columns` cells; the style words `extra` are added to every span."""
    missing = columns - sum([cell_len(span.text) for span in line])  # measured once, for every line that is drawn
    if missing < 0:
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


class _Strips(dict[int, Strip]):
    """The strips of visible lines; where one is missing, all missing ones are drawn.

    Every line that is painted is looked up here, so a look-up is one access of a dict.
    """

    def __init__(self, draw_missing: Callable[[int], None]) -> None:
        super().__init__()
        self._draw_missing = draw_missing

    def __missing__(self, y: int) -> Strip:
        self._draw_missing(y)
        return self[y]


Place = tuple[int, int]
"""An item and the index of one of its lines."""


class LineView(Widget, can_focus=True, inherit_bindings=False):
    """A list of items with a cursor; a subclass defines `count` and `item`.

    An item takes `item_height` lines. `cursor` is the index of the item with the bar on its left, and `top` is the
    first visible line. Without `has_cursor`, moving scrolls instead.

    Args:
        style_for: returns the style for style words.
        id: the widget's id.
        classes: the widget's classes.
    """

    DEFAULT_CSS = "LineView { height: 1fr; }"
    has_cursor = True
    looks_focused = False
    """Whether the cursor is drawn as if the widget had the focus."""
    bar_width = 1
    """The width of the margin, which contains the cursor bar, in cells."""

    def __init__(self, style_for: StyleLookup, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.style_for = style_for
        self.top: int = 0
        self.cursor: int = 0
        self.item_height: int = 1
        self.search_text = ""
        self._strips = _Strips(self._draw_missing)

    @property
    def count(self) -> int:
        """The number of items."""
        return 0

    def item(self, number: int, part: int, columns: int) -> Line:
        """One line of an item: `part` is its index in the item, `columns` the width in cells."""
        return ()

    def items(self, places: Sequence[Place], columns: int) -> list[Line]:
        """Some lines of items."""
        return [self.item(number, part, columns) for number, part in places]

    def margins(self, places: Sequence[Place]) -> list[Line]:
        """The margins on the left of some lines, with the bar where the cursor is on the item."""
        blank = (Span(" " * self.bar_width),)
        if not self.has_cursor:
            return [blank] * len(places)
        style = "accent" if self.has_focus or self.looks_focused else "quiet"
        bar = (Span("▌", style), Span(" " * (self.bar_width - 1)))
        return [bar if number == self.cursor else blank for number, _ in places]

    def cursor_moved(self) -> None:
        """Called after the cursor moved to another item."""

    def choose(self) -> None:
        """Open the item under the cursor."""

    def ensure_lines(self, lines: int) -> None:
        """Called before so many lines are shown, to lay them out."""

    @property
    def columns(self) -> int:
        """The width of an item, in cells."""
        return max(0, self.size.width - self.bar_width)

    @property
    def half_page(self) -> int:
        """The number of items on half a page, at least 1."""
        return max(1, self.size.height // self.item_height // 2)

    @property
    def visible_range(self) -> range:
        """The indexes of the visible items."""
        first = self.top // self.item_height
        return range(first, min(self.count, -(-(self.top + self.size.height) // self.item_height)))

    def move(self, by: int) -> None:
        """Move the cursor by this number of items; without a cursor, scroll."""
        if self.has_cursor:
            self.move_to(self.cursor + by)
        else:
            self.scroll_lines(by)

    def move_half_pages(self, count: int) -> None:
        """Move the cursor and scroll by this number of half pages."""
        by = count * self.half_page
        if self.has_cursor:
            self._move_cursor(self.cursor + by, self.top + by * self.item_height)
        else:
            self.scroll_lines(by)

    def move_to(self, number: int, *, top: int | None = None) -> None:
        """Move the cursor to an item and scroll to it; `top` is the preferred first visible line."""
        self._move_cursor(number, top)

    def jump_to(self, number: int) -> None:
        """Move the cursor to an item that is shown with what stands around it: unless it is in the upper two thirds
        of the view, it is placed a third from the top."""
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
        """Render the visible lines (of all items, or of some) and repaint those that changed."""
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

    async def search(self, text: str, *, step: int = 1) -> bool:
        """Highlight a text and go to the next item with it (the previous one if `step` is -1), wrapping at the end."""
        self.search_text = text.lower()
        self.redraw()
        self.ensure_lines(1 << 30)
        size, columns = self.count, max(self.columns, 1000)
        for number in range(1, size + 1):
            if number % SEARCH_CHUNK == 0:
                await asyncio.sleep(0)
            at = (self.cursor + number * step) % size
            lines = (plain(self.item(at, part, columns)).lower() for part in range(self.item_height))
            if self.search_text and any(self.search_text in line for line in lines):
                self.jump_to(at)
                return True
        return False

    @property
    def render_line(self) -> Callable[[int], Strip]:  # pyright: ignore[reportIncompatibleMethodOverride]  # a look-up
        """Returns the strip of a visible line; Textual calls it for each line that it paints."""
        return self._strips.__getitem__

    def notify_style_update(self) -> None:
        """Render everything again, because the theme changed."""
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
        """Move the cursor; a second click opens the item."""
        number = (self.top + event.y) // self.item_height
        if self.has_cursor and number < self.count:
            self.move_to(number)
            if event.chain == 2:
                self.choose()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_lines(WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_lines(-WHEEL_LINES)

    def _draw_missing(self, y: int) -> None:
        missing = [line for line in range(max(self.size.height, y + 1)) if line not in self._strips]
        self._strips.update(zip(missing, self._draw(missing), strict=True))

    def _draw(self, lines: Sequence[int]) -> list[Strip]:
        """The strips of some visible lines; all are rendered in one go, because every key press draws some."""
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
        return [next(drawn) if number < count else Strip.blank(size, self.style_for("")) for number, _ in places]

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
        """The first visible line with the cursor in view; when it must scroll, it scrolls a third of a page further."""
        height = max(1, self.size.height)
        first, last = self.cursor * self.item_height, (self.cursor + 1) * self.item_height - 1
        top = self._clamped_top(top)
        if first < top:
            top = first - height // 3
        elif last >= top + height:
            top = last + 1 - height + height // 3
        return self._clamped_top(top)

    def _clamped_top(self, top: int) -> int:
        return max(0, min(top, self.count * self.item_height - self.size.height))

    def _lines_of(self, items: Iterable[int]) -> list[int]:
        lines = (item * self.item_height + part - self.top for item in items for part in range(self.item_height))
        return [y for y in lines if 0 <= y < self.size.height]


class TextView(LineView):
    """Shows lines that are already laid out."""

    has_cursor = False
    bar_width = 0
    lines: Sequence[Line] = ()

    @property
    def count(self) -> int:
        """The number of lines."""
        return len(self.lines)

    def item(self, number: int, part: int, columns: int) -> Line:
        """A line."""
        return self.lines[number]

    def show(self, lines: Sequence[Line]) -> None:
        """Show other lines."""
        self.lines = lines
        self.top = self._clamped_top(self.top)
        self.redraw()
