"""What a review asks, and what it does with each answer: every question is followed once, until the review is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from presscheck.documents.moments import long_ago
from presscheck.tui.screens.review_acts import Acts
from presscheck.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.api.operation import Operation
    from presscheck.desk.seen import Seen


class Following(Acts):
    """Asks, and takes in."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, int] = {}
        self.trouble = ""

    def point_at_first(self) -> None:
        """The first thing that was not viewed."""
        first = next((n for n, one in enumerate(self.known.things, 1) if not self.known.is_viewed(one)), 0)
        rows = self.query_one("#pages", RowList)
        rows.show(len(self.known.things) + 1, cursor=first or min(1, len(self.known.things)))
        self.redraw()
        self.fill()

    def fill(self) -> None:
        """Fetch the texts of what the list shows."""
        seen = self.query_one("#pages", RowList).seen
        self.bodies.fill(self.known.things[max(0, seen.start - 1) : max(0, seen.stop - 1)])

    def take_request(self, seen: Seen[ChangeRequest | None]) -> None:
        """News of the change request itself."""
        self.known.take_request(seen)
        self.trouble = ""
        if seen.state == "offline":
            self.trouble = f"as it was {long_ago(seen.age)}"
        elif seen.state == "failed" and seen.error:
            self.trouble = f"{seen.error.message} · ctrl+r asks again"
        self.known.read_marks()
        self.ask_all()
        self.foresee()
        self.look_back()
        self.redraw()
        self.fill()

    def ask_all(self) -> None:
        """Follow all that is to be known."""
        for question in self.known.questions():
            self.ask_for(question)

    def ask_for(self, question: Operation[Any]) -> None:
        """Follow a question that is not followed yet."""
        key = question.key()
        if key in self._asked:
            return
        self._asked[key] = len(self._asked)

        def taken(seen: Seen[Any]) -> None:
            had = len(self.known.things)
            self.known.take(question, seen.value)
            if hasattr(question, "page") and (more := self.known.further_comments(question, seen.value)):  # type: ignore[arg-type]
                self.ask_for(more)
            self.ask_all()
            self.foresee()
            self.look_back()
            if not had and self.known.things:
                self.point_at_first()
            self.redraw()

        self.subscribe(self.desk.watch(question), taken, group=f"asked-{self._asked[key]}")
