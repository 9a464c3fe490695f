"""OpenAPI specifications on pages of a published site, from the organization or from a file of the space."""

from __future__ import annotations

from sqlalchemy import ColumnElement, select

from presscheck.documents.openapi.specification import SpecificationReader
from presscheck.service.content.specifications import stored_specification
from presscheck.service.models.imports import SpecRow, SpecVersionRow
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.site_record import digest_of


def specification_by_slug(site: PublishedSite, slug: str) -> SpecificationReader | None:
    """Return the newest version of a specification of the organization, or None if there is none."""
    return _newest(site, SpecRow.slug == slug)


def specification_by_url(site: PublishedSite, url: str) -> SpecificationReader | None:
    """Return the newest version of the organization's specification with this source, or None.

    The service does not fetch URLs for readers.
    """
    return _newest(site, SpecRow.source_url == url)


def specification_in_file(site: PublishedSite, content: str) -> SpecificationReader | None:
    """Return the specification in a stored file, or None if it cannot be read."""
    return _reader(site, content)


def newest_versions(site: PublishedSite) -> str:
    """Return a hash that changes whenever a specification of the organization changes."""
    rows = site.context.session.execute(
        select(SpecRow.id, SpecRow.slug, SpecRow.source_url, SpecRow.last_version)
        .where(SpecRow.organization_id == site.site.organization_id)
        .order_by(SpecRow.id)
    )
    return digest_of(repr([tuple(row) for row in rows])).hex()


def _newest(site: PublishedSite, is_wanted: ColumnElement[bool]) -> SpecificationReader | None:
    query = (
        select(SpecRow.slug, SpecRow.source_url, SpecVersionRow.content)
        .join(SpecVersionRow, SpecVersionRow.id == SpecRow.last_version)
        .where(SpecRow.organization_id == site.site.organization_id, is_wanted)
        .order_by(SpecRow.slug)
        .limit(1)
    )
    row = site.context.session.execute(query).first()
    return _reader(site, row.content, row.slug, row.source_url or "") if row else None


def _reader(site: PublishedSite, content: str, slug: str = "", address: str = "") -> SpecificationReader | None:
    specification = stored_specification(site.context, content)
    if specification is None:
        return None
    # pages with scripts of integrations may not send requests
    is_tried = site.reader.is_previewing or not site.record.scripts
    return SpecificationReader(specification, slug, address, is_tried=is_tried)
