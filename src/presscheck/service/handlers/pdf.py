"""PDF exports of spaces and change requests: readers get a URL that is valid for one hour."""

from __future__ import annotations

from presscheck.api.change_requests import GetChangeRequestPDF
from presscheck.api.spaces import ExportedPDF, GetSpacePDF
from presscheck.documents.pages.tree import find
from presscheck.documents.visitors.condition_tags import holds_without_claims
from presscheck.documents.visitors.visible_pages import visible_pages
from presscheck.service.http.operations import ApiError, Context, handles, not_found
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.pdf.export import Export, export_address
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import change_request_for


@handles(GetSpacePDF)
def get_space_pdf(context: Context, call: GetSpacePDF) -> ExportedPDF:
    """Return the URL of a PDF of the live content."""
    space = space_for(context, call.space_id)
    return _exported(context, space, Export(space.id, space.revision_id, call.page, bool(call.only)))


@handles(GetChangeRequestPDF)
def get_change_request_pdf(context: Context, call: GetChangeRequestPDF) -> ExportedPDF:
    """Return the URL of a PDF of a change request."""
    space, row = change_request_for(context, call.space_id, call.change_request_id)
    note = f"Change request #{row.number}" + (f": {row.subject}" if row.subject else "")
    return _exported(context, space, Export(space.id, row.revision, call.page, bool(call.only), note))


def _exported(context: Context, space: SpaceRow, export: Export) -> ExportedPDF:
    revision = context.session.get_one(RevisionRow, export.revision)
    if export.page is not None:
        if find(revision.tree, export.page) is None:
            raise not_found("page")
        if find(visible_pages(revision.tree, holds_without_claims), export.page) is None:
            raise ApiError(404, "page: visitors without claims do not see this page, and a PDF has only what they see.")
    return ExportedPDF(url=export_address(context.session, context.origin, export, space.title))
