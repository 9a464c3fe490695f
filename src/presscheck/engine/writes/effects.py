"""The effects of each write: what it changes, whether it can be queued, how unknown delivery is reconciled.

A write that says nothing here gets what its route tells: it makes stale what lies beneath and around its own path, is
sent at once or not at all, and is repeated only where HTTP allows that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from presscheck.api import change_requests, comments, content_changes, sites
from presscheck.api.operation import Operation
from presscheck.engine.path_patterns import beneath

Settle = Literal["repeat", "look", "state", "ask"]
ALL = 1000
"""The longest page that the service gives."""
Call = Any
"""A call of the operation that the effects belong to."""


@dataclass(frozen=True)
class Effects:
    """The consequences of one write.

    Attributes:
        waits: it may wait in the outbox; else it is sent at once, or refused while offline.
        settle: `repeat` it; `look` for it in a listing; read the `state` of the thing; `ask` the person.
        stale: patterns of the paths whose answers it changes.
        listing: for `look`: the listings in which what a person wrote would be found, from the call and their id.
        found: for `look`: whether an item is what that person wrote with the call.
        wanted: for `state`: the read, and whether its answer shows that the write happened.
    """

    waits: bool
    settle: Settle
    stale: Callable[[Call], tuple[str, ...]]
    listing: Callable[[Call, str], tuple[Operation[Any], ...]] | None = None
    found: Callable[[Any, Call, str], bool] | None = None
    wanted: tuple[Callable[[Call], Operation[Any]], Callable[[Any], bool]] | None = field(default=None)

    def scope(self, call: Call) -> str:
        """Writes of one scope keep their order; different scopes do not wait for each other."""
        parts = call.wire_path().split("/")
        return "/".join(parts[:5] if "change-requests" in parts else parts[:3])


def effects_of(call: Operation[Any]) -> Effects:
    """The effects of a write."""
    return SAID.get(type(call)) or _by_route(call)


def may_wait(operation: type[Operation[Any]]) -> bool:
    """Whether a write can be queued in the outbox while offline."""
    return operation in SAID and SAID[operation].waits


def _by_route(call: Operation[Any]) -> Effects:
    repeatable = call.method() in ("PUT", "DELETE", "PATCH")
    return Effects(waits=False, settle="repeat" if repeatable else "ask", stale=_around)


def _around(call: Call) -> tuple[str, ...]:
    path = call.wire_path()
    return (*beneath(path), *beneath(path.rpartition("/")[0]), "/orgs/*")


def _request(call: Call) -> tuple[str, ...]:
    """The change request, everything beneath it, and the listings that show it."""
    return (*beneath(_path_of_request(call)), *_listings_of_requests(call))


def _discussion(call: Call) -> tuple[str, ...]:
    """The change request with its comments, reviews and people, not with its content; and the listings that show it."""
    request = _path_of_request(call)
    parts = [pattern for name in ("comments", "reviews") for pattern in beneath(f"{request}/{name}")]
    people = [f"{request}/{name}" for name in ("requested-reviewers", "commenters", "contributors")]
    return (request, *parts, *people, *_listings_of_requests(call))


def _listings_of_requests(call: Call) -> tuple[str, ...]:
    space = _path_of_space(call)
    return f"{space}/change-requests", space, "/orgs/*/change-requests"


def _space(call: Call) -> tuple[str, ...]:
    return (*beneath(_path_of_space(call)), "/orgs/*")


def _site(call: Call) -> tuple[str, ...]:
    return beneath(f"/orgs/{quote(call.organization_id, safe='')}/sites")


def _path_of_request(call: Call) -> str:
    return f"{_path_of_space(call)}/change-requests/{quote(call.change_request_id, safe='')}"


def _path_of_space(call: Call) -> str:
    return f"/spaces/{quote(call.space_id, safe='')}"


def _all_comments(call: Call, _: str) -> tuple[Operation[Any], ...]:
    path = {"space_id": call.space_id, "change_request_id": call.change_request_id}
    return (comments.ListComments(**path, format="markdown", order="desc", limit=ALL),)


def _all_replies(call: Call, _: str) -> tuple[Operation[Any], ...]:
    path = {"space_id": call.space_id, "change_request_id": call.change_request_id, "comment_id": call.comment_id}
    return (comments.ListReplies(**path, format="markdown", limit=ALL),)


def _all_reviews(call: Call, _: str) -> tuple[Operation[Any], ...]:
    path = {"space_id": call.space_id, "change_request_id": call.change_request_id}
    return (change_requests.ListReviews(**path, format="markdown", limit=ALL),)


def _begun_by(call: Call, author: str) -> tuple[Operation[Any], ...]:
    """What a new change request is at first is the service's choice."""
    listings = (
        change_requests.ListChangeRequests(space_id=call.space_id, status=status, creator=author, limit=ALL)
        for status in ("draft", "open")
    )
    return tuple(listings)


