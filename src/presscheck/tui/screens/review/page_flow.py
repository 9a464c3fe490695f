"""One changed page, or all of them one below the other, as lines; a page is laid out when it comes near the view."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING

from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.review.change_renderer import RenderedChange
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.tui.theme import StyleLookup

ESTIMATE = 6
"""The height of a page that was never laid out."""
GAP = 2
"""The lines between two pages: a blank one and a hairline."""


class PageFlow:
    """The pages that are shown, in order: which lines they take, and their lines if they are laid out.

    A page has an id; that of the conversation is empty.
    """

    def __init__(self) -> None:
        self._ids: tuple[str, ...] = ()
        self._heights: dict[str, int] = {}
        self._rendered: dict[str, RenderedChange] = {}
        self._current: set[str] = set()
        self._starts: list[int] = [0]

    @property
    def ids(self) -> tuple[str, ...]:
        """The pages, in order."""
        return self._ids

    @property
    def height(self) -> int:
        """The number of lines; those of pages that were never laid out are estimated."""
        return self._starts[-1]

    def set_pages(self, ids: tuple[str, ...]) -> None:
        """Show these pages; those that were shown before keep their lines."""
        if ids != self._ids:
            self._ids = ids
            self._rendered = {page: self._rendered[page] for page in ids if page in self._rendered}
            self._heights = {page: self._heights[page] for page in ids if page in self._heights}
            self._measure()

    def invalidate(self) -> None:
        """All pages must be laid out again before they are shown; until then they keep their heights."""
        self._current.clear()

    def is_laid_out(self, number: int) -> bool:
        """Whether the lines of a page are current."""
        return self._ids[number] in self._current

    def lay_out(self, number: int, rendered: RenderedChange) -> int:
        """Set the lines of a page; returns by how many lines it has grown."""
        page = self._ids[number]
        before = self._height_of(page)
        gap = GAP if len(self._ids) > 1 else 0
        self._rendered[page], self._heights[page] = rendered, len(rendered.lines) + gap
        self._current.add(page)
        grown = self._heights[page] - before
        if grown:
            self._measure()
        return grown

    def rendered(self, page: str) -> RenderedChange | None:
        """The lines of a page, maybe old ones; None if it was never laid out."""
        return self._rendered.get(page)

    def lines_of(self, number: int) -> range:
        """The lines of a page."""
        return range(self._starts[number], self._starts[number + 1])

    def page_at(self, line: int) -> int:
        """The page that a line belongs to."""
        return max(0, min(bisect_right(self._starts, line) - 1, len(self._ids) - 1))

    def pages_at(self, lines: range) -> range:
        """The pages that these lines belong to."""
        if not self._ids or not lines:
            return range(0)
        return range(self.page_at(max(lines.start, 0)), self.page_at(lines.stop - 1) + 1)

    def line(self, number: int, columns: int) -> Line:
        """A line; empty for a page that was never laid out."""
        place = self.page_at(number)
        rendered = self._rendered.get(self._ids[place]) if self._ids else None
        if rendered is None:
            return ()
        at = number - self._starts[place]
        if at < len(rendered.lines):
            return rendered.lines[at]
        is_rule = number + 1 == self._starts[place + 1] and place + 1 < len(self._ids)
        return (Span("─" * columns, "quiet"),) if is_rule else ()

    def is_fold(self, number: int) -> bool:
        """Whether a line stands for unchanged lines that are folded."""
        place = self.page_at(number)
        rendered = self._rendered.get(self._ids[place]) if self._ids else None
        return rendered is not None and number - self._starts[place] in rendered.folds

    def _height_of(self, page: str) -> int:
        return self._heights.get(page, ESTIMATE if len(self._ids) > 1 else 1)

    def _measure(self) -> None:
        self._starts = [0, *accumulate(map(self._height_of, self._ids))]


class ChangeList(RowList):
    """The lines of the changed pages; pages are laid out before their lines are drawn.

    Args:
        flow: the lines.
        style_for: returns the style for style words.
        lay_out: lays out the pages of the visible lines.
        id: the widget's id.
    """

    def __init__(self, flow: PageFlow, style_for: StyleLookup, lay_out: Callable[[], None], *, id: str) -> None:  # noqa: A002
        super().__init__(flow.line, style_for, id=id)
        self._flow, self._lay_out = flow, lay_out

    def is_fold_mark(self, number: int, part: int, column: int) -> bool:
        """Whether a click opens folded lines: the whole line stands for them."""
        return self._flow.is_fold(number) or super().is_fold_mark(number, part, column)

    def ensure_lines(self, lines: int) -> None:
        """Lay out the pages of the visible lines."""
        self._lay_out()

    @property
    def visible_lines(self) -> range:
        """The lines in the view, whether there are so many or not."""
        return range(self.top, self.top + max(1, self.size.height))

    def place(self, count: int, cursor: int, top: int) -> None:
        """Set the number of lines, the cursor and the first visible line, without drawing."""
        self._count = count
        self.cursor = max(0, min(cursor, count - 1))
        self.top = max(0, top)

    def clamp(self) -> bool:
        """Show nothing below the last line; returns whether that scrolled."""
        before, self.top = self.top, self._clamped_top(self.top)
        return self.top != before


def kept_line(before: RenderedChange | None, after: RenderedChange, line: int, height: int) -> int:
    """The line of a page where the cursor stays when the page is laid out again.

    Args:
        before: its lines until now; None if it was never laid out.
        after: its lines from now on.
        line: the line until now.
        height: the height until now.
    """
    last = max(0, len(after.lines) - 1)
    if before is not None:
        position = after.line_at_position(*before.position_of(line))
        return min(line if position is None else position, last)
    return last if 0 < line == height - 1 else 0
