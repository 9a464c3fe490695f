"""How a write that waits shows before it lands: laid over the stored answer as it is read, so undoing costs nothing.

What was laid over carries `waiting`, the number of its row, and `refused`, the reason where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from presscheck.api import change_requests, comments
from presscheck.api.comments import Comment, CommentReply, Reaction, ReactionUser
from presscheck.api.operation import Operation
from presscheck.api.users import User
from presscheck.engine.results import OutboxEntry

Lay = Callable[[Any, Any, OutboxEntry, User], Any]
"""(answer, the read, the waiting write, its author) → the answer with the write laid over it."""


def laid_over(read: Operation[Any], answer: Any, waiting: Iterable[OutboxEntry], me: User) -> Any:
    """The answer of a read with all that waits laid over it, in the order in which it was written."""
    for one in waiting:
        lay = LAYERS.get((type(read), type(one.call)))
        if lay and one.call is not None and _same_thing(read, one.call):
            answer = lay(answer, read, one, me)
    return answer


def _same_thing(read: Operation[Any], write: Operation[Any]) -> bool:
    shared = set(read.path_fields()) & set(write.path_fields())
    return all(getattr(read, name) == getattr(write, name) for name in shared)


def _marks(one: OutboxEntry) -> dict[str, Any]:
    return {"waiting": one.id, "refused": one.error if _is_refused(one) else None}


def _is_refused(one: OutboxEntry) -> bool:
    return one.state in ("refused", "parked")


def _moment(one: OutboxEntry) -> str:
    return datetime.fromtimestamp(one.created_at, UTC).isoformat()


def _comment(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    target = {"changeRequest": call.change_request_id, "space": call.space_id}
    if call.page:
        target["page"] = {"id": call.page}
    if call.node:
        target["node"] = {"id": call.node}
    new = Comment.model_validate(
        {
            "object": "comment",
            "id": f"waiting:{one.id}",
            "postedBy": me,
            "postedAt": _moment(one),
            "body": call.body.model_dump(by_alias=True, exclude_unset=True),
            "status": "open",
            "target": target,
            **_marks(one),
        }
    )
    items = (*answer.items, new) if getattr(read, "order", None) == "asc" else (new, *answer.items)
    return answer.model_copy(update={"items": items, "count": (answer.count or 0) + 1})


def _reply(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    new = CommentReply.model_validate(
        {
            "object": "comment-reply",
            "id": f"waiting:{one.id}",
            "postedBy": me,
            "postedAt": _moment(one),
            "body": call.body.model_dump(by_alias=True, exclude_unset=True),
            **_marks(one),
        }
    )
    return answer.model_copy(update={"items": (*answer.items, new), "count": (answer.count or 0) + 1})


def _changed_comment(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    def changed(comment: Any) -> Any:
        call: Any = one.call
        if comment.id != call.comment_id:
            return comment
        update: dict[str, Any] = _marks(one)
        if call.resolved is not None:
            update["status"] = "resolved" if call.resolved else "open"
        return _reworded(comment, call, update, me)

    return answer.model_copy(update={"items": tuple(changed(comment) for comment in answer.items)})


def _changed_reply(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    items = tuple(
        _reworded(item, call, _marks(one), me) if item.id == call.comment_reply_id else item for item in answer.items
    )
    return answer.model_copy(update={"items": items})


def _reworded(said: Any, call: Any, update: dict[str, Any], me: User) -> Any:
    """A comment or reply with other words, and with the reactions that the caller put there or took away."""
    if call.body is not None:
        update["body"] = call.body
    added, removed = call.added_reactions or (), call.removed_reactions or ()
    if added or removed:
        update["reactions"] = _reacted(said.reactions, added, removed, me)
    return said.model_copy(update=update)


def _reacted(known: Sequence[Reaction], added: Collection[str], removed: Collection[str], me: User) -> Any:
    others = {one.emoji: [each for each in one.users if each.user.id != me.id] for one in known}
    mine = {one.emoji for one in known if len(others[one.emoji]) < len(one.users)} - set(removed) | set(added)
    users = {
        emoji: (*others.get(emoji, ()), *((ReactionUser(user=me),) if emoji in mine else ()))
        for emoji in dict.fromkeys((*others, *added))
    }
    return tuple(Reaction(emoji=emoji, count=len(who), users=who) for emoji, who in users.items() if who)


def _without_reply(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    items = tuple(item for item in answer.items if item.id != call.comment_reply_id)
    return answer.model_copy(update={"items": items})


def _without_comment(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    return answer.model_copy(update={"items": tuple(item for item in answer.items if item.id != call.comment_id)})


def _review(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    if _is_refused(one):  # nobody gave this verdict: the outbox keeps its text
        return answer
    new = change_requests.Review.model_validate(
        {
            "object": "change-request-review",
            "id": f"waiting:{one.id}",
            "reviewer": me,
            "status": call.status,
            "createdAt": _moment(one),
            "updatedAt": _moment(one),
            **_marks(one),
        }
    )
    replaced = tuple(
        item.model_copy(update={"outdated": True}) if item.reviewer.id == me.id else item for item in answer.items
    )
    return answer.model_copy(update={"items": (*replaced, new), "count": (answer.count or 0) + 1})


def _changed_request(answer: Any, read: Any, one: OutboxEntry, me: User) -> Any:
    call: Any = one.call
    names = () if _is_refused(one) else ("subject", "status", "description")  # what was refused is not so
    update = {name: value for name, value in call.given().items() if name in names}
    return answer.model_copy(update={**update, **_marks(one)})


LAYERS: dict[tuple[type[Operation[Any]], type[Any]], Lay] = {
    (comments.ListComments, comments.PostComment): _comment,
    (comments.ListComments, comments.UpdateComment): _changed_comment,
    (comments.ListComments, comments.DeleteComment): _without_comment,
    (comments.ListReplies, comments.PostReply): _reply,
    (comments.ListReplies, comments.UpdateReply): _changed_reply,
    (comments.ListReplies, comments.DeleteReply): _without_reply,
    (change_requests.ListReviews, change_requests.SubmitReview): _review,
    (change_requests.GetChangeRequest, change_requests.UpdateChangeRequest): _changed_request,
}
"""Which write shows in which read."""