def _words(body: Any) -> str:
    """The letters and digits of a text: a service may write its Markdown anew."""
    return "".join(filter(str.isalnum, (body.markdown if body else None) or ""))


def _same_text(item: Any, call: Call, author: str) -> bool:
    return item.posted_by.id == author and _words(item.body) == _words(call.body)


def _same_verdict(item: Any, call: Call, author: str) -> bool:
    text = _words(item.comment.body if item.comment else None)
    return item.reviewer.id == author and item.status == call.status and text == _words(call.comment)


def _same_subject(item: Any, call: Call, author: str) -> bool:
    return item.created_by is not None and item.created_by.id == author and item.subject == (call.subject or "")


def _change_request(call: Call) -> Operation[Any]:
    return change_requests.GetChangeRequest(space_id=call.space_id, change_request_id=call.change_request_id)


def _the_site(call: Call) -> Operation[Any]:
    return sites.GetSite(organization_id=call.organization_id, site_id=call.site_id)


def _repeated(stale: Callable[[Call], tuple[str, ...]] = _discussion) -> Effects:
    return Effects(waits=True, settle="repeat", stale=stale)


SAID: dict[type[Operation[Any]], Effects] = {
    comments.PostComment: Effects(
        waits=True, settle="look", stale=_discussion, listing=_all_comments, found=_same_text
    ),
    comments.PostReply: Effects(waits=True, settle="look", stale=_discussion, listing=_all_replies, found=_same_text),
    comments.UpdateComment: _repeated(),
    comments.UpdateReply: _repeated(),
    comments.DeleteComment: _repeated(),
    comments.DeleteReply: _repeated(),
    change_requests.SubmitReview: Effects(
        waits=True,
        settle="look",
        stale=_discussion,
        listing=_all_reviews,
        found=_same_verdict,
    ),
    change_requests.RequestReviewers: _repeated(),
    change_requests.RemoveRequestedReviewer: _repeated(),
    change_requests.UpdateChangeRequest: _repeated(_request),
    change_requests.CreateChangeRequest: Effects(
        waits=False,
        settle="look",
        stale=lambda call: (_path_of_space(call), f"{_path_of_space(call)}/change-requests", "/orgs/*"),
        listing=_begun_by,
        found=_same_subject,
    ),
    change_requests.MergeChangeRequest: Effects(
        waits=False,
        settle="state",
        stale=_space,
        wanted=(_change_request, lambda request: request.status == "merged"),
    ),
    change_requests.PullChangeRequest: Effects(
        waits=False, settle="state", stale=_request, wanted=(_change_request, lambda request: not request.outdated)
    ),
    content_changes.EditChangeRequestContent: Effects(waits=False, settle="ask", stale=_request),
    sites.PublishSite: Effects(
        waits=False, settle="state", stale=_site, wanted=(_the_site, lambda site: site.published)
    ),
    sites.UnpublishSite: Effects(
        waits=False, settle="state", stale=_site, wanted=(_the_site, lambda site: not site.published)
    ),
}
"""The writes that have something to say."""
