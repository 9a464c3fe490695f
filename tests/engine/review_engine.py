"""A minimal engine for the parts of a review, and builders for a change request with comments."""

from types import SimpleNamespace
from typing import Any

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.comments import Comment, CommentReply
from presscheck.api.operation import Page
from presscheck.api.users import User
from presscheck.engine.review.model import ReviewModel
from presscheck.engine.shared_calls import comments_on
from presscheck.engine.writes.pending_writes import OutboxEntry
from presscheck.store.outbox import Outbox

IDS = {"space_id": "s", "change_request_id": "c"}


def request(**values: Any) -> ChangeRequest:
    given = {"id": "c", "number": 5, "space": "s", "status": "open", "subject": "Rewrite", "revision": "r2"}
    return ChangeRequest.model_validate({**given, "createdAt": "2026-11-20T10:00:00Z", **values})


def comment(comment_id: str, text: str, *, page: str | None = None, status: str = "open") -> Comment:
    target: dict[str, Any] = {"changeRequest": "c", "space": "s"}
    if page:
        target["page"] = {"id": page}
    return Comment.model_validate(
        {
            "id": comment_id,
            "postedBy": {"id": "ada", "displayName": "Ada Lund"},
            "postedAt": f"2026-11-20T09:00:00Z {comment_id}",
            "body": {"markdown": text},
            "status": status,
            "target": target,
        }
    )


def reply(reply_id: str) -> CommentReply:
    return CommentReply.model_validate(
        {
            "id": reply_id,
            "postedBy": {"id": "jon", "displayName": "Jon Pike"},
            "postedAt": "2026-11-20T10:00:00Z",
            "body": {"markdown": "Yes"},
        }
    )


class ReviewEngine:
    """What a review needs of the engine: pending writes are a list, viewed pages are stored in a real outbox."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.me = User(id="ida", display_name="Ida Ray")
        self.rows: tuple[OutboxEntry, ...] = ()
        self.status = SimpleNamespace(online=True, read_only=False)
        self.notification_settings = SimpleNamespace(state=lambda _: "")
        self.answers: list[Any] = []
        self.comments: tuple[Comment, ...] = ()

    def waiting(self) -> tuple[OutboxEntry, ...]:
        return self.rows

    def known(self, operation: Any) -> Any:
        return SimpleNamespace(value=Page(items=self.comments)) if operation == comments_on(request()) else None

    def viewed(self, change_request: str) -> dict[str, str]:
        return self.outbox.viewed(change_request)

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        self.outbox.mark_viewed(change_request, page, revision)

    async def read(self, *_: Any, **__: Any) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def set_comments(model: ReviewModel, *comments: Comment) -> None:
    model.take(comments_on(request()), Page(items=comments))
