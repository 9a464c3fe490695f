"""The session of an open review: its data, its widgets, and navigation to threads, conflicts and pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from typing_extensions import override

from presscheck.api.comments import Document
from presscheck.api.content import GetChangeRequestPage
from presscheck.api.content_changes import EditChangeRequestContent, UpdatePage
from presscheck.config.project import checks_of
from presscheck.documents.merge.conflict_blocks import conflict_blocks
from presscheck.documents.pages.comment_text import find_quoted_line
from presscheck.engine.inbox.notification_settings import NotificationTarget, request_target
from presscheck.engine.review.model import ReviewModel, ThreadFilter
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.comments.rows import first_words
from presscheck.tui.screens.notification_actions import Selection
from presscheck.tui.screens.review.drafts import ReviewDrafts
from presscheck.tui.screens.review.loader import PageTextLoader, ReviewLoader
from presscheck.tui.screens.review.prose_findings import ProseFindings
from presscheck.tui.screens.review.request_session import RequestSession
from presscheck.tui.screens.review.running_program import RunningProgram
from presscheck.tui.screens.review.view import ReviewView
from presscheck.tui.screens.undo import undo_last_sent

if TYPE_CHECKING:
    from presscheck.api.content import RevisionPage
    from presscheck.engine.review.threads import Thread
    from presscheck.tui.ui.screen import BaseScreen


class ReviewSession(RequestSession):
    """The data and widgets of an open review, and navigation in it.

    Args:
        screen: the review screen.
        space_id: the id of the space.
        request_id: the id of the change request, or its number in the space.
        on_answer: called after each response that changed the data.

    Attributes:
        texts: the texts of the changed pages.
        threads: the threads by item, and the filter that hides some.
        loader: subscribes to the calls of the model.
        prose: the findings of prose checks in the changed pages.
        program: the program that reviews the change request now.
        view: the widgets and the cursor.
        part: the screen that was opened last with `open_part`, such as the list of threads; None before.
        thread_query: the filter of the list of threads, as typed.
    """

    def __init__(self, screen: BaseScreen, space_id: str, request_id: str, on_answer: Callable[[], None]) -> None:
        engine = screen.engine
        model = ReviewModel(
            engine,
            space_id,
            request_id,
            lambda request, thread: engine.notification_settings.state(NotificationTarget(space_id, request, thread)),
        )
        super().__init__(model, ReviewDrafts(model, screen))
        self.texts = PageTextLoader(self.model, screen)
        self.threads = ThreadFilter(self.model, self.texts, engine.outbox)
        self.loader = ReviewLoader(self.model, screen, on_answer)
        self.prose = ProseFindings(self.texts, screen)
        self.program = RunningProgram()
        self.view = ReviewView(self.model, self.texts, self.threads, self.loader, self.prose)
        self.part: BaseScreen | None = None
        self.thread_query = ""
        self._target: tuple[Callable[[], bool], str] | None = None
        """A function that goes to a place once it is loaded, and the last key at that time; another key cancels it."""

    def edit_page_reason(self, *, can_wait: bool = False) -> str | None:
        """Return why the selected page cannot be edited: it has no text, is deleted, or `edit_any_reason` applies."""
        item, is_missing = self.view.item, self.screen.engine.missing_reason(EditChangeRequestContent) is not None
        if not is_missing and (item is None or not item.has_text or "deleted" in item.kinds):
            return "no page here that can be edited"
        return self.edit_any_reason(can_wait=can_wait)

    def edit_any_reason(self, *, can_wait: bool = False) -> str | None:
        """Return why no page of this change request can be edited: for example, it is merged, or the user is offline.

        Args:
            can_wait: whether the edit can wait in the outbox while offline.
        """
        engine, edit = self.screen.engine, EditChangeRequestContent
        # an edit of a page waits with its base, which other calls of the operation cannot
        cannot_send = engine.missing_reason(edit) if can_wait else engine.write_reason(edit, "an edit", at_once=True)
        return cannot_send or self.model.closed_reason() or self.drafts.disabled_reason()

    @override
    def prose_lines(self) -> list[Line]:
        note = self.prose.note(self.model.items)
        app = self.screen.app_context
        if not note and checks_of(app.settings_file, app.profile.project)[0]:
            note = f"Prose not checked: {key_for('check_prose')} checks it."
        return [(Span(note, "waiting"),)] if note else []

    async def read_page(self, page_id: str) -> RevisionPage:
        """Read the current version of a page in the change request."""
        return await self.screen.engine.read(
            GetChangeRequestPage(**self.model.path, page_id=page_id, format="markdown")
        )

    async def write_page(self, page_id: str, markdown: str) -> None:
        """Write the text of a page, and wait until the service has accepted it."""
        change = UpdatePage(page=page_id, document=Document(markdown=markdown))
        await self.screen.engine.write(EditChangeRequestContent(**self.model.path, changes=(change,))).landed()

    def undo_last(self) -> Awaitable[None] | None:
        """Undo the newest unsent write, and restore its text as a draft.

        If there are no unsent writes, offer to undo the last sent write.
        """
        if not self.model.discussion.pending():
            path, request = self.model.path, self.model.request
            ids = {path["change_request_id"], *((request.id, str(request.number)) if request else ())}
            return undo_last_sent(
                self.screen,
                lambda place: place.space == path["space_id"] and place.request in ids,
                sent_with=self.drafts.sent_with,
            )
        self.screen.notify(self.drafts.undo_last())
        self.screen.redraw()
        return None

    def to_notify(self, threads: Sequence[Thread]) -> Selection | str:
        """Return the threads, or the change request if there are none, as targets to mute or follow.

        Returns:
            The selection, or the reason why the notifications cannot be changed.
        """
        request = self.model.request
        if request is None:
            return "the change request is not loaded yet"
        target = request_target(request)
        if not threads:
            return Selection([target], f"#{request.number} {sanitize(request.subject)}")
        if any(thread.first.pending for thread in threads):
            return "that comment is not sent yet"
        targets = [replace(target, thread=thread.id) for thread in threads]
        return Selection(targets, f"thread {first_words(threads[0].first)}", "thread")

    def notifications_changed(self) -> None:
        """Redraw the threads after their notification settings changed."""
        self.model.discussion.notifications_changed()
        self.screen.redraw()

    def open_part(self, screen: BaseScreen) -> None:
        """Open a screen that shows a part of the review and is redrawn with it."""
        self.part = screen
        self.screen.app_context.push_screen(screen)

    @property
    def is_part_shown(self) -> bool:
        """Whether the user sees the last part that was opened."""
        return self.part is not None and self.part.is_shown

    def run_command(self, name: str) -> None:
        """Run a command of the review screen, or show why it is disabled."""
        if command := self.screen.command_table.command(name):
            self.screen.run_command(command)

    def load_visible(self) -> None:
        """Load the texts of the items whose rows are visible."""
        self.texts.prefetch(self.view.visible_items)

    def switch_pane(self) -> None:
        """Move the focus from the list to the change, or back."""
        self.view.switch_pane()
        self.screen.redraw()

    def go_to_first(self) -> None:
        """Go to the first item that is not viewed or, if all are viewed, to the first item."""
        items = self.model.items
        unviewed = (row for row, item in enumerate(items, 1) if not self.model.is_viewed(item))
        row = next(unviewed, min(1, len(items)))
        self.view.draw_list(cursor=row)
        if self.view.shows_all:
            self.view.select(row)
        self.screen.redraw()
        self.load_visible()

    def go_to_line(self, line: int) -> None:
        """Go to a line of the selected item, and focus the change."""
        if self.view.items.has_focus:
            position = self.view.rendered.position_of(line)
            self.switch_pane()  # lays the page out again; its text may have arrived since
            moved = self.view.rendered.line_at_position(*position)
            line = line if moved is None else moved
        self.view.jump_to(line)

    def go_to_change(self, index: int) -> None:
        """Go to a change of the selected row once its text is loaded, unless the user presses another key first."""
        row = self.view.row

        def go() -> bool:
            changes = self.view.rendered.changes
            if changes and self.view.row == row:
                self.go_to_line(changes[index])
            return bool(changes)

        self._go_once_loaded(go)

    def show_thread(self, thread_id: str) -> None:
        """Go to a thread once it is loaded, unless the user presses another key first."""

        def go() -> bool:
            thread = self.model.discussion.thread(thread_id) if self.model.items else None
            if thread and not self.threads.is_listed(thread):  # its page did not change since the compared review
                self.model.compare_since(None)
                self.screen.redraw()
            if thread:
                self._go_to_thread(thread)
            return thread is not None

        self._go_once_loaded(go)

    def _go_once_loaded(self, go: Callable[[], bool]) -> None:
        """Call `go` now and at each drawing, until it returns True or the user presses another key."""
        self._target = (go, self.screen.last_key)
        self.go_to_target()

    def go_to_target(self) -> None:
        """Go to the place of the last `show_thread` or `go_to_change` call if it is loaded."""
        target, self._target = self._target, None  # going there draws the screen
        if target and self.screen.last_key == target[1] and (self.screen.is_leaving or not target[0]()):
            self._target = target

    def _go_to_thread(self, thread: Thread) -> None:
        self.view.select(self._row_of(thread.page) or 0)
        if self.view.items.has_focus:
            self.switch_pane()
        if self.view.event_query and thread.id not in self.view.rendered.thread_of.values():
            self.view.event_query = ""
            self.view.show_change()
        self.view.jump_to(self.view.rendered.first_line_of_thread(thread.id))

    def go_to_conflict(self, page_id: str) -> None:
        """Go to a page, and to the first conflict in its text if there is one."""
        row = self._row_of(page_id)
        if row is None:
            self.screen.notify(f"this page is not changed here: {key_for('pull')} updates from main")
            return
        self.view.select(row)
        blocks = conflict_blocks(self.view.page.after)
        self.go_to_line(self.view.rendered.line_of(blocks[0].first) if blocks else 0)

    def go_to_reviewer(self, reviewer_id: str) -> None:
        """Go to a reviewer's line in the conversation."""
        self.view.select(0)
        self.go_to_line(self.view.rendered.reviewers.get(reviewer_id, 0))

    def go_to_quote(self, words: str) -> str:
        """Go to the line of the selected page that contains the quoted words, if there is one.

        Return the text of the page.
        """
        after = self.view.page.after
        line = find_quoted_line(words, enumerate(after.split("\n"))) if words else None
        if line is not None:
            self.go_to_line(self.view.rendered.line_of(line))
        return after

    def show_page(self, page_id: str) -> Literal["shown", "loading", "missing"]:
        """Select a changed page, and return whether its text is shown, still loading, or not available."""
        row = self._row_of(page_id)
        if row is None:
            return "missing"
        if self.view.row != row:
            self.view.select(row)
        page = self.view.page
        if page.error is not None:
            return "missing"
        return "shown" if page.difference else "loading"

    def _row_of(self, page_id: str | None) -> int | None:
        rows = (row for row, item in enumerate(self.model.items, 1) if (item.noun, item.id) == ("page", page_id))
        return next(rows, None)
