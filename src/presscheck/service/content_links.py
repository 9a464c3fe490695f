"""The links of a stored revision."""

from __future__ import annotations

from functools import lru_cache

from presscheck.api.content import ReusableContent
from presscheck.documents.markdown.link_report import LinkReport, RevisionContent
from presscheck.documents.markdown.links import find_links
from presscheck.documents.pages.tree import walk
from presscheck.service.content import document_texts, documents_of
from presscheck.service.content_tables import RevisionRow
from presscheck.service.handlers.organizations import as_organization
from presscheck.service.handling import Context
from presscheck.service.pages import as_files, as_pages
from presscheck.service.space_answers import as_spaces
from presscheck.service.tables import OrganizationRow, SpaceRow


def content_links(context: Context, space: SpaceRow, revision: RevisionRow) -> LinkReport:
    """What the pages of a revision of a space point at."""
    texts = document_texts(context.session, documents_of(revision.tree))
    written = ((place.page["id"], place.page.get("documentId")) for place in walk(revision.tree))
    owner = context.session.get_one(OrganizationRow, space.organization_id)
    return LinkReport(
        RevisionContent(
            pages=as_pages(context, space.id, revision.tree),
            links={page: _targets(texts.get(document, "")) for page, document in written if document},
            files=as_files(context, revision.files),
            reusable=[ReusableContent.model_validate(one) for one in revision.reusable_contents],
            organization=as_organization(context, owner),
            space=next(iter(as_spaces(context, [space]))),
            app=context.app("/"),
        )
    )


@lru_cache(maxsize=4096)
def _targets(text: str) -> tuple[str, ...]:
    """The targets of the links in a text; documents never change, so each is read once while it is used."""
    return tuple(link.target for link in find_links(text))
