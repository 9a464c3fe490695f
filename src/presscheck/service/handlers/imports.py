"""Content imports: queued here, run in the background, added to a change request."""

from __future__ import annotations

from sqlalchemy import select

from presscheck.api.imports import CancelImport, GetImport, ImportedPage, ImportRun, ListImports, StartImport
from presscheck.api.operation import Page
from presscheck.documents.pages.tree import find
from presscheck.service.db.ids import new_id
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.http.pagination import page_of_rows
from presscheck.service.integrations.outbound_http import web_address
from presscheck.service.jobs.queue import cancel_jobs, enter_job
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.imports import ImportRow
from presscheck.service.permissions import organization_for, require_unlocked, space_for, visible_space_ids
from presscheck.service.review.change_requests import branch_of, require_unfinished

ACTIVE = ("pending", "in-progress")


@handles(StartImport)
def start_import(context: Context, call: StartImport) -> ImportRun:
    """Start an import. Without a change request in the call, the import creates one."""
    organization = organization_for(context, call.organization_id, "guest")
    space = space_for(context, call.target.space, "edit")
    if space.organization_id != organization.id:
        raise not_found("space")
    require_unlocked(space)
    request = call.target.change_request
    branch = branch_of(context, space, request) if request is not None else None
    if branch is not None:
        require_unfinished(branch)
    _require_target_and_source(context, call, branch.revision if branch else space.revision_id)
    row = ImportRow(
        id=new_id(),
        organization_id=organization.id,
        space_id=space.id,
        change_request_id=branch.id if branch else None,
        page_id=call.target.page,
        source=call.source.model_dump(mode="json"),
        status="pending",
        pages=[],
        created_by=context.user.id,
        created_at=context.now(),
    )
    context.session.add(row)
    context.session.flush()
    enter_job(context.session, "import", row.id, now=row.created_at, organization_id=organization.id)
    return _as_run(row)


@handles(CancelImport)
def cancel_import(context: Context, call: CancelImport) -> ImportRun:
    """Cancel a pending or running import; none of its content is added."""
    row = _import_for(context, call.organization_id, call.import_run_id, "edit")
    if row.status not in ACTIVE:
        raise ApiError(400, f"This import is already {row.status} and cannot be cancelled.")
    cancel_jobs(context.session, row.id, context.now())
    row.status, row.completed_at = "cancelled", context.now()
    return _as_run(row)


@handles(ListImports)
def list_imports(context: Context, call: ListImports) -> Page[ImportRun]:
    """List the imports into spaces that the caller may see, newest first."""
    organization = organization_for(context, call.organization_id, "guest")
    seen = visible_space_ids(context, organization.id)
    rows = select(ImportRow).where(ImportRow.organization_id == organization.id, ImportRow.space_id.in_(seen))
    if call.space is not None:
        rows = rows.where(ImportRow.space_id == call.space)
    if call.change_request is not None:
        rows = rows.where(ImportRow.change_request_id == call.change_request)
    if call.site is not None:  # this service imports into spaces only, never into a site
        rows = rows.where(ImportRow.id.is_(None))
    if call.status is not None:
        rows = rows.where(ImportRow.status.in_(ACTIVE if call.status == "active" else (call.status,)))
    return page_of_rows(
        context,
        call,
        rows,
        lambda page_rows: [_as_run(row) for row in page_rows],
        order=(ImportRow.created_at, ImportRow.id),
        newest_first=True,
    )


@handles(GetImport)
def get_import(context: Context, call: GetImport) -> ImportRun:
    """Return an import with its pages."""
    return _as_run(_import_for(context, call.organization_id, call.import_run_id, "read"))


def _require_target_and_source(context: Context, call: StartImport, revision_id: str) -> None:
    content = context.session.get_one(RevisionRow, revision_id)
    if call.target.page is not None and find(content.tree, call.target.page) is None:
        raise ApiError(400, "target.page: page not found")
    for address in [call.source.url] if call.source.type == "website" else call.source.files:
        if web_address(address) is None:
            raise ApiError(400, f"source: {address[:100]} is not a URL; use one such as https://example.org/docs/")


def _import_for(context: Context, organization_id: str, import_id: str, required: str) -> ImportRow:
    organization_for(context, organization_id, "guest")
    row = context.session.get(ImportRow, import_id)
    if row is None or row.organization_id != organization_id:
        raise not_found("import")
    space_for(context, row.space_id, required)
    return row


def _as_run(row: ImportRow) -> ImportRun:
    target = {"space": row.space_id, "changeRequest": row.change_request_id, "page": row.page_id}
    return ImportRun(
        id=row.id,
        status=row.status,
        started_at=row.started_at,
        completed_at=row.completed_at,
        reason=row.reason,
        source=row.source,
        target={name: value for name, value in target.items() if value},
        pages=tuple(ImportedPage.model_validate(page) for page in row.pages),
    )
