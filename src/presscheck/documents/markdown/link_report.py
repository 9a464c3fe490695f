"""What the pages of a revision point at, computed from the links in their texts: where each leads, and whether it does.

Whoever has the pages and their links has the same answers: the local service from its database, the desk from what it
remembers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from presscheck.api.content import ReusableContent, RevisionFile, RevisionPage
from presscheck.api.links import ContentLocation, Link, PlaceInPage
from presscheck.api.organizations import Organization
from presscheck.api.spaces import Space
from presscheck.documents.markdown.links import LinkResolver, source_path


class LinkTarget(NamedTuple):
    """What is pointed at: `kind` as `documents.links.Destination` has it, `name` its id, or its address as written."""

    kind: str
    name: str
    anchor: str = ""


class LinkUsage(NamedTuple):
    """A target, and the ids of the pages that point at it, in the order of the tree."""

    target: LinkTarget
    status: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class RevisionContent:
    """What a revision has that can point, or be pointed at.

    Attributes:
        links: by the id of a page, the targets in its text as they are written.
        space: whose revision it is; None where that is not known.
        app: what the addresses of the service's own app begin with.
    """

    pages: Sequence[RevisionPage]
    links: Mapping[str, Iterable[str]]
    files: Sequence[RevisionFile] = ()
    reusable: Sequence[ReusableContent] = ()
    organization: Organization | None = None
    space: Space | None = None
    app: str = ""


class LinkReport:
    """The links of a revision."""

    def __init__(self, content: RevisionContent) -> None:
        self._content = content
        self._pages = {page.id: page for page in _every(content.pages)}
        self._files = {file.id: file for file in content.files}
        self._reusable = {one.id: one for one in content.reusable}
        self.usages = self._read()
        """Every target once, in the order in which the pages name them."""

    def _read(self) -> list[LinkUsage]:
        content = self._content
        places = LinkResolver.of(content.pages, content.files, content.reusable)
        found: dict[LinkTarget, dict[str, None]] = {}
        for page in _every(content.pages, whole=True):
            source = source_path(page) if page.id in content.links else ""
            for target in content.links.get(page.id, ()):
                leads = places.resolve(target, source)
                name = leads.id or leads.url or target
                found.setdefault(LinkTarget(leads.kind, name, leads.anchor), {})[page.id] = None
        return [LinkUsage(target, self._status(target), tuple(pages)) for target, pages in found.items()]

    def _status(self, target: LinkTarget) -> str:
        if target.kind == "broken":
            return "broken"
        is_in_app = bool(self._content.app) and target.name.startswith(self._content.app)
        return "in-app" if is_in_app else "ok"

    def of_page(self, page_id: str) -> list[LinkUsage]:
        """What one page points at."""
        return [usage._replace(pages=(page_id,)) for usage in self.usages if page_id in usage.pages]

    def to(self, kind: str, identity: str) -> list[ContentLocation]:
        """The pages that point at a page or a file, each once."""
        pointing = [page for one in self.usages if one.target[:2] == (kind, identity) for page in one.pages]
        return [self._page(page) for page in dict.fromkeys(pointing)]

    def as_links(self, usages: Iterable[LinkUsage]) -> list[Link]:
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

    def has_page(self, page_id: str) -> bool:
        """Whether the revision has this page."""
        return page_id in self._pages

    def has_file(self, file_id: str) -> bool:
        """Whether the revision has this file."""
        return file_id in self._files

    def _location(self, target: LinkTarget) -> ContentLocation:
        if target.kind == "page":
            return self._page(target.name, target.anchor)
        here: dict[str, Any] = {"organization": self._content.organization, "space": self._content.space}
        if target.kind == "file":
            return ContentLocation(kind="file", file=self._files[target.name], **here)
        if target.kind == "snippet":
            return ContentLocation(kind="reusable-content", reusable_content=self._reusable[target.name], **here)
        return ContentLocation(kind="url", url=target.name)

    def _page(self, page_id: str, anchor: str = "") -> ContentLocation:
        return ContentLocation(
            kind="page",
            organization=self._content.organization,
            space=self._content.space,
            page=self._pages[page_id],
            internal_location=PlaceInPage(type="anchor", anchor=anchor) if anchor else None,
        )


def orphan_pages(pages: Iterable[RevisionPage], links: Iterable[Link]) -> list[RevisionPage]:
    """The pages that no other page points at, in the order of the tree.

    Args:
        pages: the tree.
        links: all that there are in it.
    """
    pointed: set[str] = set()
    for link in links:
        target = link.target_reference.page if link.target_reference else None
        if target and any(one.page and one.page.id != target.id for one in link.location_references):
            pointed.add(target.id)
    return [page for page in _every(pages) if page.type == "document" and page.id not in pointed]


def _every(pages: Iterable[RevisionPage], *, whole: bool = False) -> Iterator[RevisionPage]:
    """Every page, those above before those below; not `whole`: each as a place is told, without all that is below."""
    for page in pages:
        yield page if whole else page.model_copy(update={"pages": ()})
        yield from _every(page.pages, whole=whole)
