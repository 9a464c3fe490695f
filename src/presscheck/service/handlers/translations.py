"""Translations of spaces: each run translates the live content into a new revision of the translated space."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select, true

from presscheck.api.operation import Page
from presscheck.api.translations import (
    CreateTranslation,
    DeleteTranslation,
    GetTranslation,
    ListTranslations,
    RunTranslation,
    Translation,
    TranslationPermissions,
    TranslationResult,
    TranslationSource,
    TranslationStats,
    TranslationUrls,
    UpdateTranslation,
)
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.jobs.queue import cancel_jobs, enter_job
from presscheck.service.models.imports import TranslationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.permissions import organization_for, reaches, role_in, space_for, visible_space_ids

NO_INSTRUCTIONS: dict[str, Any] = {"object": "document", "data": {"schemaVersion": 1}, "nodes": []}


@handles(ListTranslations)
def list_translations(context: Context, call: ListTranslations) -> Page[Translation]:
    """List the translations of an organization whose source or result the caller may see, oldest first."""
    organization = organization_for(context, call.organization_id)
    return page_of_rows(
        context,
        call,
        select(TranslationRow).where(
            TranslationRow.organization_id == organization.id, _is_seen(context, organization.id)
        ),
        lambda rows: [_as_translation(context, row) for row in rows],
        order=(TranslationRow.created_at, TranslationRow.id),
    )


@handles(CreateTranslation)
def create_translation(context: Context, call: CreateTranslation) -> Translation:
    """Create a translation and start its first run in the background."""
    organization = organization_for(context, call.organization_id, "create")
    source = space_for(context, call.source.space)
    if source.organization_id != organization.id:
        raise ApiError(400, "source.space: the space is in another organization")
    if call.language == call.source.language:
        raise ApiError(400, "language: must differ from the language of the source")
    now = context.now()
    row = TranslationRow(
        id=new_id(),
        organization_id=organization.id,
        source_space=source.id,
        source_language=call.source.language,
        language=call.language,
        instructions=call.instructions or NO_INSTRUCTIONS,
        status="pending",
        stats={},
        created_by=context.user.id,
        created_at=now,
        updated_at=now,
    )
    context.session.add(row)
    context.session.flush()
    _run(context, row)
    return _as_translation(context, row)


@handles(GetTranslation)
def get_translation(context: Context, call: GetTranslation) -> Translation:
    """Return a translation."""
    return _as_translation(context, _translation_for(context, call.organization_id, call.translation_id))


@handles(UpdateTranslation)
def update_translation(context: Context, call: UpdateTranslation) -> Translation:
    """Change the instructions for future runs."""
    row = _translation_for(context, call.organization_id, call.translation_id, "create")
    row.instructions, row.updated_at = call.instructions, context.now()
    return _as_translation(context, row)


@handles(DeleteTranslation)
def delete_translation(context: Context, call: DeleteTranslation) -> None:
    """Delete a translation, but not the translated space. Ignore a translation that the caller may not see."""
    organization_for(context, call.organization_id, "create")
    row = context.session.get(TranslationRow, call.translation_id)
    if row is not None and row.organization_id == call.organization_id and _may_see(context, row):
        cancel_jobs(context.session, row.id, context.now())
        context.session.delete(row)


@handles(RunTranslation)
def run_translation(context: Context, call: RunTranslation) -> None:
    """Start another run unless one is active. Requires read access to the source and edit access to the result."""
    row = _translation_for(context, call.organization_id, call.translation_id, "create")
    source = space_for(context, row.source_space)
    if source.organization_id != row.organization_id:
        raise ApiError(409, "The source of this translation is in another organization. Delete the translation.")
    result = context.session.get(SpaceRow, row.result_space) if row.result_space else None
    if result is not None and result.deleted_at is None and result.organization_id == row.organization_id:
        space_for(context, result.id, "edit")
    if row.status not in ("pending", "running"):
        _run(context, row)


def _run(context: Context, row: TranslationRow) -> None:
    row.status, row.updated_at = "pending", context.now()
    enter_job(context.session, "translation", row.id, now=context.now(), organization_id=row.organization_id)


def _translation_for(
    context: Context, organization_id: str, translation_id: str, required: str = "read"
) -> TranslationRow:
    organization_for(context, organization_id, required)
    row = context.session.get(TranslationRow, translation_id)
    if row is None or row.organization_id != organization_id or not _may_see(context, row):
        raise not_found("translation")
    return row


def _is_seen(context: Context, organization_id: str) -> ColumnElement[bool]:
    """Return the SQL condition that the caller may see the source or the result. Admins see all translations."""
    if role_in(context, organization_id) == "admin":
        return true()
    seen = visible_space_ids(context, organization_id)
    return TranslationRow.source_space.in_(seen) | TranslationRow.result_space.in_(seen)


def _may_see(context: Context, row: TranslationRow) -> bool:
    of_row = select(TranslationRow.id).where(TranslationRow.id == row.id, _is_seen(context, row.organization_id))
    return context.session.scalar(of_row) is not None


def _as_translation(context: Context, row: TranslationRow) -> Translation:
    role = role_in(context, row.organization_id)
    result = None
    if row.result_space and row.result_revision:
        result = TranslationResult(space=row.result_space, revision=row.result_revision, language=row.language)
    return Translation(
        id=row.id,
        status=row.status,
        source=TranslationSource(space=row.source_space, language=row.source_language),
        language=row.language,
        instructions=row.instructions,
        result=result,
        created_at=row.created_at,
        updated_at=row.updated_at,
        stats=TranslationStats.model_validate(row.stats),
        permissions=TranslationPermissions(view=reaches(role, "read"), edit=reaches(role, "create")),
        urls=TranslationUrls(location=context.location(f"/orgs/{row.organization_id}/translations/{row.id}")),
    )
