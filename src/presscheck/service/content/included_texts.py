"""The reusable content that the pages of a revision include, for search."""

from __future__ import annotations

from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import Page
from presscheck.documents.visitors.condition_tags import Holds
from presscheck.service.content.page_texts import PageTexts, Reading
from presscheck.service.content.revision_content import RevisionContent, cached
from presscheck.service.content.revisions import document_texts
from presscheck.service.content.serializers import LinkTargets
from presscheck.service.db.fulltext_index import documents_with
from presscheck.service.http.operations import ApiError, Context

_EACH = 200


class IncludedTexts:
    """A reader of pages with the reusable content that they include.

    Args:
        context: the transaction.
        revision: the revision of the pages.
        targets: the possible link targets of the revision.
    """

    def __init__(self, context: Context, revision: RevisionContent, targets: LinkTargets) -> None:
        self._context, self._revision, self._targets = context, revision, targets
        self.revision_id = revision.id

    def documents_of(self, page: Page) -> frozenset[str]:
        """Return the ids of the documents that a page includes, even in parts that are hidden by conditions."""
        document = page.get("documentId")
        if not document or document not in self._including():
            return frozenset()
        key = ("included documents", self._revision.id, page["id"])
        return cached(self._context, key, lambda: self._read(page, None)[1], lambda ids: _EACH * (1 + len(ids)))

    def markdown(self, page: Page, holds: Holds | None) -> str:
        """Return the Markdown of a page with the reusable content that the page includes.

        Parts whose conditions are false according to `holds` are left out; if `holds` is None, all parts are kept. The
        result is empty if the text is too large.
        """
        return self._read(page, holds)[0]

    def _including(self) -> frozenset[str]:
        """Return the ids of the documents that contain the word `include` and belong to pages of the revision."""
        key = ("including documents", self._revision.id)
        return cached(self._context, key, self._with_include, lambda ids: _EACH * (1 + len(ids)))

    def _with_include(self) -> frozenset[str]:
        pages = (place.page for place in self._revision.pages.values())
        documents = {document for page in pages if (document := page.get("documentId"))}
        connection = self._context.session.connection()
        return frozenset(documents_with(connection, documents, "include", begins=False) if documents else ())

    def _read(self, page: Page, holds: Holds | None) -> tuple[str, frozenset[str]]:
        text = document_texts(self._context.session, [page["documentId"]]).get(page["documentId"], "")
        if size_problem(text):
            return "", frozenset()
        source = self._targets.sources.get(("page", page["id"]), "")
        texts = PageTexts(self._context, self._revision, self._targets, Reading(holds, is_dereferenced=True))
        try:
            return texts.read(text, source, page.get("variables")), frozenset(texts.included)
        except ApiError:  # too large with its included texts; such a page is not published either
            return "", frozenset()
