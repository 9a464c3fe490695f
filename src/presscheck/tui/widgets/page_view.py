"""A widget that shows a page.

Visible lines are laid out at once, the others in small steps while the app is idle, so a long page opens as fast as a
short one. The cursor is on a line. Tabs, expandables, wide tables and code have controls, which react to clicks, enter,
labels and the arrow keys.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from textual import events
from textual.message import Message
from typing_extensions import override

from presscheck.documents.terminal.controls import (
    PICTURE,
    Controls,
    Mark,
    block_of,
    is_control,
    is_setting,
    section_mark,
    target,
)
from presscheck.text.styled_text import Line, Span, plain
from presscheck.tui.widgets.line_view import END, LineView, Match, Place

if TYPE_CHECKING:
    from presscheck.documents.terminal.page_lines import Heading, HiddenLine

SCROLLED_CELLS = 8
"""Number of cells that code scrolls sideways per step."""
STEP = 0.004
"""Seconds of layout per step: too short to delay a key press."""
PAUSE = 0.016
"""Seconds between two steps."""
LABELS = "asdfghjklqwertyuiopzxcvbnm"
"""The letters of labels. If there are more links than letters, labels have two letters."""
BlockLine = tuple[int, int]
"""A position that does not depend on the width of the page: the number of a block, and a line in it."""


class Position(NamedTuple):
    """A reading position: the line under the cursor, and the first visible line."""

    cursor: BlockLine
    top: BlockLine


class PageLayout(Protocol):
    """A page that is laid out in steps, such as `documents.terminal.page_lines.PageLines`."""

    lines: list[Line]

    @property
    def headings(self) -> Sequence[Heading]: ...  # noqa: D102
    @property
    def done(self) -> bool: ...  # noqa: D102
    def at_least(self, count: int) -> None: ...  # noqa: D102
    def advance(self, seconds: float) -> bool: ...  # noqa: D102
    def place_of(self, line: int) -> BlockLine: ...  # noqa: D102
    def line_of(self, place: BlockLine) -> int: ...  # noqa: D102


@runtime_checkable
class ControlledLayout(PageLayout, Protocol):
    """A page with controls for sections, tabs, expandables, wide tables and code.

    `controls` is None if everything is open.
    """

    controls: Controls | None

    @property
    def has_folds(self) -> bool: ...  # noqa: D102
    def conflict_at(self, line: int) -> int: ...  # noqa: D102
    def section_at(self, line: int) -> int | None: ...  # noqa: D102
    def is_folded(self, number: int) -> bool: ...  # noqa: D102
    def fold(self, number: int, *, is_folded: bool) -> None: ...  # noqa: D102
    def fold_all(self, *, is_folded: bool) -> None: ...  # noqa: D102
    def reveal(self, number: int, *, opens: bool = False) -> bool: ...  # noqa: D102
    def hidden_lines(self, text: str) -> Sequence[HiddenLine]: ...  # noqa: D102
    def hidden_block(self, link: str) -> int | None: ...  # noqa: D102
    def marks(self, line: int) -> list[Mark]: ...  # noqa: D102
    def code(self, key: str) -> str: ...  # noqa: D102
    def set(self, address: str) -> bool: ...  # noqa: D102


@runtime_checkable
class QuotedLayout(PageLayout, Protocol):
    """A page whose lines can be quoted, and found by an anchor, a quote or a line number of the Markdown."""

    def find_anchor(self, anchor: str) -> int | None: ...  # noqa: D102
    def starts_block(self, number: int) -> bool: ...  # noqa: D102
    def source_of(self, line: int) -> str: ...  # noqa: D102
    def source_number_of(self, line: int) -> int | None: ...  # noqa: D102
    def line_of_quote(self, words: str) -> int | None: ...  # noqa: D102
    def line_of_source(self, number: int) -> int | None: ...  # noqa: D102


def _line_of_heading(heading: Heading) -> int:
    return heading.line


class PageView(LineView):
    """A page with a cursor, headings to jump to, and links with labels.

    Args:
        id: the widget's id.
        classes: the widget's classes.
    """

    @dataclass
    class PicturesNear(Message):
        """Posted when there are undrawn pictures near the visible lines."""

        view: PageView
        names: Sequence[str]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.document: PageLayout | None = None
        self._make_layout: Callable[[int], PageLayout] | None = None
        self._labels: dict[str, str] = {}
        self._typed = ""
        self._is_laying_out = False
        self._goes_to_end = False
        self.on_drawn: Callable[[], None] | None = None
        """Called after the page was drawn, scrolled or laid out further, such as to update the outline."""
        self._sought = ""
        """The target of the link to go to once its line is laid out; empty if there is none."""
        self._lines_sought = 0
        self._checked: tuple[PageLayout | None, ControlledLayout | None] = None, None

    @override
    @property
    def count(self) -> int:
        return len(self.document.lines) if self.document else 0

    @property
    def is_labelled(self) -> bool:
        """Whether links are labelled, so that the next key is part of a label."""
        return bool(self._labels)

    @override
    def item(self, number: int, part: int, columns: int) -> Line:
        """Return a line, with labels before its links while `is_labelled`."""
        line = self.document.lines[number] if self.document else ()
        return self._with_labels(line) if self._labels else line

    @property
    def position(self) -> Position | None:
        """The reading position, with the cursor moved into view; None without a page."""
        if not self.document or not self.count:
            return None
        cursor = max(self.top, min(self.cursor, self.top + max(1, self.size.height) - 1, self.count - 1))
        return Position(self.document.place_of(cursor), self.document.place_of(self.top))

    @property
    def cursor_targets(self) -> list[str]:
        """The distinct targets of the links in the line under the cursor."""
        return self._targets((self.cursor,) if self.cursor < self.count else ())

    @property
    def _page(self) -> ControlledLayout | None:
        """The page, or None if it has no controls."""
        document = self.document
        if document is not self._checked[0]:
            controlled = document if isinstance(document, ControlledLayout) and document.controls else None
            self._checked = document, controlled
        return self._checked[1]

    @property
    def controls(self) -> Controls | None:
        """The states of the controls of the page; None if everything is open."""
        return self._page.controls if self._page else None

    @property
    def code_at_cursor(self) -> str | None:
        """The text of the code block under the cursor, or None."""
        mark = self._mark("code")
        return self._page.code(mark.key) if self._page and mark else None

    def _mark(self, *kinds: str, line: int | None = None) -> Mark | None:
        """Return the innermost block of these kinds in a line, by default in the line under the cursor."""
        marks = self._page.marks(self.cursor if line is None else line) if self._page else []
        return next((mark for mark in reversed(marks) if mark.kind in kinds), None)

    def on_line_view_link_chosen(self, event: LineView.LinkChosen) -> None:
        """Operate a control of the page; other links bubble to the screen."""
        if is_setting(event.target):
            event.stop()
            self._set_control(event.target)

    def step_sideways(self, by: int) -> bool:
        """Step forward in the tabs, fold or scrolled block under the cursor, or back if `by` is -1.

        Stepping forward opens a folded section. Stepping back does not fold it, because this key leaves the page.

        Returns:
            Whether the block could be stepped.
        """
        kinds = ("tabs", "fold", "wide", "code", *(("section",) if by > 0 else ()))
        return self._step(self._mark(*kinds), by)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        """Scroll the table or the code under the pointer to the right."""
        self._scroll_sideways(event, 1)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        """Scroll the table or the code under the pointer to the left."""
        self._scroll_sideways(event, -1)

    @override
    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """With shift, scroll the table or the code under the pointer to the right; else scroll the page down."""
        if event.shift and self._scroll_sideways(event, 1):
            event.prevent_default()

    @override
    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """With shift, scroll the table or the code under the pointer to the left; else scroll the page up."""
        if event.shift and self._scroll_sideways(event, -1):
            event.prevent_default()

    def _scroll_sideways(self, event: events.MouseEvent, by: int) -> bool:
        """Scroll the table or code under the pointer by a step. Return False if there is none."""
        event.stop()
        mark = self._mark("wide", "code", line=self._place_of(event).y)
        self._step(mark, by)
        return mark is not None

    def _step(self, mark: Mark | None, by: int) -> bool:
        """Change the control of a block by a step. Return whether it changed."""
        if mark is None:
            return False
        if mark.kind in ("fold", "section"):
            value = 1 if by > 0 else 0
        else:
            value = max(0, min(mark.value + by * (SCROLLED_CELLS if mark.kind == "code" else 1), mark.most))
        if value == mark.value:
            return False
        self._set_control(target(mark.key, value))
        return True

    def toggle_wrap(self) -> bool:
        """Switch wrapping of the code or wide table under the cursor. Return False if there is nothing to switch."""
        mark, controls = self._mark("code", "wide"), self.controls
        if mark is None or controls is None or controls.shows_all:
            return False
        key = f"{mark.key}w"
        self._set_control(target(key, 1 - controls.value(key, 1 if mark.kind == "code" else 0)))
        return True

    def show_all(self, *, shows_all: bool) -> None:
        """Open all tabs, expandables and wide tables (`shows_all`), or restore their former states."""
        controls = self.controls
        if controls and controls.shows_all != shows_all:
            position = self.position
            controls.shows_all = shows_all
            self._lay_out()
            if position:
                self._restore(position)
            self.redraw()

    def _set_control(self, address: str) -> None:
        position, page = self.position, self._page
        if page and page.set(address):
            self._show_folds(position)

    def _show_folds(self, position: Position | None) -> None:
        """Redraw the page at a position after a change of its folds. Lay out the rest while the app is idle."""
        if position:
            self._restore(position)
        self._lay_out_rest()
        self.redraw()

    @property
    def conflict_at_cursor(self) -> int:
        """The number of the conflict at or above the cursor, or else of the first conflict; 0 without conflicts."""
        return self._page.conflict_at(self.cursor) if self._page else 0

    @property
    def folds_sections(self) -> bool:
        """Whether sections of the page can be folded."""
        return self._page is not None

    def toggle_section(self) -> bool:
        """Fold or unfold the current section. Return False without a section."""
        page = self._page
        number = page.section_at(self._line_in_view) if page and self.count else None
        if page is None or number is None:
            return False
        self._fold_section(number, is_folded=not page.is_folded(number))
        return True

    def _fold_section(self, number: int, *, is_folded: bool) -> None:
        position, page = self.position, self._page
        if page:
            page.fold(number, is_folded=is_folded)
            self._show_folds(position)

    def toggle_sections(self) -> bool:
        """Fold all sections, or unfold all if any is folded. Return whether sections are folded now."""
        position, page = self.position, self._page
        if page is None:
            return False
        page.fold_all(is_folded=not page.has_folds)
        self._show_folds(position)
        return page.has_folds

    def unfold_sections(self) -> None:
        """Unfold all sections."""
        if self._page and self._page.has_folds:
            self.toggle_sections()

    def _reveal(self, number: int, *, opens: bool = False) -> None:
        position, page = self.position, self._page
        if page and page.reveal(number, opens=opens):
            self._show_folds(position)

    @override
    def margins(self, places: Sequence[Place]) -> list[Line]:
        """Return the margins of lines. The margin of a heading shows whether its section is folded."""
        margins = super().margins(places)
        lines = self.document.lines if self.document else ()
        for at, (number, _) in enumerate(places):
            line = lines[number] if number < len(lines) else ()
            if line and not line[0].text and (mark := section_mark(line)):
                is_here = self.has_cursor and number == self.cursor
                style = "accent" if is_here and (self.has_focus or self.looks_focused) else "quiet"
                margins[at] = (Span("▾" if mark.value else "▸", style),)
        return margins

    @override
    def fold(self) -> None:
        mark = self._mark("section")
        if mark:
            self._fold_section(block_of(mark.key), is_folded=bool(mark.value))

    @property
    def _hides(self) -> bool:
        controls = self.controls
        return controls is not None and controls.hides and not controls.shows_all

    @override
    async def find_items(self, text: str) -> list[int]:
        """Return the lines that contain a text, after opening tabs and expandables.

        For a line in a folded section, this is the line of the folded heading.
        """
        self.ensure_lines(END)
        if text and self._page and self._page.has_folds:
            await self._until_done()
        if text and self._hides:
            self.show_all(shows_all=True)
            if self._page and self._page.has_folds:
                await self._until_done()
        visible = await super().find_items(text)
        return sorted([*visible, *(line.fold for line in self._hidden_lines(text))])

    def _hidden_lines(self, text: str) -> Sequence[HiddenLine]:
        return self._page.hidden_lines(text.lower()) if text and self._page else ()

    @override
    async def search(self, text: str, *, step: int = 1) -> Match | None:
        """Highlight a text, and go to the next line with the text (the previous line if `step` is -1).

        If the line is in a folded section, unfold the section.
        """
        total = len(await self.find_items(text))
        hidden = self._hidden_lines(text)
        if not hidden:
            return await super().search(text, step=step)
        self.highlight(text)
        shown = await super().find_items(text)
        # hidden lines are sorted between their folded heading and the next visible line
        places = sorted(
            [*((line, 0, 0, 0) for line in shown), *((line.fold, 1, line.block, line.line) for line in hidden)]
        )
        here = (self.cursor, 0, 0, 0)
        ahead = [place for place in places if (place > here if step > 0 else place < here)] or places
        target = ahead[0 if step > 0 else -1]
        line, is_hidden, block, at = target
        if is_hidden:
            self._reveal(block)
            line = self.document.line_of((block, at)) if self.document else line
        self.jump_to(line)
        self.redraw()
        return Match(places.index(target) + 1, total)

    @override
    def is_fold_mark(self, number: int, part: int, column: int) -> bool:
        """Return whether a cell is the fold mark of a section, in the margin. Marks of expandables are links."""
        line = self.document.lines[number] if self.document and column < 0 and number < self.count else ()
        return section_mark(line) is not None

    @override
    def redraw(self, items: Iterable[int] | None = None) -> None:
        """Render the visible lines, and request pictures near them."""
        super().redraw(items)
        if items is None:
            self._ask_for_pictures()
        if self.on_drawn:
            self.on_drawn()

    def _ask_for_pictures(self) -> None:
        if self.document:
            near = self.document.lines[max(0, self.top - self.size.height) : self.top + 2 * self.size.height]
            marks = [link for line in near for text, _, link in line if link and not text and link.startswith(PICTURE)]
            names = [mark.removeprefix(PICTURE) for mark in dict.fromkeys(marks)]
            if names:
                self.post_message(self.PicturesNear(self, names))

    def show_again(self, make: Callable[[int], PageLayout]) -> None:
        """Show a new layout of the same page, such as with a loaded picture. The visible text keeps its position."""
        before = self.document
        if before is None or not self.count:
            self.show(make, line=None)
            return
        height = max(1, self.size.height)
        held = self.cursor if self.top <= self.cursor < self.top + height else min(self.top, self.count - 1)
        place, cursor, offset = before.place_of(held), before.place_of(self.cursor), held - self.top
        self._make_layout = make
        self._lay_out()
        document = self.document
        if document:
            line = document.line_of(place)
            self.ensure_lines(line + height)
            self.cursor = max(0, min(document.line_of(cursor), self.count - 1))
            self.top = self._clamped_top(line - offset)
        self.redraw()

    def show(
        self, make: Callable[[int], PageLayout] | None, *, line: int | None = 0, position: Position | None = None
    ) -> None:
        """Show another page at a line or position, or the same page at its current position.

        Labels of the same page are kept, because the user may be typing one.

        Args:
            make: lays the page out for a width in cells.
            line: the line under the cursor; None for the same page.
            position: the former reading position, which takes precedence over `line`.
        """
        self._make_layout, self._goes_to_end = make, False
        if line is not None:
            self.cursor = self.top = line
            self._labels = {}
        self._lay_out()
        if position:
            self._restore(position)
        self.redraw()

    @override
    def ensure_lines(self, lines: int) -> None:
        if self.document and not self.document.done:
            self.document.at_least(lines + self.size.height)

    @override
    def move_to(self, number: int, *, top: int | None = None) -> None:
        """Go to a line. A number far beyond the laid-out lines goes to the end once the layout is complete."""
        self._sought = ""
        self._goes_to_end = self.document is not None and not self.document.done and number > self.count + 1000
        if not self._goes_to_end:
            self.ensure_lines(number + 1)
            super().move_to(number, top=top)

    def seek(self, target: str, *, is_shown: bool = False) -> None:
        """Go to the first link with a target once its line is laid out, unless the user moves the cursor before.

        Args:
            target: the target as written in the page; empty to cancel.
            is_shown: whether the page is already shown; otherwise the search starts at the next layout.
        """
        self._sought, self._lines_sought = target, 0
        if is_shown:
            self._go_to_sought()

    def _go_to_sought(self) -> None:
        while self._sought and self.document and self._lines_sought < self.count:
            number = self._lines_sought
            if any(span.link == self._sought for span in self.document.lines[number]):
                self.jump_to(number)
                return
            self._lines_sought += 1

    def place_at(self, line: int) -> None:
        """Move the cursor to a line, and show the line a third from the top."""
        self.move_to(line, top=line - self.size.height // 3)

    def next_heading(self, by: int = 1) -> bool:
        """Go to the next heading, or to the previous heading if `by` is -1. Return False if there is none."""
        document = self.document
        if not document:
            return False
        while (number := self._heading_beside(by)) is None and by > 0 and not document.done:
            document.at_least(self.count + 1)
        if number is not None:
            self.go_to_heading(number)
        return number is not None

    def _heading_beside(self, by: int) -> int | None:
        """Return the number of the heading after the cursor, or before it if `by` is -1. Return None if there is none.

        Includes headings in folded sections.
        """
        headings = self.document.headings if self.document else ()
        here = self.heading_at_cursor
        is_below = here >= 0 and headings[here].line < self.cursor
        number = here + (1 if by > 0 else 0 if is_below else -1)
        return number if 0 <= number < len(headings) else None

    @property
    def heading_at_cursor(self) -> int:
        """The number of the last heading at or above the cursor; -1 above the first heading."""
        return self._heading_above(self.cursor)

    @property
    def heading_in_view(self) -> int:
        """The number of the heading of the visible line nearest to the cursor; -1 above the first heading."""
        return self._heading_above(self._line_in_view)

    @property
    def _line_in_view(self) -> int:
        """The visible line nearest to the cursor, which may be scrolled out of view."""
        return max(self.top, min(self.cursor, self.top + max(1, self.size.height) - 1, self.count - 1))

    def _heading_above(self, line: int) -> int:
        headings = self.document.headings if self.document else ()
        at = bisect_right(headings, line, key=_line_of_heading) - 1
        while at >= 0 and headings[at].is_hidden:
            at -= 1
        return at

    def go_to_heading(self, number: int, *, opens: bool = False) -> None:
        """Go to a heading by its number, and unfold the sections around it; `opens` also unfolds its own section."""
        document = self.document
        heading = document.headings[number] if document and number < len(document.headings) else None
        if document is None or heading is None:
            return
        if heading.is_hidden or opens:
            self._reveal(heading.block, opens=opens)
            while number >= len(document.headings) and not document.done:
                document.at_least(self.count + 1)
            heading = document.headings[number]
        self.place_at(heading.line)

    async def all_headings(self) -> Sequence[Heading]:
        """Return all headings, after laying the page out to its end."""
        await self._until_done()
        return self.document.headings if self.document else ()

    async def go_to_anchor(self, anchor: str) -> bool:
        """Go to the line of an anchor. Return whether the anchor exists."""
        document = self.document
        if not isinstance(document, QuotedLayout):
            return False
        number = await asyncio.to_thread(document.find_anchor, anchor)
        if number is None:
            return False
        if self._hides and not document.starts_block(number):
            self.show_all(shows_all=True)
        is_there = await self.go_to_source(number)
        mark = self._mark("section") if is_there else None
        if mark and not mark.value:
            self.fold()
        return is_there

    def _reveal_hidden(self, link: str) -> bool:
        """Unfold the folded section that contains a link. Return False if there is none."""
        page = self._page
        block = page.hidden_block(link) if page else None
        if page is None or block is None:
            return False
        self._reveal(block, opens=True)
        page.line_of((block, 0))  # lays it out
        return True

    def source_at_cursor(self) -> tuple[str, str]:
        """Return the text of the line under the cursor and its line of Markdown, or two empty texts."""
        document = self.document
        if not isinstance(document, QuotedLayout) or self.cursor >= self.count:
            return "", ""
        return plain(document.lines[self.cursor]).strip(), document.source_of(self.cursor)

    @property
    def source_line(self) -> int | None:
        """The number of the Markdown line at the cursor, counted from 0, or None."""
        document = self.document
        is_on_line = isinstance(document, QuotedLayout) and self.cursor < self.count
        return document.source_number_of(self.cursor) if is_on_line else None

    async def go_to_quote(self, words: str) -> bool:
        """Go to the line with a quoted text. Return False if the text is not found."""
        await self._until_done()
        return self._reveal_line(
            self.document.line_of_quote(words) if isinstance(self.document, QuotedLayout) else None
        )

    async def go_to_source(self, number: int) -> bool:
        """Go to the line that shows a line of the Markdown, counted from 0. Return False if no line shows it."""
        await self._until_done()
        return self._reveal_line(
            self.document.line_of_source(number) if isinstance(self.document, QuotedLayout) else None
        )

    def _reveal_line(self, line: int | None) -> bool:
        if line is not None:
            self.place_at(line)
            self.redraw()  # needed if the line was in a folded section
        return line is not None

    async def _until_done(self) -> None:
        while self.document:  # `document` may be replaced between two steps
            if self.document.advance(STEP):
                return
            await asyncio.sleep(0)

    def label_links(self) -> bool:
        """Label the visible links. Return whether there are any."""
        targets = self._targets(self.visible_range)
        pairs = (first + second for first, second in product(LABELS, repeat=2))
        names: Iterable[str] = LABELS if len(targets) <= len(LABELS) else pairs
        self._labels, self._typed = dict(zip(names, targets, strict=False)), ""
        self.redraw()
        return bool(self._labels)

    def _targets(self, lines: Sequence[int]) -> list[str]:
        document = self.document
        found = (span.link for number in lines for span in (document.lines[number] if document else ()))
        return list(dict.fromkeys(link for link in found if link and (is_setting(link) or not is_control(link))))

    def on_key(self, event: events.Key) -> None:
        """While links are labelled, follow the link whose label is typed. Any other key removes the labels."""
        if self._labels:
            event.stop()
            event.prevent_default()
            self._typed += event.character or " "
            target = self._labels.get(self._typed)
            if target is not None or not any(name.startswith(self._typed) for name in self._labels):
                self._labels = {}
            self.redraw()
            if target is not None:
                self.post_message(self.LinkChosen(self, target))

    @override
    def on_resize(self) -> None:
        position = self.position
        if self.document is None or getattr(self.document, "width", None) != self.columns:
            self._lay_out()
            if position:
                self._restore(position)
        self._ask_for_pictures()

    def _restore(self, position: Position) -> None:
        if self.document:
            top, self.cursor = self.document.line_of(position.top), self.document.line_of(position.cursor)
            self.ensure_lines(max(self.cursor, top) + self.size.height)
            self.cursor = max(0, min(self.cursor, self.count - 1))
            self.top = self._top_with_cursor(top)

    def _lay_out(self) -> None:
        self.document = self._make_layout(self.columns) if self._make_layout and self.size.width else None
        if self.document:
            self.ensure_lines(self.top + self.size.height)
            self.cursor = max(0, min(self.cursor, self.count - 1))
            self.top = self._top_with_cursor(self.top)
            self._lines_sought = 0
            self._go_to_sought()
            self._lay_out_rest()

    def _lay_out_rest(self) -> None:
        """Lay out the rest of the page, including folded sections, while the app is idle."""
        if self.document and not self.document.advance(0) and not self._is_laying_out:
            self._is_laying_out = True
            self.set_timer(PAUSE, self._continue)

    def _continue(self) -> None:
        height = self.size.height
        before = self.document.lines[self.top : self.top + height] if self.document else []
        done = self.document is None or self.document.advance(STEP)
        if self.document and self.document.lines[self.top : self.top + len(before)] != before:
            self.redraw()  # the number of hidden lines at a folded heading changed
        self._is_laying_out = not done
        if self.on_drawn:
            self.on_drawn()
        self._go_to_sought()
        if done and self._sought and self._reveal_hidden(self._sought):
            self._lines_sought = 0
            self._go_to_sought()
        if done and self._sought and self._hides:
            self.show_all(shows_all=True)
            return
        if not done:
            self.set_timer(PAUSE / 8 if self._goes_to_end else PAUSE, self._continue)
        elif self._goes_to_end:
            self.move_to(self.count - 1)

    def _with_labels(self, line: Line) -> Line:
        names = {target: name for name, target in self._labels.items() if name.startswith(self._typed)}
        spans: list[Span] = []
        before: str | None = None
        for span in line:
            if span.link in names and span.link != before:
                spans.append(Span(f"[{names[span.link]}]", "accent strong"))
            before = span.link
            spans.append(span)
        return tuple(spans)
