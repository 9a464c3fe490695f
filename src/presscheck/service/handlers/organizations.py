"""Organizations and their members, as the caller may see them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from presscheck.api.levels import MergeRules
from presscheck.api.operation import Page
from presscheck.api.organizations import (
    GetMember,
    GetOrganization,
    ListMembers,
    ListOrganizations,
    Organization,
    OrganizationMember,
    OrganizationPermissions,
    OrganizationUrls,
    UpdateOrganization,
)
from presscheck.service.access import organization_for, reaches, role_in
from presscheck.service.handling import Context, answers, not_found
from presscheck.service.listing import page_of_rows
from presscheck.service.people import people
from presscheck.service.tables import MemberRow, OrganizationRow, SpaceRow, UserRow


@answers(ListOrganizations)
def list_organizations(context: Context, call: ListOrganizations) -> Page[Organization]:
    """Those that the caller is in, the oldest first."""
    mine = select(MemberRow.organization_id).where(MemberRow.user_id == context.user.id, MemberRow.disabled.is_(False))
    return page_of_rows(
        context,
        call,
        select(OrganizationRow).where(OrganizationRow.id.in_(mine)),
        lambda rows: [as_organization(context, row) for row in rows],
        order=(OrganizationRow.created_at, OrganizationRow.id),
    )


@answers(GetOrganization)
def get_organization(context: Context, call: GetOrganization) -> Organization:
    """One of them."""
    return as_organization(context, organization_for(context, call.organization_id, "guest"))


@answers(UpdateOrganization)
def update_organization(context: Context, call: UpdateOrganization) -> Organization:
    """Change it; that takes an admin."""
    row = organization_for(context, call.organization_id, "admin")
    for name, value in call.given().items():
        if name != "organization_id":
            setattr(row, name, value)
    return as_organization(context, row)


@answers(ListMembers)
def list_members(context: Context, call: ListMembers) -> Page[OrganizationMember]:
    """Those in it, by name; `search` looks into name and email."""
    organization = organization_for(context, call.organization_id, "guest")
    rows = select(MemberRow).where(MemberRow.organization_id == organization.id)
    if call.role is not None:
        rows = rows.where(MemberRow.role.is_(None) if call.role == "guest" else MemberRow.role == call.role)
    if call.search:
        text = call.search.lower()
        found = func.lower(UserRow.display_name).contains(text, autoescape=True) | func.lower(UserRow.email).contains(
            text, autoescape=True
        )
        rows = rows.where(MemberRow.user_id.in_(select(UserRow.id).where(found)))
    return page_of_rows(
        context,
        call,
        rows,
        lambda members: as_members(context, members),
        order=(MemberRow.joined_at, MemberRow.user_id),
        newest_first=call.order != "asc",
    )


@answers(GetMember)
def get_member(context: Context, call: GetMember) -> OrganizationMember:
    """One of them, by user id."""
    organization = organization_for(context, call.organization_id, "guest")
    row = context.session.get(MemberRow, (organization.id, call.user_id))
    if row is None:
        raise not_found("member")
    return as_members(context, [row])[0]


def as_organization(context: Context, row: OrganizationRow) -> Organization:
    """An organization as on the wire."""
    role = role_in(context, row.id)
    is_admin, may_create = reaches(role, "admin"), reaches(role, "create")
    return Organization(
        id=row.id,
        title=row.title,
        created_at=row.created_at,
        email_domains=tuple(row.email_domains),
        hostname=row.hostname,
        type="business",
        default_role=row.default_role,
        sso=row.sso,
        ai=row.ai,
        invite_links=row.invite_links,
        plan="internal",
        merge_rules=MergeRules.model_validate(row.merge_rules or {"type": "none"}),
        trial={"status": "notapplicable", "count": 0},
        urls=OrganizationUrls(
            location=context.location(f"/orgs/{row.id}"), app=context.app(f"/o/{row.id}"), logo=row.logo
        ),
        permissions=OrganizationPermissions(
            view=True,
            access=True,
            admin=is_admin,
            own_team=is_admin,
            create_content=may_create,
            list_members=role is not None,
            list_teams=role is not None,
        ),
    )


def as_members(context: Context, rows: Sequence[MemberRow]) -> list[OrganizationMember]:
    """Members as on the wire."""
    users = people(context, [row.user_id for row in rows])
    spaces = _spaces_of(context, rows[0].organization_id) if rows else 0
    return [
        OrganizationMember(
            id=row.user_id,
            role=row.role,
            user=users[row.user_id],
            disabled=row.disabled,
            joined_at=row.joined_at,
            last_seen_at=row.last_seen_at,
            spaces=spaces if row.role else 0,
        )
        for row in rows
    ]


def _spaces_of(context: Context, organization_id: str) -> int:
    counted = select(func.count()).where(SpaceRow.organization_id == organization_id, SpaceRow.deleted_at.is_(None))
    return context.session.scalar(counted) or 0
