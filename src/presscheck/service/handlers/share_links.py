"""Share links of a site. Everyone who has the URL of an active share link can read the site."""

from __future__ import annotations

from sqlalchemy import select

from presscheck.api.operation import Page
from presscheck.api.site_settings import (
    CreateShareLink,
    DeleteShareLink,
    ListShareLinks,
    ShareLink,
    UpdateShareLink,
)
from presscheck.api.site_structure import PublishedUrl
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.sites import site_for
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.sites import ShareLinkRow, SiteRow
from presscheck.service.permissions import require_every_space, require_publishing
from presscheck.service.sites.urls import new_share_key, site_address


@handles(ListShareLinks)
def list_share_links(context: Context, call: ListShareLinks) -> Page[ShareLink]:
    """List the share links of a site, oldest first. Requires access to all spaces that the links open."""
    site = _site_for(context, call.organization_id, call.site_id)
    return page_of_rows(
        context,
        call,
        select(ShareLinkRow).where(ShareLinkRow.site_id == site.id),
        lambda rows: [_as_share_link(context, site, row) for row in rows],
        order=(ShareLinkRow.created_at, ShareLinkRow.id),
    )


@handles(CreateShareLink)
def create_share_link(context: Context, call: CreateShareLink) -> ShareLink:
    """Create an active share link."""
    site = _site_for(context, call.organization_id, call.site_id)
    require_publishing(context, site, "adding a share link")
    row = ShareLinkRow(
        id=new_id(), site_id=site.id, name=call.name, key=new_share_key(), active=True, created_at=context.now()
    )
    context.session.add(row)
    context.session.flush()
    return _as_share_link(context, site, row)


@handles(UpdateShareLink)
def update_share_link(context: Context, call: UpdateShareLink) -> ShareLink:
    """Rename, enable or disable a share link."""
    site = _site_for(context, call.organization_id, call.site_id)
    row = context.session.get(ShareLinkRow, call.share_link_id)
    if row is None or row.site_id != site.id:
        raise not_found("share link")
    given = {name: value for name, value in call.given().items() if name in ("name", "active")}
    if not given:
        raise ApiError(400, "name, active: give at least one of them")
    for name, value in given.items():
        if value is None:
            raise ApiError(400, f"{call.on_wire(name)}: must not be null")
        if name == "active" and value and not row.active:
            require_publishing(context, site, "enabling a share link")
        setattr(row, name, value)
    return _as_share_link(context, site, row)


@handles(DeleteShareLink)
def delete_share_link(context: Context, call: DeleteShareLink) -> None:
    """Delete a share link."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(ShareLinkRow, call.share_link_id)
    if row is not None and row.site_id == site.id:
        context.session.delete(row)


def _site_for(context: Context, organization_id: str, site_id: str) -> SiteRow:
    """Return the site if the caller may see its share links."""
    site = site_for(context, organization_id, site_id, "create")
    require_every_space(context, site)
    return site


def _as_share_link(context: Context, site: SiteRow, row: ShareLinkRow) -> ShareLink:
    is_open = site.published and row.active and site.visibility == "share-link"
    published = site_address(context, site, row.key) if is_open else None
    return ShareLink(
        id=row.id,
        created_at=row.created_at,
        name=row.name,
        active=row.active,
        urls=PublishedUrl(published=published),
    )
