"""Content of a space: the live content, a change request or a revision, with the same response models."""

from __future__ import annotations

from collections.abc import Callable

from presscheck.api.comments import Format
from presscheck.api.content import (
    ContentDocument,
    GetChangeRequestFile,
    GetChangeRequestPage,
    GetChangeRequestPageByPath,
    GetChangeRequestReusableContent,
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetDocument,
    GetFile,
    GetPage,
    GetPageByPath,
    GetReusableContent,
    GetRevision,
    GetRevisionPage,
    ListChangeRequestFiles,
    ListChangeRequestPages,
    ListFiles,
    ListPages,
    ListRevisionFiles,
    ListRevisionPages,
    Pages,
    ReusableContent,
    Revision,
    RevisionFile,
    RevisionPage,
)
from presscheck.api.operation import Page
from presscheck.service.content.revision_content import RevisionContent, kept, revision_content, revision_with
from presscheck.service.content.serializers import (
    as_files,
    as_pages,
    as_revision,
    document_by_id,
    page_by_id,
    page_by_path,
    page_nodes,
)
from presscheck.service.http.operations import Context, Serialized, handles, not_found, write_answer
from presscheck.service.http.pagination import page_of_items
from presscheck.service.permissions import space_for
from presscheck.service.review.change_requests import change_request_for

EACH_KEY = 600
"""Bytes of a kept page besides its body."""


@handles(GetCurrentRevision)
def get_current_revision(context: Context, call: GetCurrentRevision) -> Revision:
    """Returns the live content."""
    return as_revision(context, live(context, call.space_id))


@handles(GetRevision)
def get_revision(context: Context, call: GetRevision) -> Revision:
    """Returns a revision."""
    return as_revision(context, revision_in(context, call.space_id, call.revision_id))


@handles(GetChangeRequestRevision)
def get_change_request_revision(context: Context, call: GetChangeRequestRevision) -> Revision:
    """Returns the content of a change request."""
    return as_revision(context, branch(context, call.space_id, call.change_request_id))


@handles(ListPages)
def list_pages(context: Context, call: ListPages) -> Serialized[Pages]:
    """Lists the pages of the live content."""
    return _pages(context, live(context, call.space_id))


@handles(ListRevisionPages)
def list_revision_pages(context: Context, call: ListRevisionPages) -> Serialized[Pages]:
    """Lists the pages of a revision."""
    return _pages(context, revision_in(context, call.space_id, call.revision_id))


@handles(ListChangeRequestPages)
def list_change_request_pages(context: Context, call: ListChangeRequestPages) -> Serialized[Pages]:
    """Lists the pages of a change request."""
    return _pages(context, branch(context, call.space_id, call.change_request_id))


@handles(GetPage)
def get_page(context: Context, call: GetPage) -> Serialized[RevisionPage]:
    """Returns a page of the live content."""
    return _page(context, live(context, call.space_id), page_by_id, call.page_id, call.format)


@handles(GetPageByPath)
def get_page_by_path(context: Context, call: GetPageByPath) -> Serialized[RevisionPage]:
    """Returns a page of the live content by path."""
    return _page(context, live(context, call.space_id), page_by_path, call.page_path, call.format)


@handles(GetRevisionPage)
def get_revision_page(context: Context, call: GetRevisionPage) -> Serialized[RevisionPage]:
    """Returns a page of a revision."""
    return _page(context, revision_in(context, call.space_id, call.revision_id), page_by_id, call.page_id, call.format)


@handles(GetChangeRequestPage)
def get_change_request_page(context: Context, call: GetChangeRequestPage) -> Serialized[RevisionPage]:
    """Returns a page of a change request."""
    return _page(context, branch(context, call.space_id, call.change_request_id), page_by_id, call.page_id, call.format)


@handles(GetChangeRequestPageByPath)
def get_change_request_page_by_path(context: Context, call: GetChangeRequestPageByPath) -> Serialized[RevisionPage]:
    """Returns a page of a change request by path."""
    return _page(
        context, branch(context, call.space_id, call.change_request_id), page_by_path, call.page_path, call.format
    )


@handles(ListFiles)
def list_files(context: Context, call: ListFiles) -> Page[RevisionFile]:
    """Lists the files of the live content."""
    return page_of_items(call, as_files(context, live(context, call.space_id).files))


