"""Where readers find a site, its sections and its spaces; what a share key opens."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from sqlalchemy import select

from presscheck.service.content import MOST_AT_ONCE
from presscheck.service.handling import Context
from presscheck.service.site_tables import ShareLinkRow
from presscheck.service.tables import SectionRow, SiteRow, SiteSpaceRow


def site_address(context: Context, site: SiteRow, key: str | None = None) -> str:
    """The address of a site once it is published; behind a share link a key, usually the site's own, is part of it."""
    top = f"https://{site.hostname}" if site.hostname else f"{context.origin}/docs"
    parts = [site.basename or ("" if site.hostname else site.id), key or _key(site)]
    return "/".join([top, *(part for part in parts if part)]) + "/"


def space_address(context: Context, site: SiteRow, section: SectionRow | None, site_space: SiteSpaceRow) -> str:
    """The address of a space in a site; what opens first has none of its own."""
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
    """The address of a section; the one that opens first has none of its own."""
    return site_address(context, site) + ("" if section.id == site.default_section_id else f"{section.path}/")


def published_spaces(context: Context, ids: Iterable[str]) -> dict[str, str]:
    """Where spaces are published, by space; in several sites, the first that was made."""
    wanted = list(ids)
    found: dict[str, str] = {}
    for start in range(0, len(wanted), MOST_AT_ONCE):
        rows = context.session.execute(
            select(SiteSpaceRow, SiteRow, SectionRow)
            .join(SiteRow, SiteRow.id == SiteSpaceRow.site_id)
            .outerjoin(SectionRow, SectionRow.id == SiteSpaceRow.section_id)
            .where(SiteSpaceRow.space_id.in_(wanted[start : start + MOST_AT_ONCE]), SiteRow.published.is_(True))
            .order_by(SiteRow.created_at, SiteRow.id)
        )
        for site_space, site, section in rows:
            found.setdefault(site_space.space_id, space_address(context, site, section, site_space))
    return found


def new_share_key() -> str:
    """A key that nobody can guess."""
    return secrets.token_urlsafe(12)


def new_signing_key() -> str:
    """What the tokens of a site's visitors are signed with."""
    return secrets.token_urlsafe(32)


def opens(context: Context, space_id: str, share_key: str) -> bool:
    """Whether a key opens a published site that has the space."""
    sites = (
        select(SiteRow)
        .join(SiteSpaceRow, SiteSpaceRow.site_id == SiteRow.id)
        .where(SiteSpaceRow.space_id == space_id, SiteRow.published.is_(True), SiteRow.visibility == "share-link")
    )
    return any(opens_site(context, site, share_key) for site in context.session.scalars(sites))


def opens_site(context: Context, site: SiteRow, share_key: str | None) -> bool:
    """Whether a key is the site's own, or that of a share link that is active."""
    links = select(ShareLinkRow.key).where(ShareLinkRow.site_id == site.id, ShareLinkRow.active.is_(True))
    keys = (site.share_key, *context.session.scalars(links))
    return any(fits(key, share_key) for key in keys)


def fits(key: str | None, given: str | None) -> bool:
    """Whether a share key is the right one; told in a time that says nothing about it."""
    return bool(key and given) and secrets.compare_digest(str(key).encode(), str(given).encode())


def _key(site: SiteRow) -> str:
    return (site.share_key or "") if site.visibility == "share-link" else ""
