"""Reads of content: the live content, a change request or a revision, with the same response models for all of them."""

from __future__ import annotations

from collections.abc import Callable

from presscheck.api.content import (
    ContentDocument,
    ContentRef,
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
    GetRevisionFile,
    GetRevisionPage,
    GetRevisionPageByPath,
    GetRevisionPageDocument,
    GetRevisionReusableContent,
    GetRevisionReusableContentDocument,
    ListChangeRequestFiles,
    ListChangeRequestPageMetaLinks,
    ListChangeRequestPages,
    ListFiles,
    ListPageMetaLinks,
    ListPages,
    ListRevisionFiles,
    ListRevisionPageMetaLinks,
    ListRevisionPages,
    PageMetaLinks,
    Pages,
    Rendering,
    ReusableContent,
    Revision,
    RevisionFile,
    RevisionPage,
)
from presscheck.api.operation import Page
from presscheck.documents.visitors.condition_tags import Holds, holds_without_claims
from presscheck.service.content.page_texts import PageTexts, Reading, snippet_source
from presscheck.service.content.revision_content import (
    VISITOR,
    RevisionContent,
    cached,
    known_content,
    revision_content,
    revision_with,
)
from presscheck.service.content.revisions import document_texts
from presscheck.service.content.serializers import (
    as_files,
    as_pages,
    as_revision,
    body_of,
    document_by_id,
    format_page,
    link_targets,
    page_by_id,
    page_by_path,
    text_nodes,
)
from presscheck.service.http.operations import ApiError, Context, Serialized, handles, not_found, write_answer
from presscheck.service.http.pagination import page_of_items
from presscheck.service.permissions import level_in_space, space_for
from presscheck.service.review.change_requests import change_request_for
from presscheck.service.spaces.translations import translations_of

CANNOT_BE_NODES = (413, 422)
"""Status codes of errors for pages that are too large to be converted to nodes."""
EACH_KEY = 600
"""Approximate size in bytes of a cached page without its body."""
_Shown = Rendering | GetRevisionPageDocument | GetRevisionReusableContentDocument
"""Calls with parameters for the form of a text."""


@handles(GetCurrentRevision)
def get_current_revision(context: Context, call: GetCurrentRevision) -> Revision:
    """Return the live content."""
    return as_revision(context, live(context, call.space_id))


@handles(GetRevision)
def get_revision(context: Context, call: GetRevision) -> Revision:
    """Return a revision."""
    return as_revision(context, revision_in(context, call.space_id, call.revision_id))


@handles(GetChangeRequestRevision)
def get_change_request_revision(context: Context, call: GetChangeRequestRevision) -> Revision:
    """Return the content of a change request."""
    return as_revision(context, branch(context, call.space_id, call.change_request_id))


@handles(ListPages)
def list_pages(context: Context, call: ListPages) -> Serialized[Pages]:
    """List the pages of the live content."""
    return _pages(context, live(context, call.space_id))


@handles(ListRevisionPages)
def list_revision_pages(context: Context, call: ListRevisionPages) -> Serialized[Pages]:
    """List the pages of a revision."""
    return _pages(context, revision_in(context, call.space_id, call.revision_id))


@handles(ListChangeRequestPages)
def list_change_request_pages(context: Context, call: ListChangeRequestPages) -> Serialized[Pages]:
    """List the pages of a change request."""
    return _pages(context, branch(context, call.space_id, call.change_request_id))


@handles(GetPage)
def get_page(context: Context, call: GetPage) -> Serialized[RevisionPage]:
    """Return a page of the live content."""
    return _page(context, live(context, call.space_id), page_by_id, call.page_id, call)


@handles(GetPageByPath)
def get_page_by_path(context: Context, call: GetPageByPath) -> Serialized[RevisionPage]:
    """Return a page of the live content by path."""
    return _page(context, live(context, call.space_id), page_by_path, call.page_path, call)


@handles(GetRevisionPage)
def get_revision_page(context: Context, call: GetRevisionPage) -> Serialized[RevisionPage]:
    """Return a page of a revision."""
    return _page(context, revision_in(context, call.space_id, call.revision_id), page_by_id, call.page_id, call)


@handles(GetChangeRequestPage)
def get_change_request_page(context: Context, call: GetChangeRequestPage) -> Serialized[RevisionPage]:
    """Return a page of a change request."""
    return _page(context, branch(context, call.space_id, call.change_request_id), page_by_id, call.page_id, call)


@handles(GetChangeRequestPageByPath)
def get_change_request_page_by_path(context: Context, call: GetChangeRequestPageByPath) -> Serialized[RevisionPage]:
    """Return a page of a change request by path."""
    return _page(context, branch(context, call.space_id, call.change_request_id), page_by_path, call.page_path, call)


@handles(GetRevisionPageByPath)
def get_revision_page_by_path(context: Context, call: GetRevisionPageByPath) -> Serialized[RevisionPage]:
    """Return a page of a revision by path."""
    return _page(context, revision_in(context, call.space_id, call.revision_id), page_by_path, call.page_path, call)


