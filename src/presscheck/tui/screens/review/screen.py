"""The review screen: the items of a change request on the left, the selected change with its threads on the right."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from typing_extensions import override

from presscheck.engine.review.live_updates import LiveUpdates
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, cut, width
from presscheck.tui.comments.commands import ThreadCommands
from presscheck.tui.places import Place
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.review.comment_actions import CommentActions
from presscheck.tui.screens.review.conflict_actions import ConflictActions
from presscheck.tui.screens.review.draft_continuation import DraftContinuation
from presscheck.tui.screens.review.find_all import FindInAll
from presscheck.tui.screens.review.history import HistoryActions
from presscheck.tui.screens.review.merge_actions import MergeActions
from presscheck.tui.screens.review.navigation import ReviewNavigation
from presscheck.tui.screens.review.program_actions import ProgramActions
from presscheck.tui.screens.review.prose_checks import ProseCheckActions
from presscheck.tui.screens.review.rearrange_actions import RearrangeActions
from presscheck.tui.screens.review.request_actions import RequestActions
from presscheck.tui.screens.review.requirements import Requirements
from presscheck.tui.screens.review.session import ReviewSession
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.screens.review.thread_list_screen import ThreadListScreen
from presscheck.tui.screens.review.verdict_actions import VerdictActions
from presscheck.tui.screens.sites.previews import RequestPreview
from presscheck.tui.screens.web_address import open_address
from presscheck.tui.ui.content_place import ContentPlace
from presscheck.tui.ui.screen import BaseScreen
from presscheck.tui.ui.signs import legend
from presscheck.tui.widgets.line_view import LineView
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.status_bar import ClickableLines

if TYPE_CHECKING:
    from presscheck.api.change_requests import Review
    from presscheck.tui.commands import Command


ON_THREAD = ("reply", "resolve", "react", "edit", "comment", "next_thread")
ON_CONFLICT = ("take_ours", "edit", "comment", "merge", "next_change", "next_page")
"""Footer commands while the cursor is on a conflict."""
ON_FINDING = ("comment", "edit", "next_thread", "next_change", "next_page")
"""Footer commands while the cursor is on a finding of a prose check."""
PASSING_BY = ("next_page", "previous_page", "mark")
"""Commands that do not act on the lines of the selected item."""
STATE_COLUMNS = 24
"""Cells of the title line for the state of the connection."""
SHORT_SUBJECT = 12
"""Minimum cells of the subject in the title line beside the title of a page."""
PAUSES = 10
"""The pause after drawing answers, in multiples of the time that drawing took."""
LONGEST_PAUSE = 1.0
"""Maximum seconds of this pause."""
IF_MERGED = ("revert", "comment", "next_change", "next_page", "next_thread", "threads")
"""Footer commands for a merged change request, where commands of a review do not apply."""


class ReviewScreen(BaseScreen):
    """The screen of a change request, to read, discuss, review and merge it.

    Args:
        space_id: the id of the space.
        request_id: the id of the change request, or its number in the space.
    """

    CSS_PATH = "screen.tcss"
    SCOPE = "review"
    FOOTER = ("comment", "mark", "merge", "next_change", "next_page", "next_thread")
    LEGEND = legend("+−~§┃◆☑•✓✗⚠◷✎●○↻¶↓")
    FOOTER_TITLES: ClassVar[Mapping[str, str]] = {"mark": "viewed", "next_pane": "pages"}

    def __init__(self, space_id: str, request_id: str) -> None:
        super().__init__()
        self._shown_commands: tuple[str, ...] = ()
        self._location = (space_id, request_id)
        self._had_items = self._is_stale = self._will_draw = False
        self._next_drawing = 0.0
        """The earliest time to draw further answers."""
        self._compared: tuple[str | None, ...] = ()
        self._reviews: Sequence[Review] | None = None
        """The reviews at the last update of the merge forecast."""
        self.session = ReviewSession(self, space_id, request_id, self._on_answer)
        self._merge = MergeActions(self.session)
        self._history = HistoryActions(self.session)
        self.continuation = DraftContinuation(self.session)
        self._notifications = NotificationActions(self, self._to_notify, self.session.notifications_changed)

    @override
    @property
    def is_shown(self) -> bool:
        """Whether the user sees this screen, or a screen that shows a part of the review."""
        return super().is_shown or self.session.is_part_shown

    @override
    def content_place(self) -> ContentPlace:
        path = self.session.model.path
        return ContentPlace(path["space_id"], path["change_request_id"])

    @override
    def field(self, name: str) -> str:
        request, view = self.session.model.request, self.session.view
        page = view.item if view.item and view.item.noun == "page" else None
        line = view.text_line if name == "line" and page else None
        values = {
            "number": str(request.number) if request else "",
            "title": request.subject if request else "",
            "url": request.urls.app or "" if request else "",
            "page": page.id if page else "",
            "path": page.path or "" if page else "",
            "line": "" if line is None else str(line + 1),
            "selection": view.range_text if name == "selection" else "",
        }
        return values[name] if name in values else super().field(name)

    @override
    def command_handlers(self) -> Iterable[object]:
        session, comments = self.session, CommentActions(self.session)
        return (
            self,
            ReviewNavigation(session),
            comments,
            ThreadCommands(comments.threads, lambda: (session.view.thread, session.view.message)),
            VerdictActions(session),
            RearrangeActions(session),
            SuggestionActions(session),
            ConflictActions(session),
            RequestActions(session),
            self._merge,
            Requirements(session),
            self._history,
            RequestPreview(session.model, self),
            FindInAll(session),
            ProseCheckActions(session),
            ProgramActions(session),
            self._notifications,
        )

    @override
    @property
    def footer_commands(self) -> tuple[str, ...]:
        """The names of the commands in the footer, which depend on the cursor.

        If the change hides the list in a narrow terminal, the command that shows the list comes first.
        """
        to_list = ("next_pane",) if self.has_class("folded") and self.session.view.is_in_change else ()
        return (*to_list, *self._commands_at_cursor)

    @property
    def _commands_at_cursor(self) -> tuple[str, ...]:
        """Commands for the thread or conflict under the cursor, or else for the page."""
        if self.session.view.is_in_change and self.session.view.is_on_thread:
            can_apply = self.disabled_reason("use_suggestion") is None
            return ("use_suggestion", *ON_THREAD) if can_apply else ON_THREAD
        if self.session.view.finding:
            return ON_FINDING
        if self.session.view.is_in_change and self.disabled_reason("take_ours") is None:
            return ON_CONFLICT
        request = self.session.model.request
        return IF_MERGED if request and request.status == "merged" else self.FOOTER

    @override
    def title_line(self) -> Line:
        request, space = self.session.model.request, self.session.model.space
        subject = sanitize(request.subject) or "(no subject)" if request else "…"
        place = (
            Span(" ", "quiet"),
            Span(sanitize(space.title) if space else "", "quiet", space.id if space else None),
            Span(" › " if space else "", "quiet"),
            Span(f"#{request.number} " if request else "", "quiet"),
        )
        item = self.session.view.item
        if item is None or self.session.view.items.display:
            return (*place, Span(subject, "strong"))
        page = (Span(" › ", "quiet"), Span(item.title, "strong"))  # the list, which would show it, is hidden
        room = max(SHORT_SUBJECT, self.size.width - width(place) - width(page) - STATE_COLUMNS)
        return (*place, *cut((Span(subject, "quiet"),), room), *page)

    @override
    def go_to(self, place: Place) -> None:
        if place.comment:
            self.session.show_thread(place.comment)

    @override
    def has_arrived(self, place: Place) -> bool:
        model = self.session.model
        return model.request is not None and model.shown_changes is not None and super().has_arrived(place)

    @override
    def place(self) -> Place:
        request, space = self.session.model.request, self.session.model.space
        title = f"#{request.number} {sanitize(request.subject) or '(no subject)'}" if request else "Change request"
        return Place("review", f"{title} · {sanitize(space.title)}" if space else title, self._location)

    @override
    @property
    def pane_width(self) -> int | None:
        return self.app_context.profile.pages_width

    @override
    def body(self) -> ComposeResult:
        yield from self.session.view.compose()

    @override
    def on_mount(self) -> None:
        self.session.loader.read_stored()
        super().on_mount()
        self.engine.prepare_writes()
        self.session.view.items.focus()
        self._had_items = bool(self.session.model.items)
        self.session.go_to_first()
        self.session.loader.start()
        self.run(LiveUpdates(self.engine, self.session.model, lambda: self.is_shown).run, group="live updates")

    def command_threads(self) -> None:
        """Open the list of threads, and choose which threads are visible."""
        self.session.open_part(ThreadListScreen(self.session))

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute or follow, or the newest unsent write, whichever is newer.

        Without either, offer to undo the last sent write.
        """
        if not self._notifications.can_undo:
            return self.session.undo_last()
        self._notifications.undo()
        return None

    @override
    def on_screen_resume(self) -> None:
        """Redraw if the review changed while the screen was hidden, and apply the thread filter again."""
        super().on_screen_resume()
        self.session.threads.reload()
        if self._is_stale:
            self.redraw()

    @override
    def on_resize(self) -> None:
        super().on_resize()
        self.redraw()

    @override
    def run_command(self, command: Command) -> None:
        if command.name not in PASSING_BY:
            self.session.view.show_selected()  # it may not be drawn yet
        super().run_command(command)

    @override
    def command_refresh(self) -> None:
        self.session.texts.retry()
        self.session.loader.retry_steps()
        super().command_refresh()
        self.redraw()

    @override
    @property
    def text_pane(self) -> LineView | None:
        return self.session.view.change if self.session.view.change.region else super().text_pane

    @on(ClickableLines.TargetClicked)
    def target_clicked(self, event: ClickableLines.TargetClicked) -> None:
        """Browse the space of the change request."""
        self.invoke(lambda: self.app_context.go(Place.page(event.target)))

    @on(LineView.LinkChosen)
    def link_chosen(self, event: LineView.LinkChosen) -> None:
        """Open a web address; other links can only be followed in the browse screen."""
        open_address(self.app_context, event.target)

    @on(RowList.RowHighlighted)
    def row_highlighted(self, event: RowList.RowHighlighted) -> None:
        """Show the item under the cursor, and mark a thread that the cursor has left as read."""
        if event.rows is self.session.view.items and not self.session.view.is_shown:
            self.session.view.show_soon(self.session.load_visible)
        elif event.rows is self.session.view.change:
            self.session.view.follow_cursor()
        if self.session.view.leave_thread():
            self.redraw()
        self._update_footer()

    @on(LineView.WheelTurned)
    def wheel_turned(self) -> None:
        """Load the items whose rows came into view."""
        self.session.load_visible()

    def on_descendant_focus(self) -> None:
        """Show the focused pane, and its keys in the footer."""
        self.session.view.follow_focus()
        self._update_footer()

    def _update_footer(self) -> None:
        if self.footer_commands != self._shown_commands:
            self._shown_commands = self.footer_commands
            self.refresh_status_bars()

    @override
    def draw(self) -> None:
        if self.is_leaving:
            return
        session = self.session
        if session.part:
            session.part.redraw()
        self._is_stale = not super().is_shown
        if self._is_stale:
            return
        view, review = session.view, session.drafts.review
        view.width = self.size.width
        view.draw_header(len(review.entries()) if review.is_started else None, session.program.progress)
        view.draw_list()
        self.refresh_status_bars()
        if not view.is_passing:
            view.show_change()
        session.go_to_target()

    def _on_answer(self) -> None:
        session, model = self.session, self.session.model
        request, space = model.request, model.space
        compared = (
            request.revision if request else None,
            request.status if request else None,
            space.revision if space else None,
        )
        is_other = compared != self._compared or model.reviews is not self._reviews
        if is_other or self._merge.forecast.checked is None or self._history.has_failed:  # not for comments
            self._compared, self._reviews = compared, model.reviews
            self._merge.forecast.update()
            self._history.update()
        if model.items and not self._had_items:
            self._had_items = True
            session.go_to_first()
        self._draw_soon()
        self.continuation.proceed()

    def _draw_soon(self) -> None:
        """Draw the answers that have arrived.

        Answers that arrive shortly after each other are drawn together: the replies of 300 threads would otherwise draw
        the page 300 times. If the items have changed, draw at once, so that the cursor stays on its item.
        """
        pause = self._next_drawing - monotonic()
        if pause <= 0 or not self.session.view.is_list_current:
            self._draw_answers()
        elif not self._will_draw:
            self._will_draw = True
            self.set_timer(pause, self._draw_answers)

    def _draw_answers(self) -> None:
        session, started = self.session, monotonic()
        self._will_draw = False
        self.redraw()
        if not (isinstance(session.part, ThreadListScreen) and session.is_part_shown):  # it loads its own texts
            session.load_visible()
        drawn = monotonic()
        self._next_drawing = drawn + min(LONGEST_PAUSE, PAUSES * (drawn - started))

    def _to_notify(self) -> Selection | str:
        view = self.session.view
        thread = view.thread if view.is_in_change and view.is_on_thread else None
        return self.session.to_notify([thread] if thread else [])
