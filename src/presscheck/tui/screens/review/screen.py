"""The review screen: the items of a change request on the left, the selected change with its threads on the right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from presscheck.engine.review.model import ReviewModel
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.screens.page_editor import edit_page
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.conflict_actions import ConflictActions
from presscheck.tui.screens.review.drafts import ReviewDrafts
from presscheck.tui.screens.review.history import HistoryActions, ReviewComparison
from presscheck.tui.screens.review.loader import ReviewLoader
from presscheck.tui.screens.review.merge_actions import MergeActions
from presscheck.tui.screens.review.merge_forecast import MergeForecast
from presscheck.tui.screens.review.navigation import ReviewNavigation
from presscheck.tui.screens.review.page_texts import PageTextLoader
from presscheck.tui.screens.review.request_actions import RequestActions
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.screens.review.thread_filter import ThreadFilter
from presscheck.tui.screens.review.thread_list_screen import ThreadListActions
from presscheck.tui.screens.review.verdict_actions import VerdictActions
from presscheck.tui.screens.review.view import ReviewView
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.engine.review.threads import Thread


ON_THREAD = ("reply", "resolve", "react", "edit", "comment", "next_thread")
ON_CONFLICT = ("take_ours", "edit", "comment", "merge", "next_change", "next_page")
"""What the footer shows while the cursor is on a thread or a conflict."""


class ReviewScreen(BaseScreen):
    """A change request: read it, discuss it, review it and merge it.

    Args:
        request: the change request, or the id of its space.
        number: its id or its number, if only the space is given.
    """

    CSS_PATH = "screen.tcss"
    FOOTER = ("comment", "mark", "merge", "next_change", "next_page", "next_thread")

    def __init__(self, request: ChangeRequest | str, number: str = "") -> None:
        super().__init__()
        self._shown_commands: tuple[str, ...] = ()
        self._request = None if isinstance(request, str) else request
        self._location = (request, number) if isinstance(request, str) else (request.space, request.id)
        self._target_thread: tuple[str, str] | None = None
        self._had_items = self._is_stale = False

    @property
    def is_shown(self) -> bool:
        """Whether the user sees this screen, or another one with a part of its model."""
        return super().is_shown or self.thread_list.is_shown or self.merge.is_shown

    def _build(self) -> None:
        """Create the model, the view and the action handlers."""
        self.model = ReviewModel(self.engine, *self._location)
        self.loader = ReviewLoader(self.model, self, self._on_answer)
        self.texts = PageTextLoader(self.model, self)
        self.threads = ThreadFilter(self.model, self.texts, self.engine.outbox)
        self.view = ReviewView(self.model, self.texts, self.threads, self.style_for, self._load_replies)
        self.navigation = ReviewNavigation(self.model, self, self.view, self.texts, self.threads)
        self.drafts = ReviewDrafts(self.model, self)
        self.forecast = MergeForecast(self.model, self)
        self.comparison = ReviewComparison(self.model, self, self.navigation.go_to_first)
        self.merge = MergeActions(self.model, self, self.drafts, self.forecast)
        self.comments = CommentActions(self.model, self, self.view, self.drafts)
        self.requests = RequestActions(
            self.model, self, self.view, self.drafts, self.comments, self.merge, self._edit_page
        )
        self.thread_list = ThreadListActions(
            self.model, self, self.texts, self.threads, self.comments, self.show_thread
        )

    def command_handlers(self) -> Iterable[object]:
        """The screen and its parts."""
        return (
            self,
            self.navigation,
            self.comments,
            VerdictActions(self.model, self, self.drafts),
            SuggestionActions(self.model, self, self.view, self.drafts, self.requests.edit_page_reason),
            ConflictActions(self.model, self, self.view, self.requests.edit_page_reason),
            self.requests,
            self.merge,
            self.thread_list,
            self.comparison,
            HistoryActions(self.model, self),
        )

    @property
    def footer_commands(self) -> tuple[str, ...]:
        """Those for the thread or the conflict under the cursor, or for the page."""
        if self.view.is_in_change and self.view.is_on_thread:
            can_apply = self.disabled_reason("use_suggestion") is None
            return ("use_suggestion", *ON_THREAD) if can_apply else ON_THREAD
        if self.view.is_in_change and self.disabled_reason("take_ours") is None:
            return ON_CONFLICT
        return self.FOOTER

    def title_line(self) -> Line:
        """The space, the number and the subject."""
        request, space = self.model.request, self.model.space
        subject = sanitize(request.subject) or "(no subject)" if request else "…"
        return (
            Span(f" {sanitize(space.title)} › " if space else " ", "quiet"),
            Span(f"{request.number if request else ''} ", "quiet"),
            Span(subject, "strong"),
        )

    def body(self) -> ComposeResult:
        """The header, the list and the change."""
        self._build()
        yield from self.view.compose()

    def on_mount(self) -> None:
        """Show what the store knows, then subscribe to news."""
        self.loader.read_stored(self._request)
        super().on_mount()
        self.view.items.focus()
        self._had_items = bool(self.model.items)
        self.navigation.go_to_first()
        self.loader.start()

    def on_screen_resume(self) -> None:
        """Draw what changed while the screen was hidden, with the threads as they were filtered elsewhere."""
        super().on_screen_resume()
        self.threads.reload()
        if self._is_stale:
            self.redraw()

    def on_resize(self) -> None:
        """Show both panes side by side, or one at a time."""
        super().on_resize()
        self.redraw()

    def command_refresh(self) -> None:
        """Request everything that is shown again."""
        self.texts.retry()
        super().command_refresh()
        self.redraw()

    def show_thread(self, thread_id: str) -> None:
        """Go to a thread as soon as it is known, unless the user presses another key before."""
        self._target_thread = (thread_id, self.last_key)
        self._show_target_thread()

    @on(RowList.RowHighlighted)
    def row_highlighted(self, event: RowList.RowHighlighted) -> None:
        """Show another item."""
        if event.rows is self.view.items and not self.view.is_shown:
            self.view.show_change(to_top=True)
            self.navigation.load_visible()
        self._update_footer()

    def on_descendant_focus(self) -> None:
        """Show the keys of the pane that has the focus now."""
        self._update_footer()

    def _update_footer(self) -> None:
        if self.footer_commands != self._shown_commands:
            self._shown_commands = self.footer_commands
            self.refresh_status_bars()

    def redraw(self) -> None:
        """Draw all parts from the model, once they are visible."""
        if self.is_mounted:
            self.when_shown("redraw", self._draw)

    def _draw(self) -> None:
        if self.is_leaving:
            return
        self.merge.redraw_requirements()
        self.thread_list.redraw()
        self._is_stale = not super().is_shown
        if self._is_stale:
            return
        self.view.width = self.size.width
        collected = len(self.model.discussion.collected()) if self.drafts.collects else None
        self.view.draw_header(self.loader.error, collected)
        self.view.draw_list()
        self.refresh_status_bars()
        self.view.show_change()

    def _on_answer(self) -> None:
        self.forecast.update()
        self.comparison.update()
        if self.model.items and not self._had_items:
            self._had_items = True
            self.navigation.go_to_first()
        self.redraw()
        if self.thread_list.is_shown:
            self.thread_list.load_texts()
        else:
            self.navigation.load_visible()
        self._show_target_thread()

    def _show_target_thread(self) -> None:
        if self._target_thread is None or self.is_leaving:
            return
        thread_id, key = self._target_thread
        if self.last_key != key:
            self._target_thread = None
        elif self.model.items and self.model.discussion.thread(thread_id):
            self._target_thread = None
            self.navigation.go_to_thread(thread_id)

    def _load_replies(self, threads: list[Thread]) -> None:
        for thread in threads:
            self.loader.load_replies(thread)

    async def _edit_page(self, page_id: str) -> None:
        await edit_page(self, self.model.path, page_id)
