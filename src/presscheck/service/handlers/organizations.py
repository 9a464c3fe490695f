"""Organizations, their members, and search across the spaces that the caller may see."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Select, bindparam, delete, func, select

from presscheck.api.operation import Page
from presscheck.api.organizations import (
    GetMember,
    GetOrganization,
    GetOrganizationsForEmailDomain,
    JoinOrganization,
    LastSeen,
    ListMembers,
    ListOrganizations,
    Organization,
    OrganizationMember,
    OrganizationPermissions,
    Organizations,
    OrganizationUrls,
    RemoveMember,
    SearchOrganization,
    SearchSpaceResult,
    SitePointer,
    UpdateLastSeen,
    UpdateMember,
    UpdateOrganization,
)
from presscheck.api.roles import MergeRules
from presscheck.service.content.search import as_results, search
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import Listing, page_of_items, page_of_listing, page_of_rows
from presscheck.service.models.organizations import MemberRow, OrganizationRow, UserRow
from presscheck.service.models.sites import SiteRow
from presscheck.service.models.spaces import CollectionRow, SpaceRow
from presscheck.service.models.teams import GrantRow, TeamMemberRow, TeamRow
from presscheck.service.permissions import (
    is_member,
    know_roles,
    organization_for,
    reaches,
    remove_grants,
    role_in,
    visible_space_ids,
)
from presscheck.service.review.merge_rules import stored_rules
from presscheck.service.spaces.serializers import people

CLEARABLE = frozenset(("default_role", "default_content", "logo"))
MOST_PAGES = 25
"""The maximum number of search results for one space."""

_memberships = select(MemberRow.organization_id).where(
    MemberRow.user_id == bindparam("user"), MemberRow.disabled.is_(False)
)
_MINE = Listing(
    select(OrganizationRow).where(OrganizationRow.id.in_(_memberships)),
    (OrganizationRow.created_at, OrganizationRow.id),
)


@handles(ListOrganizations)
def list_organizations(context: Context, call: ListOrganizations) -> Page[Organization]:
    """List the caller's organizations, oldest first."""
    return page_of_listing(
        context,
        call,
        _MINE,
        {"user": context.user.id},
        lambda rows: _as_organizations(context, rows),
    )


def _as_organizations(context: Context, rows: Sequence[OrganizationRow]) -> list[Organization]:
    know_roles(context, [row.id for row in rows])
    return [as_organization(context, row) for row in rows]


@handles(GetOrganization)
def get_organization(context: Context, call: GetOrganization) -> Organization:
    """Return an organization."""
    return as_organization(context, organization_for(context, call.organization_id, "guest"))


@handles(UpdateOrganization)
def update_organization(context: Context, call: UpdateOrganization) -> Organization:
    """Update an organization; requires an admin."""
    row = organization_for(context, call.organization_id, "admin")
    given = {name: value for name, value in call.given().items() if name != "organization_id"}
    if call.merge_rules is not None:
        given["merge_rules"] = stored_rules(call.merge_rules)
    for name, value in given.items():
        if value is None and name not in CLEARABLE:
            raise ApiError(400, f"{call.on_wire(name)}: must not be null")
    if call.default_content is not None:
        site = context.session.get(SiteRow, call.default_content.site)
        if site is None or site.organization_id != row.id:
            raise ApiError(400, "defaultContent: site not found in this organization")
    for name, value in given.items():
        setattr(row, name, value)
    return as_organization(context, row)


@handles(ListMembers)
def list_members(context: Context, call: ListMembers) -> Page[OrganizationMember]:
    """List the members, most recently joined first; `search` matches name and email. Guests may not list them."""
    organization_for(context, call.organization_id, "read")
    if call.sort in ("name", "lastSeenAt"):
        return page_of_items(call, every_member(context, call))
    return page_of_rows(
        context,
        call,
        _members(call),
        lambda members: as_members(context, members),
        order=(MemberRow.joined_at, MemberRow.user_id),
        newest_first=call.order != "asc",
    )


def every_member(context: Context, call: ListMembers) -> list[OrganizationMember]:
    """Return all members that a listing contains, in its order."""
    members = as_members(context, context.session.scalars(_members(call)).all())
    if call.sort in ("name", "lastSeenAt"):
        members.sort(key=_name if call.sort == "name" else _last_seen, reverse=call.order == "desc")
    else:
        members.sort(key=_joined, reverse=call.order != "asc")
    return members


