"""How words leave a review: a text is a draft until the desk has it; what the desk took is followed until it lands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import MergeChangeRequest, MergeResult, Review, ReviewStatus, SubmitReview
from presscheck.api.comments import PostComment, PostReply, UpdateComment, UpdateReply
from presscheck.api.organizations import ListMembers
from presscheck.desk.between import changes_between
from presscheck.desk.standing import listed
from presscheck.documents.display_text import display_text
from presscheck.errors import NotSupported, PresscheckError, StoreError
from presscheck.tui.screens.page_editor import draft_key
from presscheck.tui.screens.review_changes import changed_things
from presscheck.tui.screens.review_moves import Moves
from presscheck.tui.widgets.composer import Composer

if TYPE_CHECKING:
    from presscheck.api.operation import Operation
    from presscheck.desk.seen import Ticket

IN_WORDS: dict[ReviewStatus, str] = {"approved": "Approved. ", "changes-requested": "Changes requested: "}
"""How a comment begins that stands in for a verdict, where the service has no reviews."""
HOLD = 3
"""Seconds in which a comment can be unsent before it leaves."""


class Speaking(Moves):
    """Write, and send."""

    @property
    def collects(self) -> bool:
        """Whether what is said is kept for a review that goes out whole."""
        return bool(self.desk.outbox.recall(self._review_key))

    @property
    def collected(self) -> tuple[int, ...]:
        """The numbers of what was said for that review, the oldest first."""
        return tuple(row.id for row in self.known.waiting() if row.state == "collected")

    @property
    def _review_key(self) -> str:
        return f"review of {self.known.path['change_request_id']}"

    def collect(self, *, begins: bool) -> None:
        """Keep what is said from now on, until a verdict sends it; or keep nothing more."""
        self.desk.outbox.remember(self._review_key, "begun" if begins else None)
        self.redraw()

    def draft_key(self, name: str) -> str:
        """Under which a draft is kept."""
        return draft_key(self.known.path["change_request_id"], name)

    def draft_of(self, call: Any) -> str:
        """Under which the text of a write was, or is again, a draft."""
        if isinstance(call, PostReply):
            return self.draft_key(f"reply {call.comment_id}")
        if isinstance(call, UpdateComment | UpdateReply):
            return self.draft_key(f"message {getattr(call, 'comment_reply_id', call.comment_id)}")
        if isinstance(call, SubmitReview):
            return self.draft_key(f"verdict {call.status}")
        return self.draft_key(f"page {call.page}" if getattr(call, "page", None) else "whole")

    def take_back(self, number: int, *, begin: str = "") -> bool:
        """Take back a write that has not left: its text is a draft again, which begins so; whether it could be."""
        call: Any = self.desk.unsend(number)
        if call is None:
            return False
        body = getattr(call, "body", None) or getattr(call, "comment", None)
        text = begin + ((body.markdown or "") if body else "")
        if text:
            self.desk.outbox.save_draft(self.draft_of(call), text)
        return True

    def write(
        self,
        title: str,
        name: str,
        call: Callable[[str], Operation[Any] | None],
        *,
        begin: str = "",
        suggestion: str = "",
        may_be_empty: bool = False,
        whole: bool = False,
    ) -> None:
        """Let a text be written, which is a draft under that name until the desk has it.

        Args:
            title: what is written.
            name: of the draft.
            call: makes the write of the text; None where the text is nothing to send.
            begin: what the text begins with.
            suggestion: what one key puts in, where words of the page can be suggested.
            may_be_empty: whether it may go without a text.
            whole: whether it sends the review that was collected, with itself as the last word.
        """
        if self.collects and not whole:
            title = f"{title}, in your review"
        key = self.draft_key(name)

        def take(text: str) -> None:
            self._take(call(text), whole=whole)
            with contextlib.suppress(StoreError):  # it is taken: its draft, left over, does no harm
                self.desk.outbox.save_draft(key, "")

        def save(text: str) -> None:
            self.desk.outbox.save_draft(key, "" if text == begin else text)

        text = self.desk.outbox.draft(key) or begin
        more: dict[str, Any] = {"may_be_empty": may_be_empty, "suggestion": suggestion}
        self.app_context.push_screen(
            Composer(title, text, save, self.style_for, people=self._people, take=take, **more)
        )

    async def _people(self) -> list[str]:
        """The names of those who can be mentioned."""
        organization = self.known.space.organization if self.known.space else None
        if organization is None:
            return []
        members = await self.desk.read(ListMembers(organization_id=organization, limit=1000))
        return [display_text(one.user.display_name) for one in members.items]

    def send(self, call: Operation[Any]) -> bool:
        """Give a write to the desk; whether it took it."""
        try:
            self._take(call)
        except PresscheckError as error:
            self.app_context.show_error(error)
            return False
        return True

    def _take(self, call: Operation[Any] | None, *, whole: bool = False) -> None:
        """Give a write to the desk; with `whole`, all that was collected leaves before it.

        Raises:
            PresscheckError: it did not take it.
        """
        before = self.collected if whole else ()
        if call:
            keeps = bool(before) or (self.collects and isinstance(call, PostComment | PostReply) and not whole)
            ticket = self.desk.write(call, hold=HOLD if self.desk.may_wait(type(call)) else 0, collect=keeps)
            self.run(self._landed(ticket))
            before = (*before, ticket.id)
        if whole:
            self.desk.release(before, hold=HOLD)
            self.collect(begins=False)
        self.redraw()

    async def _landed(self, ticket: Ticket[Any]) -> None:
        read = self.known.request.revision if self.known.request else ""
        try:
            answer = await ticket.landed()
            if isinstance(answer, Review) and read and answer.revision not in ("", read):
                await self._tell_unread(read, answer.revision)
        except PresscheckError as error:
            if isinstance(error, NotSupported) and isinstance(ticket.call, SubmitReview):
                self.take_back(ticket.id, begin=IN_WORDS[ticket.call.status])
            self.app_context.show_error(error)
            return
        if isinstance(answer, MergeResult):
            self.notify(_outcome(answer, is_merge=isinstance(ticket.call, MergeChangeRequest)))
        self.redraw()

    async def _tell_unread(self, read: str, judged: str) -> None:
        """Say what a verdict is of that its author had not read: a verdict names no revision, the newest counts."""
        found = await changes_between(self.desk, self.known.space_id, read, judged)
        titles = [one.title for one in changed_things(found.changes)]
        self.notify(f"your verdict is also of what changed just before it arrived: {listed(titles)}")


def _outcome(result: MergeResult, *, is_merge: bool) -> str:
    """What a merge or an update came to, from its body."""
    if result.result == "conflicts":
        done = "merged" if is_merge else "updated"
        return f"{done} with conflicts: look at the pages that both sides changed"
    return "merged" if is_merge else "updated from main"
