"""The keys of a review that write nothing: from change to change, page to page, thread to thread; viewed or not."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from presscheck.documents.differences import Mode
from presscheck.tui.external_programs import open_address
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.tui.screens.review_bodies import Bodies
    from presscheck.tui.screens.review_changes import Changed
    from presscheck.tui.screens.review_dossier import Dossier
    from presscheck.tui.screens.review_page import Laid, Page
    from presscheck.tui.screens.review_threads import Thread

WIDE = 100
"""Columns from which two things stand side by side: the list and the change, and the two sides of a change."""
_AFTER: dict[Mode, Mode] = {"prose": "split", "split": "source", "source": "prose"}
_SAID: dict[Mode, str] = {
    "prose": "the page, as it reads",
    "split": "before on the left, after on the right",
    "source": "the Markdown, as it is written",
}


class Moves(BaseScreen):
    """What the commands of a review move about in; the screen fills it."""

    known: Dossier
    bodies: Bodies
    laid: Laid
    only_changed: bool
    opened: dict[str, set[int]]
    mode: Mode

    @property
    @abstractmethod
    def thing(self) -> Changed | None:
        """What is shown; None is the conversation."""

    @property
    @abstractmethod
    def page(self) -> Page:
        """The text of what is shown."""

    @abstractmethod
    def thread_here(self) -> Thread | None:
        """The thread that a command would act on."""

    @abstractmethod
    def rows_with_threads(self) -> list[int]:
        """The rows of the list on which there are threads that the reader wants to see."""

    @abstractmethod
    def redraw(self) -> None:
        """Draw all anew."""

    @abstractmethod
    def point_at_first(self) -> None:
        """Go to the first thing that was not viewed."""

    @abstractmethod
    def show_change(self, *, afresh: bool = False) -> None:
        """Draw the change anew."""

    def command_next_pane(self) -> None:
        """To the other pane."""
        at_pages = self.query_one("#pages").has_focus
        self.remove_class("zoomed")
        self.query_one("#change" if at_pages else "#pages").focus()
        self.set_class(at_pages, "at-change")
        self.redraw()

    command_previous_pane = command_next_pane

    def command_diff_view(self) -> None:
        """Prose, as it reads; split, before and after side by side; or the source, as it is written."""
        block = self.laid.anchor_at(self.query_one("#change", RowList).cursor)
        self.mode = _AFTER[self.mode]
        if self.mode == "split" and self.size.width < WIDE:
            self.notify(f"two sides need {WIDE} columns, there are {self.size.width}: prose stays")
        else:
            self.notify(_SAID[self.mode])
        self.show_change()
        self.query_one("#change", RowList).point(self.laid.line_of(block))

    def command_zoom(self) -> None:
        """Give the change the whole width, or share it with the list again."""
        if self.query_one("#pages").has_focus:
            self.command_next_pane()
        self.toggle_class("zoomed")
        self.call_after_refresh(self.redraw)

    def command_copy_text(self) -> None:
        """Copy the Markdown of the page, as the change request has it."""
        if self.page.after:
            self.app_context.copy_to_clipboard(self.page.after)
            self.notify("the page's Markdown is copied")
        else:
            self.notify("there is no text here")

    def command_left(self) -> None:
        """To the list."""
        if not self.query_one("#pages").has_focus:
            self.command_next_pane()

    def command_right(self) -> None:
        """To the change."""
        if self.query_one("#pages").has_focus:
            self.command_next_pane()

    def command_next_change(self) -> None:
        """To the next change, on the next page where there is none on this."""
        self._along(1, self.laid.changes)

    def command_previous_change(self) -> None:
        """To the change before."""
        self._along(-1, self.laid.changes)

    def command_next_thread(self) -> None:
        """To the next thread, on the next page that has one where there is none on this."""
        self._to_thread(1)

    def command_previous_thread(self) -> None:
        """To the thread before."""
        self._to_thread(-1)

    def command_next_page(self) -> None:
        """To the next page."""
        self._turn(1)

    def command_previous_page(self) -> None:
        """To the page before."""
        self._turn(-1)

    def command_mark(self) -> None:
        """Mark the page as viewed and go on to the next; or take the mark away."""
        thing = self.thing
        if thing is None:
            return
        was = self.known.is_viewed(thing)
        self.known.mark_viewed(thing, viewed=not was)
        if not was:
            self._turn(1)
        self.redraw()

    def command_only_changed(self) -> None:
        """Fold what did not change, or show it."""
        self.only_changed = not self.only_changed
        self.opened.clear()
        self.show_change(afresh=True)

    def command_refresh(self) -> None:
        """Ask again for all that is looked at."""
        self.bodies.again()
        super().command_refresh()
        self.redraw()

    def command_copy(self) -> None:
        """Copy the web address, or the number where there is none."""
        request = self.known.request
        if request:
            self.app_context.copy_to_clipboard(request.urls.app or f"#{request.number}")
            self.notify("copied")

    def command_web(self) -> None:
        """Open it in the browser, or copy its address where there is none."""
        where = self.known.request.urls.app if self.known.request else None
        if where:
            open_address(self.app_context, where)
        else:
            self.notify("it has no web address")

    def _turn(self, by: int) -> bool:
        pages = self.query_one("#pages", RowList)
        to = pages.cursor + by
        if not 0 <= to < pages.count:
            self.notify("that is the last page" if by > 0 else "that is the first")
            return False
        pages.point(to)
        self.show_change(afresh=True)
        return True

    def _along(self, by: int, lines: list[int]) -> None:
        """To the next of these lines; where there is none, to another page."""
        if not self._point_ahead(by, lines):
            self._turn(by)

    def _to_thread(self, by: int) -> None:
        """To the next thread that is shown, wherever it is."""
        if self._point_ahead(by, self.laid.threads):
            return
        pages = self.query_one("#pages", RowList)
        ahead = [row for row in self.rows_with_threads() if (row - pages.cursor) * by > 0]
        to = min(ahead, key=lambda row: abs(row - pages.cursor), default=None)
        if to is None:
            self.notify("there is no further thread" if by > 0 else "there is no thread before this")
            return
        pages.point(to)
        self.show_change(afresh=True)
        if self.laid.threads:
            self._stop_at(self.laid.threads[0 if by > 0 else -1])

    def _point_ahead(self, by: int, lines: list[int]) -> bool:
        """To the next of these lines; whether there is one."""
        cursor = self.query_one("#change", RowList).cursor
        ahead = [line for line in lines if (line - cursor) * by > 0]
        if ahead:
            self._stop_at(min(ahead) if by > 0 else max(ahead))
        return bool(ahead)

    def _stop_at(self, line: int) -> None:
        """Go to a line of the change; what is done next is done there."""
        if self.query_one("#pages").has_focus:
            self.command_next_pane()
        self.query_one("#change", RowList).point(line)
