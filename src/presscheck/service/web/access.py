"""Access to published sites: public, by a share key in the URL, or by a visitor's signed token.

Unpublished sites and sites without the right share key respond like sites that do not exist.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from presscheck.service.db.signing import claims_of, signed, unsigned
from presscheck.service.http.callers import bearer_token
from presscheck.service.http.operations import Context
from presscheck.service.models.organizations import UserRow
from presscheck.service.models.sites import SiteRow, SiteSettingsRow
from presscheck.service.permissions import role_in, sees_every_space
from presscheck.service.sites.urls import opens_site, present_name, site_address
from presscheck.service.web.site_record import SiteRecords

TOKEN = "jwt_token"  # noqa: S105  # a parameter name, not a secret
"""The query parameter with the signed token of a visitor."""
PREVIEW = "preview"
"""Purpose that the signature of preview URLs covers."""
OPEN = frozenset(("public", "unlisted"))
"""Visibilities of sites whose pages everybody with their URL may read."""
LONGEST_VISIT = 400 * 24 * 3600
"""Maximum lifetime of a cookie in seconds; browsers have the same limit."""


class Reader(NamedTuple):
    """A visitor who may read a site: the base URL of the site as requested, the path within the site, and claims."""

    site: SiteRow
    base: str
    path: str
    claims: dict[str, Any]
    is_previewing: bool = False


class AccessDenied(Exception):
    """Access is denied: 404 if the site is not found, 401 if the visitor must sign in."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def admitted(context: Context, request: Request, sites: SiteRecords) -> Reader | Response:
    """Admit a visitor, or return a redirect.

    Redirects lead from a former name of the site to its present URL, to the sign-in page, and from a URL with a token
    to the same URL without it.

    Args:
        context: the transaction.
        request: the request.
        sites: the cache of sites for this transaction.

    Raises:
        AccessDenied: access is denied.
    """
    if "preview" in request.path_params:
        return previewing(context, request.path_params["preview"], request.path_params["path"])
    name = request.path_params["site"]
    site = sites.named(context, name)
    if site is None or not site.published:
        raise AccessDenied(404)
    path = request.path_params.get("path", "")
    key = ""
    if site.visibility == "share-link":
        key, _, path = path.partition("/")
        if not opens_site(context, site, key):
            raise AccessDenied(404)
    base = reading_address(context, site, key)
    if name != present_name(site):
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"{base}{quote(path)}{query}", 307, {"cache-control": "no-cache"})
    if site.visibility == "visitor-auth":
        return _signed_in(context, request, Reader(site, base, path, {}))
    if site.visibility not in ("public", "unlisted", "share-link"):
        raise AccessDenied(404)
    return Reader(site, base, path, {})


def preview_address(context: Context, site: SiteRow, claims: dict[str, Any]) -> str:
    """Return a preview URL of a site, published or not, for a visitor with these claims; it is valid for one hour.

    The preview works as long as the caller has access to all spaces of the site.
    """
    value = {"site": site.id, "claims": claims, "user": context.user.id}
    return f"{context.origin}/preview/{signed(context.session, PREVIEW, value)}/"


def previewing(context: Context, text: str, path: str) -> Reader:
    """Admit a visitor with a preview URL.

    Raises:
        AccessDenied: 404, the URL is invalid or has expired, or its creator no longer sees all spaces of the site.
    """
    value = unsigned(context.session, PREVIEW, text)
    site = context.session.get(SiteRow, value["site"]) if value else None
    issuer = context.session.get(UserRow, value.get("user", "")) if value else None
    if value is None or site is None or issuer is None:
        raise AccessDenied(404)
    issuer_context = replace(context, user=issuer, known={})
    if role_in(issuer_context, site.organization_id) is None or not sees_every_space(issuer_context, site):
        raise AccessDenied(404)
    return Reader(site, f"{context.origin}/preview/{text}/", path, value["claims"], is_previewing=True)


def reading_address(context: Context, site: SiteRow, key: str = "") -> str:
    """Return the URL of a site in this service, even if the site has its own host name."""
    if not site.hostname:
        return site_address(context, site, key)
    parts = [f"{context.origin}/docs", present_name(site), key]
    return "/".join(part for part in parts if part) + "/"


def _signed_in(context: Context, request: Request, reader: Reader) -> Reader | Response:
    settings = context.session.get(SiteSettingsRow, reader.site.id)
    key = settings.auth_key if settings else ""
    token = request.query_params.get(TOKEN)
    cookie = request.cookies.get(_cookie(reader.site), "")
    if request.method == "POST":  # a program, which neither keeps a cookie nor follows a redirect to a sign-in page
        token = bearer_token(request.headers.get("authorization", "")) or token or cookie
        claims = claims_of(token, key, context.clock().timestamp())
        if claims is None:
            raise AccessDenied(401)
        return reader._replace(claims=claims)
    if token is not None:
        claims = claims_of(token, key, context.clock().timestamp())
        if claims is None:
            raise AccessDenied(401)
        return _store_token(context, request, reader, token, claims)
    claims = claims_of(cookie, key, context.clock().timestamp())
    if claims is not None:
        return reader._replace(claims=claims)
    if settings is None or not settings.auth_fallback:
        raise AccessDenied(401)
    joint = "&" if "?" in settings.auth_fallback else "?"
    location = urlencode({"location": f"/{reader.path}"})
    return RedirectResponse(f"{settings.auth_fallback}{joint}{location}", 307, {"cache-control": "no-store"})


def _store_token(
    context: Context, request: Request, reader: Reader, token: str, claims: dict[str, Any]
) -> RedirectResponse:
    """Store the token in an HTTP-only cookie, and redirect to the same URL without the token."""
    parameters = [(name, value) for name, value in request.query_params.multi_items() if name != TOKEN]
    query = f"?{urlencode(parameters)}" if parameters else ""
    answer = RedirectResponse(f"{reader.base}{quote(reader.path)}{query}", 303, {"cache-control": "no-store"})
    expires = claims.get("exp")
    answer.set_cookie(
        _cookie(reader.site),
        token,
        max_age=_seconds(expires - context.clock().timestamp()) if expires else None,
        path=f"/docs/{quote(request.path_params['site'])}",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return answer


def _seconds(left: float) -> int:
    return int(min(max(left, 1), LONGEST_VISIT))


def _cookie(site: SiteRow) -> str:
    return f"visitor-{site.id}"
