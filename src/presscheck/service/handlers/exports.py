"""PDFs of a space and of a change request: who may read it is given an address that works for an hour."""

from __future__ import annotations

from presscheck.api.change_requests import ExportedPDF, GetChangeRequestPDF
from presscheck.api.urls import GetSpacePDF
from presscheck.documents.pages.tree import find
from presscheck.service.access import space_for
from presscheck.service.branches import change_request_for
from presscheck.service.content_tables import RevisionRow
from presscheck.service.exporting import Export, export_address
from presscheck.service.handling import Context, answers, not_found
from presscheck.service.tables import SpaceRow


@answers(GetSpacePDF)
def get_space_pdf(context: Context, call: GetSpacePDF) -> ExportedPDF:
    """The address of what is live now."""
    space = space_for(context, call.space_id)
    return _exported(context, space, Export(space.id, space.revision_id, call.page, bool(call.only)))


@answers(GetChangeRequestPDF)
def get_change_request_pdf(context: Context, call: GetChangeRequestPDF) -> ExportedPDF:
    """The address of what a change request holds now."""
    space, row = change_request_for(context, call.space_id, call.change_request_id)
    note = f"Change request #{row.number}" + (f": {row.subject}" if row.subject else "")
    return _exported(context, space, Export(space.id, row.revision, call.page, bool(call.only), note))


def _exported(context: Context, space: SpaceRow, export: Export) -> ExportedPDF:
    revision = context.session.get_one(RevisionRow, export.revision)
    if export.page is not None and find(revision.tree, export.page) is None:
        raise not_found("page")
    return ExportedPDF(url=export_address(context.session, context.origin, export, space.title))