@handles(GetRevisionPageDocument)
def get_revision_page_document(context: Context, call: GetRevisionPageDocument) -> Serialized[ContentDocument]:
    """Return the body of a page of a revision as nodes."""
    revision = revision_in(context, call.space_id, call.revision_id)
    place = revision.pages.get(call.page_id)
    if place is None or place.page["type"] != "document":
        raise not_found("document")

    def make() -> bytes:
        text, source = _page_text(context, revision, call.page_id, call), _page_source(context, revision, call.page_id)
        return text_nodes(context, revision, "page", text, source)

    return _document(context, revision, call, f"page {call.page_id}", make)


@handles(GetRevisionReusableContentDocument)
def get_revision_reusable_content_document(
    context: Context, call: GetRevisionReusableContentDocument
) -> Serialized[ContentDocument]:
    """Return the body of reusable content of a revision as nodes."""
    revision = revision_in(context, call.space_id, call.revision_id)
    snippet = _reusable_content(revision, call.reusable_content_id)

    def make() -> bytes:
        source = snippet_source(snippet)
        stored = document_texts(context.session, [snippet.document]).values() if snippet.document else ()
        text = _text(context, revision, call).read(next(iter(stored), ""), source, None)
        return text_nodes(context, revision, "reusable content", text, source)

    return _document(context, revision, call, f"reusable content {snippet.id}", make)


@handles(ListPageMetaLinks)
def list_page_meta_links(context: Context, call: ListPageMetaLinks) -> PageMetaLinks:
    """List the translations of a page of the live content."""
    return _meta_links(context, call.space_id, live(context, call.space_id), call.page_id)


@handles(ListRevisionPageMetaLinks)
def list_revision_page_meta_links(context: Context, call: ListRevisionPageMetaLinks) -> PageMetaLinks:
    """List the translations of a page of a revision."""
    return _meta_links(context, call.space_id, revision_in(context, call.space_id, call.revision_id), call.page_id)


@handles(ListChangeRequestPageMetaLinks)
def list_change_request_page_meta_links(context: Context, call: ListChangeRequestPageMetaLinks) -> PageMetaLinks:
    """List the translations of a page of a change request."""
    return _meta_links(context, call.space_id, branch(context, call.space_id, call.change_request_id), call.page_id)


@handles(ListFiles)
def list_files(context: Context, call: ListFiles) -> Page[RevisionFile]:
    """List the files of the live content."""
    return page_of_items(call, as_files(context, live(context, call.space_id).files))


@handles(ListRevisionFiles)
def list_revision_files(context: Context, call: ListRevisionFiles) -> Page[RevisionFile]:
    """List the files of a revision."""
    return page_of_items(call, as_files(context, revision_in(context, call.space_id, call.revision_id).files))


@handles(ListChangeRequestFiles)
def list_change_request_files(context: Context, call: ListChangeRequestFiles) -> Page[RevisionFile]:
    """List the files of a change request."""
    return page_of_items(call, as_files(context, branch(context, call.space_id, call.change_request_id).files))


@handles(GetFile)
def get_file(context: Context, call: GetFile) -> RevisionFile:
    """Return a file of the live content."""
    return _file(context, live(context, call.space_id), call.file_id)


@handles(GetRevisionFile)
def get_revision_file(context: Context, call: GetRevisionFile) -> RevisionFile:
    """Return a file of a revision."""
    return _file(context, revision_in(context, call.space_id, call.revision_id), call.file_id)


@handles(GetChangeRequestFile)
def get_change_request_file(context: Context, call: GetChangeRequestFile) -> RevisionFile:
    """Return a file of a change request."""
    return _file(context, branch(context, call.space_id, call.change_request_id), call.file_id)


@handles(GetReusableContent)
def get_reusable_content(context: Context, call: GetReusableContent) -> ReusableContent:
    """Return a piece of reusable content of the live content."""
    return _reusable_content(live(context, call.space_id), call.reusable_content_id)


@handles(GetRevisionReusableContent)
def get_revision_reusable_content(context: Context, call: GetRevisionReusableContent) -> ReusableContent:
    """Return a piece of reusable content of a revision."""
    return _reusable_content(revision_in(context, call.space_id, call.revision_id), call.reusable_content_id)


@handles(GetChangeRequestReusableContent)
def get_change_request_reusable_content(context: Context, call: GetChangeRequestReusableContent) -> ReusableContent:
    """Return a piece of reusable content of a change request."""
    return _reusable_content(branch(context, call.space_id, call.change_request_id), call.reusable_content_id)


@handles(GetDocument)
def get_document(context: Context, call: GetDocument) -> Serialized[ContentDocument]:
    """Return the body of a page or of reusable content as nodes, if a revision of the space has this document."""
    space = space_for(context, call.space_id)
    revision_id = revision_with(context, space.id, call.document_id)
    revision = revision_content(context, revision_id) if revision_id else None
    if revision is None:
        raise not_found("document")
    return document_by_id(context, revision, call.document_id)


def live(context: Context, space_id: str) -> RevisionContent:
    """Return the live revision of a space."""
    return _present(revision_content(context, space_for(context, space_id).revision_id))


