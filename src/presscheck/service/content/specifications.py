"""The stored contents of OpenAPI specifications, indexed and cached by content."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from presscheck.documents.openapi.specification import Specification, SpecificationError, read_specification
from presscheck.service.content.revision_content import cached
from presscheck.service.http.operations import Context
from presscheck.service.models.imports import SpecRow, SpecVersionRow


def newest_contents(context: Context, organization_id: str, slugs: Sequence[str]) -> dict[str, str]:
    """Return the stored files of the newest versions of specifications, by slug; unknown slugs are left out."""
    if not slugs:
        return {}
    query = (
        select(SpecRow.slug, SpecVersionRow.content)
        .join(SpecVersionRow, SpecVersionRow.id == SpecRow.last_version)
        .where(SpecRow.organization_id == organization_id, SpecRow.slug.in_(slugs))
    )
    contents: dict[str, str] = {row.slug: row.content for row in context.session.execute(query)}
    return {slug: contents[slug] for slug in slugs if slug in contents}


def stored_specification(context: Context, content: str) -> Specification | None:
    """Return the specification in a stored file, or None if it cannot be read."""
    specification = cached(
        context,
        ("specification", content),
        lambda: _read(context, content),
        lambda value: value.weight() if isinstance(value, Specification) else 500,
    )
    return specification if isinstance(specification, Specification) else None


def _read(context: Context, content: str) -> Specification | SpecificationError:
    """Return the specification in a stored file, or the error, so that the cache can keep errors too."""
    try:
        return read_specification(context.files.read(content) or b"")
    except SpecificationError as error:
        return error
