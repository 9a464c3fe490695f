"""The list of all threads of a change request by state. It also chooses which states the review shows."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from presscheck.engine.review.threads import STATES, Thread, ThreadState
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.comments.actions import ThreadActions
from presscheck.tui.comments.thread_list import ThreadList
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.widgets.empty_state import EmptyState

if TYPE_CHECKING:
    from presscheck.tui.screens.review.session import ReviewSession


class ThreadListScreen(ThreadList):
    """The threads of a review.

    Args:
        session: the review.
    """

    FOOTER: ClassVar[tuple[str, ...]] = ("open", "reply", "resolve", "mark", "act_on_marked", "close")

    def __init__(self, session: ReviewSession) -> None:
        super().__init__(STATES, has_marks=True)
        self.drafts, self.actions = session.drafts, ThreadActions(session.drafts)
        self._session, self._suggestions = session, SuggestionActions(session)
        self._titles: dict[str, str] = {}
        self._notifications = NotificationActions(
            self.engine, self.notify, self._to_notify, session.notifications_changed
        )

    @override
    def command_handlers(self) -> Iterable[object]:
        return (self, self._notifications)

    @override
    def title_line(self) -> Line:
        request = self._session.model.request
        name = f"#{request.number} {sanitize(request.subject)}" if request else ""
        return (Span(" Threads of ", "quiet"), Span(name, "title"))

    @override
    def find_threads(self) -> Sequence[Thread]:
        threads = self._session.threads.all_threads()
        self._titles = {thread.id: item.title for item, thread in threads if item}
        self._session.texts.prefetch([item for item, _ in threads if item])  # texts show which threads are outdated
        return [thread for _, thread in threads]

    @override
    @property
    def visible_states(self) -> Collection[ThreadState]:
        return self._session.threads.visible

    @override
    def toggle_state(self, state: ThreadState) -> None:
        self._session.threads.set_visible(state, visible=state not in self.visible_states)
        self._session.screen.redraw()

    @override
    def place_of(self, thread: Thread) -> str:
        return self._titles.get(thread.id, "conversation")

    @override
    def show_empty(self, empty: EmptyState) -> None:
        if self.all_threads:
            empty.show_empty("All threads are hidden.", "1 to 4 show the threads of a state.")
        else:
            empty.show_empty("No comments yet.", "In the review, c comments on the line under the cursor.")

    def command_open(self) -> None:
        """Close the list, and go to the thread in the review."""
        if thread := self.thread:
            self.app_context.pop_screen()
            self._session.show_thread(thread.id)

    def command_mark(self) -> None:
        """Toggle the mark of the thread, and go to the next thread."""
        self.rows.mark()
        self.refresh_status_bars()

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute or follow, or else the newest write of the review."""
        if not self._notifications.can_undo:
            return self._session.undo_last()
        self._notifications.undo()
        return None

    def reason_act_on_marked(self) -> str | None:
        """Return why no suggestions can be applied."""
        return self._suggestions.apply_reason(self._chosen)

    async def command_act_on_marked(self) -> None:
        """Apply the suggestions of the marked threads or, without marks, of all visible threads."""
        threads = self._chosen
        self.rows.clear_marks()
        await self._suggestions.apply_all(threads)

    @property
    def _marked(self) -> list[Thread]:
        return [thread for thread in self.shown if thread.id in self.rows.marked]

    @property
    def _chosen(self) -> list[Thread]:
        """The marked threads or, without marks, all visible threads."""
        return self._marked or self.shown

    def _to_notify(self) -> Selection | str:
        thread = self.thread
        return self._session.to_notify(self._marked or [thread]) if thread else "no thread here"
