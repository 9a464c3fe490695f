"""Requested reviewers, reviews and participants. A new review of a user makes their older reviews outdated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, select, update

from presscheck.api.change_requests import (
    Contributor,
    GetReview,
    ListCommenters,
    ListContributors,
    ListRequestedReviewers,
    ListReviews,
    RemoveRequestedReviewer,
    RequestedReviewer,
    RequestedReviewers,
    RequestReviewers,
    Review,
    SubmitReview,
)
from presscheck.api.comments import Format, ListSpaceCommenters
from presscheck.api.operation import Page
from presscheck.api.organizations import OrganizationMember
from presscheck.api.roles import Location
from presscheck.service.db.ids import new_id
from presscheck.service.db.statements import among
from presscheck.service.handlers.comments import as_comments, has_text, new_comment
from presscheck.service.handlers.organizations import as_members
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import Listing, page_of_items, page_of_listing
from presscheck.service.models.content import (
    ChangeRequestRow,
    CommentRow,
    ContributorRow,
    RequestedReviewerRow,
    ReviewRow,
)
from presscheck.service.models.organizations import MemberRow
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import change_request_for, note_work, require_unfinished
from presscheck.service.spaces.serializers import people

_COMMENTS = select(CommentRow).where(among(CommentRow.__table__.c.review_id, "reviews"))
_CONTRIBUTORS = (
    select(ContributorRow)
    .where(ContributorRow.change_request_id == bindparam("id"))
    .order_by(ContributorRow.updated_at.desc(), ContributorRow.user_id, ContributorRow.action)
)

_REQUESTED = Listing(
    select(RequestedReviewerRow).where(RequestedReviewerRow.change_request_id == bindparam("id")),
    (RequestedReviewerRow.created_at, RequestedReviewerRow.user_id),
)
_every_review, _by_time = (
    select(ReviewRow).where(ReviewRow.change_request_id == bindparam("id")),
    (ReviewRow.created_at, ReviewRow.id),
)
_REVIEWS = {
    None: Listing(_every_review, _by_time),
    True: Listing(_every_review.where(ReviewRow.outdated), _by_time),
    False: Listing(_every_review.where(~ReviewRow.outdated), _by_time),
}
"""The listings of reviews by the filter `outdated`; None lists all."""


@handles(ListRequestedReviewers)
def list_requested_reviewers(context: Context, call: ListRequestedReviewers) -> Page[RequestedReviewer]:
    """List the requested reviewers, in the order of the requests."""
    _, row = change_request_for(context, call.space_id, call.change_request_id)
    return page_of_listing(
        context, call, _REQUESTED, {"id": row.id}, lambda page_rows: _as_requested(context, page_rows)
    )


@handles(RequestReviewers)
def request_reviewers(context: Context, call: RequestReviewers) -> RequestedReviewers:
    """Request reviews from members. A repeated request applies to the newest revision."""
    space, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    require_unfinished(row)
    changed: dict[str, Any] = {}
    if call.subject is not None:
        changed["subject"] = call.subject
    if "description" in call.model_fields_set:
        changed["description"] = call.description
    for user_id in call.users:
        if context.session.get(MemberRow, (space.organization_id, user_id)) is None:
            raise ApiError(400, f"users: {user_id} is not a member of the organization")
    requests = [_request_review(context, row, user_id) for user_id in dict.fromkeys(call.users)]
    note_work(context, row, **changed)
    context.session.flush()
    return RequestedReviewers(users=tuple(_as_requested(context, requests)))


@handles(RemoveRequestedReviewer)
def remove_requested_reviewer(context: Context, call: RemoveRequestedReviewer) -> None:
    """Remove a requested reviewer."""
    _, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    request = context.session.get(RequestedReviewerRow, (row.id, call.user_id))
    if request is not None:
        context.session.delete(request)
        note_work(context, row)


@handles(ListReviews)
def list_reviews(context: Context, call: ListReviews) -> Page[Review]:
    """List the reviews, newest first."""
    _, row = change_request_for(context, call.space_id, call.change_request_id)
    return page_of_listing(
        context,
        call,
        _REVIEWS[call.outdated],
        {"id": row.id},
        lambda page_rows: _as_reviews(context, row, page_rows, call.format),
        newest_first=True,
    )


@handles(GetReview)
def get_review(context: Context, call: GetReview) -> Review:
    """Return a review."""
    _, row = change_request_for(context, call.space_id, call.change_request_id)
    review = context.session.get(ReviewRow, call.review_id)
    if review is None or review.change_request_id != row.id:
        raise not_found("review")
    return _as_reviews(context, row, [review], call.format)[0]


@handles(SubmitReview)
def submit_review(context: Context, call: SubmitReview) -> Review:
    """Submit a review of the newest revision."""
    space, row = change_request_for(context, call.space_id, call.change_request_id, "review")
    require_unfinished(row)
    context.session.execute(
        update(ReviewRow)
        .where(ReviewRow.change_request_id == row.id, ReviewRow.reviewer == context.user.id)
        .values(outdated=True)
    )
    request = context.session.get(RequestedReviewerRow, (row.id, context.user.id))
    review = ReviewRow(
        id=new_id(),
        change_request_id=row.id,
        reviewer=context.user.id,
        requested_by=request.requested_by if request else None,
        revision=row.revision,
        status=call.status,
        outdated=False,
        created_at=context.now(),
    )
    context.session.add(review)
    if call.comment is not None and has_text(call.comment):
        new_comment(context, space, row, call.comment, review_id=review.id)
    note_work(context, row)
    context.session.flush()
    return _as_reviews(context, row, [review])[0]


@handles(ListContributors)
def list_contributors(context: Context, call: ListContributors) -> Page[Contributor]:
    """List the contributors of a change request, most recent first.

    A user who has edited and commented has two items: one for the edits, one for the comments.
    """
    _, row = change_request_for(context, call.space_id, call.change_request_id)
    rows = context.session.scalars(_CONTRIBUTORS, {"id": row.id}).all()
    users = people(context, [part.user_id for part in rows])
    items = tuple(
        Contributor(user=users[part.user_id], count=part.count, updated_at=part.updated_at, action_type=part.action)
        for part in rows
    )
    return Page[Contributor](items=items, count=len(items), total=len(items))


@handles(ListCommenters)
@handles(ListSpaceCommenters)
def list_commenters(context: Context, call: ListCommenters | ListSpaceCommenters) -> Page[OrganizationMember]:
    """List the members who commented on a change request, or on a live space."""
    if isinstance(call, ListCommenters):
        space, row = change_request_for(context, call.space_id, call.change_request_id)
        is_here = CommentRow.change_request_id == row.id
    else:
        space = space_for(context, call.space_id)
        is_here = (CommentRow.space_id == space.id) & CommentRow.change_request_id.is_(None)
    rows = context.session.scalars(
        select(MemberRow)
        .where(MemberRow.organization_id == space.organization_id)
        .where(MemberRow.user_id.in_(select(CommentRow.posted_by).where(is_here)))
        .order_by(MemberRow.joined_at, MemberRow.user_id)
    ).all()
    return page_of_items(call, as_members(context, rows))


def _request_review(context: Context, row: ChangeRequestRow, user_id: str) -> RequestedReviewerRow:
    request = context.session.get(RequestedReviewerRow, (row.id, user_id))
    if request is None:
        request = RequestedReviewerRow(change_request_id=row.id, user_id=user_id)
        context.session.add(request)
    request.requested_by = context.user.id
    request.revision = row.revision
    request.created_at = context.now()
    return request


def _as_requested(context: Context, rows: Sequence[RequestedReviewerRow]) -> list[RequestedReviewer]:
    users = people(context, [user for row in rows for user in (row.user_id, row.requested_by)])
    return [
        RequestedReviewer(
            revision=row.revision,
            requested_by=users[row.requested_by],
            created_at=row.created_at,
            kind="user",
            user=users[row.user_id],
        )
        for row in rows
    ]


def _as_reviews(
    context: Context, row: ChangeRequestRow, reviews: Sequence[ReviewRow], shape: Format | None = None
) -> list[Review]:
    users = people(context, [user for review in reviews for user in (review.reviewer, review.requested_by)])
    review_comments = context.records(_COMMENTS, reviews=[review.id for review in reviews])
    comments = {comment.target.review: comment for comment in as_comments(context, review_comments, shape)}
    reviews_url = context.location(f"/spaces/{row.space_id}/change-requests/{row.id}/reviews")
    return [
        Review(
            id=review.id,
            revision=review.revision,
            reviewer=users[review.reviewer],
            requested_by=users[review.requested_by] if review.requested_by else None,
            status=review.status,
            outdated=review.outdated,
            comment=comments.get(review.id),
            created_at=review.created_at,
            updated_at=review.created_at,
            urls=Location(location=f"{reviews_url}/{review.id}"),
        )
        for review in reviews
    ]
