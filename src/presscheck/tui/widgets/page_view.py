"""A page, laid out where the eye is first and the rest in small slices when there is nothing else to do."""

from __future__ import annotations

from textual.geometry import Size

from presscheck.documents.lines import PageLines
from presscheck.documents.spans import Line, Span
from presscheck.tui.widgets.rows import Lines, Look

SLICE = 0.004
"""Seconds of laying out between two looks at the keyboard."""
WIDEST = 96
"""Columns of text that the eye still follows."""


class PageView(Lines):
    """Shows Markdown; a page of a megabyte opens like one of a line."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(look, id=id)
        self._markdown, self._title = "", ""
        self._page: PageLines | None = None

    def open(self, markdown: str, title: str) -> None:
        """Show this page from its beginning; the same page stays where it is."""
        if (markdown, title) == (self._markdown, self._title) and self._page:
            return
        is_other = title != self._title
        self._markdown, self._title = markdown, title
        self._lay_out()
        if is_other:
            self.scroll_to(y=0, animate=False, immediate=True)

    def say(self, words: str) -> None:
        """Show a sentence instead of a page."""
        self._page, self._markdown, self._title = None, "", ""
        lines: list[Line] = [(), (Span("  " + words, "quiet"),)]
        self.show(lines)

    def on_resize(self) -> None:
        """The text runs to the new width."""
        if self._page and self._page.width != self._columns:
            self._lay_out()

    @property
    def _columns(self) -> int:
        return max(10, min(WIDEST, self.size.width - 4))

    def _lay_out(self) -> None:
        self._page = PageLines(self._markdown, self._columns, title=self._title)
        self._page.at_least(self.scroll_offset.y + self.size.height + 1)
        self._show_so_far()
        self.set_timer(SLICE, self._go_on)

    def _show_so_far(self) -> None:
        if self._page:
            self.lines = [(Span("  "), *line) for line in self._page.lines]
            self.virtual_size = Size(self.size.width, len(self.lines))
            self.refresh()

    def _go_on(self) -> None:
        page = self._page
        if page is None or page.done:
            return
        known = len(page.lines)
        page.advance(SLICE)
        self.lines += [(Span("  "), *line) for line in page.lines[known:]]
        self.virtual_size = Size(self.size.width, len(self.lines))
        self.set_timer(SLICE, self._go_on)
