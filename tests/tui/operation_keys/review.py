"""Change requests: the inbox, the review, comments, reviewers, merging."""

from typing import Any

from tests.tui.operation_keys.driver import HERE, Family, Holds, Pick, Shows, Text, row
from tests.tui.operation_keys.places import INBOX, change_request, sent, yes

from presscheck.api.change_requests import (
    GetChangeRequest,
    GetChangeRequestPDF,
    GetReview,
    ListCommenters,
    ListContributors,
    ListOrganizationChangeRequests,
    ListRequestedReviewers,
    ListReviews,
    MergeChangeRequest,
    PullChangeRequest,
    RemoveRequestedReviewer,
    RequestReviewers,
    UpdateChangeRequest,
)
from presscheck.api.comments import (
    DeleteComment,
    GetComment,
    GetReply,
    ListComments,
    ListReplies,
    PostComment,
    PostReply,
    UpdateComment,
    UpdateReply,
)
from presscheck.api.content import GetChangeRequestPage, ListChangeRequestPages
from presscheck.api.content_changes import GetChangeRequestChanges
from presscheck.api.organizations import GetOrganization


def is_read(pilot: Any) -> bool:
    """Return True once the history has loaded the reviews of the change request."""
    return pilot.app.screen.disabled_reason("open") is None


AUTH = change_request("Rewrite the auth")
OPENED = (
    GetChangeRequest,
    GetChangeRequestChanges,
    ListRequestedReviewers,
    ListReviews,
    ListComments,
    ListReplies,
    ListChangeRequestPages,
    GetChangeRequestPage,
    GetOrganization,
)
REVIEWER = ("R", Shows("type to search"), Text("Luz"), "tab enter", sent())

FAMILY = Family(
    rows=(
        row(ListOrganizationChangeRequests, INBOX, "ctrl+r"),
        row(OPENED, AUTH),
        row(GetChangeRequestPDF, HERE, "g f", Shows("Address, copied"), "q"),
        row((ListContributors, ListCommenters), HERE, "g h", Shows("Commented")),
        row(GetReview, HERE, Holds(is_read), "enter", Pick("approved"), Shows("counts"), "q q", Shows("Can merge? ")),
        row(PostComment, HERE, "g g C", Text("Who?"), "ctrl+s", sent(), Shows("┃ you ")),
        # the first thread belongs to another user
        row((GetComment, UpdateComment), HERE, "g g t t e", Text(" I."), "ctrl+s", sent()),
        row(DeleteComment, HERE, "-", *yes("Delete "), sent()),
        row(PostReply, HERE, "g g t r", Text("Yes."), "ctrl+s", sent(), Shows("┃   you ")),
        row((GetReply, UpdateReply), HERE, "j e", Text(" Now."), "ctrl+s", sent()),
        row(RequestReviewers, HERE, *REVIEWER, Shows("Luz  review requested")),
        row(RemoveRequestedReviewer, HERE, *REVIEWER),
        row(UpdateChangeRequest, HERE, "E", Pick("Subject"), Text("Tokens"), "enter", sent()),
        row(MergeChangeRequest, HERE, "m", *yes("Merge into the live content?"), Shows("merged by you")),
        # main has new changes since
        row(PullChangeRequest, change_request("Explain 409"), "u", *yes("Update from main?"), sent()),
    )
)
