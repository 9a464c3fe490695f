"""The searchable text of API references, which are OpenAPI blocks in pages and generated pages."""

from __future__ import annotations

from collections.abc import Mapping

from presscheck.documents.markdown.code_ranges import without_code
from presscheck.documents.openapi.blocks import BlockReference, written_blocks
from presscheck.documents.openapi.generated_pages import TEXT
from presscheck.documents.openapi.searched_text import searched_markdown
from presscheck.documents.pages.tree import PagePosition
from presscheck.service.content.included_texts import IncludedTexts
from presscheck.service.content.relevance import SearchText, search_text
from presscheck.service.content.revisions import document_texts
from presscheck.service.content.search import TextReading
from presscheck.service.db.fulltext_index import documents_with
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.links import PageLinks
from presscheck.service.web.published_site import PublishedSite, SpaceContent
from presscheck.service.web.specifications import newest_versions

MOST_BLOCKS = 500
"""Maximum number of blocks of a space whose specification is read; 500 operations take about a second, once for each
version. Further blocks are only found by path or name.
"""

ReferenceTexts = Mapping[str, SearchText]
"""The searchable texts of pages with API references, by page id."""


def reference_texts(
    site: PublishedSite, site_space: SiteSpaceRow, included: IncludedTexts | None, reading: TextReading
) -> ReferenceTexts:
    """Return the searchable texts of the pages of a space that have API references."""
    content = site.content(site_space.space_id)
    documents = _documents_with_blocks(site, content)
    places = [
        place
        for place in content.listed
        if TEXT in place.page
        or place.page.get("documentId") in documents
        or (included and not documents.isdisjoint(included.documents_of(place.page)))
    ]
    if not places:
        return {}
    return site.cached_for_content(
        (reading.name, "of API references", site_space.id, newest_versions(site)),
        content,
        lambda: _Reader(site, site_space, included, reading).texts(places),
        lambda texts: 200 + sum(text.weight() for text in texts.values()),
    )


def _documents_with_blocks(site: PublishedSite, content: SpaceContent) -> frozenset[str]:
    """Return the ids of the documents of a space that contain a word starting with `openapi`."""

    def find_documents() -> frozenset[str]:
        revision = content.revision
        documents = {page.get("documentId") for page in (place.page for place in revision.pages.values())}
        documents |= {snippet.get("document") for snippet in revision.reusable_contents}
        own = {document for document in documents if document}
        connection = site.context.session.connection()
        return frozenset(documents_with(connection, own, "openapi", begins=True) if own else ())

    return site.cached_for_content(
        ("documents with API references",), content, find_documents, lambda ids: 200 * (1 + len(ids))
    )


class _Reader:
    """Makes the searchable texts of the pages of one space."""

    def __init__(
        self, site: PublishedSite, site_space: SiteSpaceRow, included: IncludedTexts | None, reading: TextReading
    ) -> None:
        self._site, self._site_space, self._included, self._reading = site, site_space, included, reading
        self._left = MOST_BLOCKS

    def texts(self, places: list[PagePosition]) -> dict[str, SearchText]:
        documents = [place.page["documentId"] for place in places if TEXT not in place.page]
        bodies = document_texts(self._site.context.session, documents) if documents else {}
        return {place.page["id"]: search_text(self._markdown(place, bodies)) for place in places}

    def _markdown(self, place: PagePosition, bodies: Mapping[str, str]) -> str:
        page = place.page
        if TEXT in page:
            text = page[TEXT]
        elif self._included and self._included.documents_of(page):
            text = self._included.markdown(page, self._reading.holds)
        else:
            text = self._reading.visible(bodies.get(page["documentId"], ""))
        links = PageLinks(self._site, self._site_space, place)
        parts: list[str] = []
        end = 0
        for block in written_blocks(without_code(text)):
            parts += (text[end : block.start], self._described(block.reference, links))
            end = block.end
        return "".join((*parts, text[end:]))

    def _described(self, block: BlockReference, links: PageLinks) -> str:
        self._left -= max(1, len(block.models))
        reader = links.specification(block.origin, links.source, is_file=block.is_file) if self._left >= 0 else None
        if reader is None:
            return f"{block.method.upper()} `{block.name}` {', '.join(block.models)}\n"
        return searched_markdown(reader, block) + "\n"
