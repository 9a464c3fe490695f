"""The view of a review: two header lines, the list of items, and the selected change with its cursor.

The change shows one page or, below each other, all pages. A page is laid out when one of its lines becomes visible.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from time import monotonic
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from typing_extensions import override

from presscheck.engine.review.timeline import BY, select_events
from presscheck.text.phrases import count, now
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.commands import key_for
from presscheck.tui.screens.review.renderer import (
    PageText,
    RenderedChange,
    RenderOptions,
    by_line,
    compared_line,
    conversation_line,
    item_line,
    merge_line,
    render_conversation,
    render_item,
    state_line,
    suggestion_at,
    text_line_at,
)
from presscheck.tui.widgets.line_view import Place
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import StatusLine

if TYPE_CHECKING:
    from textual.timer import Timer

    from presscheck.documents.diff.block_pairs import SegmentPair
    from presscheck.documents.diff.page_diff import Mode
    from presscheck.documents.git_format.findings import Finding
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.model import ReviewModel, ThreadFilter
    from presscheck.engine.review.threads import Message, Thread
    from presscheck.engine.review.timeline import Event
    from presscheck.tui.screens.review.loader import PageTextLoader, ReviewLoader
    from presscheck.tui.screens.review.prose_findings import ProseFindings

WIDE = 100
"""Minimum columns for list and change, or both sides of a change, side by side."""
ESTIMATE = 6
"""Estimated lines of a page that was never laid out."""
PASSING = 0.12
"""Seconds before drawing an item that was selected soon after another; longer than a held key takes to repeat."""
GAP = 2
"""Lines between two pages: a blank line and a rule."""


class ReviewView:
    """The widgets of a review, drawn from its model.

    Args:
        model: the change request.
        texts: loads the texts of the changed pages.
        threads: the threads, and the filter that hides some.
        loader: loads the replies of visible threads.
        prose: the findings of prose checks.
    """

    def __init__(
        self,
        model: ReviewModel,
        texts: PageTextLoader,
        threads: ThreadFilter,
        loader: ReviewLoader,
        prose: ProseFindings,
    ) -> None:
        self._prose = prose
        self._model, self._texts, self._threads, self._loader = model, texts, threads, loader
        self._state, self._merge = StatusLine(id="state"), StatusLine(id="merge")
        self.items = RowList(self._item_row, key=self._item_key, has_mark_column=False, id="pages")
        self.flow = PageFlow()
        self.change = ChangeList(self.flow, self._lay_out_visible, self._range_lines, id="change")
        self._panes = Horizontal(self.items, PaneBorder(self.items), self.change, id="review")
        self.mode: Mode = "prose"
        self.only_changed = True
        self.shows_all = False
        self.event_query = ""
        """The filter of the timeline, for `select_events`."""
        self.width = 0
        self._pages: tuple[ChangedItem | None, ...] = ()
        self._range_start: tuple[str, int] | None = None
        """The page, and the line number in its new text, at which a range of lines starts."""
        self._unfolded: set[str] = set()
        self._opened: dict[str, set[int]] = {}
        self._drawn: dict[str, tuple[object, ...]] = {}
        """The inputs from which each item was rendered last."""
        self._unsent: frozenset[str] | None = None
        """The ids of the messages that were unsent at the last drawing; None before the first drawing."""
        self._listed: tuple[ChangedItem, ...] = ()
        self._reading = ""
        self._selected_at = -PASSING
        self._timer: Timer | None = None
        self._is_list_ahead = False
        """Whether a row of the list is selected whose item is not drawn yet."""

    def compose(self) -> ComposeResult:
        """Yield the header, the list and the change."""
        yield self._state
        yield self._merge
        yield self._panes

    @property
    def row(self) -> int:
        """The selected row of the list.

        If all pages are shown and the change has the focus, this is the row of the page under its cursor.
        """
        if self.shows_all and self.flow.ids and not self.items.has_focus and not self._is_list_ahead:
            return self.flow.page_at(self.change.cursor)
        return self.items.cursor

    @property
    def item(self) -> ChangedItem | None:
        """The selected item; None for the conversation."""
        row = self.row
        return self._model.items[row - 1] if 0 < row <= len(self._model.items) else None

    @property
    def page(self) -> PageText:
        """The text of the selected item; empty for the conversation, and before it is loaded."""
        item = self.item
        return self._texts.page(item) if item else PageText()

    @property
    def rendered(self) -> RenderedChange:
        """The rendered lines of the selected item; empty before they are laid out."""
        return self.flow.rendered(_page_id(self.item)) or RenderedChange()

    @property
    def line(self) -> int:
        """The line under the cursor, counted from the first line of the selected item."""
        number = self.row if self.shows_all else 0
        return self.change.cursor - self.flow.lines_of(number).start if number < len(self.flow.ids) else 0

    def jump_to(self, line: int) -> None:
        """Move the cursor to a line of the selected item."""
        self.change.jump_to(self.change.cursor - self.line + line)

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor, else the only visible thread of the item; None if there is neither."""
        if event := self.event:
            return event.thread
        threads = self._threads.visible_on(self.item)
        thread_id = self.rendered.thread_of.get(self.line)
        only = threads[0] if len(threads) == 1 else None
        return next((thread for thread in threads if thread.id == thread_id), only)

    @property
    def event(self) -> Event | None:
        """The event under the cursor that is shown as one line, such as an edit or a comment on a page."""
        return self.rendered.events.get(self.line) if self.is_in_change else None

    def events(self) -> list[Event]:
        """Return the events of the timeline, before its filter."""
        return self._model.events(self._threads.all_visible())

    @property
    def message(self) -> Message | None:
        """The message under the cursor; None if the cursor is not on a line of a thread."""
        thread = self.thread if self.is_in_change and self.is_on_thread else None
        message_id = self.rendered.message_of.get(self.line)
        return next((message for message in thread.messages if message.id == message_id), None) if thread else None

    @property
    def is_in_change(self) -> bool:
        """Whether the change has the focus."""
        return self.change.has_focus

    @property
    def is_on_thread(self) -> bool:
        """Whether the cursor is on a line of a thread."""
        return self.line in self.rendered.thread_of

    @property
    def finding(self) -> Finding | None:
        """The finding of a prose check under the cursor; None if there is none."""
        return self.rendered.findings.get(self.line) if self.is_in_change else None

    @property
    def is_on_fold(self) -> bool:
        """Whether the cursor is on a line that represents folded lines."""
        return self.line in self.rendered.folds

    @property
    def text_line(self) -> int | None:
        """The line number, in the new text of the page, at the cursor or nearest above it; None if there is none."""
        return text_line_at(self.rendered, self.page, self.line)

    def mark_range(self) -> bool:
        """Start a range of text lines at the cursor, or end it. Return whether a range was started."""
        line, item = self.text_line, self.item
        self._range_start = None if self._range_start or line is None or item is None else (item.id, line)
        self.change.redraw()
        return self._range_start is not None

    def clear_range(self) -> bool:
        """End the range of lines. Return whether the selected page had a range."""
        had_range, self._range_start = self.text_range is not None, None
        self.change.redraw()
        return had_range

    @property
    def text_range(self) -> tuple[int, int] | None:
        """The numbers of the first and last line of the range, in the new text of the page.

        The range reaches from the line where it was started to the cursor. None if the page has no range.
        """
        line, item = self.text_line, self.item
        if self._range_start is None or line is None or item is None or self._range_start[0] != item.id:
            return None
        return min(self._range_start[1], line), max(self._range_start[1], line)

    @property
    def range_text(self) -> str:
        """The lines of the range, in the new text of the page; empty without a range."""
        if self.text_range is None:
            return ""
        first, last = self.text_range
        return "\n".join(self.page.after.split("\n")[first : last + 1])

    def _range_lines(self) -> range:
        """Return the lines of the change from the start of the range to the cursor; empty without a range."""
        if self.text_range is None or self._range_start is None:
            return range(0)
        start = self.change.cursor - self.line + self.rendered.line_of(self._range_start[1])
        return range(min(start, self.change.cursor), max(start, self.change.cursor) + 1)

    @property
    def block(self) -> SegmentPair | None:
        """The block of the difference at the cursor, or else the nearest block above; None if there is none."""
        return self.rendered.block_at(self.line)

    @property
    def deleted_block(self) -> SegmentPair | None:
        """The block whose old text is under the cursor; None on the new text."""
        return self.rendered.deleted_at(self.line)

    @property
    def suggestion(self) -> str:
        """A suggestion template for the block under the cursor; empty if there is no block."""
        return suggestion_at(self.rendered, self.page, self.line)

    @property
    def is_shown(self) -> bool:
        """Whether the cursor of the change is in the selected item."""
        if not self.flow.ids:
            return False
        return self.flow.ids[self.flow.page_at(self.change.cursor)] == _page_id(self.item)

    @property
    def visible_items(self) -> tuple[ChangedItem, ...]:
        """The items whose rows are visible."""
        rows = self.items.visible_range
        return self._model.items[max(0, rows.start - 1) : max(0, rows.stop - 1)]

    def switch_pane(self) -> None:
        """Switch the focus between list and change, and leave zoom."""
        to_change = self.items.has_focus
        self._panes.remove_class("zoomed")
        (self.change if to_change else self.items).focus()
        self._panes.set_class(to_change, "at-change")

    def follow_focus(self) -> None:
        """Show the focused pane, list or change, in a terminal without room for both."""
        if self.change.has_focus or self.items.has_focus:
            self._panes.set_class(self.change.has_focus, "at-change")

    def toggle_zoom(self) -> None:
        """Toggle between full width for the change and sharing the width with the list."""
        self._panes.toggle_class("zoomed")

    def toggle_only_changed(self) -> None:
        """Toggle folding of unchanged lines. The cursor stays on its text."""
        self.only_changed = not self.only_changed
        self._opened.clear()
        self._show_at_same_place()

    def toggle_all(self) -> None:
        """Toggle between one page and all pages below each other. The selected page stays the same."""
        row, self.shows_all = self.row, not self.shows_all
        self.items.move_to(row)
        self.show_change()

    def set_mode(self, mode: Mode) -> None:
        """Switch to prose, split or source mode. The cursor stays on its text."""
        self.mode = mode
        self._show_at_same_place()

    def _show_at_same_place(self) -> None:
        """Redraw lines whose positions change, and move the cursor back to the same text or thread."""
        anchor, thread = self.rendered.anchor_at(self.line), self.rendered.thread_of.get(self.line)
        self.show_change()
        first = self.rendered.first_line_of_thread(thread) if thread else 0
        self.jump_to(first or self.rendered.line_of(anchor))

    def unfold(self) -> None:
        """Unfold unchanged lines at the cursor, or fold or unfold a resolved thread."""
        item, lines = self.item, self.rendered.folds.get(self.line)
        if lines and item:
            self._opened.setdefault(item.id, set()).update(lines)
        elif thread := self.thread:
            self._unfolded ^= {thread.id}
        else:
            return
        self.show_change()

    def select(self, row: int) -> None:
        """Select a row of the list, and show its item from the top."""
        self.items.move_to(row)
        self.show_change(to_top=True)

    def show_soon(self, shown: Callable[[], None]) -> None:
        """Draw the selected item from the top, then call `shown`.

        Of several items selected in quick succession, only the first and the last are drawn.
        """
        is_passing = monotonic() - self._selected_at < PASSING
        self._is_list_ahead = True
        if self._timer:
            self._timer.stop()

        def show() -> None:
            self.show_selected()
            shown()

        if is_passing:
            self._timer = self.change.set_timer(PASSING, show)
        else:
            show()
        self._selected_at = monotonic()  # after drawing, during which the next keys may have been pressed

    @property
    def is_passing(self) -> bool:
        """Whether the selected item is not drawn yet, because the user may be about to select another item."""
        return self._is_list_ahead and not self.is_shown

    def show_selected(self) -> None:
        """Draw the selected item from the top unless it is shown already."""
        if not self.is_shown:
            self.show_change(to_top=True)
        self._is_list_ahead = False

    def leave_thread(self) -> bool:
        """Mark the thread that the cursor has left as read. Return True if the thread had new comments."""
        thread_id = self.rendered.thread_of.get(self.line, "") if self.is_in_change else ""
        left, self._reading = self._reading, thread_id
        return bool(left) and left != thread_id and self._model.discussion.mark_read(left)

    def draw_header(self, collected: int | None, progress: str = "") -> None:
        """Draw both header lines.

        Args:
            collected: the number of comments in the pending review; None if there is no pending review.
            progress: the current step of the program that reviews; empty if none runs.
        """
        model, request, moment, error = self._model, self._model.request, now(), self._loader.error
        if request is None:
            self._state.show((Span(f" {error or 'Loading the change request …'}", "waiting"),))
            return
        columns = self.width - 24
        state = state_line(
            request,
            model.reviewers(),
            model.progress(),
            model.open_threads(),
            columns,
            collected,
            model.discussion.new_threads(),
            model.notifications,
            self._prose.note(model.items),
            progress,
        )
        right = (Span(error, "waiting"),) if error else by_line(request, model.me, moment)
        self._state.show((Span(" "), *state), right)
        readiness = cut(merge_line(model.readiness()), self.width - 2)
        self._merge.show((Span(" "), *readiness), compared_line(model.since, moment, model.changes_note))

    def draw_list(self, cursor: int | None = None) -> None:
        """Draw the list of items. Unless `cursor` is given, the cursor stays on its item when items are added above."""
        row = self.items.cursor
        if cursor is None and self._listed is not self._model.items and 0 < row <= len(self._listed):
            item = self._listed[row - 1]
            cursor = next((row for row, other in enumerate(self._model.items, 1) if other.id == item.id), None)
        self._listed = self._model.items
        self.items.show(len(self._model.items) + 1, cursor=cursor)

    @property
    def is_list_current(self) -> bool:
        """Whether the list shows the items of the model."""
        return self._listed is self._model.items

    def follow_cursor(self) -> None:
        """Select the list row of the page under the cursor if all pages are shown, and draw the range of lines."""
        if self.shows_all and self.items.cursor != self.row:
            self.items.move_to(self.row)
        if self._range_start:
            self.change.redraw()

    def show_change(self, *, to_top: bool = False) -> None:
        """Draw the selected item, or all items.

        The cursor moves to the first line of the selected item with `to_top`, or if the page under the cursor is no
        longer shown.
        """
        if self._set_pages() or to_top:
            number = min(self.items.cursor, len(self._pages) - 1) if self.shows_all else 0
            start = self.flow.lines_of(number).start
            self.change.place(self.flow.height, start, start)
            self._is_list_ahead = False
        is_cursor_visible = self.change.cursor in self.change.visible_lines
        self.flow.invalidate()
        self._lay_out_visible()
        if is_cursor_visible:
            self.change.show(self.flow.height, cursor=self.change.cursor)
            self._show_own_message()
        else:  # the user has scrolled away from the cursor
            self.change.redraw()

    def _show_own_message(self) -> None:
        """Scroll to a message that the user has just written if it ends below the visible lines.

        The first line of the message stays visible, and so does the cursor if the change has the focus.
        """
        before, self._unsent = self._unsent, self._model.discussion.unsent_messages()
        if before is None or self._unsent <= before:
            return
        lines = [line for line, message in self.rendered.message_of.items() if message in self._unsent - before]
        if lines:
            change = self.change
            start, top = change.cursor - self.line, change.top
            last = min(start + min(lines), change.cursor) if change.has_focus else start + min(lines)
            change.scroll_lines(max(0, min(start + max(lines) - change.visible_lines[-1], last - top)))

    def _set_pages(self) -> bool:
        """Update the list of shown pages. Return True if the page under the cursor is no longer shown."""
        cursor, flow = self.change.cursor, self.flow
        number = flow.page_at(cursor) if flow.ids else 0
        page = flow.ids[number] if flow.ids else None
        before = flow.lines_of(number).start if flow.ids else 0
        selected = self._model.items[self.items.cursor - 1 : self.items.cursor] if self.items.cursor else (None,)
        self._pages = (None, *self._model.items) if self.shows_all else selected or (None,)
        flow.set_pages(tuple(map(_page_id, self._pages)))
        if page not in flow.ids:
            return True
        moved = cursor - before + flow.lines_of(flow.ids.index(page)).start
        self.change.place(flow.height, moved, self.change.top + moved - cursor)
        return False

    def _lay_out_visible(self) -> None:
        """Lay out the visible pages. Repeat until none is left, because a new layout moves other pages into view."""
        while self.flow.ids:
            pages = self.flow.pages_at(self.change.visible_lines)
            number = next((number for number in pages if not self.flow.is_laid_out(number)), None)
            if number is not None:
                self._lay_out(number)
            elif not self.change.clamp():
                return

    def _lay_out(self, number: int) -> None:
        """Lay out a page. The line under the cursor, or else the first visible line, keeps its screen position."""
        item, flow, change = self._pages[number], self.flow, self.change
        if item is None:
            self._loader.load_steps()
        page = self._texts.page(item) if item else PageText()  # first, because loading places the threads
        threads = self._threads.visible_on(item)
        lines, before, cursor, top = flow.lines_of(number), flow.rendered(flow.ids[number]), change.cursor, change.top
        inputs = self._inputs(item, page, threads) if item else ()
        is_same = bool(inputs) and self._drawn.get(flow.ids[number]) == inputs
        rendered = before if before and is_same else self._render(item, page, threads)
        self._drawn[flow.ids[number]] = inputs
        grown = flow.lay_out(number, rendered)
        moved = cursor
        if cursor >= lines.stop:
            moved += grown
        elif cursor >= lines.start:
            moved = lines.start + kept_line(before, rendered, cursor - lines.start, len(lines))
        if cursor in change.visible_lines:
            top += moved - cursor
        elif top >= lines.stop:
            top += grown
        change.place(flow.height, moved, top)
        if not is_same:
            self._loader.load_replies(threads)

    def _inputs(self, item: ChangedItem, page: PageText, threads: list[Thread]) -> tuple[object, ...]:
        """Return everything that the lines of an item depend on. While it is unchanged, rendering is skipped.

        Ages are shown in minutes or longer units, so times in the same minute count as equal.
        """
        options = self._options(item)
        shown = options.columns, options.only_changed, options.mode, options.is_narrow, options.now.timestamp() // 60
        folds = frozenset(options.unfolded), frozenset(options.opened)
        return item, page, threads, shown, folds, self._summary(item, len(threads)), self._prose.on(item)

    def _render(self, item: ChangedItem | None, page: PageText, threads: list[Thread]) -> RenderedChange:
        """Render an item, or the conversation for None."""
        if item is None:
            note = f"only {self.event_query} · {key_for('edit_view')} shows others" if self.event_query else ""
            if self.event_query.startswith(BY):
                self._loader.load_people(self._threads.all_visible())
            events = select_events(self.events(), self.event_query)
            return render_conversation(self._model, threads, events, self._options(item), note)
        summary = self._summary(item, len(threads))
        return render_item(item, page, threads, self._options(item), summary, self._prose.on(item))

    def lines_of_row(self, row: int) -> list[Line]:
        """Return the lines that would be shown for a row of the list. The text of its item must be loaded.

        Comments on pages are left out of the conversation, because a search finds them on their pages.
        """
        item = self._model.items[row - 1] if row else None
        threads = self._threads.visible_on(item)
        self._loader.load_replies(threads)  # a search covers replies too
        rendered = self._render(item, self._texts.loaded(item) if item else PageText(), threads)
        on_pages = {line for line, event in rendered.events.items() if event.thread}
        return [() if number in on_pages else line for number, line in enumerate(rendered.lines)]

    def show_line(self, row: int, line: int) -> None:
        """Select a list row, move the cursor to a line of its item, and focus the change."""
        if self.row != row or self.items.has_focus:
            self.select(row)
        if self.items.has_focus:
            self.switch_pane()
        self._panes.add_class("at-change")
        self.jump_to(line)

    def _options(self, item: ChangedItem | None) -> RenderOptions:
        is_narrow = self.width < WIDE
        # a narrow change is rendered before it is visible for the first time, and takes the whole width
        columns = self.width if is_narrow else self.change.size.width
        opened = self._opened.get(item.id, ()) if item else ()
        return RenderOptions(
            max(20, columns - 2), now(), self.only_changed, self.mode, self._unfolded, opened, is_narrow
        )

    def _summary(self, item: ChangedItem, visible: int) -> str:
        """Return the position of an item in the list, and the number of its hidden threads."""
        summary = f"{self._model.items.index(item) + 1} of {len(self._model.items)}"
        summary += " since your review" if self._model.since else ""
        hidden = len(self._threads.threads_on(item)) - visible
        return summary + (f" · {count(hidden, 'thread')} hidden: {key_for('threads')}" if hidden else "")

    def _item_row(self, index: int, columns: int) -> Line:
        if index == 0:
            return conversation_line(columns, self._threads.open_count(None), has_new=self._threads.has_new(None))
        item = self._model.items[index - 1]
        return item_line(
            item,
            columns,
            viewed=self._model.is_viewed(item),
            words=self._texts.words(item),
            open_threads=self._threads.open_count(item),
            has_conflict=item.id in self._model.unresolved,
            has_new=self._threads.has_new(item),
            marked=item.id in self.items.marks.keys,
        )

    def _item_key(self, index: int) -> str | None:
        """Return the id of the page in a row, which identifies the mark of the row; None if the row has no page."""
        item = self._model.items[index - 1] if 0 < index <= len(self._model.items) else None
        return item.id if item and item.noun == "page" else None