def _members(call: ListMembers) -> Select[MemberRow]:
    """Select the members that a listing contains."""
    rows = select(MemberRow).where(MemberRow.organization_id == call.organization_id)
    if call.role is not None:
        rows = rows.where(MemberRow.role.is_(None) if call.role == "guest" else MemberRow.role == call.role)
    if call.search:
        text = call.search.lower()
        name, email = func.lower(UserRow.display_name), func.lower(UserRow.email)
        matches = name.contains(text, autoescape=True) | email.contains(text, autoescape=True)
        rows = rows.where(MemberRow.user_id.in_(select(UserRow.id).where(matches)))
    return rows


@handles(GetMember)
def get_member(context: Context, call: GetMember) -> OrganizationMember:
    """Return a member by user id; guests only see themselves."""
    return as_members(context, [member_for(context, call.organization_id, call.user_id)])[0]


@handles(UpdateMember)
def update_member(context: Context, call: UpdateMember) -> OrganizationMember:
    """Change the role of a member; requires an admin, and one admin must remain."""
    organization = organization_for(context, call.organization_id, "admin")
    row = _member(context, organization, call.user_id)
    if "role" not in call.model_fields_set:
        raise ApiError(400, "role: required; use null for a guest")
    if call.role != "admin":
        _require_other_admin(context, row)
    row.role = call.role
    return as_members(context, [row])[0]


@handles(RemoveMember)
def remove_member(context: Context, call: RemoveMember) -> None:
    """Remove a member. Members can remove themselves, and admins can remove all members.

    Return normally if the user is not a member.
    """
    required = "guest" if call.user_id == context.user.id else "admin"
    organization = organization_for(context, call.organization_id, required)
    row = context.session.get(MemberRow, (organization.id, call.user_id))
    if row is not None:
        _require_other_admin(context, row)
        teams = select(TeamRow.id).where(TeamRow.organization_id == organization.id)
        memberships = delete(TeamMemberRow).where(
            TeamMemberRow.user_id == row.user_id, TeamMemberRow.team_id.in_(teams)
        )
        context.session.execute(memberships)
        for table in (CollectionRow, SpaceRow, SiteRow):
            places = select(table.id).where(table.organization_id == organization.id)
            remove_grants(context, (GrantRow.holder_id == row.user_id) & GrantRow.place_id.in_(places))
        context.session.delete(row)


@handles(JoinOrganization)
def join_organization(context: Context, call: JoinOrganization) -> None:
    """Join an organization by the domain of the caller's email; existing members keep their role."""
    organization = context.session.get(OrganizationRow, call.organization_id)
    member = context.session.get(MemberRow, (call.organization_id, context.user.id))
    if member is not None and member.disabled:
        raise ApiError(403, "Your membership in this organization is disabled. Ask an admin to enable it.")
    if member is not None:
        return
    domain = (context.user.email or "").rpartition("@")[2].lower()
    if organization is None or not domain or domain not in _domains(organization):
        # the same response in all cases: outsiders must not learn which organizations exist
        raise ApiError(404, "Organization not found, or your email domain is not allowed in it.")
    row = MemberRow(
        organization_id=organization.id,
        user_id=context.user.id,
        role=organization.default_role,
        joined_at=context.now(),
    )
    context.session.add(row)


@handles(UpdateLastSeen)
def update_last_seen(context: Context, call: UpdateLastSeen) -> LastSeen:
    """Record that the caller is using an organization now."""
    organization = organization_for(context, call.organization_id, "guest")
    context.session.get_one(MemberRow, (organization.id, context.user.id)).last_seen_at = context.now()
    return LastSeen()


@handles(GetOrganizationsForEmailDomain)
def organizations_for_domain(context: Context, call: GetOrganizationsForEmailDomain) -> Organizations:
    """List the organizations that allow an email domain; none if the caller's email has another domain."""
    domain = call.email_domain.lower()
    if (context.user.email or "").rpartition("@")[2].lower() != domain:
        return Organizations()
    rows = context.session.scalars(select(OrganizationRow).order_by(OrganizationRow.created_at, OrganizationRow.id))
    return Organizations(organizations=tuple(as_organization(context, row) for row in rows if domain in _domains(row)))


def _domains(organization: OrganizationRow) -> set[str]:
    return {domain.lower() for domain in organization.email_domains}


@handles(SearchOrganization)
def search_organization(context: Context, call: SearchOrganization) -> Page[SearchSpaceResult]:
    """Find pages with all words of the query in the spaces that the caller may see."""
    organization = organization_for(context, call.organization_id, "guest")
    seen = select(SpaceRow).where(SpaceRow.id.in_(visible_space_ids(context, organization.id)))
    spaces = context.session.scalars(seen.order_by(SpaceRow.position, SpaceRow.id)).all()
    results, terms = search(context, spaces, call.query)
    page = page_of_items(call, [space for space in spaces if space.id in results])
    items = tuple(
        SearchSpaceResult(
            id=space.id,
            title=space.title,
            pages=as_results(context, results[space.id][:MOST_PAGES], terms),
        )
        for space in page.items
    )
    return Page[SearchSpaceResult].model_construct(items=items, next=page.next, count=page.count, total=page.total)


