"""Change requests, requested reviewers, contributors and reviews.

Paths accept the id of a change request or its number within the space.
"""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.comments import Comment, Document, Format
from presscheck.api.operation import InChangeRequest, InOrganization, InSpace, Model, Operation, Page, Paged
from presscheck.api.organizations import OrganizationMember
from presscheck.api.roles import Location
from presscheck.api.spaces import ExportedPDF
from presscheck.api.users import Contribution, User

ChangeRequestStatus = Literal["draft", "open", "archived", "merged"]
"""The status of a change request. It can be set to all but `merged`, which only a merge sets."""
ReviewStatus = Literal["approved", "changes-requested"]
"""The status of a review."""
REVIEWS = "reviews"
"""The feature of the operations for reviews, which the published document of the service lacks."""


class ChangeRequest(Model):
    """Proposed edits to a space; `status` is draft, open, archived or merged.

    `revision` is its newest revision, `revision_initial` the live revision it was created from, and
    `revision_merged` the result of its merge. `revision_merged_ancestor` is the newest live revision that it was
    updated from. `comments` is the number of open comments without those of reviews. `outdated` means that the live
    content has changed since the change request was created or last updated.
    """

    object: str = "change-request"
    id: str
    number: int = 0
    status: str = "open"
    subject: str = ""
    description: dict[str, Any] | None = None
    created_by: User | None = None
    created_at: str = ""
    updated_at: str = ""
    merged_by: User | None = None
    merged_at: str | None = None
    space: str = ""
    revision: str = ""
    revision_initial: str = ""
    revision_merged_ancestor: str | None = None
    revision_merged: str | None = None
    comments: int = 0
    outdated: bool = False
    conversations_issues_cluster: str | None = None
    urls: Location = Field(default_factory=Location)


class TeamPointer(Model):
    """A team, by its id."""

    object: str = "team"
    id: str


class RequestedReviewer(Model):
    """A requested reviewer: a `user` or a `team`, by `kind`; `revision` was current when the review was requested."""

    object: str = "change-request-requested-reviewer"
    revision: str | None = None
    requested_by: User | None = None
    created_at: str | None = None
    kind: str = "user"
    user: User | None = None
    team: TeamPointer | None = None


class RequestedReviewers(Model):
    """The reviewers that were just requested."""

    users: tuple[RequestedReviewer, ...] | None = None


class Contributor(Contribution):
    """A contributor; `action_type` is edit or comment."""

    action_type: str | None = None


class Review(Model):
    """A review of a `revision`; `outdated` means that a newer review replaced it, not that content changed."""

    object: str = "change-request-review"
    id: str
    revision: str = ""
    reviewer: User
    requested_by: User | None = None
    status: str
    outdated: bool = False
    comment: Comment | None = None
    created_at: str = ""
    updated_at: str = ""
    urls: Location = Field(default_factory=Location)


class MergeResult(Model):
    """The result of a merge or an update: `result` is merge, update or conflicts; the HTTP status is always 200."""

    revision: str
    result: str


class ListChangeRequests(InSpace, Paged, Operation[Page[ChangeRequest]]):
    """List the change requests of a space.

    `status` is required to see any but the open ones; it takes one value.
    """

    operation_id = "listChangeRequestsForSpace"
    route = "GET /spaces/{space_id}/change-requests"

    status: ChangeRequestStatus | None = None
    creator: str | None = None
    contributor: str | None = None
    requested_reviewer: str | None = None
    conversations_issues_cluster: str | None = None


class ListOrganizationChangeRequests(InOrganization, Paged, Operation[Page[ChangeRequest]]):
    """List the change requests of an organization.

    `status` is required to see any but the open ones; it takes one value.
    """

    operation_id = "listChangeRequestsForOrganization"
    route = "GET /orgs/{organization_id}/change-requests"

    status: ChangeRequestStatus | None = None
    creator: str | None = None
    contributor: str | None = None
    requested_reviewer: str | None = None
    conversations_issues_cluster: str | None = None


class CreateChangeRequest(InSpace, Operation[ChangeRequest]):
    """Create a change request.

    It starts from the live content of the space. The service decides whether it is a draft or open.
    """

    operation_id = "createChangeRequest"
    route = "POST /spaces/{space_id}/change-requests"
    success = 201

    subject: str | None = None
    agent_task_id: str | None = None


