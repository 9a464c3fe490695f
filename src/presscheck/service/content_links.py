"""What the pages of a revision point at, computed from their texts: where each link leads, and whether it does."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from presscheck.api.content import ReusableContent, RevisionPage
from presscheck.api.links import ContentLocation, Link, PlaceInPage
from presscheck.documents.links import Link as LinkInText
from presscheck.documents.links import Places, links_of, source_of
from presscheck.documents.page_trees import find, walk
from presscheck.service.content import document_texts, documents_of
from presscheck.service.content_tables import RevisionRow
from presscheck.service.handlers.organizations import as_organization
from presscheck.service.handling import Context
from presscheck.service.pages import as_files, as_pages
from presscheck.service.space_answers import as_spaces
from presscheck.service.tables import OrganizationRow, SpaceRow


class Target(NamedTuple):
    """What is pointed at: `kind` as `documents.links.Destination` has it, `name` its id, or its address as written."""

    kind: str
    name: str
    anchor: str = ""


class Usage(NamedTuple):
    """A target, and the ids of the pages that point at it, in the order of the tree."""

    target: Target
    status: str
    pages: tuple[str, ...]


class ContentLinks:
    """The links of a revision.

    Args:
        context: the transaction.
        space: whose revision it is.
        revision: whose pages are read.
    """

    def __init__(self, context: Context, space: SpaceRow, revision: RevisionRow) -> None:
        self._context, self._space, self._revision = context, space, revision
        self._pages = {page.id: page for page in _every(as_pages(context, space.id, revision.tree))}
        self._files = {file.id: file for file in as_files(context, revision.files)}
        self._space_answer = next(iter(as_spaces(context, [space])))
        owner = context.session.get_one(OrganizationRow, space.organization_id)
        self._organization = as_organization(context, owner)
        self.usages = self._read()

    def _read(self) -> list[Usage]:
        """Every target once, in the order in which the pages name them."""
        tree = as_pages(self._context, self._space.id, self._revision.tree)
        reusable = [_snippet(one) for one in self._revision.reusable_contents]
        places = Places.of(tree, self._files.values(), reusable)
        texts = document_texts(self._context.session, documents_of(self._revision.tree))
        found: dict[Target, dict[str, None]] = {}
        for place in walk(self._revision.tree):
            document = place.page.get("documentId")
            if not document:
                continue
            source = source_of(self._pages[place.page["id"]])
            for link in _links(texts.get(document, "")):
                leads = places.resolve(link.target, source)
                name = leads.id or leads.url or link.target
                found.setdefault(Target(leads.kind, name, leads.anchor), {})[place.page["id"]] = None
        return [Usage(target, self._status(target), tuple(pages)) for target, pages in found.items()]

    def _status(self, target: Target) -> str:
        if target.kind == "broken":
            return "broken"
        return "in-app" if target.name.startswith(self._context.app("/")) else "ok"

    def of_page(self, page_id: str) -> list[Usage]:
        """What one page points at."""
        return [usage._replace(pages=(page_id,)) for usage in self.usages if page_id in usage.pages]

    def to(self, kind: str, identity: str) -> list[ContentLocation]:
        """The pages that point at a page or a file, each once."""
        pointing = [page for one in self.usages if one.target[:2] == (kind, identity) for page in one.pages]
        return [self._page(page) for page in dict.fromkeys(pointing)]

    def as_links(self, usages: Iterable[Usage]) -> list[Link]:
        """Usages as on the wire."""
        return [
            Link(
                status=usage.status,
                relation="reference",
                target_reference=self._location(usage.target),
                location_references=tuple(self._page(page) for page in usage.pages),
            )
            for usage in usages
        ]

    def _location(self, target: Target) -> ContentLocation:
        if target.kind == "page":
            return self._page(target.name, target.anchor)
        here: dict[str, Any] = {"organization": self._organization, "space": self._space_answer}
        if target.kind == "file":
            return ContentLocation(kind="file", file=self._files[target.name], **here)
        if target.kind == "snippet":
            found = next(one for one in self._revision.reusable_contents if one["id"] == target.name)
            return ContentLocation(kind="reusable-content", reusable_content=_snippet(found), **here)
        return ContentLocation(kind="url", url=target.name)

    def _page(self, page_id: str, anchor: str = "") -> ContentLocation:
        return ContentLocation(
            kind="page",
            organization=self._organization,
            space=self._space_answer,
            page=self._pages[page_id],
            internal_location=PlaceInPage(type="anchor", anchor=anchor) if anchor else None,
        )

    def has_page(self, page_id: str) -> bool:
        """Whether the revision has this page."""
        return find(self._revision.tree, page_id) is not None

    def has_file(self, file_id: str) -> bool:
        """Whether the revision has this file."""
        return file_id in self._files


@lru_cache(maxsize=4096)
def _links(text: str) -> tuple[LinkInText, ...]:
    """The links of a text; documents never change, so each is read once while it is used."""
    return tuple(links_of(text))


def _snippet(stored: dict[str, Any]) -> ReusableContent:
    return ReusableContent.model_validate(stored)


def _every(pages: Iterable[RevisionPage]) -> Iterable[RevisionPage]:
    for page in pages:
        yield page.model_copy(update={"pages": ()})  # a place is told without all that is below it
        yield from _every(page.pages)
