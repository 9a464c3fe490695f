"""What is done to rows of the inbox without opening them: put away, bookmarked, marked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime, timedelta

from presscheck.api.change_requests import ChangeRequest
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Span
from presscheck.tui.screens.base_screen import BaseScreen
from presscheck.tui.widgets.picker import Choice, Picker
from presscheck.tui.widgets.rows import Rows

MORNING = 8
"""The hour at which what was snoozed comes back."""
SNOOZES = (
    Choice("tomorrow", "Until tomorrow", f"{MORNING}:00"),
    Choice("week", "Until next week", f"Monday {MORNING}:00"),
    Choice("activity", "Until something happens to it", ""),
)


class Triaging(BaseScreen):
    """Done, snooze, bookmark, marks; an inbox says which change request is where."""

    last_away: tuple[str, ...] = ()

    @abstractmethod
    def request_at(self, index: int) -> ChangeRequest | None:
        """The change request of a row; None where it is not known."""

    @abstractmethod
    def rearrange(self) -> None:
        """Rows came or went."""

    def sign(self, request: ChangeRequest) -> Span:
        """What the person made of it: bookmarked, or put away where that is shown; and whether something happened."""
        away = self.desk.triage.away(request)
        if away:
            return Span("✓" if away.is_done else "◷", "quiet")
        if request.id in self.desk.events.unread:
            return Span("•", "accent strong")
        return Span("★", "accent") if self.desk.triage.is_bookmarked(request.id) else Span(" ")

    def command_done(self) -> None:
        """Put away what is marked, else the row under the cursor; where that is away already, bring it back."""
        requests = self.meant()
        if requests and all(self.desk.triage.away(one) for one in requests):
            self._bring_back(tuple(one.id for one in requests))
            return
        for one in requests:
            self.desk.triage.done(one)
            self.desk.events.unread.discard(one.id)
        self._put_away(requests, "done")

    async def command_snooze(self) -> None:
        """Ask until when, and put away until then."""
        requests = self.meant()
        if not requests:
            return
        chosen = await self.ask(Picker(f"Snooze {counted(requests)}", SNOOZES, self.style_for, ranked=False))
        if chosen:
            until = moment(chosen[0], datetime.now().astimezone())
            for one in requests:
                self.desk.triage.snooze(one, until)
            self._put_away(requests, "snoozed")

    def command_bookmark(self) -> None:
        """Bookmark the row under the cursor, or no longer."""
        for one in self.meant():
            self.desk.triage.bookmark(one.id)
        self.rows.redraw()

    def reason_unsend(self) -> str | None:
        """Nothing was put away here."""
        return None if self.last_away else "nothing was put away just now"

    def command_unsend(self) -> None:
        """Bring back what was put away last."""
        self._bring_back(self.last_away)

    def command_mark(self) -> None:
        """Mark the row."""
        self.rows.mark()

    def command_mark_range(self) -> None:
        """Begin a range, or mark it."""
        self.rows.mark_range()

    def command_mark_visible(self) -> None:
        """Mark what is seen."""
        self.rows.mark_visible()

    def command_back(self) -> None:
        """Take all marks away."""
        self.rows.unmark()

    @property
    def rows(self) -> Rows:
        """The rows."""
        return self.query_one(Rows)

    def meant(self) -> list[ChangeRequest]:
        """What is marked, in the order of the rows; else what the cursor stands on."""
        rows = self.rows
        if not rows.marked:
            one = self.request_at(rows.cursor) if rows.count else None
            return [one] if one else []
        found = (self.request_at(index) for index in range(rows.count))
        return [one for one in found if one and one.id in rows.marked]

    def _put_away(self, requests: Sequence[ChangeRequest], how: str) -> None:
        self.last_away = tuple(one.id for one in requests)
        self.rows.unmark()
        self.rearrange()
        if requests:
            named = f"{requests[0].number} {display_text(requests[0].subject)}"
            what = named if len(requests) == 1 else counted(requests)
            self.notify(f"{how}: {what}; z brings it back")

    def _bring_back(self, ids: tuple[str, ...]) -> None:
        count = sum(self.desk.triage.bring_back(one) for one in ids)
        self.last_away = ()
        self.rows.unmark()
        self.rearrange()
        self.notify(f"brought back {count}" if count != 1 else "brought back")


def counted(requests: Sequence[ChangeRequest]) -> str:
    """How many there are, in words."""
    return f"{len(requests)} change request{'s' if len(requests) != 1 else ''}"


def moment(choice: str, now: datetime) -> float | None:
    """When it comes back, in seconds since the epoch; None with the next thing that happens."""
    if choice == "activity":
        return None
    days = 1 if choice == "tomorrow" else 7 - now.weekday()
    return (now + timedelta(days=days)).replace(hour=MORNING, minute=0, second=0, microsecond=0).timestamp()
