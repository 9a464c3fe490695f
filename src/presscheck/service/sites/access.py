"""Who may manage a site, and who may change what a published site shows to its readers.

Everyone with the create role may edit a site. Its share keys and previews show all of its spaces, so they also need
access to each of these. What widens the audience of a published site needs the role that publishing needs.
"""

from __future__ import annotations

from sqlalchemy import select

from presscheck.service.http.operation_registry import ApiError, Context
from presscheck.service.models.sites import SiteRow, SiteSpaceRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import reaches, role_in, visible_spaces
from presscheck.service.spaces.collection_tree import collections_of

PUBLISHING = "admin"
"""The role in the organization that publishing needs."""


def visible(context: Context, organization_id: str) -> frozenset[str]:
    """The ids of the spaces that the caller may see, cached for the call."""
    key = ("visible spaces", organization_id)
    if key not in context.known:
        collections_of(context, organization_id)
        context.known[key] = frozenset(visible_spaces(context, organization_id))
    return context.known[key]


def sees_every_space(context: Context, site: SiteRow) -> bool:
    """Whether the caller may see all spaces that the site shows."""
    if role_in(context, site.organization_id) == "admin":
        return True
    shown = context.session.scalars(
        select(SpaceRow.id)
        .join(SiteSpaceRow, SiteSpaceRow.space_id == SpaceRow.id)
        .where(
            SiteSpaceRow.site_id == site.id,
            SpaceRow.deleted_at.is_(None),
            SpaceRow.organization_id == site.organization_id,
        )
    )
    return visible(context, site.organization_id).issuperset(shown)


def may_manage(context: Context, site: SiteRow) -> bool:
    """Whether the caller may edit the site and see all of its spaces; only then do responses contain its keys."""
    return reaches(role_in(context, site.organization_id), "create") and sees_every_space(context, site)


def require_every_space(context: Context, site: SiteRow) -> None:
    """Refuses callers who may not see all spaces of a site.

    Raises:
        ApiError: 403.
    """
    if not sees_every_space(context, site):
        raise ApiError(403, "This shows all spaces of the site, and you do not have access to all of them.")


def require_publishing(context: Context, site: SiteRow, change: str) -> None:
    """Refuses a change that widens what a published site shows, unless the caller may publish.

    Args:
        context: the transaction.
        site: the site; as long as it is not published, everyone who may edit it may make the change.
        change: what the caller wants to do, such as ``adding a space``.

    Raises:
        ApiError: 403.
    """
    role = role_in(context, site.organization_id)
    if site.published and not reaches(role, PUBLISHING):
        raise ApiError(
            403,
            f"This site is published: {change} needs the {PUBLISHING} role in this organization, as publishing does; "
            f"your role is {role or 'guest'}.",
        )
