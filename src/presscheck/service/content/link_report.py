"""Extracts the links of a stored revision."""

from __future__ import annotations

from functools import lru_cache

from presscheck.api.content import ReusableContent
from presscheck.documents.markdown.link_report import LinkReport, RevisionContent
from presscheck.documents.markdown.links import find_links
from presscheck.documents.pages.tree import walk
from presscheck.service.content.revisions import document_texts, documents_of
from presscheck.service.content.serializers import as_files, as_pages
from presscheck.service.handlers.organizations import as_organization
from presscheck.service.http.operations import Context
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.organizations import OrganizationRow
from presscheck.service.models.spaces import SpaceRow
from presscheck.service.spaces.serializers import as_spaces


def content_links(context: Context, space: SpaceRow, revision: RevisionRow) -> LinkReport:
    """The links of the pages of a revision."""
    texts = document_texts(context.session, documents_of(revision.tree))
    written = ((place.page["id"], place.page.get("documentId")) for place in walk(revision.tree))
    owner = context.session.get_one(OrganizationRow, space.organization_id)
    return LinkReport(
        RevisionContent(
            pages=as_pages(context, space.id, revision.tree),
            links={page: _targets(texts.get(document, "")) for page, document in written if document},
            files=as_files(context, revision.files),
            reusable=[ReusableContent.model_validate(snippet) for snippet in revision.reusable_contents],
            organization=as_organization(context, owner),
            space=next(iter(as_spaces(context, [space]))),
            app=context.app("/"),
        )
    )


@lru_cache(maxsize=4096)
def _targets(text: str) -> tuple[str, ...]:
    """The link targets in a document; documents never change, so results are cached."""
    return tuple(link.target for link in find_links(text))
