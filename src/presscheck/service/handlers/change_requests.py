"""Change requests: list, create, edit, open and archive; a merged one is final."""

from __future__ import annotations

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    GetChangeRequest,
    ListChangeRequests,
    ListOrganizationChangeRequests,
    UpdateChangeRequest,
)
from presscheck.api.operation import Page
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context, handles
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import organization_for, space_for, visible_space_ids
from presscheck.service.review.change_requests import (
    as_change_request,
    change_request_for,
    know_place,
    note_work,
)
from presscheck.service.review.request_lists import listed

LONGEST_SUBJECT = 100


@handles(ListChangeRequests)
def list_change_requests(context: Context, call: ListChangeRequests) -> Page[ChangeRequest]:
    """Lists the change requests of a space in one state, newest first."""
    space = space_for(context, call.space_id)
    return listed(context, call, [space.id])


@handles(ListOrganizationChangeRequests)
def list_organization_change_requests(context: Context, call: ListOrganizationChangeRequests) -> Page[ChangeRequest]:
    """Lists the change requests of all spaces of an organization that the caller may see, newest first."""
    organization = organization_for(context, call.organization_id, "guest")
    return listed(context, call, [*visible_space_ids(context, organization.id)])


@handles(CreateChangeRequest)
def create_change_request(context: Context, call: CreateChangeRequest) -> ChangeRequest:
    """Creates a draft from the live content, with the next number of the space."""
    if call.subject and len(call.subject) > LONGEST_SUBJECT:
        raise ApiError(400, f"subject: must have at most {LONGEST_SUBJECT} characters")
    know_place(context, call.space_id)
    space = space_for(context, call.space_id, "edit")
    row = begin_change_request(context, space, call.subject or "")
    return as_change_request(context, row, is_new=True)


def begin_change_request(context: Context, space: SpaceRow, subject: str) -> ChangeRequestRow:
    """Creates a draft change request from the live content of a space."""
    space.numbered += 1
    now = context.now()
    row = ChangeRequestRow(
        id=new_id(),
        space_id=space.id,
        number=space.numbered,
        status="draft",
        subject=subject,
        created_by=context.user.id,
        created_at=now,
        updated_at=now,
        revision=space.revision_id,
        revision_initial=space.revision_id,
    )
    context.session.add(row)
    context.session.flush()
    return row


@handles(GetChangeRequest)
def get_change_request(context: Context, call: GetChangeRequest) -> ChangeRequest:
    """Returns a change request."""
    return as_change_request(context, change_request_for(context, call.space_id, call.change_request_id)[1])


@handles(UpdateChangeRequest)
def update_change_request(context: Context, call: UpdateChangeRequest) -> ChangeRequest:
    """Changes the subject, description or state."""
    _, row = change_request_for(context, call.space_id, call.change_request_id, "edit")
    if row.status == "merged":
        raise ApiError(409, f"Change request #{row.number} is already merged. A merge cannot be undone.")
    if call.subject is not None:
        row.subject = call.subject
    if "description" in call.model_fields_set:
        row.description = call.description
    if call.status is not None:
        row.status = call.status
    if call.model_fields_set & {"subject", "description", "status"}:
        note_work(context, row)
    return as_change_request(context, row)
