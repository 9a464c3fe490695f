"""The view of a review: two header lines, the list of items, and the selected change; also its cursor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal

from presscheck.text.phrases import count, now
from presscheck.text.styled_text import Line, Span, cut
from presscheck.tui.screens.review.change_renderer import (
    PageText,
    RenderedChange,
    RenderOptions,
    render_conversation,
    render_item,
    suggestion_at,
    text_line_at,
)
from presscheck.tui.screens.review.header_renderer import (
    by_line,
    compared_line,
    conversation_line,
    item_line,
    merge_line,
    state_line,
)
from presscheck.tui.status_bar import StatusLine
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.documents.diff.page_diff import Mode
    from presscheck.engine.review.changes import ChangedItem
    from presscheck.engine.review.model import ReviewModel
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.screens.review.page_texts import PageTextLoader
    from presscheck.tui.screens.review.thread_filter import ThreadFilter
    from presscheck.tui.widgets.line_view import StyleLookup

WIDE = 100
"""Columns from which the list and the change, or both sides of a change, are shown side by side."""


class ReviewView:
    """The widgets of a review, drawn from its model.

    Args:
        model: the change request.
        texts: the texts of its pages.
        threads: its threads.
        style_for: the theme.
        on_threads: called with the threads that are shown.
    """

    def __init__(
        self,
        model: ReviewModel,
        texts: PageTextLoader,
        threads: ThreadFilter,
        style_for: StyleLookup,
        on_threads: Callable[[list[Thread]], None],
    ) -> None:
        self._model, self._texts, self._threads, self._on_threads = model, texts, threads, on_threads
        self._state, self._merge = StatusLine(style_for, id="state"), StatusLine(style_for, id="merge")
        self.items = RowList(self._item_row, style_for, id="pages")
        self.change = RowList(self._change_row, style_for, id="change")
        self._panes = Horizontal(self.items, self.change)
        self.rendered = RenderedChange()
        self.mode: Mode = "prose"
        self.only_changed = False
        self.width = 0
        self._shown_id = ""
        self._unfolded: set[str] = set()
        self._opened: dict[str, set[int]] = {}

    def compose(self) -> ComposeResult:
        """The header, the list and the change."""
        yield self._state
        yield self._merge
        yield self._panes

    @property
    def item(self) -> ChangedItem | None:
        """The selected item; None is the conversation."""
        row = self.items.cursor
        return self._model.items[row - 1] if 0 < row <= len(self._model.items) else None

    @property
    def page(self) -> PageText:
        """The text of the selected item."""
        item = self.item
        return self._texts.page(item) if item else PageText()

    @property
    def thread(self) -> Thread | None:
        """The thread under the cursor, or the only one that is shown."""
        threads = self._threads.visible_on(self.item)
        thread_id = self.rendered.thread_of.get(self.change.cursor)
        only = threads[0] if len(threads) == 1 else None
        return next((thread for thread in threads if thread.id == thread_id), only)

    @property
    def is_in_change(self) -> bool:
        """Whether the change has the focus."""
        return self.change.has_focus

    @property
    def is_on_thread(self) -> bool:
        """Whether the cursor is on a line of a thread."""
        return self.change.cursor in self.rendered.thread_of

    @property
    def text_line(self) -> int | None:
        """The line of the page's new text under the cursor."""
        return text_line_at(self.rendered, self.page, self.change.cursor)

    @property
    def suggestion(self) -> str:
        """The start of a suggestion for the block under the cursor."""
        return suggestion_at(self.rendered, self.page, self.change.cursor)

    @property
    def is_shown(self) -> bool:
        """Whether the selected item is the one that is drawn."""
        item = self.item
        return (item.id if item else "") == self._shown_id

    @property
    def visible_items(self) -> tuple[ChangedItem, ...]:
        """The items whose rows are visible."""
        rows = self.items.visible_range
        return self._model.items[max(0, rows.start - 1) : max(0, rows.stop - 1)]

    def switch_pane(self) -> None:
        """Move the focus to the other pane, and show both."""
        to_change = self.items.has_focus
        self._panes.remove_class("zoomed")
        (self.change if to_change else self.items).focus()
        self._panes.set_class(to_change, "at-change")

    def toggle_zoom(self) -> None:
        """Give the change the whole width, or share it with the list."""
        self._panes.toggle_class("zoomed")

    def toggle_only_changed(self) -> None:
        """Fold the unchanged lines, or show them."""
        self.only_changed = not self.only_changed
        self._opened.clear()
        self.show_change(to_top=True)

    def set_mode(self, mode: Mode) -> None:
        """Show the change as prose, split or source, at the same place."""
        anchor = self.rendered.anchor_at(self.change.cursor)
        self.mode = mode
        self.show_change()
        self.change.jump_to(self.rendered.line_of(anchor))

    def unfold(self) -> None:
        """Unfold unchanged lines at the cursor, or fold or unfold a resolved thread."""
        item, lines = self.item, self.rendered.folds.get(self.change.cursor)
        if lines and item:
            self._opened.setdefault(item.id, set()).update(lines)
        elif thread := self.thread:
            self._unfolded ^= {thread.id}
        else:
            return
        self.show_change()

    def select(self, row: int) -> None:
        """Select a row of the list, and show it from its top."""
        self.items.move_to(row)
        self.show_change(to_top=True)

    def draw_header(self, error: str, collected: int | None) -> None:
        """Draw both lines of the header.

        Args:
            error: why it may be out of date.
            collected: the number of comments that are held for a review; None if none was started.
        """
        model, request, moment = self._model, self._model.request, now()
        if request is None:
            self._state.show((Span(f" {error or 'Loading the change request …'}", "waiting"),))
            return
        columns = self.width - 24
        state = state_line(request, model.reviewers(), model.progress(), model.open_threads(), columns, collected)
        right = (Span(error, "waiting"),) if error else by_line(request, model.me, moment)
        self._state.show((Span(" "), *state), right)
        readiness = merge_line(model.readiness(), self.width - 2)
        self._merge.show(
            (Span(" "), *readiness), compared_line(model.since, moment, model.changes.note if model.changes else "")
        )

    def draw_list(self, cursor: int | None = None) -> None:
        """Draw the list of items."""
        self.items.show(len(self._model.items) + 1, cursor=cursor)

    def show_change(self, *, to_top: bool = False) -> None:
        """Draw the selected item; `to_top` moves the cursor to its first line."""
        item = self.item
        threads = self._threads.visible_on(item)
        position = self.rendered.position_of(self.change.cursor)
        if item:
            summary = self._summary(item, len(threads))
            self.rendered = render_item(item, self._texts.page(item), threads, self._options(item), summary)
        else:
            self.rendered = render_conversation(self._model, threads, self._options(item))
        self._shown_id = item.id if item else ""
        cursor = 0 if to_top else self.rendered.line_at_position(*position)
        self.change.show(len(self.rendered.lines), cursor=cursor)
        self._on_threads(threads)

    def _options(self, item: ChangedItem | None) -> RenderOptions:
        is_narrow = self.width < WIDE
        # a narrow change is rendered before it is visible for the first time, and takes the whole width
        columns = self.width if is_narrow else self.change.size.width
        opened = self._opened.get(item.id, ()) if item else ()
        return RenderOptions(
            max(20, columns - 2), now(), self.only_changed, self.mode, self._unfolded, opened, is_narrow
        )

    def _summary(self, item: ChangedItem, visible: int) -> str:
        """The position of an item in the list, and the number of its hidden threads."""
        summary = f"{self._model.items.index(item) + 1} of {len(self._model.items)}"
        summary += " since your review" if self._model.since else ""
        hidden = len(self._threads.threads_on(item)) - visible
        return summary + (f" · {count(hidden, 'thread')} hidden: g t" if hidden else "")

    def _item_row(self, index: int, columns: int) -> Line:
        if index == 0:
            return conversation_line(columns, self._threads.open_count(None))
        item = self._model.items[index - 1]
        return item_line(
            item,
            columns,
            viewed=self._model.is_viewed(item),
            words=self._texts.words(item),
            open_threads=self._threads.open_count(item),
            has_conflict=item.id in self._model.unresolved,
        )

    def _change_row(self, index: int, columns: int) -> Line:
        return cut(self.rendered.lines[index], columns) if index < len(self.rendered.lines) else ()
