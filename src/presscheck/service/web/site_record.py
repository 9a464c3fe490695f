"""The rows of a published site except its pages, cached until the next commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeVar
from urllib.parse import unquote

from sqlalchemy import inspect, select

from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.db.version import Version
from presscheck.service.http.operations import Context
from presscheck.service.models.sites import (
    ExternalLinkRow,
    RedirectRow,
    SectionGroupRow,
    SectionRow,
    SiteRow,
    SiteSettingsRow,
    SiteSpaceRow,
)
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.sites.customization import LOOKS
from presscheck.service.sites.scripts import SiteScript, scripts_of
from presscheck.service.sites.structure import SiteContents
from presscheck.service.sites.urls import site_named

Value = TypeVar("Value")
EACH = 3_000
"""Approximate size of a row in memory, in bytes."""

NUMBERED = SpaceRow.numbered.key
"""The counter of change requests. It is not part of the digest, because readers do not see it."""


@dataclass(frozen=True)
class SiteRecord:
    """Structure and settings of a site. Threads share the record, so its rows belong to no session and never change."""

    groups: list[SectionGroupRow]
    sections: list[SectionRow]
    in_order: list[SectionRow | ExternalLinkRow]
    """Sections and external links in navigation order."""
    site_spaces: list[SiteSpaceRow]
    spaces: dict[str, SpaceRow]
    """The spaces that are not deleted, by id."""
    redirects: dict[str, dict[str, Any]]
    """Destinations of redirects, by path."""
    looks: dict[str, Any]
    scripts: list[SiteScript]
    """Scripts that integrations add to the pages."""
    digest: bytes
    """A hash of the site and of all these rows. It changes when readers may see a difference."""

    def weight(self) -> int:
        """Estimate the size in memory in bytes."""
        rows = len(self.groups) + len(self.in_order) + len(self.site_spaces) + len(self.spaces) + len(self.redirects)
        return EACH * (rows + 10)


class SiteRecords:
    """Sites and their records, cached while the database does not change.

    Args:
        cache: the cache.
        version: the version of the database before this transaction, or None if it is unknown.
    """

    def __init__(self, cache: BoundedCache, version: Version | None) -> None:
        self._cache, self._version = cache, version

    def named(self, context: Context, name: str) -> SiteRow | None:
        """Return the site with this id, name or former name, or None.

        The row belongs to no session and must not be changed.
        """

        def read() -> SiteRow | None:
            site = site_named(context, name)
            if site is not None:
                context.session.expunge(site)
            return site

        return self._get(("site", name), read, lambda _: EACH)

    def record(self, context: Context, site: SiteRow) -> SiteRecord:
        """Return the record of a site."""
        return self._get(("record", site.id), lambda: site_record(context, site), SiteRecord.weight)

    def _get(self, key: tuple[str, str], read: Callable[[], Value], weight: Callable[[Value], int]) -> Value:
        cached: Value | None = self._cache.get((self._version, *key)) if self._version else None
        if cached is not None:
            return cached
        value = read()
        if value is not None and self._version:
            self._cache.put((self._version, *key), value, weight(value))
        return value


def digest_of(value: object) -> bytes:
    """Return a hash of plain values, based on their `repr`."""
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def site_record(context: Context, site: SiteRow) -> SiteRecord:
    """Read the record of a site and detach its rows from the session."""
    contents, session = SiteContents(context, site, is_published=True), context.session
    redirects = session.execute(
        select(RedirectRow.source, RedirectRow.destination)
        .where(RedirectRow.site_id == site.id)
        .order_by(RedirectRow.id)
    ).all()
    looks = session.scalar(select(SiteSettingsRow.looks).where(SiteSettingsRow.site_id == site.id))
    rows = [*contents.groups, *contents.sections, *contents.links, *contents.site_spaces, *contents.spaces.values()]
    for row in rows:
        if row in session:
            session.expunge(row)
    return SiteRecord(
        contents.groups,
        contents.sections,
        contents.in_order(),
        contents.site_spaces,
        contents.spaces,
        {unquote(source): destination for source, destination in reversed(redirects)},
        looks or LOOKS,
        scripts_of(session, site),
        digest_of([*map(_values, (site, *rows)), [tuple(row) for row in redirects], looks]),
    )


def _values(row: Any) -> list[tuple[str, Any]]:
    columns = (column.key for column in inspect(row).mapper.column_attrs)
    return [(key, getattr(row, key)) for key in columns if key != NUMBERED]
