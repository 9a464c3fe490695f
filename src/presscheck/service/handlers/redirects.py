"""Redirects of a site: from an old path to a place in the site, or to a URL."""

from __future__ import annotations

import re
from urllib.parse import unquote

from sqlalchemy import func, select

from presscheck.api.operation import Page
from presscheck.api.site_settings import (
    CreateRedirect,
    DeleteRedirect,
    GetRedirectBySource,
    ListRedirects,
    Redirect,
    RedirectDestination,
    RedirectMatch,
    RedirectTarget,
    UpdateRedirect,
)
from presscheck.documents.pages.tree import find
from presscheck.service.db.ids import new_id
from presscheck.service.handlers.published_content import site_of_reader
from presscheck.service.handlers.sites import read_site, site_for
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.sites import RedirectRow, SiteRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sites.structure import SiteContents
from presscheck.service.web.links import destination_address

_SOURCE = re.compile(r"(?:/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)+")
NEEDED = {
    "site-section": ("site_section_id",),
    "site-space": ("site_space_id",),
    "site-page": ("site_space_id", "page_id"),
    "external": ("url",),
}
"""The required fields of a destination, by kind."""


@handles(ListRedirects)
def list_redirects(context: Context, call: ListRedirects) -> Page[Redirect]:
    """List the redirects of a site by source path; `search` matches part of it."""
    site = site_for(context, call.organization_id, call.site_id)
    rows = select(RedirectRow).where(RedirectRow.site_id == site.id)
    if call.search:
        rows = rows.where(func.lower(RedirectRow.source).contains(call.search.lower(), autoescape=True))
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: [_as_redirect(row) for row in page_rows],
        order=(RedirectRow.source, RedirectRow.id),
    )


@handles(GetRedirectBySource)
def get_redirect_by_source(context: Context, call: GetRedirectBySource) -> RedirectMatch:
    """Return the redirect from a path, with the URL of its destination for the caller."""
    row, _ = read_site(context, call.organization_id, call.site_id, call.share_key)
    site = site_of_reader(context, row, call.share_key)
    wanted = unquote(call.source).rstrip("/")
    rows = context.session.scalars(select(RedirectRow).where(RedirectRow.site_id == row.id).order_by(RedirectRow.id))
    redirect = next((one for one in rows if unquote(one.source) == wanted), None)
    target = destination_address(site, redirect.destination) if redirect else None
    if redirect is None or target is None:
        raise not_found("redirect")
    newest = {"draft": False, "capture_wildcard": False, "permanent": False}
    return RedirectMatch(redirect=_as_redirect(redirect).model_copy(update=newest), target=site.absolute(target))


@handles(CreateRedirect)
def create_redirect(context: Context, call: CreateRedirect) -> Redirect:
    """Create a redirect."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    now = context.now()
    row = RedirectRow(
        id=new_id(),
        site_id=site.id,
        source=_source(context, site, call.source, None),
        destination=_destination(context, site, call.destination),
        created_at=now,
        updated_at=now,
    )
    context.session.add(row)
    context.session.flush()
    return _as_redirect(row)


@handles(UpdateRedirect)
def update_redirect(context: Context, call: UpdateRedirect) -> Redirect:
    """Update a redirect."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(RedirectRow, call.site_redirect_id)
    if row is None or row.site_id != site.id:
        raise not_found("redirect")
    if call.source is not None:
        row.source = _source(context, site, call.source, row.id)
    if call.destination is not None:
        row.destination = _destination(context, site, call.destination)
    row.updated_at = context.now()
    return _as_redirect(row)


@handles(DeleteRedirect)
def delete_redirect(context: Context, call: DeleteRedirect) -> None:
    """Delete a redirect."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(RedirectRow, call.site_redirect_id)
    if row is not None and row.site_id == site.id:
        context.session.delete(row)


def _source(context: Context, site: SiteRow, path: str, redirect_id: str | None) -> str:
    source = path.rstrip("/")
    if not _SOURCE.fullmatch(source):
        raise ApiError(400, "source: must be a path such as /old/page, without a query")
    existing = select(RedirectRow.id).where(RedirectRow.site_id == site.id, RedirectRow.source == source)
    if context.session.scalar(existing) not in (None, redirect_id):
        raise ApiError(409, f"source: a redirect from {source} already exists; edit that one.")
    return source


def _destination(context: Context, site: SiteRow, destination: RedirectDestination) -> dict[str, str]:
    """Check that a destination exists and return the stored form.

    Raises:
        ApiError: 400, naming the invalid field.
    """
    values = {name: getattr(destination, name) for name in NEEDED[destination.kind]}
    for name, value in values.items():
        if not value:
            raise ApiError(400, f"destination.{name}: required for a {destination.kind} destination")
    contents = SiteContents(context, site)
    if destination.kind == "site-section" and contents.find("site-section", values["site_section_id"]) is None:
        raise ApiError(400, "destination.siteSectionId: section not found in this site")
    if "site_space_id" in values:
        site_space = next(
            (candidate for candidate in contents.site_spaces if candidate.id == values["site_space_id"]), None
        )
        if site_space is None:
            raise ApiError(400, "destination.siteSpaceId: space not found in this site")
        if "page_id" in values and not _has_page(context, site_space.space_id, values["page_id"]):
            raise ApiError(400, "destination.pageId: page not found in this space")
    if destination.kind == "external" and not values["url"].startswith(("https://", "http://")):
        raise ApiError(400, "destination.url: must be a URL such as https://example.org/page")
    return {"kind": destination.kind, **values}


def _has_page(context: Context, space_id: str, page_id: str) -> bool:
    space = context.session.get_one(SpaceRow, space_id)
    live = context.session.get_one(RevisionRow, space.revision_id)
    return find(live.tree, page_id) is not None


def _as_redirect(row: RedirectRow) -> Redirect:
    return Redirect(
        id=row.id,
        source=row.source,
        destination=RedirectTarget.model_validate(row.destination),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
