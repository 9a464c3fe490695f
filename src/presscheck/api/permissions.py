"""The permissions of teams and users in a collection or a space."""

from typing import Literal

from presscheck.api.operation import InOrganization, InSpace, Model, Operation, Page, Paged
from presscheck.api.roles import MemberRole
from presscheck.api.spaces import Space
from presscheck.api.teams import Team
from presscheck.api.users import User


class TeamPermission(Model):
    """A team and the role of its members."""

    permission: str
    team: Team


class UserPermission(Model):
    """A user and their role."""

    permission: str
    user: User


class SpacePermission(Model):
    """A space and the role of a member in it."""

    permission: str
    space: Space


class ListCollectionTeamPermissions(Paged, Operation[Page[TeamPermission]]):
    """List the teams with access to a collection."""

    operation_id = "listTeamPermissionsInCollection"
    route = "GET /collections/{collection_id}/permissions/teams"

    collection_id: str


class UpdateCollectionTeamPermission(Operation[None]):
    """Change the role of a team in a collection."""

    operation_id = "updateTeamPermissionInCollection"
    route = "PATCH /collections/{collection_id}/permissions/teams/{team_id}"
    success = 204

    collection_id: str
    team_id: str
    role: MemberRole | None = None


class RemoveCollectionTeamPermission(Operation[None]):
    """Remove the access of a team to a collection.

    Succeeds if the team has no access.
    """

    operation_id = "removeTeamFromCollection"
    route = "DELETE /collections/{collection_id}/permissions/teams/{team_id}"
    success = 204

    collection_id: str
    team_id: str


class ListSpaceUserPermissions(InSpace, Paged, Operation[Page[UserPermission]]):
    """List the users with access to a space."""

    operation_id = "listUserPermissionsInSpace"
    route = "GET /spaces/{space_id}/permissions/users"
    feature = "list of permissions"


class ListSpaceTeamPermissions(InSpace, Paged, Operation[Page[TeamPermission]]):
    """List the teams with access to a space."""

    operation_id = "listTeamPermissionsInSpace"
    route = "GET /spaces/{space_id}/permissions/teams"
    feature = "list of permissions"


class ListSpacesOfMember(InOrganization, Paged, Operation[Page[SpacePermission]]):
    """List the spaces that a member sees.

    Newest first unless `order` is given.
    """

    operation_id = "listSpacesForOrganizationMember"
    route = "GET /orgs/{organization_id}/members/{user_id}/spaces"
    feature = "access of members"
    release = "0.202.0"

    user_id: str
    order: Literal["asc", "desc"] | None = None
