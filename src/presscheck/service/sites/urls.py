"""URLs of sites, sections and site spaces, with their names and share keys.

The URL of a site with share links contains a key. It is only returned to users who manage the site and see all of its
spaces, and to callers who sent a key. Names are unique in the service. Former names redirect and stay reserved.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

from sqlalchemy import select

from presscheck.service.db.statements import among
from presscheck.service.http.operations import ApiError, Context, is_fit
from presscheck.service.models.sites import SectionRow, ShareLinkRow, SiteNameRow, SiteRow, SiteSpaceRow
from presscheck.service.permissions import may_manage

_shown = SiteSpaceRow.__table__.c
_PUBLISHED = (
    select(SiteSpaceRow, SiteRow, SectionRow)
    .join(SiteRow, SiteRow.id == SiteSpaceRow.site_id)
    .outerjoin(SectionRow, SectionRow.id == SiteSpaceRow.section_id)
    .where(among(_shown.space_id, "ids"), SiteRow.published.is_(True))
    .order_by(SiteRow.created_at, SiteRow.id)
)
_SLUG = re.compile(r"\w+(?:[-.]\w+)*")


def site_address(context: Context, site: SiteRow, key: str = "") -> str:
    """Return the URL of a published or unpublished site, with a share key if given."""
    top = f"https://{site.hostname}" if site.hostname else f"{context.origin}/docs"
    parts = [site.basename or ("" if site.hostname else site.id), key]
    return "/".join([top, *(part for part in parts if part)]) + "/"


def published_address(context: Context, site: SiteRow) -> str | None:
    """Return the URL of a published site for the caller.

    Return None if the site is not published, or if its URL contains a share key that the caller may not see.
    """
    if not site.published:
        return None
    if site.visibility != "share-link":
        return site_address(context, site)
    key = context.known.get(("share key", site.id)) or (site.share_key if may_manage(context, site) else None)
    return site_address(context, site, key) if key else None


def own_key(site: SiteRow) -> str:
    """Return the share key in the URL of a site, or an empty string if its visibility is not share-link."""
    return (site.share_key or "") if site.visibility == "share-link" else ""


def space_path(site: SiteRow, section: SectionRow | None, site_space: SiteSpaceRow) -> str:
    """Return the path of a site space within its site. The default site space has the path of its section or site."""
    parts: list[str] = []
    if section is not None:
        if section.id != site.default_section_id:
            parts.append(section.path)
        first = section.default_site_space_id
    else:
        first = site.default_site_space_id
    if site_space.id != first:
        parts.append(site_space.path)
    return "".join(f"{part}/" for part in parts)


def section_path(site: SiteRow, section: SectionRow) -> str:
    """Return the path of a section within its site. The default section has the path of the site."""
    return "" if section.id == site.default_section_id else f"{section.path}/"


def published_spaces(context: Context, ids: Iterable[str]) -> dict[str, str]:
    """Return the URLs of published spaces by space id. For a space in several sites, the oldest site counts."""
    urls: dict[str, str] = {}
    for site_space, site, section in context.session.execute(_PUBLISHED, {"ids": list(ids)}):
        address = published_address(context, site)
        if address is not None:
            urls.setdefault(site_space.space_id, address + space_path(site, section, site_space))
    return urls


def new_share_key() -> str:
    """Return a random share key.

    It has a capital letter, by which clients recognize keys in addresses that they print.
    """
    while (key := secrets.token_urlsafe(12)) == key.lower():
        pass
    return key


def new_signing_key() -> str:
    """Return a random key for signing the tokens of visitors."""
    return secrets.token_urlsafe(32)


def opens(context: Context, space_id: str, share_key: str) -> bool:
    """Return whether a share key opens a published site that contains the space."""
    sites = (
        select(SiteRow)
        .join(SiteSpaceRow, SiteSpaceRow.site_id == SiteRow.id)
        .where(SiteSpaceRow.space_id == space_id, SiteRow.published.is_(True), SiteRow.visibility == "share-link")
    )
    return any(opens_site(context, site, share_key) for site in context.session.scalars(sites))


def opens_site(context: Context, site: SiteRow, share_key: str | None) -> bool:
    """Return whether a key is the site's own key or belongs to an active share link.

    If it does, responses to the current call may contain the key.
    """
    links = select(ShareLinkRow.key).where(ShareLinkRow.site_id == site.id, ShareLinkRow.active.is_(True))
    keys = (site.share_key, *context.session.scalars(links))
    is_open = any(fits(key, share_key) for key in keys)
    if is_open:
        context.known["share key", site.id] = share_key
    return is_open


def fits(key: str | None, given: str | None) -> bool:
    """Compare two share keys in constant time. Return False if one is missing."""
    return bool(key and given) and secrets.compare_digest(str(key).encode(), str(given).encode())


def require_slug(field: str, text: str) -> None:
    """Require that a text can be a segment of a URL.

    Raises:
        ApiError: 400, naming the field.
    """
    if not _SLUG.fullmatch(text) or text != text.lower():
        raise ApiError(
            400, f"{field}: must be lowercase letters, digits and underscores, separated by single hyphens or dots"
        )


def rename_site(context: Context, site: SiteRow, name: str) -> None:
    """Set the basename of a site.

    Raises:
        ApiError: 400 if the name is invalid, 409 if it is or was the name of another site.
    """
    require_slug("basename", name)
    if not name.isascii():  # prevents names that look like the name of another organization
        raise ApiError(400, "basename: must only have letters from a to z")
    reserved, namesake = context.session.get(SiteNameRow, name), context.session.get(SiteRow, name)
    if (reserved and reserved.site_id != site.id) or (namesake and namesake is not site):
        raise ApiError(409, f"basename: {name} is already in use.")
    if reserved is None:
        context.session.add(SiteNameRow(name=name, site_id=site.id, created_at=context.now()))
    site.basename = name


def site_named(context: Context, name: str) -> SiteRow | None:
    """Return the site with this id, name or former name, or None."""
    if not is_fit(name):
        return None
    site = context.session.get(SiteRow, name)
    if site is not None:
        return site
    name_row = context.session.get(SiteNameRow, name)
    return context.session.get(SiteRow, name_row.site_id) if name_row else None


def present_name(site: SiteRow) -> str:
    """Return the name in the URL of a site: its basename, or its id if it has none."""
    return site.basename or site.id
