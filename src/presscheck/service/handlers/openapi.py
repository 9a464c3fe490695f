"""OpenAPI specifications: stored by slug, fetched and validated in the background, with all versions."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import select

from presscheck.api.openapi import (
    ContentUrls,
    CreateOpenAPISpec,
    DeleteOpenAPISpec,
    GetLatestOpenAPISpecContent,
    GetLatestOpenAPISpecRawContent,
    GetLatestOpenAPISpecVersion,
    GetOpenAPISpec,
    GetOpenAPISpecVersion,
    GetOpenAPISpecVersionContent,
    ListOpenAPISpecs,
    ListOpenAPISpecVersions,
    OpenAPISpec,
    OpenAPISpecContent,
    OpenAPISpecRawContent,
    OpenAPISpecVersion,
    PutOpenAPISpec,
    SpecError,
    SpecPermissions,
    SpecSource,
    SpecUrls,
    UpdateOpenAPISpec,
    VersionUrls,
)
from presscheck.api.operation import Page
from presscheck.errors import InvalidArgument
from presscheck.service.content.file_urls import file_address
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context, handles, invalid, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.jobs.queue import cancel_jobs, enter_job
from presscheck.service.models.imports import SpecRow, SpecVersionRow
from presscheck.service.permissions import PUBLISHING, organization_for, reaches, role_in


@handles(ListOpenAPISpecs)
def list_specs(context: Context, call: ListOpenAPISpecs) -> Page[OpenAPISpec]:
    """List the specifications of an organization, sorted by slug."""
    organization = organization_for(context, call.organization_id)
    rows = select(SpecRow).where(SpecRow.organization_id == organization.id)
    return page_of_rows(
        context, call, rows, lambda page_rows: _as_specs(context, page_rows), order=(SpecRow.slug, SpecRow.id)
    )


@handles(CreateOpenAPISpec)
def create_spec(context: Context, call: CreateOpenAPISpec) -> OpenAPISpec:
    """Add a specification and start processing it in the background."""
    organization_for(context, call.organization_id, "create")
    if _spec_by_slug(context, call.organization_id, call.slug) is not None:
        raise ApiError(400, f"slug: a specification named {call.slug} already exists")
    return _store(context, call.organization_id, call.slug, call.source)


@handles(GetOpenAPISpec)
def get_spec(context: Context, call: GetOpenAPISpec) -> OpenAPISpec:
    """Return a specification."""
    return _as_specs(context, [_spec_for(context, call.organization_id, call.spec_slug)])[0]


@handles(PutOpenAPISpec)
def put_spec(context: Context, call: PutOpenAPISpec) -> OpenAPISpec:
    """Add a specification or change its source, and start processing it in the background."""
    organization_for(context, call.organization_id, "create")
    try:
        CreateOpenAPISpec(organization_id=call.organization_id, slug=call.spec_slug, source=call.source)
    except InvalidArgument as error:
        raise invalid(error) from None
    return _store(context, call.organization_id, call.spec_slug, call.source)


@handles(DeleteOpenAPISpec)
def delete_spec(context: Context, call: DeleteOpenAPISpec) -> None:
    """Delete a specification with its versions. Return normally if the specification does not exist."""
    organization_for(context, call.organization_id, "create")
    row = _spec_by_slug(context, call.organization_id, call.spec_slug)
    if row is not None:
        cancel_jobs(context.session, row.id, context.now())
        context.session.delete(row)


@handles(UpdateOpenAPISpec)
def update_spec(context: Context, call: UpdateOpenAPISpec) -> OpenAPISpec:
    """Make a specification public, or visible to the organization only. Making it public requires an admin."""
    row = _spec_for(context, call.organization_id, call.spec_slug, "create")
    if call.visibility == "public" != row.visibility:
        organization_for(context, call.organization_id, PUBLISHING)
    row.visibility, row.updated_at = call.visibility, context.now()
    return _as_specs(context, [row])[0]


@handles(ListOpenAPISpecVersions)
def list_versions(context: Context, call: ListOpenAPISpecVersions) -> Page[OpenAPISpecVersion]:
    """List the versions, newest first."""
    row = _spec_for(context, call.organization_id, call.spec_slug)
    return page_of_rows(
        context,
        call,
        select(SpecVersionRow).where(SpecVersionRow.spec_id == row.id),
        lambda versions: [_as_version(context, row, version) for version in versions],
        order=(SpecVersionRow.created_at, SpecVersionRow.id),
        newest_first=True,
    )


@handles(GetLatestOpenAPISpecVersion)
def get_latest_version(context: Context, call: GetLatestOpenAPISpecVersion) -> OpenAPISpecVersion:
    """Return the newest version."""
    return _as_version(context, *_latest(context, call.organization_id, call.spec_slug))


@handles(GetOpenAPISpecVersion)
def get_version(context: Context, call: GetOpenAPISpecVersion) -> OpenAPISpecVersion:
    """Return a version."""
    return _as_version(context, *_version(context, call.organization_id, call.spec_slug, call.version_id))


@handles(GetLatestOpenAPISpecContent)
def get_latest_content(context: Context, call: GetLatestOpenAPISpecContent) -> OpenAPISpecContent:
    """Return the content of the newest version."""
    return _content(context, *_latest(context, call.organization_id, call.spec_slug))


@handles(GetOpenAPISpecVersionContent)
def get_version_content(context: Context, call: GetOpenAPISpecVersionContent) -> OpenAPISpecContent:
    """Return the content of a version."""
    return _content(context, *_version(context, call.organization_id, call.spec_slug, call.version_id))


@handles(GetLatestOpenAPISpecRawContent)
def get_latest_raw_content(context: Context, call: GetLatestOpenAPISpecRawContent) -> OpenAPISpecRawContent:
    """Return the text of the newest version. All versions are stored as JSON, even if their source is YAML."""
    _, version = _latest(context, call.organization_id, call.spec_slug)
    return OpenAPISpecRawContent(text=_text(context, version), format="json")


def _store(context: Context, organization_id: str, slug: str, source: SpecSource) -> OpenAPISpec:
    _require_source(source)
    row, now = _spec_by_slug(context, organization_id, slug), context.now()
    if row is None:
        row = SpecRow(
            id=new_id(), organization_id=organization_id, slug=slug, visibility="private", errors=[], created_at=now
        )
        context.session.add(row)
    row.source_url = source.url
    row.source_text = context.files.put(source.text.encode()) if source.text else None
    row.processing_state, row.updated_at = "pending", now
    context.session.flush()
    cancel_jobs(context.session, row.id, now)
    enter_job(context.session, "openapi", row.id, now=now, organization_id=organization_id)
    return _as_specs(context, [row])[0]


def _require_source(source: SpecSource) -> None:
    if (source.url is None) == (source.text is None):
        raise ApiError(400, "source: give either url or text")
    if source.url is not None and web_address(source.url) is None:
        raise ApiError(400, "source.url: must be a URL such as https://example.org/openapi.yaml")


def _spec_by_slug(context: Context, organization_id: str, slug: str) -> SpecRow | None:
    query = select(SpecRow).where(SpecRow.organization_id == organization_id, SpecRow.slug == slug)
    return context.session.scalar(query)


def _spec_for(context: Context, organization_id: str, slug: str, required: str = "read") -> SpecRow:
    organization_for(context, organization_id, required)
    row = _spec_by_slug(context, organization_id, slug)
    if row is None:
        raise not_found("specification")
    return row


def _latest(context: Context, organization_id: str, slug: str) -> tuple[SpecRow, SpecVersionRow]:
    row = _spec_for(context, organization_id, slug)
    version = context.session.get(SpecVersionRow, row.last_version) if row.last_version else None
    if version is None:
        raise not_found("version of this specification")
    return row, version


def _version(context: Context, organization_id: str, slug: str, version_id: str) -> tuple[SpecRow, SpecVersionRow]:
    row = _spec_for(context, organization_id, slug)
    version = context.session.get(SpecVersionRow, version_id)
    if version is None or version.spec_id != row.id:
        raise not_found("version of this specification")
    return row, version


def _as_version(context: Context, row: SpecRow, version: SpecVersionRow) -> OpenAPISpecVersion:
    location = context.location(f"/orgs/{row.organization_id}/openapi/{row.slug}/versions/{version.id}")
    return OpenAPISpecVersion(
        id=version.id,
        created_at=version.created_at,
        url=_file(context, row, version),
        urls=VersionUrls(location=location),
    )


def _content(context: Context, row: SpecRow, version: SpecVersionRow) -> OpenAPISpecContent:
    content = json.loads(_text(context, version))
    url = _file(context, row, version)
    public = _published(context, row) if version.id == row.last_version else None
    urls = ContentUrls(source=url, public=public)
    return OpenAPISpecContent(filesystem={"openapi.json": content}, url=url, urls=urls)


def _published(context: Context, row: SpecRow) -> str | None:
    """Return the public URL of a specification, or None if it is private or has no version."""
    is_shown = row.visibility == "public" and row.last_version is not None
    return f"{context.origin}/openapi/{row.organization_id}/{row.slug}.json" if is_shown else None


def _text(context: Context, version: SpecVersionRow) -> str:
    content = context.files.read(version.content)
    if content is None:
        raise not_found("version of this specification")
    return content.decode()


def _file(context: Context, row: SpecRow, version: SpecVersionRow) -> str:
    return file_address(context, version.content, f"{row.slug}.json")


def _as_specs(context: Context, rows: Sequence[SpecRow]) -> list[OpenAPISpec]:
    return [_as_spec(context, row) for row in rows]


def _as_spec(context: Context, row: SpecRow) -> OpenAPISpec:
    role = role_in(context, row.organization_id)
    return OpenAPISpec(
        id=row.id,
        slug=row.slug,
        sourceURL=row.source_url,
        processing_state=row.processing_state,
        visibility=row.visibility,
        last_version=row.last_version,
        last_processed_at=row.last_processed_at,
        last_process_error_code=row.error_code,
        last_processed_errors=tuple(SpecError.model_validate(error) for error in row.errors) or None,
        last_processed_error_count=len(row.errors) or None,
        created_at=row.created_at,
        updated_at=row.updated_at,
        permissions=SpecPermissions(view=reaches(role, "read"), edit=reaches(role, "create")),
        urls=SpecUrls(
            location=context.location(f"/orgs/{row.organization_id}/openapi/{row.slug}"),
            app=context.app(f"/openapi/{row.slug}"),
            published=_published(context, row),
        ),
    )
