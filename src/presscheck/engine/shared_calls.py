"""Builders for the reads that several screens share: equal calls have equal cache keys. Page texts are Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from json.encoder import encode_basestring
from typing import Any, TypeVar

from presscheck.api.change_requests import ChangeRequest, ListChangeRequests, ListRequestedReviewers, ListReviews
from presscheck.api.comments import ListComments, ListReplies, ListSpaceComments, ListSpaceReplies
from presscheck.api.content import GetChangeRequestPage, GetPage, GetRevisionPage
from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.api.operation import ALL, Operation

OperationT = TypeVar("OperationT", bound=Operation[Any])


def at(operation: type[OperationT], call: Operation[Any], **given: Any) -> OperationT:
    """Return a call of `operation` with the path fields of another call and further arguments."""
    path = {name: getattr(call, name) for name in operation.path_fields() if name in call.path_fields()}
    return operation(**path | given)


def reviews_of(request: ChangeRequest) -> ListReviews:
    """Return a read of the reviews of a change request."""
    return ListReviews(space_id=request.space, change_request_id=request.id, format="markdown", limit=ALL)


def reviewers_of(request: ChangeRequest) -> ListRequestedReviewers:
    """Return a read of the requested reviewers of a change request."""
    return ListRequestedReviewers(space_id=request.space, change_request_id=request.id, limit=ALL)


def comments_on(request: ChangeRequest) -> ListComments:
    """Return a read of the comments of a change request, oldest first."""
    return ListComments(space_id=request.space, change_request_id=request.id, order="asc", format="markdown", limit=ALL)


def replies_to(space: str, request: str, comment: str) -> ListReplies:
    """Return a read of the replies to a comment; all arguments are ids."""
    return ListReplies(space_id=space, change_request_id=request, comment_id=comment, format="markdown", limit=ALL)


def home_requests(space: str) -> dict[str, ListChangeRequests]:
    """Return reads of the change requests in the home of a space, by part: the open ones, and the last merges.

    Further open change requests are only counted there.
    """
    return {
        "requests": ListChangeRequests(space_id=space, status="open", limit=50),
        "merges": ListChangeRequests(space_id=space, status="merged", limit=3),
    }


def live_comments(space: str) -> ListSpaceComments:
    """Return a read of the comments on the live content of a space, oldest first."""
    return ListSpaceComments(space_id=space, order="asc", format="markdown", limit=ALL)


def live_replies(space: str, comment: str) -> ListSpaceReplies:
    """Return a read of the replies to a comment on live content; both arguments are ids."""
    return ListSpaceReplies(space_id=space, comment_id=comment, format="markdown", limit=ALL)


def changes_in(request: ChangeRequest, limit: int = ALL) -> GetChangeRequestChanges:
    """Return a read of the changes in a change request. Repeat it with a higher limit if the response has `more`."""
    return GetChangeRequestChanges(space_id=request.space, change_request_id=request.id, limit=limit)


def live_page(space: str, page: str) -> GetPage:
    """Return a read of a page of the live content, by ids."""
    return GetPage(space_id=space, page_id=page, format="markdown")


def live_page_keys(space: str, pages: Iterable[str]) -> dict[str, str]:
    """Return the cache keys of `live_page` for many pages, by page id.

    Building the call for each of thousands of pages would take longer than reading the page from the cache.
    """
    before, _, after = live_page(space, "*").key().partition('"page_id":"*"')
    return {page: f'{before}"page_id":{encode_basestring(page)}{after}' for page in pages}


def live_nodes(space: str, page: str) -> GetPage:
    """Return a read of a page of the live content, by ids, as a node tree whose blocks have ids."""
    return GetPage(space_id=space, page_id=page, format="document")


def changed_page(space: str, request: str, page: str) -> GetChangeRequestPage:
    """Return a read of a page of a change request, by ids."""
    return GetChangeRequestPage(space_id=space, change_request_id=request, page_id=page, format="markdown")


def changed_nodes(space: str, request: str, page: str) -> GetChangeRequestPage:
    """Return a read of a page of a change request, by ids, as a node tree whose blocks have ids."""
    return GetChangeRequestPage(space_id=space, change_request_id=request, page_id=page, format="document")


def page_in(space: str, revision: str, page: str) -> GetRevisionPage:
    """Return a read of a page of a revision, by ids. The response never changes."""
    return GetRevisionPage(space_id=space, revision_id=revision, page_id=page, format="markdown")
