"""Reports the links of a revision: which pages link where, and which links are broken.

A link to a page is also broken if the page lacks the anchor; if the text of the page is unknown, it is not checked. The
local service computes the report from its database, the app from its cache, with the same results.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from presscheck.api.content import ReusableContent, RevisionFile, RevisionPage
from presscheck.api.links import ContentLocation, Link, PlaceInPage
from presscheck.api.organizations import Organization
from presscheck.api.spaces import Space
from presscheck.documents.markdown.anchors import PageAnchors, decode_fragment, page_anchors
from presscheck.documents.markdown.links import Destination, LinkResolver, source_path
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import flatten

BY_ID = "/~/"
"""Prefix of addresses that contain the id of their target."""
_page_by_id = re.compile(r"/~(?:/spaces/([\w-]+))?/pages/([\w-]+)(?:#(.*))?").fullmatch
_file_by_id = re.compile(r"/~/files/([\w-]+)").fullmatch
_content_by_id = re.compile(r"(?:/~/spaces/([\w-]+))?/~/reusable/([\w-]+)").fullmatch


class LinkTarget(NamedTuple):
    """A link target: `kind` as in `links.Destination`, or `elsewhere`; `name` is the id, or the address as written."""

    kind: str
    name: str
    anchor: str = ""


class LinkUsage(NamedTuple):
    """A link target, its status, and the ids of the pages that link to it, in the order of the page tree."""

    target: LinkTarget
    status: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class RevisionContent:
    """The content of a revision that can contain links or be a link target.

    Attributes:
        links: link targets as written in the text, by page id.
        anchors: anchors by page id, of pages that are linked with an anchor and whose text is known.
        space: the space of the revision, or None if unknown.
        app: the prefix of URLs of the service's app.
    """

    pages: Sequence[RevisionPage]
    links: Mapping[str, Iterable[str]]
    anchors: Mapping[str, PageAnchors] = field(default_factory=dict[str, PageAnchors])
    files: Sequence[RevisionFile] = ()
    reusable: Sequence[ReusableContent] = ()
    organization: Organization | None = None
    space: Space | None = None
    app: str = ""


class LinkReport:
    """The links of a revision."""

    def __init__(self, content: RevisionContent) -> None:
        self._content = content
        self._pages = {page.id: _without_subpages(page) for page in flatten(content.pages)}
        self._files = {file.id: file for file in content.files}
        self._reusable = {snippet.id: snippet for snippet in content.reusable}
        self._places = LinkResolver.of(content.pages, content.files, content.reusable)
        self._pages_of = self._read()
        """The ids of the linking pages by link target; the targets are in the order of their first links."""

    def _read(self) -> dict[LinkTarget, list[str]]:
        content, places = self._content, self._places
        pages_by_target: dict[LinkTarget, dict[str, None]] = {}
        for page in flatten(content.pages):
            source = source_path(page) if page.id in content.links else ""
            for target in content.links.get(page.id, ()):
                pages_by_target.setdefault(self._target(places.resolve(target, source), target), {})[page.id] = None
        return {target: [*pages] for target, pages in pages_by_target.items()}

    @cached_property
    def usages(self) -> list[LinkUsage]:
        """All link targets with the pages that link to them, in the order of the links."""
        return [LinkUsage(target, self._status(target), tuple(pages)) for target, pages in self._pages_of.items()]

    @property
    def anchored(self) -> set[str]:
        """The ids of the pages that are linked with an anchor."""
        return {target.name for target in self._pages_of if target.kind == "page" and target.anchor}

    def _target(self, destination: Destination, written: str) -> LinkTarget:
        is_by_id = destination.kind == "broken" and written.startswith(BY_ID)
        target = self._target_by_id(written) if is_by_id else None
        return target or LinkTarget(destination.kind, destination.id or destination.url or written, destination.anchor)

    def _target_by_id(self, address: str) -> LinkTarget | None:
        """Return the target of an address with an id, or None if the space does not contain the target.

        Targets in other spaces are not checked.
        """
        space_id = self._content.space.id if self._content.space else ""
        if page := _page_by_id(address):
            if page[1] not in (None, space_id):
                return LinkTarget("elsewhere", address)
            return LinkTarget("page", page[2], decode_fragment(page[3] or "")) if page[2] in self._pages else None
        if file := _file_by_id(address):
            return LinkTarget("file", file[1]) if file[1] in self._files else None
        if content := _content_by_id(address):
            if content[1] not in (None, space_id):
                return LinkTarget("elsewhere", address)
            return LinkTarget("snippet", content[2]) if content[2] in self._reusable else None
        return LinkTarget("elsewhere", address)

    def _status(self, target: LinkTarget) -> str:
        if target.kind == "broken" or (target.kind == "page" and target.anchor and self._lacks_anchor(target)):
            return "broken"
        is_in_app = bool(self._content.app) and target.name.startswith(self._content.app)
        return "in-app" if is_in_app else "ok"

    def _lacks_anchor(self, target: LinkTarget) -> bool:
        """Return whether the page of a target lacks the anchor; False if the anchors of the page are unknown."""
        anchors = self._content.anchors.get(target.name)
        return bool(anchors and anchors.is_complete and target.anchor not in anchors.lines)

    def of_page(self, page_id: str) -> list[LinkUsage]:
        """Return the links of one page."""
        targets = [target for target, pages in self._pages_of.items() if page_id in pages]
        return [LinkUsage(target, self._status(target), (page_id,)) for target in targets]

    def to(self, kind: str, identity: str) -> list[ContentLocation]:
        """Return the pages that link to a page or a file, without duplicates."""
        linking = [page for target, pages in self._pages_of.items() if target[:2] == (kind, identity) for page in pages]
        return [self._page(page) for page in dict.fromkeys(linking)]

    def as_links(self, usages: Iterable[LinkUsage]) -> list[Link]:
        """Convert usages to API links."""
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
        """Return whether the revision has a page."""
        return page_id in self._pages

    def has_file(self, file_id: str) -> bool:
        """Return whether the revision has a file."""
        return file_id in self._files

    def _location(self, target: LinkTarget) -> ContentLocation:
        if target.kind == "page":
            return self._page(target.name, target.anchor)
        context: dict[str, Any] = {"organization": self._content.organization, "space": self._content.space}
        if target.kind == "file":
            return ContentLocation(kind="file", file=self._files[target.name], **context)
        if target.kind == "snippet":
            return ContentLocation(kind="reusable-content", reusable_content=self._reusable[target.name], **context)
        return ContentLocation(kind="url", url=target.name)

    def _page(self, page_id: str, anchor: str = "") -> ContentLocation:
        return ContentLocation(
            kind="page",
            organization=self._content.organization,
            space=self._content.space,
            page=self._pages[page_id],
            internal_location=PlaceInPage(type="anchor", anchor=anchor) if anchor else None,
        )


def linked_anchors(text: str) -> PageAnchors:
    """Return the anchors of a page. They are incomplete if the page includes reusable content or is too large."""
    return PageAnchors(is_complete=False) if size_problem(text) else page_anchors(text)


def orphan_pages(pages: Iterable[RevisionPage], links: Iterable[Link]) -> list[RevisionPage]:
    """Return the pages that no other page links to, in the order of the tree.

    Args:
        pages: the tree.
        links: all links of the revision.
    """
    linked: set[str] = set()
    for link in links:
        target = link.target_reference.page if link.target_reference else None
        if target and any(location.page and location.page.id != target.id for location in link.location_references):
            linked.add(target.id)
    return [_without_subpages(page) for page in flatten(pages) if page.type == "document" and page.id not in linked]


def _without_subpages(page: RevisionPage) -> RevisionPage:
    return page.model_copy(update={"pages": ()})
