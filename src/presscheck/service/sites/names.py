"""The names of sites in their URLs: unique in the whole service; former names redirect and stay reserved."""

from __future__ import annotations

import re

from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.sites import SiteNameRow, SiteRow

_SLUG = re.compile(r"\w+(?:[-.]\w+)*")


def require_slug(field: str, text: str) -> None:
    """Refuses a text that cannot be one part of a URL.

    Raises:
        ApiError: 400, naming the field.
    """
    if not _SLUG.fullmatch(text) or text != text.lower():
        raise ApiError(
            400, f"{field}: must be lowercase letters, digits and underscores, separated by single hyphens or dots"
        )


def rename_site(context: Context, site: SiteRow, name: str) -> None:
    """Sets the basename of a site.

    Raises:
        ApiError: 400 if the name is invalid, 409 if it is, or was, the name of another site.
    """
    require_slug("basename", name)
    if not name.isascii():  # so that no name looks like that of another organization
        raise ApiError(400, "basename: must only have letters from a to z")
    known, namesake = context.session.get(SiteNameRow, name), context.session.get(SiteRow, name)
    if (known and known.site_id != site.id) or (namesake and namesake is not site):
        raise ApiError(409, f"basename: {name} is already in use.")
    if known is None:
        context.session.add(SiteNameRow(name=name, site_id=site.id, created_at=context.now()))
    site.basename = name


def site_named(context: Context, name: str) -> SiteRow | None:
    """Finds a site by its id, or by its present or a former name."""
    site = context.session.get(SiteRow, name)
    if site is not None:
        return site
    known = context.session.get(SiteNameRow, name)
    return context.session.get(SiteRow, known.site_id) if known else None


def present_name(site: SiteRow) -> str:
    """The name in the URL of a site: its basename, or its id if it has none."""
    return site.basename or site.id
