"""Teams of an organization and their members."""

from typing import Literal

from pydantic import Field

from presscheck.api.operation import Argument, InOrganization, Model, Operation, Page, Paged
from presscheck.api.organizations import OrganizationMember

TeamRole = Literal["owner", "member"]
"""The role in a team; owners can manage the members."""


class TeamPermissions(Model):
    """The caller's permissions for a team."""

    admin: bool = False
    view: bool = False


class Team(Model):
    """A team; `members` and `spaces` are counts."""

    object: str = "team"
    id: str
    title: str = ""
    members: int = 0
    spaces: int = 0
    created_at: str | None = None
    permissions: TeamPermissions = Field(default_factory=TeamPermissions)


class MembershipRole(Model):
    """The role in a team: owner or member."""

    role: str = "member"


class MembershipPermissions(Model):
    """The caller's permissions for a membership."""

    view: bool = False


class TeamMember(Model):
    """A member of a team, with their roles in the organization and in the team."""

    organization: OrganizationMember
    team: MembershipRole = Field(default_factory=MembershipRole)
    permissions: MembershipPermissions = Field(default_factory=MembershipPermissions)


class Membership(Argument):
    """A role for a member of a team."""

    role: TeamRole


class MemberTeam(Model):
    """A team of a member, with their role in it."""

    team: Team
    member: MembershipRole


class ListTeams(InOrganization, Paged, Operation[Page[Team]]):
    """List the teams of an organization.

    `owner` filters by who can manage the team, `title` by a part of its title.
    """

    operation_id = "listTeamsInOrganizationById"
    route = "GET /orgs/{organization_id}/teams"

    owner: str | None = None
    title: str | None = None


class CreateTeam(InOrganization, Operation[Team]):
    """Create a team.

    The title has 1 to 64 characters; `members` are user ids.
    """

    operation_id = "createOrganizationTeam"
    route = "PUT /orgs/{organization_id}/teams"
    success = 201

    title: str = Field(min_length=1, max_length=64)
    members: tuple[str, ...] | None = None


class GetTeam(InOrganization, Operation[Team]):
    """Get a team."""

    operation_id = "getTeamInOrganizationById"
    route = "GET /orgs/{organization_id}/teams/{team_id}"

    team_id: str


class UpdateTeam(InOrganization, Operation[Team]):
    """Rename a team.

    The title has 1 to 64 characters.
    """

    operation_id = "updateTeamInOrganizationById"
    route = "PATCH /orgs/{organization_id}/teams/{team_id}"

    team_id: str
    title: str = Field(min_length=1, max_length=64)


class DeleteTeam(InOrganization, Operation[None]):
    """Delete a team.

    Succeeds even if it does not exist.
    """

    operation_id = "removeTeamFromOrganizationById"
    route = "DELETE /orgs/{organization_id}/teams/{team_id}"
    success = 204

    team_id: str


class ListTeamMembers(InOrganization, Paged, Operation[Page[TeamMember]]):
    """List the members of a team."""

    operation_id = "listTeamMembersInOrganizationById"
    route = "GET /orgs/{organization_id}/teams/{team_id}/members"

    team_id: str


class UpdateTeamMembers(InOrganization, Operation[None]):
    """Add and remove members of a team.

    Members are given by id or email; a user in both lists is removed. `memberships` gives roles by user id.
    """

    operation_id = "updateMembersInOrganizationTeam"
    route = "PUT /orgs/{organization_id}/teams/{team_id}/members"
    success = 204

    team_id: str
    add: tuple[str, ...] | None = None
    memberships: dict[str, Membership] | None = None
    remove: tuple[str, ...] | None = None


class AddTeamMember(InOrganization, Operation[None]):
    """Add a user to a team or change their role."""

    operation_id = "addMemberToOrganizationTeamById"
    route = "PUT /orgs/{organization_id}/teams/{team_id}/members/{user_id}"
    success = 204

    team_id: str
    user_id: str
    role: TeamRole | None = None


class RemoveTeamMember(InOrganization, Operation[None]):
    """Remove a user from a team.

    Succeeds if the user is not in the team.
    """

    operation_id = "deleteMemberFromOrganizationTeamById"
    route = "DELETE /orgs/{organization_id}/teams/{team_id}/members/{user_id}"
    success = 204

    team_id: str
    user_id: str


class ListTeamsOfMember(InOrganization, Paged, Operation[Page[MemberTeam]]):
    """List the teams of a member.

    `title` filters by a part of the title.
    """

    operation_id = "listTeamsForOrganizationMember"
    route = "GET /orgs/{organization_id}/members/{user_id}/teams"
    feature = "access of members"
    release = "0.202.0"

    user_id: str
    title: str | None = None
