"""Optimistic overlays: pending writes applied to cached responses at each read, so that undoing one needs no work.

A changed or added item has the extra fields `waiting` (the outbox row) and `refused` (the error, if it failed).
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

Overlay = Callable[[Any, Any, OutboxEntry, User], Any]
"""(response, the read, the pending write, its author) → the response with the write applied."""


def apply_pending(read: Operation[Any], answer: Any, pending: Iterable[OutboxEntry], me: User) -> Any:
    """The response of a read with all pending writes applied, oldest first; `me` is their author."""
    for entry in pending:
        overlay = OVERLAYS.get((type(read), type(entry.call)))
        if overlay and entry.call is not None and _is_same_resource(read, entry.call):
            answer = overlay(answer, read, entry, me)
    return answer


def _is_same_resource(read: Operation[Any], write: Operation[Any]) -> bool:
    shared = set(read.path_fields()) & set(write.path_fields())
    return all(getattr(read, name) == getattr(write, name) for name in shared)


def _marks(entry: OutboxEntry) -> dict[str, Any]:
    return {"waiting": entry.id, "refused": entry.error if _is_refused(entry) else None}


def _is_refused(entry: OutboxEntry) -> bool:
    return entry.state in ("refused", "parked")


def _created_at(entry: OutboxEntry) -> str:
    return datetime.fromtimestamp(entry.created_at, UTC).isoformat()


def _with_items(answer: Any, items: tuple[Any, ...]) -> Any:
    """A page of a listing with other items, and with the numbers changed as far as they are known."""
    more = len(items) - len(answer.items)
    numbers = {"count": answer.count, "total": answer.total}
    known = {name: number + more for name, number in numbers.items() if number is not None}
    return answer.model_copy(update={"items": items, **known})


def _comment(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    target = {"changeRequest": call.change_request_id, "space": call.space_id}
    if call.page:
        target["page"] = {"id": call.page}
    if call.node:
        target["node"] = {"id": call.node}
    new = Comment.model_validate(
        {
            "object": "comment",
            "id": f"waiting:{entry.id}",
            "postedBy": me,
            "postedAt": _created_at(entry),
            "body": call.body.model_dump(by_alias=True, exclude_unset=True),
            "status": "open",
            "target": target,
            **_marks(entry),
        }
    )
    items = (*answer.items, new) if getattr(read, "order", None) == "asc" else (new, *answer.items)
    return _with_items(answer, items)


def _reply(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    new = CommentReply.model_validate(
        {
            "object": "comment-reply",
            "id": f"waiting:{entry.id}",
            "postedBy": me,
            "postedAt": _created_at(entry),
            "body": call.body.model_dump(by_alias=True, exclude_unset=True),
            **_marks(entry),
        }
    )
    return _with_items(answer, (*answer.items, new))


def _changed_comment(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    def changed(comment: Any) -> Any:
        call: Any = entry.call
        if comment.id != call.comment_id:
            return comment
        update: dict[str, Any] = _marks(entry)
        if call.resolved is not None:
            update["status"] = "resolved" if call.resolved else "open"
        return _edited(comment, call, update, me)

    return answer.model_copy(update={"items": tuple(changed(comment) for comment in answer.items)})


def _changed_reply(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    items = tuple(
        _edited(item, call, _marks(entry), me) if item.id == call.comment_reply_id else item for item in answer.items
    )
    return answer.model_copy(update={"items": items})


def _edited(message: Any, call: Any, update: dict[str, Any], me: User) -> Any:
    """A comment or reply with its new text, and with the reactions that the user added and removed."""
    if call.body is not None:
        update["body"] = call.body
    added, removed = call.added_reactions or (), call.removed_reactions or ()
    if added or removed:
        update["reactions"] = _with_reactions(message.reactions, added, removed, me)
    return message.model_copy(update=update)


def _with_reactions(
    before: Sequence[Reaction], added: Collection[str], removed: Collection[str], me: User
) -> tuple[Reaction, ...]:
    others = {reaction.emoji: [user for user in reaction.users if user.user.id != me.id] for reaction in before}
    mine = {reaction.emoji for reaction in before if len(others[reaction.emoji]) < len(reaction.users)}
    mine = mine - set(removed) | set(added)
    users = {
        emoji: (*others.get(emoji, ()), *((ReactionUser(user=me),) if emoji in mine else ()))
        for emoji in dict.fromkeys((*others, *added))
    }
    return tuple(Reaction(emoji=emoji, count=len(by), users=by) for emoji, by in users.items() if by)


def _without_reply(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    return _with_items(answer, tuple(item for item in answer.items if item.id != call.comment_reply_id))


def _without_comment(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    return _with_items(answer, tuple(item for item in answer.items if item.id != call.comment_id))


def _review(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    if _is_refused(entry):  # this review was not submitted; its text is in the outbox
        return answer
    new = change_requests.Review.model_validate(
        {
            "object": "change-request-review",
            "id": f"waiting:{entry.id}",
            "reviewer": me,
            "status": call.status,
            "createdAt": _created_at(entry),
            "updatedAt": _created_at(entry),
            **_marks(entry),
        }
    )
    replaced = tuple(
        item.model_copy(update={"outdated": True}) if item.reviewer.id == me.id else item for item in answer.items
    )
    return _with_items(answer, (*replaced, new))


def _changed_request(answer: Any, read: Any, entry: OutboxEntry, me: User) -> Any:
    call: Any = entry.call
    names = () if _is_refused(entry) else ("subject", "status", "description")  # the service did not accept these
    update = {name: value for name, value in call.given().items() if name in names}
    return answer.model_copy(update={**update, **_marks(entry)})


OVERLAYS: dict[tuple[type[Operation[Any]], type[Any]], Overlay] = {
    (comments.ListComments, comments.PostComment): _comment,
    (comments.ListComments, comments.UpdateComment): _changed_comment,
    (comments.ListComments, comments.DeleteComment): _without_comment,
    (comments.ListReplies, comments.PostReply): _reply,
    (comments.ListReplies, comments.UpdateReply): _changed_reply,
    (comments.ListReplies, comments.DeleteReply): _without_reply,
    (change_requests.ListReviews, change_requests.SubmitReview): _review,
    (change_requests.GetChangeRequest, change_requests.UpdateChangeRequest): _changed_request,
}
"""(read, write) → how the write changes the response of the read."""
