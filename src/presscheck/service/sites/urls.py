"""URLs of sites, sections and site spaces, and the access that a share key grants."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from sqlalchemy import select

from presscheck.service.content.revisions import MOST_AT_ONCE
from presscheck.service.http.operation_registry import Context
from presscheck.service.models.organizations import SectionRow, SiteRow, SiteSpaceRow
from presscheck.service.models.sites import ShareLinkRow


def site_address(context: Context, site: SiteRow, key: str | None = None) -> str:
    """The URL of a published site; with a share link, it contains a key, usually that of the site itself."""
    top = f"https://{site.hostname}" if site.hostname else f"{context.origin}/docs"
    parts = [site.basename or ("" if site.hostname else site.id), key or _key(site)]
    return "/".join([top, *(part for part in parts if part)]) + "/"


def space_address(context: Context, site: SiteRow, section: SectionRow | None, site_space: SiteSpaceRow) -> str:
    """The URL of a site space; the default one has the URL of its section or site."""
    parts: list[str] = []
    if section is not None:
        if section.id != site.default_section_id:
            parts.append(section.path)
        first = section.default_site_space_id
    else:
        first = site.default_site_space_id
    if site_space.id != first:
        parts.append(site_space.path)
    return site_address(context, site) + "".join(f"{part}/" for part in parts)


def section_address(context: Context, site: SiteRow, section: SectionRow) -> str:
    """The URL of a section; the default one has the URL of the site."""
    return site_address(context, site) + ("" if section.id == site.default_section_id else f"{section.path}/")


def published_spaces(context: Context, ids: Iterable[str]) -> dict[str, str]:
    """The URLs of published spaces, by space; if a space is in several sites, the oldest counts."""
    space_ids = list(ids)
    urls: dict[str, str] = {}
    for start in range(0, len(space_ids), MOST_AT_ONCE):
        rows = context.session.execute(
            select(SiteSpaceRow, SiteRow, SectionRow)
            .join(SiteRow, SiteRow.id == SiteSpaceRow.site_id)
            .outerjoin(SectionRow, SectionRow.id == SiteSpaceRow.section_id)
            .where(SiteSpaceRow.space_id.in_(space_ids[start : start + MOST_AT_ONCE]), SiteRow.published.is_(True))
            .order_by(SiteRow.created_at, SiteRow.id)
        )
        for site_space, site, section in rows:
            urls.setdefault(site_space.space_id, space_address(context, site, section, site_space))
    return urls


def new_share_key() -> str:
    """Creates a random share key."""
    return secrets.token_urlsafe(12)


def new_signing_key() -> str:
    """Creates the key that signs the tokens of visitors."""
    return secrets.token_urlsafe(32)


def opens(context: Context, space_id: str, share_key: str) -> bool:
    """Whether a share key opens a published site that contains the space."""
    sites = (
        select(SiteRow)
        .join(SiteSpaceRow, SiteSpaceRow.site_id == SiteRow.id)
        .where(SiteSpaceRow.space_id == space_id, SiteRow.published.is_(True), SiteRow.visibility == "share-link")
    )
    return any(opens_site(context, site, share_key) for site in context.session.scalars(sites))


def opens_site(context: Context, site: SiteRow, share_key: str | None) -> bool:
    """Whether a key is that of the site or of an active share link."""
    links = select(ShareLinkRow.key).where(ShareLinkRow.site_id == site.id, ShareLinkRow.active.is_(True))
    keys = (site.share_key, *context.session.scalars(links))
    return any(fits(key, share_key) for key in keys)


def fits(key: str | None, given: str | None) -> bool:
    """Compares share keys in constant time."""
    return bool(key and given) and secrets.compare_digest(str(key).encode(), str(given).encode())


def _key(site: SiteRow) -> str:
    return (site.share_key or "") if site.visibility == "share-link" else ""
