"""The reads that more than one screen asks, spelled once: the same question has the same stored answer everywhere.

Texts of pages are asked for as Markdown, to be read.
"""

from __future__ import annotations

from presscheck.api.change_requests import ChangeRequest, ListRequestedReviewers, ListReviews
from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.content import GetChangeRequestPage, GetPage, GetRevisionPage
from presscheck.api.content_changes import GetChangeRequestChanges

ALL = 1000
"""The longest page that the service gives."""


def reviews_of(request: ChangeRequest) -> ListReviews:
    """Lists the reviews of a change request."""
    return ListReviews(space_id=request.space, change_request_id=request.id, format="markdown", limit=ALL)


def reviewers_of(request: ChangeRequest) -> ListRequestedReviewers:
    """Lists the requested reviewers."""
    return ListRequestedReviewers(space_id=request.space, change_request_id=request.id, limit=ALL)


def comments_on(request: ChangeRequest) -> ListComments:
    """The threads of a change request, the oldest first."""
    return ListComments(space_id=request.space, change_request_id=request.id, order="asc", format="markdown", limit=ALL)


def replies_to(space: str, request: str, comment: str) -> ListReplies:
    """The answers to a comment of a change request, all by their ids."""
    return ListReplies(space_id=space, change_request_id=request, comment_id=comment, format="markdown", limit=ALL)


def changes_in(request: ChangeRequest, limit: int = ALL) -> GetChangeRequestChanges:
    """What a change request changes; ask again with a higher limit where the answer says `more`."""
    return GetChangeRequestChanges(space_id=request.space, change_request_id=request.id, limit=limit)


def live_page(space: str, page: str) -> GetPage:
    """A page as it is live, all by their ids."""
    return GetPage(space_id=space, page_id=page, format="markdown")


def changed_page(space: str, request: str, page: str) -> GetChangeRequestPage:
    """A page as it is in a change request."""
    return GetChangeRequestPage(space_id=space, change_request_id=request, page_id=page, format="markdown")


def changed_nodes(space: str, request: str, page: str) -> GetChangeRequestPage:
    """A page as it is in a change request, as a tree of nodes, which names its blocks."""
    return GetChangeRequestPage(space_id=space, change_request_id=request, page_id=page, format="document")


def page_in(space: str, revision: str, page: str) -> GetRevisionPage:
    """A page as it was in a revision; it never changes."""
    return GetRevisionPage(space_id=space, revision_id=revision, page_id=page, format="markdown")