@handles(ListRevisionFiles)
def list_revision_files(context: Context, call: ListRevisionFiles) -> Page[RevisionFile]:
    """Lists the files of a revision."""
    return page_of_items(call, as_files(context, revision_in(context, call.space_id, call.revision_id).files))


@handles(ListChangeRequestFiles)
def list_change_request_files(context: Context, call: ListChangeRequestFiles) -> Page[RevisionFile]:
    """Lists the files of a change request."""
    return page_of_items(call, as_files(context, branch(context, call.space_id, call.change_request_id).files))


@handles(GetFile)
def get_file(context: Context, call: GetFile) -> RevisionFile:
    """Returns a file of the live content."""
    return _file(context, live(context, call.space_id), call.file_id)


@handles(GetChangeRequestFile)
def get_change_request_file(context: Context, call: GetChangeRequestFile) -> RevisionFile:
    """Returns a file of a change request."""
    return _file(context, branch(context, call.space_id, call.change_request_id), call.file_id)


@handles(GetReusableContent)
def get_reusable_content(context: Context, call: GetReusableContent) -> ReusableContent:
    """Returns a reusable content of the live content."""
    return _reusable_content(live(context, call.space_id), call.reusable_content_id)


@handles(GetChangeRequestReusableContent)
def get_change_request_reusable_content(context: Context, call: GetChangeRequestReusableContent) -> ReusableContent:
    """Returns a reusable content of a change request."""
    return _reusable_content(branch(context, call.space_id, call.change_request_id), call.reusable_content_id)


@handles(GetDocument)
def get_document(context: Context, call: GetDocument) -> Serialized[ContentDocument]:
    """Returns the body of a page or of reusable content, if a revision of the space has it."""
    space = space_for(context, call.space_id)
    found = revision_with(context, space.id, call.document_id)
    revision = revision_content(context, found) if found else None
    if revision is None:
        raise not_found("document")
    return document_by_id(context, revision, call.document_id)


def live(context: Context, space_id: str) -> RevisionContent:
    """The live revision of a space."""
    return _present(revision_content(context, space_for(context, space_id).revision_id))


def branch(context: Context, space_id: str, change_request: str) -> RevisionContent:
    """The newest revision of a change request."""
    row = change_request_for(context, space_id, change_request)[1]
    return _present(revision_content(context, row.revision))


def revision_in(context: Context, space_id: str, revision_id: str) -> RevisionContent:
    """A revision of a space."""
    space = space_for(context, space_id)
    revision = revision_content(context, revision_id)
    if revision is None or revision.space_id != space.id:
        raise not_found("revision")
    return revision


def _present(revision: RevisionContent | None) -> RevisionContent:
    if revision is None:
        raise LookupError("a space or a change request names a revision that does not exist")
    return revision


def _pages(context: Context, revision: RevisionContent) -> Serialized[Pages]:
    def make() -> Serialized[Pages]:
        return Serialized(write_answer(Pages(pages=as_pages(context, revision.space_id, revision.tree))))

    return kept(context, ("pages", revision.id, context.origin), make, lambda pages: len(pages.body))


def _page(
    context: Context,
    revision: RevisionContent,
    find: Callable[[Context, RevisionContent, str, Format | None], RevisionPage],
    place: str,
    shape: Format | None,
) -> Serialized[RevisionPage]:
    """A page by its id or path, which follows from the revision."""

    def make() -> Serialized[RevisionPage]:
        page = find(context, revision, place, shape)
        sent = write_answer(page)
        if shape == "document" and page.type == "document":
            # a document of several megabytes is JSON from the start: to write it holds up every other request
            sent = sent[:-1] + b',"document":' + page_nodes(context, revision, page.id) + b"}"
        return Serialized(sent)

    key = ("page", revision.id, context.origin, find.__name__, place, shape or "")
    return kept(context, key, make, lambda page: len(page.body) + len(place) + EACH_KEY)


def _file(context: Context, revision: RevisionContent, file_id: str) -> RevisionFile:
    found = next((file for file in as_files(context, revision.files) if file.id == file_id), None)
    if found is None:
        raise not_found("file")
    return found


def _reusable_content(revision: RevisionContent, content_id: str) -> ReusableContent:
    found = next((snippet for snippet in revision.reusable_contents if snippet["id"] == content_id), None)
    if found is None:
        raise not_found("reusable content")
    return ReusableContent.model_validate(found)