def branch(context: Context, space_id: str, change_request: str) -> RevisionContent:
    """Return the newest revision of a change request."""
    row = change_request_for(context, space_id, change_request)[1]
    return _present(revision_content(context, row.revision))


def revision_in(context: Context, space_id: str, revision_id: str) -> RevisionContent:
    """Return a revision of a space.

    Raises:
        ApiError: 404 if the space does not have this revision.
    """
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

    return cached(context, ("pages", revision.id, context.origin), make, lambda pages: len(pages.body))


def _page(
    context: Context,
    revision: RevisionContent,
    find: Callable[[Context, RevisionContent, str], RevisionPage],
    place: str,
    call: Rendering,
) -> Serialized[RevisionPage]:
    """Return a page by its id or path. A revision never changes, so the response can be cached.

    Without a format, the response has the page as Markdown and as nodes, or only as Markdown if it is too large.
    """

    def make() -> Serialized[RevisionPage]:
        page = find(context, revision, place)
        if page.type != "document":
            return Serialized(write_answer(page))
        text = _page_text(context, revision, page.id, call)
        if call.format != "document":
            shown = text
            if call.format_markdown_refs == "stable":
                shown = _page_text(context, revision, page.id, call, is_stable=True)
            page = page.model_copy(update={"markdown": format_page(page.title, shown)})
        sent = write_answer(page)
        if call.format != "markdown":
            try:
                nodes = text_nodes(context, revision, "page", text, _page_source(context, revision, page.id))
                # the nodes are serialized already: serializing a large tree would block all other requests
                sent = sent[:-1] + b',"document":' + nodes + b"}"
            except ApiError as error:
                if call.format == "document" or error.status not in CANNOT_BE_NODES:
                    raise
        return Serialized(sent)

    key = ("page", revision.id, context.origin, find.__name__, place, call.format or "", *_form_key(context, call))
    return cached(context, key, make, lambda page: len(page.body) + len(place) + EACH_KEY)


def _form_key(context: Context, call: _Shown) -> tuple[str, ...]:
    """Return the part of a cache key for the form of a text: link format, evaluation, includes and kind of reader.

    The text also depends on the revision and on the origin of URLs, which are in other parts of the key.
    """
    refs = call.format_markdown_refs if isinstance(call, Rendering) else None
    reader = "site" if context.grant else ""
    return (refs or "", "evaluated" if call.evaluated else "", "dereferenced" if call.dereferenced else "", reader)


def _page_source(context: Context, revision: RevisionContent, page_id: str) -> str:
    return link_targets(context, revision).sources.get(("page", page_id), "")


def _page_text(
    context: Context, revision: RevisionContent, page_id: str, call: _Shown, *, is_stable: bool = False
) -> str:
    """Return the Markdown of a page, evaluated and with reusable content in place if the call asks for it."""
    page = revision.pages[page_id].page
    body, source = body_of(context, page), _page_source(context, revision, page_id)
    return _text(context, revision, call, is_stable=is_stable).read(body, source, page.get("variables"))


def _text(context: Context, revision: RevisionContent, call: _Shown, *, is_stable: bool = False) -> PageTexts:
    reading = Reading(_conditions(context, call), is_dereferenced=bool(call.dereferenced), is_stable=is_stable)
    return PageTexts(context, revision, link_targets(context, revision), reading)


def _conditions(context: Context, call: _Shown) -> Holds | None:
    """Return a function that decides conditions for the reader, or None to leave conditions as written."""
    visitor = context.known.get(VISITOR)
    if visitor is not None or not call.evaluated:
        return visitor
    return holds_without_claims if context.grant is None else lambda _condition: True


def _document(
    context: Context, revision: RevisionContent, call: _Shown, name: str, make: Callable[[], bytes]
) -> Serialized[ContentDocument]:
    """Return a text of a revision as nodes, from the cache or from `make`. `name` identifies the text in the key."""
    key = ("document", revision.id, context.origin, name, *_form_key(context, call))
    return cached(context, key, lambda: Serialized(make()), lambda sent: len(sent.body) + EACH_KEY)


def _meta_links(context: Context, space_id: str, revision: RevisionContent, page_id: str) -> PageMetaLinks:
    """Return references to the translations of a page: the pages with the same id in the translations of its space.

    Translations that the caller may not see are left out.
    """
    if page_id not in revision.pages:
        raise not_found("page")
    alternates = [
        space.id
        for space in translations_of(context, space_id)
        if level_in_space(context, space) is not None and page_id in known_content(context, space.revision_id).pages
    ]
    return PageMetaLinks(
        alternates=tuple(ContentRef(kind="page", page=page_id, space=space_id) for space_id in alternates)
    )


def _file(context: Context, revision: RevisionContent, file_id: str) -> RevisionFile:
    matching_file = next((file for file in as_files(context, revision.files) if file.id == file_id), None)
    if matching_file is None:
        raise not_found("file")
    return matching_file


def _reusable_content(revision: RevisionContent, content_id: str) -> ReusableContent:
    matching_snippet = next((snippet for snippet in revision.reusable_contents if snippet["id"] == content_id), None)
    if matching_snippet is None:
        raise not_found("reusable content")
    return ReusableContent.model_validate(matching_snippet)
