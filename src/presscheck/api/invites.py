"""Invite links to an organization, a space or a collection."""

from presscheck.api.collections import Collection
from presscheck.api.operation import InOrganization, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import MemberRole
from presscheck.api.spaces import Space


class Invite(Model):
    """An invite link: to the organization with a `role`, or to a `space` or `collection` with a `level`.

    `redundant` means that members already have at least this level.
    """

    object: str = "invite"
    id: str
    role: str | None = None
    level: str | None = None
    redundant: bool = False
    space: Space | None = None
    collection: Collection | None = None


class OrganizationInvite(NullableModel):
    """An invite link to the organization."""

    nullable = frozenset({"role"})
    object: str = "invite"
    id: str
    role: str | None = None
    redundant: bool = False


class ListInvites(InOrganization, Paged, Operation[Page[OrganizationInvite]]):
    """List the invite links of an organization."""

    operation_id = "listOrganizationInviteLinks"
    route = "GET /orgs/{organization_id}/link-invites"
    feature = "list of invites"


class CreateInvite(InOrganization, Operation[Invite]):
    """Create an invite link.

    Give `role` for an organization, or `level` with `space` or `collection`; null invites guests.
    """

    operation_id = "createOrganizationInvite"
    route = "POST /orgs/{organization_id}/link-invites"
    feature = "list of invites"
    success = 201

    role: MemberRole | None = None
    level: MemberRole | None = None
    space: str | None = None
    collection: str | None = None


class GetInvite(InOrganization, Operation[Invite]):
    """Get an invite link."""

    operation_id = "getOrganizationInviteLink"
    route = "GET /orgs/{organization_id}/link-invites/{invite_id}"
    feature = "list of invites"

    invite_id: str


class UpdateInvite(InOrganization, Operation[Invite]):
    """Change the role or level of an invite link.

    Give `role` or `level`, whichever the link was created with.
    """

    operation_id = "updateOrganizationInviteById"
    route = "PATCH /orgs/{organization_id}/link-invites/{invite_id}"
    feature = "list of invites"

    invite_id: str
    role: MemberRole | None = None
    level: MemberRole | None = None


class DeleteInvite(InOrganization, Operation[None]):
    """Delete an invite link.

    Succeeds if it does not exist.
    """

    operation_id = "deleteOrganizationInviteById"
    route = "DELETE /orgs/{organization_id}/link-invites/{invite_id}"
    success = 204

    invite_id: str
