"""What is said of one change request, as far as it is known: threads, with what waits to be sent laid over them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from presscheck.api.change_requests import ChangeRequest, RequestReviewers
from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.operation import Page
from presscheck.desk.overlays import laid_over
from presscheck.desk.questions import replies_to
from presscheck.desk.review.threads import Thread, in_order, thread, unsent_messages

if TYPE_CHECKING:
    from presscheck.api.comments import Comment, CommentReply
    from presscheck.desk.desk import Desk
    from presscheck.desk.seen import Waiting


class Discussion:
    """The comments of a change request and their answers; the dossier fills it."""

    desk: Desk
    space_id: str
    request: ChangeRequest | None
    comments: dict[str | None, Sequence[Comment]]
    replies: dict[str, Sequence[CommentReply]]

    @property
    def me(self) -> str:
        """The id of the signed-in user."""
        return self.desk.me.id

    @property
    @abstractmethod
    def path(self) -> dict[str, Any]:
        """What every call about this change request is given."""

    def further_comments(self, question: ListComments, answer: Any) -> ListComments | None:
        """The next page of comments, where there is one that was not asked for yet."""
        cursor = answer.next.page if answer and answer.next else None
        if cursor is None or cursor in self.comments:
            return None
        return question.model_copy(update={"page": cursor})

    def replies_to(self, comment: str) -> ListReplies:
        """The question for the answers to a comment."""
        return replies_to(self.space_id, self.path["change_request_id"], comment)

    def waiting(self) -> tuple[Waiting, ...]:
        """What of this change request is not sent yet."""
        mine = self.path["change_request_id"]
        rows = self.desk.waiting()
        return tuple(row for row in rows if row.call and getattr(row.call, "change_request_id", None) == mine)

    def threads(self) -> list[Thread]:
        """All threads, the oldest first."""
        unsent = unsent_messages(self.waiting())
        found = {one.id: one for items in self.comments.values() for one in items}
        return in_order(thread(one, self._replies(one.id), unsent, self.me) for one in found.values())

    def _replies(self, comment: str) -> Sequence[CommentReply]:
        """The answers to a comment; where the service was never asked, those that wait to be sent."""
        known = self.replies.get(comment)
        if known is not None:
            return known
        return laid_over(self.replies_to(comment), Page(items=()), self.desk.waiting(), self.desk.me).items

    def open_threads(self) -> int:
        """How many threads are open: counted where the threads are known, else as the service counts them."""
        if self.comments:
            return sum(one.status != "resolved" for items in self.comments.values() for one in items)
        return self.request.comments if self.request else 0

    def being_asked(self) -> frozenset[str]:
        """Users whom a waiting write asks."""
        return frozenset(
            user for row in self.waiting() if isinstance(row.call, RequestReviewers) for user in row.call.users
        )