def as_organization(context: Context, row: OrganizationRow) -> Organization:
    """Serialize an organization; only members get its settings."""
    is_inside = is_member(context, row.id)
    rules = row.merge_rules if is_inside else None
    return Organization(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        email_domains=tuple(row.email_domains) if is_inside else (),
        hostname=row.hostname,
        type="business",
        default_role=row.default_role if is_inside else None,
        default_content=SitePointer(**row.default_content) if row.default_content and is_inside else None,
        sso=row.sso,
        ai=row.ai,
        invite_links=row.invite_links,
        plan="internal",
        merge_rules=MergeRules.model_validate(rules or {"type": "none"}),
        trial={"status": "notapplicable", "count": 0},
        urls=OrganizationUrls(
            location=context.location(f"/orgs/{row.id}"), app=context.app(f"/o/{row.id}"), logo=row.logo
        ),
        permissions=_permissions(role_in(context, row.id), is_inside=is_inside),
    )


def _permissions(role: str | None, *, is_inside: bool) -> OrganizationPermissions:
    is_admin = reaches(role, "admin")
    return OrganizationPermissions(
        view=is_inside,
        access=is_inside,
        admin=is_admin,
        own_team=is_admin,
        create_content=reaches(role, "create"),
        list_members=role is not None,
        list_teams=role is not None,
    )


def as_members(context: Context, rows: Sequence[MemberRow]) -> list[OrganizationMember]:
    """Serialize members."""
    users = people(context, [row.user_id for row in rows])
    spaces, sites = _contents_of(context, rows[0].organization_id) if rows else (0, 0)
    teams = _teams_of(context, rows)
    return [
        OrganizationMember(
            id=row.user_id,
            role=row.role,
            user=users[row.user_id],
            disabled=row.disabled,
            joined_at=row.joined_at,
            last_seen_at=row.last_seen_at,
            spaces=spaces if row.role else 0,
            teams=teams.get(row.user_id, 0),
            sites=sites if row.role else 0,
        )
        for row in rows
    ]


def _teams_of(context: Context, rows: Sequence[MemberRow]) -> dict[str, int]:
    """Return the number of teams of each member by user id. The members are of one organization."""
    if not rows:
        return {}
    counting = (
        select(TeamMemberRow.user_id, func.count())
        .join(TeamRow, TeamRow.id == TeamMemberRow.team_id)
        .where(TeamRow.organization_id == rows[0].organization_id)
        .where(TeamMemberRow.user_id.in_([row.user_id for row in rows]))
        .group_by(TeamMemberRow.user_id)
    )
    return {row[0]: row[1] for row in context.session.execute(counting)}


def _contents_of(context: Context, organization_id: str) -> tuple[int, int]:
    """Return the numbers of spaces and sites in an organization."""
    spaces = select(func.count()).where(SpaceRow.organization_id == organization_id, SpaceRow.deleted_at.is_(None))
    sites = select(func.count()).where(SiteRow.organization_id == organization_id)
    [counts] = context.session.execute(select(spaces.scalar_subquery(), sites.scalar_subquery())).all()
    return counts[0], counts[1]


def member_for(context: Context, organization_id: str, user_id: str) -> MemberRow:
    """Return a member that the caller may see: guests only see themselves."""
    organization = organization_for(context, organization_id, "guest" if user_id == context.user.id else "read")
    return _member(context, organization, user_id)


def _member(context: Context, organization: OrganizationRow, user_id: str) -> MemberRow:
    row = context.session.get(MemberRow, (organization.id, user_id))
    if row is None:
        raise not_found("member")
    return row


def _require_other_admin(context: Context, row: MemberRow) -> None:
    if row.role != "admin":
        return
    others = select(func.count()).where(
        MemberRow.organization_id == row.organization_id,
        MemberRow.role == "admin",
        MemberRow.disabled.is_(False),
        MemberRow.user_id != row.user_id,
    )
    if not context.session.scalar(others):
        raise ApiError(409, "An organization needs at least one admin, and this is the only one.")


def _name(member: OrganizationMember) -> tuple[str, str]:
    return member.user.display_name.casefold(), member.id


def _last_seen(member: OrganizationMember) -> tuple[str, str]:
    return member.last_seen_at or "", member.id


def _joined(member: OrganizationMember) -> tuple[str, str]:
    return member.joined_at or "", member.id
