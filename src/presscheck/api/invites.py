"""Invites to an organization by email, and invite links to an organization, a space or a collection."""

from pydantic import Field

from presscheck.api.collections import Collection
from presscheck.api.operation import Argument, InOrganization, Model, NullableModel, Operation, Page, Paged
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

    Succeeds even if it does not exist.
    """

    operation_id = "deleteOrganizationInviteById"
    route = "DELETE /orgs/{organization_id}/link-invites/{invite_id}"
    success = 204

    invite_id: str


class EmailInvite(Argument):
    """An email address to invite with a role; null invites a guest."""

    email: str
    role: MemberRole | None


class InvitedUsers(Model):
    """The result of inviting users: `users` has the ids of all users, `invited` is the number of new members."""

    users: tuple[str, ...] = ()
    invited: int = 0
    failed_sso_emails: tuple[str, ...] | None = Field(default=None, alias="failedSSOEmails")


class InviteUsers(InOrganization, Operation[InvitedUsers]):
    """Invite people to an organization by email.

    Without a role, they get the default role of the organization.
    """

    operation_id = "inviteUsersToOrganization"
    route = "POST /orgs/{organization_id}/invites"
    feature = "invites by email"
    release = "0.202.0"

    emails: tuple[str | EmailInvite, ...]
    role: MemberRole | None = None
    sso: bool | None = None


class Joined(Model):
    """The response to joining an organization; it has no fields."""


class JoinWithInvite(InOrganization, Operation[Joined]):
    """Join an organization with an invite link."""

    operation_id = "joinOrganizationWithInvite"
    route = "POST /orgs/{organization_id}/invites/{invite_id}"
    feature = "invites by email"
    release = "0.202.0"

    invite_id: str
