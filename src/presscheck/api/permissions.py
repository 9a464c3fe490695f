"""The permissions of teams and users in a collection, a space or a site."""

from typing import Literal

from pydantic import Field

from presscheck.api.operation import InOrganization, InSite, InSpace, Model, NullableModel, Operation, Page, Paged
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


class SiteTeamPermission(NullableModel):
    """A team and its role in a site."""

    nullable = frozenset({"permission"})
    permission: str | None = None
    team: Team


class SiteUserPermission(NullableModel):
    """A user and the role that was granted to them in a site."""

    nullable = frozenset({"permission"})
    permission: str | None = None
    user: User


class PermissionOrigin(Model):
    """The origin of a role in a site: `type` is organization, or site with a `reason` (member or team)."""

    type: str
    organization: str | None = None
    site: str | None = None
    reason: str | None = None
    team: str | None = None


class SiteMemberPermission(NullableModel):
    """A member with their role in a site; `permission` is null for guests without a role."""

    nullable = frozenset({"permission"})
    permission: str | None = None
    user: User
    origin: PermissionOrigin
    disabled: bool = False
    last_seen_at: str | None = None


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


class InviteToCollection(Operation[None]):
    """Give people and teams a role in a collection.

    `users` are ids or email addresses of members, `teams` are ids. A role of null revokes the role that they have.
    """

    operation_id = "inviteToCollection"
    route = "POST /collections/{collection_id}/permissions"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    collection_id: str
    teams: tuple[str, ...] | None = Field(default=None, min_length=1)
    users: tuple[str, ...] | None = Field(default=None, min_length=1)
    role: MemberRole | None


class ListCollectionUserPermissions(Paged, Operation[Page[UserPermission]]):
    """List the roles that users were given in a collection."""

    operation_id = "listUserPermissionsInCollection"
    route = "GET /collections/{collection_id}/permissions/users"
    feature = "changes of permissions"
    release = "0.202.0"

    collection_id: str


class UpdateCollectionUserPermission(Operation[None]):
    """Change the role of a user in a collection.

    With null as the role, the access is removed.
    """

    operation_id = "updateUserPermissionInCollection"
    route = "PATCH /collections/{collection_id}/permissions/users/{user_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    collection_id: str
    user_id: str
    role: MemberRole | None = None


class RemoveCollectionUserPermission(Operation[None]):
    """Remove the role of a user in a collection.

    Succeeds if there is none.
    """

    operation_id = "removeUserFromCollection"
    route = "DELETE /collections/{collection_id}/permissions/users/{user_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    collection_id: str
    user_id: str


class ListCollectionPermissions(Paged, Operation[Page[UserPermission]]):
    """List the users with access to a collection."""

    operation_id = "listPermissionsAggregateInCollection"
    route = "GET /collections/{collection_id}/permissions/aggregate"
    feature = "changes of permissions"
    release = "0.202.0"

    collection_id: str
    role: MemberRole | None = None


class InviteToSpace(InSpace, Operation[None]):
    """Give people and teams a role in a space.

    `users` are ids or email addresses of members, `teams` are ids. A role of null revokes the role that they have.
    """

    operation_id = "inviteToSpace"
    route = "POST /spaces/{space_id}/permissions"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    teams: tuple[str, ...] | None = Field(default=None, min_length=1)
    users: tuple[str, ...] | None = Field(default=None, min_length=1)
    role: MemberRole | None


class ListSpacePermissions(InSpace, Paged, Operation[Page[UserPermission]]):
    """List the users with access to a space.

    With a role, list only the users who have that role.
    """

    operation_id = "listPermissionsAggregateInSpace"
    route = "GET /spaces/{space_id}/permissions/aggregate"
    feature = "changes of permissions"
    release = "0.202.0"

    role: MemberRole | None = None


class UpdateSpaceTeamPermission(InSpace, Operation[None]):
    """Change the role of a team in a space.

    With null as the role, the access is removed.
    """

    operation_id = "updateTeamPermissionInSpace"
    route = "PATCH /spaces/{space_id}/permissions/teams/{team_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    team_id: str
    role: MemberRole | None = None


