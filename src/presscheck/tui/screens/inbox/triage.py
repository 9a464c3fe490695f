"""Triage in the inbox: done, snooze, bookmark, mute, follow and marks, without opening a change request."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import datetime

from presscheck.api.change_requests import ChangeRequest
from presscheck.engine.inbox.notification_settings import request_target
from presscheck.engine.inbox.triage import MORNING, wake_time
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.tui.commands import key_for
from presscheck.tui.screens.batch_actions import count_text
from presscheck.tui.screens.inbox.session import Inbox
from presscheck.tui.screens.notification_actions import NotificationActions, Selection
from presscheck.tui.screens.undo import undo_last_sent
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

SNOOZES = (
    Choice("tomorrow", "Until tomorrow", f"{MORNING}:00"),
    Choice("week", "Until next week", f"Monday {MORNING}:00"),
    Choice("activity", "Until there is new activity", ""),
)


class TriageActions:
    """The commands that hide, bookmark and mark rows of the inbox.

    Args:
        session: the inbox.
    """

    def __init__(self, session: Inbox) -> None:
        self._session, self._screen = session, session.screen
        self._triage, self._events = self._screen.engine.triage, self._screen.engine.events
        self._last_hidden: tuple[str, ...] = ()
        self.notifications = NotificationActions(self._screen, self._notification_targets, self._notifications_changed)

    def command_done(self) -> None:
        """Hide the selected change requests until there is new activity. If all are hidden, restore them."""
        requests = self._session.selected()
        if requests and all(self._triage.hidden_state(request) for request in requests):
            self._bring_back(tuple(request.id for request in requests))
            return
        for request in requests:
            self._triage.done(request)
            self._events.unread.discard(request.id)
        self._hide(requests, "done")

    async def command_snooze(self) -> None:
        """Ask for a time or for new activity, and hide the selected change requests until then."""
        requests = self._session.selected()
        if not requests:
            return
        choice = await choose(self._screen, f"Snooze {count_text(requests)}", SNOOZES)
        if choice:
            until = wake_time(choice, datetime.now().astimezone())
            for request in requests:
                self._triage.snooze(request, until)
            self._hide(requests, "snoozed")

    def command_bookmark(self) -> None:
        """Toggle the bookmarks of the selected change requests."""
        for request in self._session.selected():
            self._triage.bookmark(request.id)
        self._session.rows.redraw()

    def reason_unsend(self) -> str | None:
        """Return why nothing can be undone: there is no change to undo, and no change request under the cursor."""
        session = self._session
        has_any = self._last_hidden or self.notifications.can_undo or session.sent or session.current()
        return None if has_any else "nothing to undo: go to a change request first"

    def command_unsend(self) -> Awaitable[None] | None:
        """Undo the last write to a row, the last mute or follow, or the last hiding, whichever is the newest.

        If the write was sent, offer to undo the last sent change of its change request. If there is nothing to undo,
        offer this for the change request under the cursor.
        """
        current, sent = self._session.current(), self._session.sent
        if sent and sent.can_undo:
            self._screen.notify(sent.named(sent.undo_last()))
            self._session.reload_rows()
        elif sent:
            request_id = sent.discussion.request_id
            return undo_last_sent(self._screen, lambda place: place.request == request_id, shows_place=True)
        elif self.notifications.can_undo:
            self.notifications.undo()
        elif self._last_hidden:
            self._bring_back(self._last_hidden)
        elif current:
            return undo_last_sent(
                self._screen, lambda place: place.space == current.space and place.request == current.id
            )
        return None

    def command_back(self) -> None:
        """Remove all marks."""
        self._session.rows.marks.clear()

    def _hide(self, requests: Sequence[ChangeRequest], state: str) -> None:
        self._last_hidden = tuple(request.id for request in requests)
        self._session.sent = None
        self.notifications.forget()
        self._session.rows.marks.clear()
        self._session.reload_rows()
        if requests:
            first = f"#{requests[0].number} {sanitize(requests[0].subject)}"
            self._screen.notify(
                f"{first if len(requests) == 1 else count_text(requests)} {state} ({key_for('unsend')} to undo)"
            )

    def _notification_targets(self) -> Selection | str:
        requests = self._session.selected()
        if not requests:
            return "no change request here"
        name = f"#{requests[0].number} {sanitize(requests[0].subject)}"
        return Selection([request_target(request) for request in requests], name)

    def _notifications_changed(self) -> None:
        self._last_hidden = ()
        self._session.sent = None
        self._session.rows.marks.clear()
        self._session.rows.redraw()

    def _bring_back(self, ids: tuple[str, ...]) -> None:
        number = sum(self._triage.unhide(id_) for id_ in ids)
        self._last_hidden = ()
        self._session.rows.marks.clear()
        self._session.reload_rows()
        self._screen.notify(f"{count(number, 'change request')} back in the inbox")
