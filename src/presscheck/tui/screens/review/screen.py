"""The review screen: the items of a change request on the left, the selected change with its threads on the right."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.inbox.notification_settings import NotificationTarget, request_target
from presscheck.engine.review.live_updates import LiveUpdates
from presscheck.engine.review.model import ReviewModel, ThreadFilter
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.external_programs import open_address
from presscheck.tui.places import Place
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.page.editor import edit_page
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.conflict_actions import ConflictActions
from presscheck.tui.screens.review.draft_continuation import DraftContinuation
from presscheck.tui.screens.review.drafts import ReviewDrafts
from presscheck.tui.screens.review.find_all import FindInAll, WholeRequest
from presscheck.tui.screens.review.history import HistoryActions, ReviewComparison
from presscheck.tui.screens.review.loader import PageTextLoader, ReviewLoader
from presscheck.tui.screens.review.merge_actions import MergeActions, MergeForecast
from presscheck.tui.screens.review.navigation import ReviewNavigation
from presscheck.tui.screens.review.page_owners import PageOwners
from presscheck.tui.screens.review.rearrange_actions import RearrangeActions
from presscheck.tui.screens.review.request_actions import RequestActions
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.screens.review.thread_list_screen import ThreadListActions, thread_selection
from presscheck.tui.screens.review.verdict_actions import VerdictActions
from presscheck.tui.screens.review.view import ReviewView
from presscheck.tui.screens.sites.previews import RequestPreview
from presscheck.tui.status_bar import ClickableLines
from presscheck.tui.ui.content_place import ContentPlace
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest, Review
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.screens.review.merge_actions import Target


ON_THREAD = ("reply", "resolve", "react", "edit", "comment", "next_thread")
ON_CONFLICT = ("take_ours", "edit", "comment", "merge", "next_change", "next_page")
"""What the footer shows while the cursor is on a thread or a conflict."""
IF_MERGED = ("revert", "comment", "next_change", "next_page", "next_thread", "threads")
"""What it shows instead of the verbs of a review, once the change request is merged."""


class ReviewScreen(BaseScreen):
    """A change request: read it, discuss it, review it and merge it.

    Args:
        request: the change request, or the id of its space.
        number: its id or its number, if only the space is given.
    """

    CSS_PATH = "screen.tcss"
    SCOPE = "review"
    FOOTER = ("comment", "mark", "merge", "next_change", "next_page", "next_thread")
    LEGEND = (
        ("+", "added"),
        ("−", "deleted"),
        ("~", "edited"),
        ("┃", "thread; in the list, the number of open comments"),
        ("●", "something new in a thread"),
        ("✓", "approved; in the list, viewed"),
        ("✗", "changes requested"),
        ("◷", "review requested, or not sent yet"),
        ("✎", "held for your review"),
    )
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"mark": "viewed"}

    def __init__(self, request: ChangeRequest | str, number: str = "") -> None:
        super().__init__()
        self._shown_commands: tuple[str, ...] = ()
        self._request = None if isinstance(request, str) else request
        self._location = (request, number) if isinstance(request, str) else (request.space, request.id)
        self._target_thread: tuple[str, str] | None = None
        self._had_items = self._is_stale = False
        self._compared: tuple[str | None, ...] = ()
        self._reviews: Sequence[Review] | None = None
        """The revisions and the reviews as of the last comparison."""

    @override
    @property
    def is_shown(self) -> bool:
        """Whether the user sees this screen, or another one with a part of its model."""
        return super().is_shown or self.thread_list.is_shown or self.merge.is_shown

    @override
    def content_place(self) -> ContentPlace:
        space, number = self._location
        return ContentPlace(space, self.model.request.id if self.model.request else number)

    def _build(self) -> None:
        """Create the model, the view and the action handlers."""
        self.model = ReviewModel(self.engine, *self._location, self._notification_state)
        self.loader = ReviewLoader(self.model, self, self._on_answer)
        self.texts = PageTextLoader(self.model, self)
        self.threads = ThreadFilter(self.model, self.texts, self.engine.outbox)
        self.view = ReviewView(self.model, self.texts, self.threads, self._load_replies)
        self.navigation = ReviewNavigation(self.model, self, self.view, self.texts, self.threads)
        self.drafts = ReviewDrafts(self.model, self)
        self.forecast = MergeForecast(self.model, self)
        self.comparison = ReviewComparison(self.model, self, self.navigation.go_to_first)
        owners = PageOwners(self.model, self)
        self.merge = MergeActions(self.model, self, self.drafts, self.forecast, self.threads, owners, self._go_to)
        self.comments = CommentActions(self.model, self, self.view, self.drafts)
        self.requests = RequestActions(
            self.model, self, self.view, self.drafts, self.comments, self.merge, owners, self._edit_page
        )
        self.continuation = DraftContinuation(
            self.model,
            self,
            self.comments,
            self.requests,
            self._run_by_name,
            self._load_replies,
            self.navigation.show_page,
            lambda page: self.navigation.go_to_quote(self.comments.quote_of_draft(page)),
        )
        self.suggestions = SuggestionActions(
            self.model,
            self,
            self.view,
            self.drafts,
            self.threads,
            edit_reason=self.requests.edit_page_reason,
            edit_any_reason=self.requests.edit_any_reason,
        )
        self.notifications = NotificationActions(
            self.engine, self.notify, self._notification_target, self._notifications_changed
        )
        self.thread_list = ThreadListActions(
            self.model,
            self,
            self.texts,
            self.threads,
            self.comments,
            self.suggestions,
            self.show_thread,
            self._notifications_changed,
            self.requests.undo_last,
        )

    @override
    def command_handlers(self) -> Iterable[object]:
        return (
            self,
            self.navigation,
            self.comments,
            VerdictActions(self.model, self, self.drafts),
            RearrangeActions(self.model, self, self.view, self.suggestions, self.requests.edit_any_reason),
            self.suggestions,
            ConflictActions(self.model, self, self.view, self.requests.edit_page_reason),
            self.requests,
            self.merge,
            self.thread_list,
            self.comparison,
            HistoryActions(self.model, self),
            RequestPreview(self.model, self),
            FindInAll(WholeRequest(self.model, self.view, self.texts), self.view, self.find),
            self.notifications,
        )

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        """Those for the thread or the conflict under the cursor, or for the page."""
        if self.view.is_in_change and self.view.is_on_thread:
            can_apply = self.disabled_reason("use_suggestion") is None
            return ("use_suggestion", *ON_THREAD) if can_apply else ON_THREAD
        if self.view.is_in_change and self.disabled_reason("take_ours") is None:
            return ON_CONFLICT
        request = self.model.request
        return IF_MERGED if request and request.status == "merged" else self.FOOTER

    @override
    def title_line(self) -> Line:
        request, space = self.model.request, self.model.space
        subject = sanitize(request.subject) or "(no subject)" if request else "…"
        return (
            Span(" ", "quiet"),
            Span(sanitize(space.title) if space else "", "quiet", space.id if space else None),
            Span(" › " if space else "", "quiet"),
            Span(f"#{request.number} " if request else "", "quiet"),
            Span(subject, "strong"),
        )

    @override
    def place(self) -> Place:
        request, space = self.model.request, self.model.space
        title = f"#{request.number} {sanitize(request.subject) or '(no subject)'}" if request else "Change request"
        return Place("review", f"{title} · {sanitize(space.title)}" if space else title, self._location)

    @override
    def body(self) -> ComposeResult:
        self._build()
        yield from self.view.compose()

    @override
    def on_mount(self) -> None:
        self.loader.read_stored(self._request)
        super().on_mount()
        self.engine.prepare_writes()
        self.view.items.focus()
        self._had_items = bool(self.model.items)
        self.navigation.go_to_first()
        self.loader.start()
        self.run(LiveUpdates(self.engine, self.model, lambda: self.is_shown).run, group="live updates")

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute or follow, or the newest write that was not sent, whichever is newer."""
        if not self.notifications.can_undo:
            return self.requests.undo_last()
        self.notifications.undo()
        return None

    @override
    def on_screen_resume(self) -> None:
        """Draw what changed while the screen was hidden, with the threads as they were filtered elsewhere."""
        super().on_screen_resume()
        self.threads.reload()
        if self._is_stale:
            self.redraw()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.redraw()

    @override
    def command_refresh(self) -> None:
        self.texts.retry()
        super().command_refresh()
        self.redraw()

    def show_thread(self, thread_id: str) -> None:
        """Go to a thread as soon as it is known, unless the user presses another key before."""
        self._target_thread = (thread_id, self.last_key)
        self._show_target_thread()

    def show_draft(self, name: str, target: str, title: str) -> None:
        """Open a draft in the composer as soon as its place is known, unless the user presses another key before.

        Args:
            name: what it is, without ids.
            target: the id of the page, the comment or the outbox row that it is about.
            title: the title of the page that it is about.
        """
        self.continuation.start(name, target, title)

    def _go_to(self, target: Target) -> None:
        """Go to what a merge requirement depends on, or run the command that can meet it."""
        if target.kind == "thread":
            self.show_thread(target.id)
        elif target.kind == "page":
            self.navigation.go_to_conflict(target.id)
        elif target.kind == "reviewer":
            self.navigation.go_to_reviewer(target.id)
        else:
            self._run_by_name(target.id)

    def _run_by_name(self, name: str) -> None:
        if command := self.command_table.command(name):
            self.run_command(command)

    @override
    @property
    def text_pane(self) -> LineView | None:
        return self.view.change if self.view.change.region else super().text_pane

    @on(ClickableLines.TargetClicked)
    def target_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Browse the space of the change request."""
        self.invoke(lambda: self.app_context.open_page(event.target))

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Open a web address; other links are followed where pages are browsed."""
        open_address(self.app_context, event.target)

    @on(RowList.RowHighlighted)
    def row_highlighted(self, event: RowList.RowHighlighted) -> None:
        """Show another item."""
        if event.rows is self.view.items and not self.view.is_shown:
            self.view.show_change(to_top=True)
            self.navigation.load_visible()
        elif event.rows is self.view.change:
            self.view.follow_cursor()
        if self.view.leave_thread():
            self.redraw()
        self._update_footer()

    def on_descendant_focus(self) -> None:
        """Show the keys of the pane that has the focus now."""
        self._update_footer()

    def _update_footer(self) -> None:
        if self.footer_commands != self._shown_commands:
            self._shown_commands = self.footer_commands
            self.refresh_status_bars()

    @override
    def redraw(self) -> None:
        if self.is_mounted:
            self.when_shown("redraw", self._draw)

    def _draw(self) -> None:
        if self.is_leaving:
            return
        if self.merge.requirements:
            self.merge.redraw_requirements()
        if self.thread_list.screen:
            self.thread_list.redraw()
        self._is_stale = not super().is_shown
        if self._is_stale:
            return
        self.view.width = self.size.width
        review = self.drafts.review
        collected = len(review.entries()) if review.is_started else None
        self.view.draw_header(self.loader.error, collected)
        self.view.draw_list()
        self.refresh_status_bars()
        self.view.show_change()

    def _on_answer(self) -> None:
        request, space = self.model.request, self.model.space
        compared = (
            request.revision if request else None,
            request.status if request else None,
            space.revision if space else None,
        )
        is_other = compared != self._compared or self.model.reviews is not self._reviews
        if is_other or self.forecast.checked is None or self.comparison.has_failed:  # a comment changes neither
            self._compared, self._reviews = compared, self.model.reviews
            self.forecast.update()
            self.comparison.update()
        if self.model.items and not self._had_items:
            self._had_items = True
            self.navigation.go_to_first()
        self.redraw()
        if self.thread_list.screen and self.thread_list.is_shown:
            self.thread_list.load_texts()
        else:
            self.texts.prefetch(self.view.visible_items)
        self._show_target_thread()
        if self.continuation.wanted:
            self.continuation.proceed()

    def _show_target_thread(self) -> None:
        if self._target_thread is None or self.is_leaving:
            return
        thread_id, key = self._target_thread
        if self.last_key != key:
            self._target_thread = None
        elif self.model.items and (thread := self.model.discussion.thread(thread_id)):
            self._target_thread = None
            if not self.threads.is_listed(thread):  # its page did not change since the review that is compared with
                self.model.compare_since(None)
                self.redraw()
            self.navigation.go_to_thread(thread_id)

    def _notification_state(self, request_id: str, thread_id: str) -> str:
        target = NotificationTarget(self._location[0], request_id, thread_id)
        return self.engine.notification_settings.state(target)

    def _notification_target(self) -> Selection | str:
        """The thread under the cursor, or the change request."""
        request = self.model.request
        if request is None:
            return "the change request is not loaded yet"
        thread = self.view.thread if self.view.is_in_change and self.view.is_on_thread else None
        if thread:
            return thread_selection(request, [thread])
        return Selection([request_target(request)], f"#{request.number} {sanitize(request.subject)}")

    def _notifications_changed(self) -> None:
        self.model.discussion.notifications_changed()
        self.redraw()

    def _load_replies(self, threads: list[Thread]) -> None:
        for thread in threads:
            self.loader.load_replies(thread)

    async def _edit_page(self, page_id: str) -> None:
        await edit_page(self, self.model.path, page_id)
