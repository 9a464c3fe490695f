"""Navigation commands of a review: changes, pages, threads, panes, view modes, viewed marks, copying and links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.review.timeline import BY, CATEGORIES, people_of, select_events
from presscheck.tui.commands import key_for
from presscheck.tui.external_programs import folder_reason
from presscheck.tui.places import Place
from presscheck.tui.screens.folder import open_folder
from presscheck.tui.screens.review.view import WIDE
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.documents.diff.page_diff import Mode
    from presscheck.tui.screens.review.session import ReviewSession

_NEXT_MODE: dict[Mode, Mode] = {"prose": "split", "split": "source", "source": "prose"}
_MODE_NAMES: dict[Mode, str] = {
    "prose": "prose: the page as readers see it",
    "split": "split: before on the left, after on the right",
    "source": "source: the Markdown of the page",
}


class ReviewNavigation:
    """The commands of a review that navigate, change the view or copy.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen, self._view = session, session.model, session.screen, session.view

    def command_open(self) -> None:
        """Focus the change. If the change has the focus, open the event at the cursor, or unfold lines or a thread."""
        event = self._view.event
        if self._view.items.has_focus:
            self.command_next_pane()
        elif event and event.thread:
            self._session.show_thread(event.thread.id)
        elif event and event.steps:
            self._session.run_command("history")
        else:
            self._view.unfold()

    def reason_edit_view(self) -> str | None:
        """Return why the timeline cannot be filtered: a changed item is selected instead of the conversation."""
        return (
            f"{key_for('edit_view')} filters the timeline of Conversation, and "
            f"the list of threads ({key_for('threads')})"
            if self._view.item
            else None
        )

    async def command_edit_view(self) -> None:
        """Choose which events the timeline shows: all events, the events of a kind, or the events of a person."""
        events, view = self._view.events(), self._view
        names = [*CATEGORIES, *(f"{BY}{name}" for name in people_of(events))]
        choices = [Choice("", "everything", f"{len(events):,}")]
        choices += [Choice(name, name, f"{number:,}") for name in names if (number := len(select_events(events, name)))]
        chosen = await choose(self._screen, "Timeline: show", choices, current=view.event_query)
        if chosen is not None:
            view.event_query = chosen
            view.show_change()

    def command_next_pane(self) -> None:
        """Switch the focus between list and change."""
        self._session.switch_pane()

    command_previous_pane = command_next_pane

    def command_left(self) -> None:
        """Focus the list."""
        if not self._view.items.has_focus:
            self.command_next_pane()

    def command_right(self) -> None:
        """Focus the change."""
        if self._view.items.has_focus:
            self.command_next_pane()

    def reason_read_page(self) -> str | None:
        """Return why the page cannot be opened in the browse screen: no page is selected, or the page is deleted."""
        item = self._view.item
        if item is None or item.noun != "page":
            return "go to a page first"
        return "this change request deletes the page" if "deleted" in item.kinds else None

    async def command_read_page(self) -> None:
        """Open the page in the browse screen: in the change request or, once that is merged or archived, on main."""
        item, request = self._view.item, self._model.request
        if item and request:
            edited = None if request.status in ("merged", "archived") else request.id
            await self._screen.app_context.go(Place.page(request.space, item.id, edited))

    def command_zoom(self) -> None:
        """Focus the change, and toggle its full width."""
        if self._view.items.has_focus:
            self.command_next_pane()
        self._view.toggle_zoom()
        self._view.change.call_after_refresh(self._screen.redraw)

    def command_diff_view(self) -> None:
        """Switch to the next view mode: from prose to split, then to source, then back."""
        mode, width = _NEXT_MODE[self._view.mode], self._view.width
        is_narrow = mode == "split" and width < WIDE
        too_narrow = f"split view needs {WIDE} columns and the terminal has {width}: showing prose"
        self._screen.notify(too_narrow if is_narrow else _MODE_NAMES[mode])
        self._view.set_mode(mode)

    def command_only_changed(self) -> None:
        """Toggle folding of unchanged lines."""
        self._view.toggle_only_changed()
        self._screen.notify("unchanged lines are folded" if self._view.only_changed else "unchanged lines are shown")

    def command_all_pages(self) -> None:
        """Toggle between all changed pages and one page."""
        self._view.toggle_all()
        self._screen.notify("all pages in one scroll" if self._view.shows_all else "one page at a time")

    def command_next_change(self) -> None:
        """Go to the next change. After the last change of a page, go to the first change of the next page."""
        self._go_along(1, self._view.rendered.changes)

    def command_previous_change(self) -> None:
        """Go to the previous change. Before the first change of a page, go to the last change of the previous page."""
        self._go_along(-1, self._view.rendered.changes)

    def command_next_thread(self) -> None:
        """Go to the next visible thread or prose finding, on this page or a later one; after the last, to the first."""
        self._go_to_thread(1)

    def command_previous_thread(self) -> None:
        """Go to the previous visible thread or prose finding; before the first, to the last."""
        self._go_to_thread(-1)

    def command_next_page(self) -> None:
        """Go to the next page."""
        self._turn(1)

    def command_previous_page(self) -> None:
        """Go to the previous page."""
        self._turn(-1)

    def command_mark(self) -> None:
        """Mark the page as viewed and go to the next page, or remove the mark."""
        item = self._view.item
        if item is None:
            return
        was_viewed = self._model.is_viewed(item)
        self._model.mark_viewed(item, viewed=not was_viewed)
        if not was_viewed:
            self._turn(1)
        self._screen.redraw()

    def command_copy_text(self) -> None:
        """Copy the Markdown of the page in the change request."""
        text = self._view.page.after
        if text:
            self._screen.app_context.copy_to_clipboard(text)
        self._screen.notify("copied the Markdown of the page" if text else "there is no text here")

    def command_copy(self) -> None:
        """Copy the web address of the change request, or its number if it has no address."""
        request = self._model.request
        if request:
            self._screen.app_context.copy_to_clipboard(request.urls.app or f"#{request.number}")
            self._screen.notify("copied")

    def command_web(self) -> None:
        """Open the change request in the browser, or copy its address if there is no browser."""
        address = self._model.request.urls.app if self._model.request else None
        if address:
            open_address(self._screen.app_context, address)
        else:
            self._screen.notify("it has no web address")

    def reason_folder(self) -> str | None:
        """Return why the change request cannot be checked out."""
        return folder_reason(self._screen.engine)

    async def command_folder(self) -> None:
        """Check the change request out into the folder of its space, and open the folder."""
        request = self._model.request
        if request:
            await open_folder(self._screen, request.space, request)

    def _turn(self, step: int, *, draws: bool = False) -> None:
        """Select the next or the previous row; after the last or before the first, only show a message.

        With `draws`, draw the page of the new row at once, even if the user moves on.
        """
        row = self._view.row + step
        if 0 <= row < self._view.items.count:
            if draws:
                self._view.select(row)
            else:
                self._view.items.move_to(row)
                self._view.show_soon(self._session.load_visible)
        else:
            self._screen.notify("this is the last page" if step > 0 else "this is the first page")

    def _go_along(self, step: int, lines: list[int]) -> None:
        """Go to the next line of `lines`, or to the previous one if `step` is -1.

        If there is none, go to the first or last change of the next or previous page.
        """
        if self._go_ahead(step, lines):
            return
        row = self._view.row
        self._turn(step, draws=True)
        if self._view.row != row:
            self._session.go_to_change(0 if step > 0 else -1)

    def _go_to_thread(self, step: int) -> None:
        if self._go_ahead(step, self._view.rendered.threads):
            return
        checked = [row for row, item in enumerate(self._model.items, 1) if self._session.prose.on(item)]
        cursor, rows = self._view.row, sorted({*self._session.threads.rows_with_threads(), *checked})
        if not rows:
            has_threads = bool(self._session.threads.all_threads())
            self._screen.notify(
                f"all threads are hidden: {key_for('threads')} shows them" if has_threads else "there are no threads"
            )
            return
        is_only = self._view.is_on_thread and rows == [cursor] and len(self._view.rendered.threads) == 1
        ahead = [row for row in rows if (row - cursor) * step > 0]
        self._view.select(min(ahead or rows) if step > 0 else max(ahead or rows))
        if self._view.rendered.threads:
            self._session.go_to_line(self._view.rendered.threads[0 if step > 0 else -1])
        if is_only:
            self._screen.notify("this is the only thread")
        elif not ahead:
            self._screen.notify("continued at the first thread" if step > 0 else "continued at the last thread")

    def _go_ahead(self, step: int, lines: list[int]) -> bool:
        """Go to the nearest line of `lines` below the cursor, or above it if `step` is -1.

        Return False if there is none.
        """
        cursor = self._view.line
        ahead = [line for line in lines if (line - cursor) * step > 0]
        if ahead:
            self._session.go_to_line(min(ahead) if step > 0 else max(ahead))
        return bool(ahead)
