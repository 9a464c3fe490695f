"""Redirects of a site: from an old path to a place in the site, or to a URL."""

from __future__ import annotations

import re
from urllib.parse import unquote

from sqlalchemy import func, select

from presscheck.api.operation import Page
from presscheck.api.site_settings import (
    BulkUpsertRedirects,
    CreateRedirect,
    DeleteRedirect,
    GetRedirectBySource,
    ListRedirects,
    Redirect,
    RedirectChange,
    RedirectChangeResult,
    RedirectChangeResults,
    RedirectDestination,
    RedirectInputDestination,
    RedirectMatch,
    RedirectTarget,
    UpdateRedirect,
)
from presscheck.documents.pages.tree import Page as TreePage
from presscheck.documents.pages.tree import find, walk
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
    "path": ("space_id", "path"),
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
    """Return the redirect from a path, with the URL that its destination has for the caller."""
    row, _ = read_site(context, call.organization_id, call.site_id, call.share_key)
    site = site_of_reader(context, row, call.share_key)
    wanted = unquote(call.source).rstrip("/")
    rows = context.session.scalars(select(RedirectRow).where(RedirectRow.site_id == row.id).order_by(RedirectRow.id))
    redirect = next((candidate for candidate in rows if unquote(candidate.source) == wanted), None)
    target = destination_address(site, redirect.destination) if redirect else None
    if redirect is None or target is None:
        raise not_found("redirect")
    extra_fields = {"draft": False, "capture_wildcard": False, "permanent": False}
    return RedirectMatch(redirect=_as_redirect(redirect).model_copy(update=extra_fields), target=site.absolute(target))


@handles(CreateRedirect)
def create_redirect(context: Context, call: CreateRedirect) -> Redirect:
    """Create a redirect."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    now = context.now()
    row = RedirectRow(
        id=new_id(),
        site_id=site.id,
        source=_source(context, site, call.source, None),
        destination=_destination(context, SiteContents(context, site), call.destination),
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
        row.destination = _destination(context, SiteContents(context, site), call.destination)
    row.updated_at = context.now()
    return _as_redirect(row)


@handles(BulkUpsertRedirects)
def bulk_upsert_redirects(context: Context, call: BulkUpsertRedirects) -> RedirectChangeResults:
    """Create, replace and delete redirects by their source; each change succeeds or fails on its own."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    contents = SiteContents(context, site)
    existing = select(RedirectRow).where(RedirectRow.site_id == site.id)
    rows = {row.source: row for row in context.session.scalars(existing)}
    results: list[RedirectChangeResult] = []
    for change in call.redirects:
        try:
            results.append(_apply(context, contents, change, rows))
        except ApiError as error:
            results.append(RedirectChangeResult(status="error", source=change.source, error=error.message))
    return RedirectChangeResults(results=tuple(results))


def _apply(
    context: Context, contents: SiteContents, change: RedirectChange, rows: dict[str, RedirectRow]
) -> RedirectChangeResult:
    """Apply one change and update `rows`, the redirects of the site by source.

    Raises:
        ApiError: the change is invalid or not supported.
    """
    if change.intent in ("publish", "draft") or change.capture_wildcard or change.permanent:
        raise ApiError(400, "This service has no drafts of redirects, no wildcards and no permanent redirects.")
    source = _path(change.source)
    row = rows.get(source)
    if change.destination is None:
        if row is None:
            raise ApiError(404, f"source: there is no redirect from {source}")
        context.session.delete(rows.pop(source))
        context.session.flush()  # a later change may create it again
        return RedirectChangeResult(status="deleted", source=source)
    destination = _destination(context, contents, change.destination)
    now, status = context.now(), "updated"
    if row is None:
        row, status = RedirectRow(id=new_id(), site_id=contents.site.id, source=source, created_at=now), "created"
        context.session.add(row)
        rows[source] = row
    row.destination, row.updated_at = destination, now
    context.session.flush()
    return RedirectChangeResult(status=status, source=source, id=row.id)


@handles(DeleteRedirect)
def delete_redirect(context: Context, call: DeleteRedirect) -> None:
    """Delete a redirect."""
    site = site_for(context, call.organization_id, call.site_id, "create")
    row = context.session.get(RedirectRow, call.site_redirect_id)
    if row is not None and row.site_id == site.id:
        context.session.delete(row)


def _source(context: Context, site: SiteRow, path: str, redirect_id: str | None) -> str:
    source = _path(path)
    existing = select(RedirectRow.id).where(RedirectRow.site_id == site.id, RedirectRow.source == source)
    if context.session.scalar(existing) not in (None, redirect_id):
        raise ApiError(409, f"source: a redirect from {source} already exists; edit that one.")
    return source


def _path(path: str) -> str:
    source = path.rstrip("/")
    if not _SOURCE.fullmatch(source):
        raise ApiError(400, "source: must be a path such as /old/page, without a query")
    return source


def _destination(
    context: Context, contents: SiteContents, destination: RedirectDestination | RedirectInputDestination
) -> dict[str, str]:
    """Check that a destination exists and return the stored form.

    Raises:
        ApiError: 400, naming the invalid field.
    """
    values = {name: getattr(destination, name) for name in NEEDED[destination.kind]}
    for name, value in values.items():
        if not value:
            raise ApiError(400, f"destination.{name}: required for a {destination.kind} destination")
    if destination.kind == "path":
        return _page_at(context, contents, values["space_id"], values["path"])
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
    return find(_live_tree(context, space_id), page_id) is not None


def _page_at(context: Context, contents: SiteContents, space_id: str, path: str) -> dict[str, str]:
    """Return the page at a path of a space as a destination in stored form.

    Raises:
        ApiError: 400, the space is not in the site, or has no page at this path.
    """
    site_space = next((candidate for candidate in contents.site_spaces if candidate.space_id == space_id), None)
    if site_space is None:
        raise ApiError(400, "destination.spaceId: space not found in this site")
    page = next((place.page for place in walk(_live_tree(context, space_id)) if place.path == path.strip("/")), None)
    if page is None:
        raise ApiError(400, "destination.path: page not found in this space")
    return {"kind": "site-page", "site_space_id": site_space.id, "page_id": page["id"]}


def _live_tree(context: Context, space_id: str) -> list[TreePage]:
    """Return the pages of a space. `Context.row` caches the rows for the next redirect."""
    space = context.row(SpaceRow, space_id)
    live = context.row(RevisionRow, space.revision_id) if space else None
    return live.tree if live else []


def _as_redirect(row: RedirectRow) -> Redirect:
    return Redirect(
        id=row.id,
        source=row.source,
        destination=RedirectTarget.model_validate(row.destination),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
