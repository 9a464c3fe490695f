"""The content of a PDF: the pages of a space or a part of it, with everything that they refer to."""

from __future__ import annotations

from sqlalchemy.orm import Session

from presscheck.documents.markdown.page_size import count_parts
from presscheck.documents.pages.tree import find
from presscheck.documents.visitors.condition_tags import holds_without_claims
from presscheck.documents.visitors.visible_pages import visible_pages
from presscheck.service.content.revisions import document_texts, text_size
from presscheck.service.models.content import RevisionRow
from presscheck.service.pdf.markup import PdfSource

MOST_PARTS = 500_000
"""Maximum number of lines, table cells, links and tags in all pages of a PDF; their markup takes half a minute."""
MOST_CHARACTERS = 25 * MOST_PARTS


class TooLarge(Exception):
    """The pages are too large for a PDF; the message has the limit."""


def pdf_source(
    session: Session, revision: RevisionRow, page: str | None, *, only: bool, title: str, organization: str, note: str
) -> PdfSource | None:
    """Load the content of a document; return None if the page does not exist.

    Raises:
        TooLarge: the texts exceed the limits.
    """
    tree = visible_pages(revision.tree, holds_without_claims)
    if page is not None and find(tree, page) is None:
        return None
    texts: dict[str, str] = {}
    source = PdfSource(
        title=title,
        organization=organization,
        note=note,
        created_at=revision.created_at,
        tree=tree,
        is_partial=tree != revision.tree,
        page=page,
        only=only,
        texts=texts,
        files=revision.files,
        reusable_contents=revision.reusable_contents,
    )
    pages = [chapter.page["documentId"] for chapter in source.chapters() if chapter.page.get("documentId")]
    ids = [*pages, *(snippet["document"] for snippet in revision.reusable_contents if snippet.get("document"))]
    if text_size(session, ids) > MOST_CHARACTERS:
        raise TooLarge(f"more than {MOST_CHARACTERS:,} characters")
    texts |= document_texts(session, ids)
    if sum(count_parts(texts.get(document, "")) for document in pages) > MOST_PARTS:
        raise TooLarge(f"more than {MOST_PARTS:,} lines, table cells, links and tags")
    return source