class RemoveSpaceTeamPermission(InSpace, Operation[None]):
    """Remove the role of a team in a space.

    Succeeds if there is none.
    """

    operation_id = "removeTeamFromSpace"
    route = "DELETE /spaces/{space_id}/permissions/teams/{team_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    team_id: str


class UpdateSpaceUserPermission(InSpace, Operation[None]):
    """Change the role of a user in a space.

    With null as the role, the access is removed.
    """

    operation_id = "updateUserPermissionInSpace"
    route = "PATCH /spaces/{space_id}/permissions/users/{user_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    user_id: str
    role: MemberRole | None = None


class RemoveSpaceUserPermission(InSpace, Operation[None]):
    """Remove the role of a user in a space.

    Succeeds if there is none.
    """

    operation_id = "removeUserFromSpace"
    route = "DELETE /spaces/{space_id}/permissions/users/{user_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    user_id: str


class InviteToSite(InSite, Operation[None]):
    """Give people and teams a role in a site.

    `users` are ids or email addresses of members, `teams` are ids. A role of null revokes the role that they have.
    """

    operation_id = "inviteToSite"
    route = "POST /orgs/{organization_id}/sites/{site_id}/permissions"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    teams: tuple[str, ...] | None = Field(default=None, min_length=1)
    users: tuple[str, ...] | None = Field(default=None, min_length=1)
    role: MemberRole | None


class ListSiteTeamPermissions(InSite, Paged, Operation[Page[SiteTeamPermission]]):
    """List the roles that teams were given in a site."""

    operation_id = "listTeamPermissionsInSite"
    route = "GET /orgs/{organization_id}/sites/{site_id}/permissions/teams"
    feature = "changes of permissions"
    release = "0.202.0"


class UpdateSiteTeamPermission(InSite, Operation[None]):
    """Change the role of a team in a site."""

    operation_id = "updateTeamPermissionInSite"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/permissions/teams/{team_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    team_id: str
    role: MemberRole | None = None


class RemoveSiteTeamPermission(InSite, Operation[None]):
    """Remove the role of a team in a site.

    Succeeds if there is none.
    """

    operation_id = "removeTeamFromSite"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/permissions/teams/{team_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    team_id: str


class ListSiteUserPermissions(InSite, Paged, Operation[Page[SiteUserPermission]]):
    """List the roles that users were given in a site."""

    operation_id = "listUserPermissionsInSite"
    route = "GET /orgs/{organization_id}/sites/{site_id}/permissions/users"
    feature = "changes of permissions"
    release = "0.202.0"


class UpdateSiteUserPermission(InSite, Operation[None]):
    """Change the role of a user in a site."""

    operation_id = "updateUserPermissionInSite"
    route = "PATCH /orgs/{organization_id}/sites/{site_id}/permissions/users/{user_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    user_id: str
    role: MemberRole | None = None


class RemoveSiteUserPermission(InSite, Operation[None]):
    """Remove the role of a user in a site.

    Succeeds if there is none.
    """

    operation_id = "removeUserFromSite"
    route = "DELETE /orgs/{organization_id}/sites/{site_id}/permissions/users/{user_id}"
    feature = "changes of permissions"
    release = "0.202.0"
    success = 204

    user_id: str


class ListSitePermissions(InSite, Paged, Operation[Page[SiteMemberPermission]]):
    """List the members with their roles in a site."""

    operation_id = "listPermissionsAggregateInSite"
    route = "GET /orgs/{organization_id}/sites/{site_id}/permissions/aggregate"
    feature = "changes of permissions"
    release = "0.202.0"

    order: Literal["asc", "desc"] | None = None
    role: MemberRole | Literal["guest"] | None = None
    search: str | None = None
    sort: Literal["joinedAt", "lastSeenAt", "name"] | None = None
    team: str | None = None
