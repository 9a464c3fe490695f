"""Organizations, their members, and the search in all spaces of an organization."""

from typing import Any, Literal

from pydantic import Field

from presscheck.api.operation import Argument, InOrganization, Model, NullableModel, Operation, Page, Paged
from presscheck.api.roles import Location, MemberRole, MergeRules, StandaloneMergeRulesChange
from presscheck.api.search_results import SearchPageResult, SearchSectionResult, SearchSpaceResult
from presscheck.api.users import User

__all__ = [
    "DefaultSite",
    "GetMember",
    "GetOrganization",
    "GetOrganizationsForEmailDomain",
    "JoinOrganization",
    "LastSeen",
    "ListMembers",
    "ListOrganizations",
    "Organization",
    "OrganizationMember",
    "OrganizationPermissions",
    "OrganizationUrls",
    "Organizations",
    "RemoveMember",
    "SearchOrganization",
    "SearchPageResult",
    "SearchSectionResult",
    "SearchSpaceResult",
    "SitePointer",
    "UpdateLastSeen",
    "UpdateMember",
    "UpdateOrganization",
]


class OrganizationUrls(Location):
    """The URLs of an organization."""

    logo: str | None = None


class OrganizationPermissions(Model):
    """The caller's permissions for an organization."""

    view: bool = False
    access: bool = False
    admin: bool = False
    own_team: bool = False
    create_content: bool = False
    create_open_api_spec: bool = Field(default=False, alias="createOpenAPISpec")
    ingest_conversations: bool = False
    view_billing: bool = False
    list_members: bool = False
    list_teams: bool = False
    list_integrations: bool = False
    list_installations: bool = False
    install_integration: bool = False


class SitePointer(Model):
    """The site that opens by default."""

    type: str = "site"
    site: str


class Organization(NullableModel):
    """An organization. `default_role` is null for guests; billing and trial are not parsed."""

    nullable = frozenset({"default_role"})
    object: str = "organization"
    id: str
    title: str = ""
    created_at: str | None = None
    email_domains: tuple[str, ...] = ()
    hostname: str | None = None
    type: str | None = None
    use_case: str | None = None
    community_type: str | None = None
    default_role: str | None = None
    default_content: SitePointer | None = None
    sso: bool | None = None
    ai: bool | None = None
    invite_links: bool = False
    audit_logs: bool | None = None
    plan: str | None = None
    billing: dict[str, Any] | None = None
    merge_rules: MergeRules | None = None
    trial: dict[str, Any] | None = None
    custom_hostname: str | None = None
    blocked: dict[str, Any] | None = None
    urls: OrganizationUrls = Field(default_factory=OrganizationUrls)
    permissions: OrganizationPermissions = Field(default_factory=OrganizationPermissions)


class OrganizationMember(NullableModel):
    """A person in an organization; `role` is null for a guest."""

    nullable = frozenset({"role"})
    object: str = "member"
    id: str
    role: str | None = None
    user: User
    disabled: bool = False
    joined_at: str | None = None
    last_seen_at: str | None = None
    sso: bool = False
    spaces: int = 0
    teams: int = 0
    sites: int | None = None


class DefaultSite(Argument):
    """The site to open by default."""

    always_sent = frozenset({"type"})

    type: Literal["site"] = "site"
    site: str


class ListOrganizations(Paged, Operation[Page[Organization]]):
    """List your organizations."""

    operation_id = "listOrganizationsForAuthenticatedUser"
    route = "GET /orgs"


class GetOrganization(InOrganization, Operation[Organization]):
    """Get an organization."""

    operation_id = "getOrganizationById"
    route = "GET /orgs/{organization_id}"


class UpdateOrganization(InOrganization, Operation[Organization]):
    """Update an organization.

    The title has 2 to 255 characters, the hostname 3 to 32, the logo URL at most 2048. `default_role`,
    `default_content` and `logo` can be null. Fails with 400 if the default content is unknown.
    """

    operation_id = "updateOrganizationById"
    route = "PATCH /orgs/{organization_id}"

    title: str | None = Field(default=None, min_length=2, max_length=255)
    email_domains: tuple[str, ...] | None = None
    hostname: str | None = Field(default=None, min_length=3, max_length=32)
    default_role: MemberRole | None = None
    default_content: DefaultSite | None = None
    logo: str | None = Field(default=None, max_length=2048)
    sso: bool | None = None
    ai: bool | None = None
    invite_links: bool | None = None
    merge_rules: StandaloneMergeRulesChange | None = None


class JoinOrganization(InOrganization, Operation[None]):
    """Join an organization by a verified email domain.

    Fails with 400 if the domain is not allowed.
    """

    operation_id = "joinOrganization"
    route = "POST /orgs/{organization_id}/join"
    success = 204


class ListMembers(InOrganization, Paged, Operation[Page[OrganizationMember]]):
    """List the members of an organization.

    Newest first unless `order` is given.
    """

    operation_id = "listMembersInOrganizationById"
    route = "GET /orgs/{organization_id}/members"
    feature = "list of members"

    order: Literal["asc", "desc"] | None = None
    role: MemberRole | Literal["guest"] | None = None
    search: str | None = None
    sort: Literal["joinedAt", "lastSeenAt", "name"] | None = None


class GetMember(InOrganization, Operation[OrganizationMember]):
    """Get a member of an organization."""

    operation_id = "getMemberInOrganizationById"
    route = "GET /orgs/{organization_id}/members/{user_id}"
    feature = "list of members"

    user_id: str


class UpdateMember(InOrganization, Operation[OrganizationMember]):
    """Change the role of a member.

    A role of null makes the member a guest.
    """

    operation_id = "updateMemberInOrganizationById"
    route = "PATCH /orgs/{organization_id}/members/{user_id}"
    feature = "list of members"

    user_id: str
    role: MemberRole | None = None


class RemoveMember(InOrganization, Operation[None]):
    """Remove a member from an organization."""

    operation_id = "removeMemberFromOrganizationById"
    route = "DELETE /orgs/{organization_id}/members/{user_id}"
    feature = "list of members"
    success = 204

    user_id: str


class LastSeen(Model):
    """The response after recording that a member was seen."""

    gitbook_visitor_claims: str | None = None


class UpdateLastSeen(InOrganization, Operation[LastSeen]):
    """Record that you use an organization now."""

    operation_id = "updateOrganizationMemberLastSeenAt"
    route = "POST /orgs/{organization_id}/ping"
    feature = "last use by members"
    release = "0.202.0"


class SearchOrganization(InOrganization, Paged, Operation[Page[SearchSpaceResult]]):
    """Search all content of an organization.

    The query has at most 512 characters.
    """

    operation_id = "searchOrganizationContent"
    route = "GET /orgs/{organization_id}/search"

    query: str = Field(max_length=512)


class Organizations(Model):
    """Organizations that allow an email domain."""

    organizations: tuple[Organization, ...] = ()


class GetOrganizationsForEmailDomain(Operation[Organizations]):
    """List the organizations open to an email domain.

    Not available to user tokens on the hosted service.
    """

    operation_id = "getOrganizationsForEmailDomain"
    route = "GET /email-domains/{email_domain}/orgs"

    email_domain: str
