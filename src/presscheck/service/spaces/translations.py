"""Spaces that are translations of each other."""

from __future__ import annotations

from sqlalchemy import or_, select

from presscheck.service.http.operations import Context
from presscheck.service.models.imports import TranslationRow
from presscheck.service.models.spaces import SpaceRow

_source, _result = TranslationRow.source_space, TranslationRow.result_space


def translations_of(context: Context, space_id: str) -> list[SpaceRow]:
    """Return the translations of a space. For a translation, return its source and the source's other translations."""
    sources = select(_source).where(_result == space_id)
    family = select(_source, _result).where(_result.is_not(None), or_(_source == space_id, _source.in_(sources)))
    ids = {space for row in context.session.execute(family) for space in row} - {space_id}
    spaces = select(SpaceRow).where(SpaceRow.id.in_(ids), SpaceRow.deleted_at.is_(None)).order_by(SpaceRow.id)
    return list(context.session.scalars(spaces)) if ids else []