def _page_id(item: ChangedItem | None) -> str:
    """Return the string that identifies an item in the flow; empty for the conversation."""
    return f"{item.noun} {item.id}" if item else ""


class PageFlow:
    """The shown pages in order, their line ranges, and their rendered lines.

    Pages are identified by strings; the empty string is the conversation.
    """

    def __init__(self) -> None:
        self._ids: tuple[str, ...] = ()
        self._heights: dict[str, int] = {}
        self._rendered: dict[str, RenderedChange] = {}
        self._current: set[str] = set()
        self._starts: list[int] = [0]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the pages, in order."""
        return self._ids

    @property
    def height(self) -> int:
        """The total number of lines, with estimates for pages that were never laid out."""
        return self._starts[-1]

    def set_pages(self, ids: tuple[str, ...]) -> None:
        """Set the shown pages; pages that were shown before keep their rendered lines."""
        if ids != self._ids:
            self._ids = ids
            self._rendered = {page: self._rendered[page] for page in ids if page in self._rendered}
            self._heights = {page: self._heights[page] for page in ids if page in self._heights}
            self._measure()

    def invalidate(self) -> None:
        """Mark all pages as outdated. They keep their heights until they are laid out again."""
        self._current.clear()

    def is_laid_out(self, number: int) -> bool:
        """Return whether the rendered lines of a page are current."""
        return self._ids[number] in self._current

    def lay_out(self, number: int, rendered: RenderedChange) -> int:
        """Set the rendered lines of a page. Return by how many lines it has grown; negative if it has shrunk."""
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
        """Return the lines of a page, which may be outdated; None if the page was never laid out."""
        return self._rendered.get(page)

    def lines_of(self, number: int) -> range:
        """Return the line range of a page."""
        return range(self._starts[number], self._starts[number + 1])

    def page_at(self, line: int) -> int:
        """Return the index of the page that contains a line."""
        return max(0, min(bisect_right(self._starts, line) - 1, len(self._ids) - 1))

    def pages_at(self, lines: range) -> range:
        """Return the indexes of the pages that overlap a range of lines."""
        if not self._ids or not lines:
            return range(0)
        return range(self.page_at(max(lines.start, 0)), self.page_at(lines.stop - 1) + 1)

    def line(self, number: int, columns: int) -> Line:
        """Return a line by its number. Pages that were never laid out have empty lines; a rule separates two pages."""
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
        """Return whether a line represents folded unchanged lines."""
        place = self.page_at(number)
        rendered = self._rendered.get(self._ids[place]) if self._ids else None
        return rendered is not None and number - self._starts[place] in rendered.folds

    def _height_of(self, page: str) -> int:
        return self._heights.get(page, ESTIMATE if len(self._ids) > 1 else 1)

    def _measure(self) -> None:
        self._starts = [0, *accumulate(map(self._height_of, self._ids))]


class ChangeList(RowList):
    """The lines of the changed pages, which are laid out before their lines are drawn.

    Args:
        flow: the pages.
        lay_out: lays out the pages of the visible lines.
        marked_range: returns the lines of the marked range.
        id: the widget's id.
    """

    def __init__(
        self,
        flow: PageFlow,
        lay_out: Callable[[], None],
        marked_range: Callable[[], range],
        *,
        id: str,  # noqa: A002
    ) -> None:
        super().__init__(flow.line, id=id)
        self._flow, self._lay_out, self._marked_range = flow, lay_out, marked_range

    @override
    def margins(self, places: Sequence[Place]) -> list[Line]:
        """Return the left margins, with a bar at the lines of the marked range."""
        margins, marked = super().margins(places), self._marked_range()
        bar = (Span("▌", "accent"),)
        return [bar if number in marked else margin for (number, _), margin in zip(places, margins, strict=True)]

    @override
    def is_fold_mark(self, number: int, part: int, column: int) -> bool:
        """Return whether a click opens folded lines: the whole line is clickable."""
        return self._flow.is_fold(number) or super().is_fold_mark(number, part, column)

    @override
    def ensure_lines(self, lines: int) -> None:
        self._lay_out()

    @override
    def on_mouse_up(self) -> None:
        """Move the cursor to the last selected line too, so that the next command is about the selected text."""
        super().on_mouse_up()
        last = self._selection.end if self._selection and self._has_dragged else None
        if last:
            self.move_to(last.y)

    @property
    def visible_lines(self) -> range:
        """The range of visible lines; it may end below the last line."""
        return range(self.top, self.top + max(1, self.size.height))

    def place(self, count: int, cursor: int, top: int) -> None:
        """Set the number of lines, the cursor and the first visible line, without drawing."""
        self._count = count
        self.cursor = max(0, min(cursor, count - 1))
        self.top = max(0, top)

    def clamp(self) -> bool:
        """Scroll so that no empty space is below the last line. Return True if this changed the first visible line."""
        before, self.top = self.top, self._clamped_top(self.top)
        return self.top != before


def kept_line(before: RenderedChange | None, after: RenderedChange, line: int, height: int) -> int:
    """Return the line to which the cursor moves when its page is laid out again.

    In a page that was never laid out, a cursor on the last line stays there; any other moves to the first line.

    Args:
        before: the previous lines; None if the page was never laid out.
        after: the new lines.
        line: the previous line of the cursor, counted from the start of the page.
        height: the previous height of the page.
    """
    last = max(0, len(after.lines) - 1)
    if before is not None:
        position = after.line_at_position(*before.position_of(line))
        return min(line if position is None else position, last)
    return last if 0 < line == height - 1 else 0
