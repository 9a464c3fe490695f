"""Resolution of site URLs for renderers. The response contains a token for reading the content of the site."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from sqlalchemy import select

from presscheck.api.operation import Page
from presscheck.api.published_sites import SearchSite
from presscheck.api.search_results import SearchSpaceResult
from presscheck.api.url_lookup import (
    GetPublishedContent,
    PublishedContentRedirect,
    PublishedSiteContent,
    ResolvePublishedContent,
    Visitor,
)
from presscheck.service.db.signing import claims_of
from presscheck.service.handlers.sites import read_site
from presscheck.service.http.operations import ApiError, Caller, Context, SiteGrant, handles, not_found
from presscheck.service.http.pagination import page_of_items
from presscheck.service.http.site_tokens import write_site_token
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.models.sites import SiteRow, SiteSettingsRow, SiteSpaceRow
from presscheck.service.permissions import is_open, role_in, sees_every_space, visible_space_ids
from presscheck.service.sites.urls import opens_site, present_name, site_address, site_named, space_path
from presscheck.service.web.access import AccessDenied, Reader, previewing
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.search import search_results
from presscheck.service.web.site_record import digest_of, site_record

_WHAT = "content at this URL"


@handles(SearchSite, writes=False)
def search_site(context: Context, call: SearchSite) -> Page[SearchSpaceResult]:
    """Search a site as its visitors do, in all or some of its spaces."""
    row, _ = read_site(context, call.organization_id, call.site_id)
    site = site_of_reader(context, row)
    results = search_results(site, _searched(site, call), call.query) if call.query.strip() else []
    return page_of_items(call, results)


@handles(GetPublishedContent)
def get_published_content(
    context: Context, call: GetPublishedContent
) -> PublishedSiteContent | PublishedContentRedirect:
    """Return the content at a URL of a site, for a visitor with or without a signed token."""
    return _content(context, call.url, Visitor(jwt_token=call.visitor_auth_token), bool(call.redirect_on_error))


@handles(ResolvePublishedContent, writes=False)
def resolve_published_content(
    context: Context, call: ResolvePublishedContent
) -> PublishedSiteContent | PublishedContentRedirect:
    """Return the content at a URL of a site, for a visitor who may also have unsigned claims."""
    return _content(context, call.url, call.visitor or Visitor(), bool(call.redirect_on_error))


def site_of_reader(context: Context, row: SiteRow, share_key: str | None = None) -> PublishedSite:
    """Return a published site for the caller, with the claims of a site token, or without claims.

    Unless the site is open or the share key is valid, it only has the spaces that the caller may see.
    """
    grant = context.grant
    key = (share_key or "") if row.visibility == "share-link" else ""
    claims = grant.claims if grant else {}
    reader = Reader(row, site_address(context, row, key), "", claims, is_previewing=bool(grant and grant.is_preview))
    site = PublishedSite(context, reader, site_record(context, row))
    if not is_open(row) and not (key and opens_site(context, row, key)):
        seen = visible_space_ids(context, row.organization_id)
        site.site_spaces = [row for row in site.site_spaces if row.space_id in seen]
    return site


def _searched(site: PublishedSite, call: SearchSite) -> list[SiteSpaceRow]:
    scope, every = call.scope, site.site_spaces
    ids = scope.site_space_ids if scope else call.site_space_ids
    current = scope.current_site_space if scope else call.site_space_id
    mode = scope.mode if scope else call.mode
    restricted = scope.restrict_to if scope else None
    if mode == "current" or restricted == "currentSiteSpace":
        return [row for row in every if row.id == current]
    if restricted == "otherSiteSpaces":
        return [row for row in every if row.id != current]
    if ids is not None and mode != "all":
        return [row for row in every if row.id in ids]
    return every


def _content(
    context: Context, url: str, visitor: Visitor, redirects: bool
) -> PublishedSiteContent | PublishedContentRedirect:
    try:
        reader = _admitted(context, url, visitor, redirects)
        if isinstance(reader, PublishedContentRedirect):
            return reader
        site = PublishedSite(context, reader, site_record(context, reader.site))
    except AccessDenied:
        raise not_found(_WHAT) from None
    located = site.located(site.path)
    if located is None:
        raise not_found(_WHAT)
    site_space, rest = located
    section, row = site.section_of(site_space), site.site
    base = site.base + quote(space_path(row, section, site_space))
    grant = SiteGrant(row.id, row.organization_id, reader.claims, reader.is_previewing)
    user = context.user
    token = write_site_token(
        context.session, user.token_hash if isinstance(user, Caller) else "", grant, context.clock()
    )
    if token is None:
        raise ApiError(400, "visitor: the claims are too large")
    key = reader.base.rstrip("/").rpartition("/")[2] if row.visibility == "share-link" else None

    request = site.previewed.request if site.previewed and site.previewed.site_space is site_space else None
    return PublishedSiteContent(
        site=row.id,
        site_section=section.id if section else None,
        site_space=site_space.id,
        space=site_space.space_id,
        change_request=request.id if request else None,
        pathname=f"/{rest.strip('/')}" if rest.strip("/") else "",
        base_path=base,
        site_base_path=site.base,
        api_token=token,
        organization=row.organization_id,
        share_key=None if reader.is_previewing else key,
        complete=bool(rest.strip("/")) or len(site.site_spaces) == 1,
        context_id=digest_of(json.dumps(reader.claims, sort_keys=True)).hex() if row.adaptive_content else None,
        canonical_url=reader.base + quote(reader.path),
        preview=reader.is_previewing or None,
    )


def _admitted(context: Context, url: str, visitor: Visitor, redirects: bool) -> Reader | PublishedContentRedirect:
    """Return the reader of a URL, or a redirect.

    The caller must see all spaces of the site, because the token in the response reads all of them.

    Raises:
        AccessDenied: the URL belongs to no site that this caller and visitor may read.
        ApiError: 403, the site needs a signed-in visitor.
    """
    address = web_address(url)
    if address is None:
        raise AccessDenied(404)
    path, own = unquote(address.path), urlsplit(context.origin)
    is_here = address.netloc.lower() == own.netloc.lower() and path.startswith(f"{own.path}/")
    parts = path.removeprefix(own.path).split("/")
    if is_here and parts[1] == "preview":
        return _in_preview(context, parts[2] if len(parts) > 2 else "", "/".join(parts[3:]))
    if is_here and parts[1] == "docs" and len(parts) > 2:
        site, rest = site_named(context, parts[2]), "/".join(parts[3:])
        is_former = site is not None and parts[2] != present_name(site)
    else:
        site, rest = _at_host(context, address.hostname or "", path.lstrip("/"))
        is_former = False
    if site is None or not site.published or not _may_resolve(context, site):
        raise AccessDenied(404)
    key = ""
    if site.visibility == "share-link":
        key, _, rest = rest.partition("/")
        if not opens_site(context, site, key):
            raise AccessDenied(404)
    base = site_address(context, site, key)
    if is_former:
        return PublishedContentRedirect(target="content", redirect=base + quote(rest))
    claims: dict[str, Any] = {}
    if site.visibility == "visitor-auth":
        signed_in = _claims(context, site, rest, visitor, redirects)
        if isinstance(signed_in, PublishedContentRedirect):
            return signed_in
        claims = signed_in
    if visitor.unsigned_claims:
        claims = claims | {"unsigned": visitor.unsigned_claims}
    return Reader(site, base, rest, claims)


def _in_preview(context: Context, text: str, path: str) -> Reader:
    """Return the reader of a preview URL, which contains a signed text or the id of a site.

    The caller must see all spaces of the site.

    Raises:
        AccessDenied: 404, the preview does not exist, or the caller may not see it.
    """
    if context.grant is not None and not context.grant.is_preview:
        raise AccessDenied(404)  # otherwise, a visitor could exchange their token for a token that reads drafts
    site = context.session.get(SiteRow, text)
    if site is None:
        reader = previewing(context, text, path)
    else:
        reader = Reader(site, f"{context.origin}/preview/{site.id}/", path, {}, is_previewing=True)
    if not _may_resolve(context, reader.site):
        raise AccessDenied(404)
    return reader


def _may_resolve(context: Context, site: SiteRow) -> bool:
    grant = context.grant
    if grant is not None and grant.site_id != site.id:
        return False
    return role_in(context, site.organization_id) is not None and sees_every_space(context, site)


def _at_host(context: Context, host: str, path: str) -> tuple[SiteRow | None, str]:
    """Return the published site at a custom host name, and the path within the site; (None, "") if there is none.

    If several sites share the host name, the longest matching basename wins.
    """
    sites = context.session.scalars(select(SiteRow).where(SiteRow.hostname == host, SiteRow.published)).all()
    for site in sorted(sites, key=lambda candidate: candidate.basename or "", reverse=True):
        name = site.basename or ""
        if not name or path == name or path.startswith(f"{name}/"):
            return site, path.removeprefix(name).lstrip("/")
    return None, ""


def _claims(
    context: Context, site: SiteRow, path: str, visitor: Visitor, redirects: bool
) -> dict[str, Any] | PublishedContentRedirect:
    """Return the claims of a signed-in visitor, or a redirect to the sign-in page.

    Raises:
        ApiError: 403, the token is missing or invalid, and a redirect is impossible or not wanted.
    """
    settings = context.session.get(SiteSettingsRow, site.id)
    token = visitor.jwt_token or ""
    claims = claims_of(token, settings.auth_key if settings else "", context.clock().timestamp())
    if claims is not None:
        return claims
    if settings is None or not settings.auth_fallback or (token and not redirects):
        raise ApiError(403, "This site needs a signed-in visitor: the token is missing or invalid.")
    joint = "&" if "?" in settings.auth_fallback else "?"
    location = urlencode({"location": f"/{path}"})
    return PublishedContentRedirect(
        target="external", site=site.id, redirect=f"{settings.auth_fallback}{joint}{location}"
    )
