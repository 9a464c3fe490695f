"""The base of all widgets made of lines: renders visible lines only, repaints changed lines only.

Whatever changes, a subclass says so with `redraw`; what was painted is compared with what is to be. Nothing scrolls
with an animation, and a hundred thousand lines cost what forty do. What is drawn has passed `sanitize` before it
comes here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from presscheck.text.styled_text import Line, Span, plain
from presscheck.tui.theme import StyleLookup
from presscheck.tui.widgets.strip_renderer import drawn, highlighted

WHEEL = 3
"""Lines that one turn of the wheel scrolls."""
SLICE = 500
"""Lines that a search looks at before other work has its turn."""


class LineView(Widget, can_focus=True, inherit_bindings=False):
    """Lines to move in; a subclass answers `count` and `item`.

    An item takes `tall` lines. `cursor` is the number of the item that the bar on the left stands at; without
    `has_cursor` moving scrolls instead.

    Args:
        look: the theme.
        id: the widget's id.
        classes: the widget's classes.
    """

    DEFAULT_CSS = "LineView { height: 1fr; }"
    has_cursor = True
    is_lively = False
    """Whether the bar shines though the focus is elsewhere."""
    bar_width = 1
    """Cells on the left for the bar."""

    def __init__(self, look: StyleLookup, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.look = look
        self.top: int = 0
        self.cursor: int = 0
        self.tall: int = 1
        self.needle = ""
        self._strips: dict[int, Strip] = {}

    @property
    def count(self) -> int:
        """How many items there are."""
        return 0

    def item(self, number: int, part: int, columns: int) -> Line:
        """One line of an item."""
        return ()

    def margin(self, number: int, part: int) -> Line:
        """The cells on the left of a line, where the bar stands."""
        if not self.has_cursor or number != self.cursor:
            return (Span(" " * self.bar_width),)
        return (Span("▌", "accent" if self.has_focus or self.is_lively else "quiet"), Span(" " * (self.bar_width - 1)))

    def pointed(self) -> None:
        """The cursor stands on another item."""

    def choose(self) -> None:
        """The item under the cursor is opened."""

    def ensure(self, lines: int) -> None:
        """So many lines are about to be looked at."""

    @property
    def columns(self) -> int:
        """How wide an item may be."""
        return max(0, self.size.width - self.bar_width)

    @property
    def half_page(self) -> int:
        """Half of the items that are seen."""
        return max(1, self.size.height // self.tall // 2)

    @property
    def seen(self) -> range:
        """The numbers of the items that are seen."""
        first = self.top // self.tall
        return range(first, min(self.count, -(-(self.top + self.size.height) // self.tall)))

    def move(self, by: int) -> None:
        """Move the cursor by so many items, or scroll where there is none."""
        if self.has_cursor:
            self.point(self.cursor + by)
        else:
            self.scroll_lines(by)

    def page(self, halves: int) -> None:
        """Move by so many half pages, and what is seen with it."""
        by = halves * self.half_page
        if self.has_cursor:
            self._go(self.cursor + by, self.top + by * self.tall)
        else:
            self.scroll_lines(by)

    def point(self, number: int, *, top: int | None = None) -> None:
        """Put the cursor on an item, and make it seen; `top` wishes for a first line on the screen."""
        self._go(number, top)

    def scroll_lines(self, by: int) -> None:
        """Move what is seen, not the cursor."""
        top = self._fitting(self.top + by)
        if top != self.top:
            self.top = top
            self.redraw()

    def redraw(self, items: Iterable[int] | None = None) -> None:
        """Compare what is seen with what should be (all of it, or some items), and send what differs."""
        columns, height = self.size
        if not columns or not self.is_mounted:
            return
        self.ensure(self.top + height)
        lines = range(height) if items is None else self._lines_of(items)
        dirty: list[Region] = []
        for y in lines:
            new, old = self._draw(y), self._strips.get(y)
            self._strips[y] = new
            if new != old:
                dirty.append(Region(0, y, columns, 1))
        if dirty:
            self.refresh(*dirty)

    async def search(self, text: str, *, step: int = 1) -> bool:
        """Mark a text, and go to the next item that holds it (the one before where `step` is -1), around the end."""
        self.needle = text.lower()
        self.redraw()
        self.ensure(1 << 30)
        size, columns = self.count, max(self.columns, 1000)
        for number in range(1, size + 1):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            at = (self.cursor + number * step) % size
            if self.needle and any(self.needle in plain(self.item(at, p, columns)).lower() for p in range(self.tall)):
                self.point(at)
                return True
        return False

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        strip = self._strips.get(y)
        if strip is None:
            self._strips[y] = strip = self._draw(y)
        return strip

    def notify_style_update(self) -> None:
        """The theme changed: nothing painted before is worth comparing with."""
        self._strips.clear()
        super().notify_style_update()

    def on_resize(self) -> None:
        """Another width draws other lines."""
        self._strips.clear()
        self.ensure(self.top + self.size.height)
        self.top = self._with_cursor(self.top) if self.has_cursor else self._fitting(self.top)
        self.refresh()

    def on_focus(self) -> None:
        """The bar says so."""
        self.redraw((self.cursor,))

    def on_blur(self) -> None:
        """The bar says so."""
        self.redraw((self.cursor,))

    def on_click(self, event: events.Click) -> None:
        """Point, and open at the second click."""
        number = (self.top + event.y) // self.tall
        if self.has_cursor and number < self.count:
            self.point(number)
            if event.chain == 2:
                self.choose()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll."""
        event.stop()
        self.scroll_lines(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll."""
        event.stop()
        self.scroll_lines(-WHEEL)

    def _draw(self, y: int) -> Strip:
        number, part = divmod(self.top + y, self.tall)
        if number >= self.count:
            return Strip.blank(self.size.width, self.look(""))
        line = highlighted(self.item(number, part, self.columns), self.needle)
        margin = self.margin(number, part) if self.bar_width else ()
        is_bright = self.has_cursor and number == self.cursor
        return drawn((*margin, *line), self.size.width, self.look, "cursor" if is_bright else "")

    def _go(self, number: int, top: int | None) -> None:
        before, self.cursor = self.cursor, max(0, min(number, self.count - 1))
        self.ensure((self.cursor + 1) * self.tall)
        wanted = self._with_cursor(self.top if top is None else top)
        if wanted != self.top:
            self.top = wanted
            self.redraw()
        elif before != self.cursor:
            self.redraw((before, self.cursor))
        if before != self.cursor:
            self.pointed()

    def _with_cursor(self, top: int) -> int:
        """The first line to show so that the cursor is seen; what it left behind is a third of a page away."""
        height = max(1, self.size.height)
        first, last = self.cursor * self.tall, (self.cursor + 1) * self.tall - 1
        top = self._fitting(top)
        if first < top:
            top = first - height // 3
        elif last >= top + height:
            top = last + 1 - height + height // 3
        return self._fitting(top)

    def _fitting(self, top: int) -> int:
        return max(0, min(top, self.count * self.tall - self.size.height))

    def _lines_of(self, items: Iterable[int]) -> list[int]:
        found = (item * self.tall + part - self.top for item in items for part in range(self.tall))
        return [y for y in found if 0 <= y < self.size.height]
