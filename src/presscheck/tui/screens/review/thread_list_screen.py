"""The list of all threads of a change request. Hiding threads by state in the list also hides them in the review."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from typing_extensions import override

from presscheck.engine.review.thread_filter import parse_thread_filter, searches_replies
from presscheck.engine.review.threads import STATES, Thread, ThreadState
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for, tab_label
from presscheck.tui.comments.actions import ThreadActions
from presscheck.tui.comments.rows import first_words
from presscheck.tui.comments.thread_list import ThreadList
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.review.suggestion_actions import SuggestionActions
from presscheck.tui.ui.ask import confirm, prompt
from presscheck.tui.widgets.empty_state import EmptyState

if TYPE_CHECKING:
    from presscheck.tui.screens.review.session import ReviewSession

EXAMPLE = "author:ada mentions:me is:unresolved page:tokens, or words of the messages"
LONGEST = 400
"""Maximum length of a filter."""


class ThreadListScreen(ThreadList):
    """The threads of a review.

    Args:
        session: the review.
    """

    FOOTER: ClassVar[tuple[str, ...]] = ("open", "reply", "resolve", "mark", "edit_view", "act_on_marked", "close")

    def __init__(self, session: ReviewSession) -> None:
        super().__init__(STATES, has_marks=True)
        self.drafts, self.actions = session.drafts, ThreadActions(session.drafts)
        self._session, self._suggestions = session, SuggestionActions(session)
        self._titles: dict[str, str] = {}
        self._matcher = parse_thread_filter(session.thread_query, self.engine.me)
        self._notifications = NotificationActions(self, self._to_notify, session.notifications_changed)

    @override
    def command_handlers(self) -> Iterable[object]:
        return (*super().command_handlers(), self.rows.marks, self._notifications)

    @override
    def title_line(self) -> Line:
        request = self._session.model.request
        name = f"#{request.number} {sanitize(request.subject)}" if request else ""
        query = self._session.thread_query
        which = (Span("with ", "quiet"), Span(f"{sanitize(query)} ", "accent")) if query else ()
        return (Span(" Threads ", "quiet"), *which, Span("of ", "quiet"), Span(name, "title"))

    @override
    def find_threads(self) -> Sequence[Thread]:
        threads = self._session.threads.all_threads()
        self._titles = {thread.id: item.title for item, thread in threads if item}
        self._session.texts.prefetch([item for item, _ in threads if item])  # texts show which threads are outdated
        if query := self._session.thread_query:
            self._session.loader.load_people(thread for _, thread in threads)
            if searches_replies(query):
                self._session.loader.load_replies(thread for _, thread in threads)
        return [thread for _, thread in threads]

    @override
    def matches(self, thread: Thread) -> bool:
        return self._matcher(thread, self.place_of(thread))

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
        if any(thread.state in self.visible_states for thread in self.all_threads):
            empty.show_empty(
                "No thread matches the filter.",
                f"{key_for('edit_view')} changes the filter; without a text it shows all.",
            )
        elif self.all_threads:
            empty.show_empty(
                "All threads are hidden.", f"{tab_label(1)} to {tab_label(4)} show the threads of a state."
            )
        else:
            empty.show_empty(
                "No comments yet.", f"In the review, {key_for('comment')} comments on the line under the cursor."
            )

    def command_open(self) -> None:
        """Close the list, and go to the thread in the review."""
        if thread := self.thread:
            self.app_context.pop_screen()
            self._session.show_thread(thread.id)

    async def command_edit_view(self) -> None:
        """Ask for a filter of the threads."""
        query = self._session.thread_query
        more = " (leave it empty to show all)" if query else ""
        title, validate = f"Threads: filter{more}", self._query_error
        text = await prompt(self, title, query, min_length=0, max_length=LONGEST, validate=validate, hint=EXAMPLE)
        if text is not None:
            self._session.thread_query, self._matcher = text, parse_thread_filter(text, self.engine.me)
            self.draw()

    def _query_error(self, text: str) -> str | None:
        try:
            parse_thread_filter(text, self.engine.me)
        except InvalidArgument as error:
            return error.message
        return None

    def command_back(self) -> None:
        """Remove all marks; without marks, close the list."""
        if not self.rows.marks.clear():
            self.app_context.close_screen()

    def reason_resolve(self) -> str | None:
        """Return why none of the marked threads or, without marks, of the thread under the cursor can be resolved."""
        reasons = [self.actions.resolve_reason(thread) for thread in self._marked or [self.thread]]
        return None if None in reasons else reasons[0]

    def command_resolve(self) -> Awaitable[None] | None:
        """Resolve or reopen the marked threads or, without marks, the thread under the cursor."""
        if self._marked:
            return self._resolve_marked()
        if self.thread:
            self.actions.toggle_resolved(self.thread)
        return None

    async def _resolve_marked(self) -> None:
        """Resolve the marked threads after a confirmation, or reopen them if all are resolved."""
        marked = self._marked
        possible = [thread for thread in marked if self.actions.resolve_reason(thread) is None]
        resolves = not all(thread.resolved for thread in possible)
        threads = [thread for thread in possible if thread.resolved is not resolves]
        verb = "Resolve" if resolves else "Reopen"
        of_marked = f"{len(threads)} of {count(len(marked), 'thread')}"
        which = count(len(threads), "thread") if len(threads) == len(marked) else of_marked
        lines: list[Line] = [
            (Span(self.place_of(thread), "quiet"), Span(f"  {thread.first.author} {first_words(thread.first)}"))
            for thread in threads
        ]
        for thread in marked:
            if thread not in threads:
                reason = self.actions.resolve_reason(thread) or "it is resolved already"
                lines.append((Span("✗ ", "removed"), Span(f"{first_words(thread.first)}: "), Span(reason, "waiting")))
        if not await confirm(self, f"{verb} {which}?", lines, verb):
            return
        self.rows.marks.clear()
        self.actions.resolve((thread.id for thread in threads), resolved=resolves)
        self.notify(f"{which} {'resolved' if resolves else 'reopened'}")

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last mute or follow, or else the newest write of the review."""
        if not self._notifications.can_undo:
            return self._session.undo_last()
        self._notifications.undo()
        return None

    def reason_act_on_marked(self) -> str | None:
        """Return why no suggestion of the marked threads or, without marks, of the visible threads can be applied."""
        return self._suggestions.apply_reason(self._chosen)

    async def command_act_on_marked(self) -> None:
        """Apply the suggestions of the marked threads or, without marks, of all visible threads."""
        threads = self._chosen
        self.rows.marks.clear()
        await self._suggestions.apply_all(threads)

    @property
    def _marked(self) -> list[Thread]:
        return [thread for thread in self.shown if thread.id in self.rows.marks.keys]

    @property
    def _chosen(self) -> list[Thread]:
        """The marked threads or, without marks, all visible threads."""
        return self._marked or self.shown

    def _to_notify(self) -> Selection | str:
        thread = self.thread
        return self._session.to_notify(self._marked or [thread]) if thread else "no thread here"