class GetChangeRequest(InChangeRequest, Operation[ChangeRequest]):
    """Get a change request, by id or number."""

    operation_id = "getChangeRequestById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}"


class UpdateChangeRequest(InChangeRequest, Operation[ChangeRequest]):
    """Update a change request.

    Changes the subject, the description or the status. The subject has at most 100 characters; the description is a
    tree of nodes, not Markdown. The status cannot be set to merged.
    """

    operation_id = "updateChangeRequestById"
    route = "PATCH /spaces/{space_id}/change-requests/{change_request_id}"

    subject: str | None = Field(default=None, max_length=100)
    description: dict[str, Any] | None = None
    status: Literal["draft", "open", "archived"] | None = None


class MergeChangeRequest(InChangeRequest, Operation[MergeResult]):
    """Merge a change request into the live content.

    Conflicts are merged too. A merge cannot be undone.
    """

    operation_id = "mergeChangeRequest"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/merge"


class PullChangeRequest(InChangeRequest, Operation[MergeResult]):
    """Update a change request with the live content.

    The service calls this operation update.
    """

    operation_id = "updateChangeRequest"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/update"


class ListRequestedReviewers(InChangeRequest, Paged, Operation[Page[RequestedReviewer]]):
    """List the requested reviewers of a change request."""

    operation_id = "getRequestedReviewersByChangeRequestId"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/requested-reviewers"


class RequestReviewers(InChangeRequest, Operation[RequestedReviewers]):
    """Request reviewers for a change request.

    `users` are user ids. The subject and the description of the change request can be set, too.
    """

    operation_id = "requestReviewersForChangeRequest"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/requested-reviewers"

    users: tuple[str, ...]
    subject: str | None = None
    description: dict[str, Any] | None = None


class RemoveRequestedReviewer(InChangeRequest, Operation[None]):
    """Remove a requested reviewer.

    Succeeds if the user is not a requested reviewer.
    """

    operation_id = "removeRequestedReviewerFromChangeRequest"
    route = "DELETE /spaces/{space_id}/change-requests/{change_request_id}/requested-reviewers/{user_id}"
    success = 204

    user_id: str


class ListContributors(InChangeRequest, Operation[Page[Contributor]]):
    """List the contributors of a change request.

    These are the users who edited it or commented on it. The service returns one page only.
    """

    operation_id = "getContributorsByChangeRequestId"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/contributors"


class ListReviews(InChangeRequest, Paged, Operation[Page[Review]]):
    """List the reviews of a change request.

    `outdated` filters by whether a newer review of the same user replaced it.
    """

    operation_id = "getReviewsByChangeRequestId"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/reviews"
    feature = REVIEWS

    format: Format | None = None
    outdated: bool | None = None


class SubmitReview(InChangeRequest, Operation[Review]):
    """Submit a review: approve or request changes.

    A review cannot be edited or deleted; a newer review of the same user replaces it.
    """

    operation_id = "submitChangeRequestReview"
    route = "POST /spaces/{space_id}/change-requests/{change_request_id}/reviews"
    feature = REVIEWS
    success = 201

    status: ReviewStatus
    comment: Document | None = None


class GetReview(InChangeRequest, Operation[Review]):
    """Get a review."""

    operation_id = "getChangeRequestReviewById"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/reviews/{review_id}"
    feature = REVIEWS

    review_id: str
    format: Format | None = None


class ListCommenters(InChangeRequest, Paged, Operation[Page[OrganizationMember]]):
    """List the users who commented on a change request."""

    operation_id = "listCommentersInChangeRequest"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/commenters"
    feature = "list of commenters"


class GetChangeRequestPDF(InChangeRequest, Operation[ExportedPDF]):
    """Export a change request as PDF.

    Exports everything, or everything from `page` (a page id) on; with `only`, that page alone.
    """

    operation_id = "getChangeRequestPDF"
    route = "GET /spaces/{space_id}/change-requests/{change_request_id}/pdf"

    only: bool | None = None
    page: str | None = None
