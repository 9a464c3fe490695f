"""The stored content of a space as a repository. Imports and exports compare it with the actual repository."""

from __future__ import annotations

from presscheck.api.content import ReusableContent
from presscheck.documents.git_format.exported import ExportedRevision
from presscheck.documents.git_format.repository import Repository
from presscheck.documents.markdown.links import Destination
from presscheck.service.content.revision_content import RevisionContent
from presscheck.service.content.revisions import FORMER_PATHS, document_texts
from presscheck.service.content.serializers import as_files, as_pages
from presscheck.service.http.operations import Context


def exported_revision(context: Context, revision: RevisionContent) -> ExportedRevision:
    """Return the source paths of a stored revision."""
    return ExportedRevision(
        as_pages(context, revision.space_id, revision.tree),
        as_files(context, revision.files),
        (ReusableContent.model_validate(snippet) for snippet in revision.reusable_contents),
        fallback=context.app(f"/spaces/{revision.space_id}"),
    )


def exported_repository(context: Context, revision: RevisionContent, exported: ExportedRevision) -> Repository:
    """Return the pages, snippets and redirects of a stored revision, with their texts."""
    documents = {place.page["id"]: place.page.get("documentId") for place in revision.pages.values()}
    documents |= {snippet["id"]: snippet.get("document") for snippet in revision.reusable_contents}
    texts = document_texts(context.session, filter(None, documents.values()))
    redirects: dict[str, Destination] = {}
    for place in revision.pages.values():
        for former, anchor in (place.page.get(FORMER_PATHS) or {}).items():
            source = exported.sources.get(("page", place.page["id"]), "")
            redirects[former] = Destination("page", source, anchor)
    return exported.repository({item: texts.get(document or "", "") for item, document in documents.items()}, redirects)
