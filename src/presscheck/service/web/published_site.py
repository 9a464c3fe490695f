"""A published site for one reader: the visible sections, spaces and pages, with their URLs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.openapi.generated_pages import generated_slugs, with_generated_pages
from presscheck.documents.openapi.specification import Specification
from presscheck.documents.pages.tree import Page, PagePosition, Tree, children, walk
from presscheck.documents.visitors.condition_tags import visible_words
from presscheck.documents.visitors.conditions import holds
from presscheck.documents.visitors.visible_pages import WORDS, visible_pages
from presscheck.service.content.revision_content import RevisionContent, cached, revision_content
from presscheck.service.content.revisions import FORMER_PATHS
from presscheck.service.content.serializers import Content, LinkTargets
from presscheck.service.content.specifications import newest_contents, stored_specification
from presscheck.service.http.operations import ApiError, Context
from presscheck.service.models.content import ChangeRequestRow
from presscheck.service.models.sites import ExternalLinkRow, SectionRow, SiteSpaceRow
from presscheck.service.review.change_requests import branch_of
from presscheck.service.sites.customization import combined
from presscheck.service.sites.urls import space_path
from presscheck.service.web.access import OPEN, AccessDenied, Reader
from presscheck.service.web.site_record import SiteRecord, digest_of

Value = TypeVar("Value")

_CHANGES = re.compile(r"(?:^|/)~/changes/(\d{1,9})(?:/|$)").search
"""Matches the part of a path that selects a change request. It follows the path of the space."""


class PreviewedRequest(NamedTuple):
    """A change request whose pages replace the live pages of one space in a preview."""

    site_space: SiteSpaceRow
    request: ChangeRequestRow

    @property
    def path(self) -> str:
        """The segments after the path of the space in URLs of the change request."""
        return f"~/changes/{self.request.number}/"


@dataclass(frozen=True)
class SpaceContent:
    """The content of a space without the pages that the reader may not see. Threads share it, so it must not change."""

    revision: RevisionContent
    tree: Tree
    specifications: tuple[str, ...] = ()
    """Ids of the stored specifications from which pages are generated."""

    @cached_property
    def places(self) -> dict[str, PagePosition]:
        """Pages with their positions, by id."""
        return {place.page["id"]: place for place in reversed([*walk(self.tree)])}

    @cached_property
    def paths(self) -> dict[str, PagePosition]:
        """Pages with their positions, by path. If several pages have the same path, the first page counts."""
        return {place.path: place for place in reversed([*walk(self.tree)]) if place.path}

    @cached_property
    def former_paths(self) -> dict[str, tuple[PagePosition, str]]:
        """The target of each former path: the page and an anchor in it."""
        return {
            path: (place, anchor)
            for place in walk(self.tree)
            for path, anchor in place.page.get(FORMER_PATHS, {}).items()
        }

    @cached_property
    def listed(self) -> list[PagePosition]:
        """The visible document pages in reading order."""
        below: set[str] = set()
        documents: list[PagePosition] = []
        for place in walk(self.tree):
            if place.page.get("hidden") or (place.above and place.above["id"] in below):
                below.add(place.page["id"])
            elif place.page["type"] == "document":
                documents.append(place)
        return documents

    @cached_property
    def first_id(self) -> str:
        """The id of the first page, which has the URL of the space; empty if there is none."""
        return self.listed[0].page["id"] if self.listed else ""

    @cached_property
    def order(self) -> dict[str, int]:
        """The index of each listed page, by page id."""
        return {place.page["id"]: index for index, place in enumerate(self.listed)}

    def at(self, path: str) -> PagePosition | None:
        """Return the document at a path, or with an id in place of the path, or None.

        The path of a group leads to its first document, an empty path to the first document of the space.
        """
        if not path.strip("/"):
            return next(iter(self.listed), None)
        place = self.paths.get(path.strip("/")) or self.places.get(path.strip("/"))
        if place is None or place.page["type"] == "document":
            return place
        inside = [
            document
            for document in self.listed
            if document.path and place.path and document.path.startswith(f"{place.path}/")
        ]
        return next(iter(inside), None)


class PublishedSite:
    """The structure of a site for one reader; conditions apply if the site has adaptive content.

    Args:
        context: the transaction.
        reader: the visitor.
        record: the rows of the site.

    Attributes:
        base: prefix of links within the site. It has no host, so that a page is the same for all hosts of the site.
        previewed: the change request that a preview shows, if its URL selects one.

    Raises:
        AccessDenied: 404, the selected change request does not exist.
    """

    def __init__(self, context: Context, reader: Reader, record: SiteRecord) -> None:
        self.context, self.reader, self.site = context, reader, reader.site
        self.base = urlsplit(reader.base).path
        self.spaces, self.record = record.spaces, record
        closed = {section.id for section in record.sections if not self.holds(section.condition)}
        self.site_spaces = [
            site_space
            for site_space in record.site_spaces
            if site_space.space_id in self.spaces
            and self.holds(site_space.condition)
            and site_space.section_id not in closed
        ]
        self._known: dict[str, SpaceContent] = {}
        self._visitor = (
            (digest_of(json.dumps(reader.claims, sort_keys=True)).hex(),) if self.site.adaptive_content else ()
        )
        self.previewed = self._previewed()

    def cached(
        self, name: str, site_space: SiteSpaceRow, make: Callable[[], Value], weight: Callable[[Value], int | None]
    ) -> Value:
        """Return a cached value that depends only on the site and the pages of one of its spaces.

        In a preview, the value is not cached.

        Args:
            name: the kind of value.
            site_space: the space.
            make: computes the value.
            weight: estimates its size in memory in bytes. Returns None if the value must not be cached.
        """
        if self.reader.is_previewing:
            return make()
        specifications = self.content(site_space.space_id).specifications
        key = (name, self.record.digest.hex(), site_space.id, self.reader.base, *specifications, *self._visitor)
        return cached(self.context, key, make, weight)

    def holds(self, condition: str | None) -> bool:
        """Return whether the reader meets a condition."""
        return not self.site.adaptive_content or holds(condition, self.reader.claims)

    def sections(self) -> list[SectionRow]:
        """Return the sections with visible content, in navigation order."""
        return [row for row in self.record.in_order if isinstance(row, SectionRow) and self.within(row)]

    def sections_and_links(self) -> list[SectionRow | ExternalLinkRow]:
        """Return the sections with visible content and the visible external links, in navigation order."""
        return [
            row
            for row in self.record.in_order
            if (self.within(row) if isinstance(row, SectionRow) else self.holds(row.condition))
        ]

    def within(self, section: SectionRow | None) -> list[SiteSpaceRow]:
        """Return the site spaces of a section, or of the top level."""
        section_id = section.id if section else None
        return [site_space for site_space in self.site_spaces if site_space.section_id == section_id]

    def section_of(self, site_space: SiteSpaceRow) -> SectionRow | None:
        """Return the section of a site space, or None."""
        return next((section for section in self.record.sections if section.id == site_space.section_id), None)

    def group_title(self, item: SectionRow | ExternalLinkRow) -> str:
        """Return the title of the group of a section or of a link, or an empty string."""
        return next((group.title for group in self.record.groups if group.id == item.group_id), "")

    def first_of(self, section: SectionRow | None) -> SiteSpaceRow | None:
        """Return the default site space of a section or of the site, or else its first visible site space.

        Return None if there is none.
        """
        inside = self.within(section)
        first = section.default_site_space_id if section else self.site.default_site_space_id
        return next((item for item in inside if item.id == first), next(iter(inside), None))

    def content(self, space_id: str) -> SpaceContent:
        """Return the content of a space: the live pages, or the pages of the previewed change request."""
        if space_id not in self._known:
            previewed = self.previewed and self.previewed.request
            revision_id = self.spaces[space_id].revision_id
            if previewed and previewed.space_id == space_id:
                revision_id = previewed.revision
            revision = revision_content(self.context, revision_id)
            if revision is None:
                raise LookupError(f"space {space_id} has no revision {revision_id}")
            specifications = self._specifications(revision)
            stored = tuple(content for content in specifications.values())
            self._known[space_id] = cached(
                self.context,
                ("published space", revision.id, *stored, *self._visitor),
                lambda: SpaceContent(revision, self._visible(revision.tree, specifications), stored),
                lambda _: revision.weight() // 2,
            )
        return self._known[space_id]

    def targets(self, content: SpaceContent) -> LinkTargets:
        """Return the possible link targets in a space."""
        revision = content.revision
        return self.cached_for_content(
            ("link targets",),
            content,
            lambda: LinkTargets(
                self.context,
                Content(revision.space_id, content.tree, revision.files, revision.reusable_contents),
            ),
            lambda _: revision.weight() // 4,
        )

    def cached_for_content(
        self, key: tuple[str, ...], content: SpaceContent, make: Callable[[], Value], weight: Callable[[Value], int]
    ) -> Value:
        """Return a cached value that depends only on `key` and the content of a space for this reader."""
        whole = (*key, content.revision.id, *content.specifications, *self._visitor)
        return cached(self.context, whole, make, weight)

    def absolute(self, url: str) -> str:
        """Return a URL with its host, for search engines and redirects."""
        return self.reader.base + url.removeprefix(self.base) if url.startswith(self.base) else url

    @property
    def home(self) -> str:
        """The link of the site's title: the first page of the site, or of the previewed change request."""
        return self.address(self.previewed.site_space) if self.previewed else self.base

    @property
    def path(self) -> str:
        """The requested path within the site, or within the previewed change request."""
        path = self.reader.path
        return path.partition(self.previewed.path.rstrip("/"))[2].lstrip("/") if self.previewed else path

    @cached_property
    def looks(self) -> dict[str, Any]:
        """The customization of the site, or of the space of the requested page if the space has its own."""
        is_custom = any(site_space.looks for site_space in self.site_spaces)
        page = self.find(self.path) if is_custom else None
        return combined(self.record.looks, page[0].looks) if page else self.record.looks

    @property
    def title(self) -> str:
        """The title of the site, as customized."""
        title = self.looks.get("title")
        return visible_words(title if isinstance(title, str) and title else self.site.title, self.holds)

    @property
    def is_listed(self) -> bool:
        """Whether search engines may list the site."""
        return self.site.visibility == "public" and not self.reader.is_previewing

    @property
    def cache_control(self) -> str:
        """The `Cache-Control` of pages and files. Shared caches keep only what everybody may read."""
        is_open = self.site.visibility in OPEN and not self.reader.is_previewing
        return "no-cache" if is_open else "private, no-cache"

    def space_title(self, site_space: SiteSpaceRow) -> str:
        """Return the title of a space for readers.

        If the site has several sections, this is the title of the section, with the title of the space if the section
        has several spaces.
        """
        section, title = self.section_of(site_space), self.spaces[site_space.space_id].title
        if section is not None and len(self.sections()) > 1:
            title = f"{section.title} › {title}" if len(self.within(section)) > 1 else section.title
        return visible_words(title, self.holds)

    def address(self, site_space: SiteSpaceRow, place: PagePosition | None = None, anchor: str = "") -> str:
        """Return the URL of a site space, or of a page in it, for this reader.

        The first page has the URL of the space.
        """
        if place is not None and place.page["id"] == self.content(site_space.space_id).first_id:
            place = None
        return self.own_address(site_space, place, anchor)

    def own_address(self, site_space: SiteSpaceRow, place: PagePosition | None, anchor: str = "") -> str:
        """Return the URL of a site space, or of a page in it.

        Unlike `address`, the URL of the first page contains the path of the page.
        """
        inside = space_path(self.site, self.section_of(site_space), site_space)
        path = (place.path or place.page["id"]) if place else ""
        if self.previewed and self.previewed.site_space.id == site_space.id:
            path = self.previewed.path + path
        return self.base + quote(inside + path) + (f"#{encode_fragment(anchor)}" if anchor else "")

    def page_address(self, space_id: str, page_id: str, anchor: str = "") -> str | None:
        """Return the URL of a page in a visible space, or None if the page is not visible."""
        site_space = next((candidate for candidate in self.site_spaces if candidate.space_id == space_id), None)
        place = self.content(space_id).places.get(page_id) if site_space else None
        return self.address(site_space, place, anchor) if site_space and place else None

    def find(self, path: str) -> tuple[SiteSpaceRow, PagePosition] | None:
        """Return the page at a path (see `path`) and its site space, or None.

        Sections and spaces take precedence over pages.
        """
        for site_space, rest in self._possible_spaces(path):
            place = self.content(site_space.space_id).at(rest)
            if place:
                return site_space, place
        return None

    def located(self, path: str) -> tuple[SiteSpaceRow, str] | None:
        """Return the site space for a path (see `path`) and the path within it, or None.

        If there are several possible site spaces, the first one with a page at the path is preferred.
        """
        candidates = [*self._possible_spaces(path)]
        with_page = (candidate for candidate in candidates if self.content(candidate[0].space_id).at(candidate[1]))
        return next(with_page, next(iter(candidates), None))

    def moved(self, path: str) -> str | None:
        """Return the present URL of a page with this former path, or None.

        Former paths come from the redirects of imported repositories.
        """
        for site_space, rest in self._possible_spaces(path):
            place, anchor = self.content(site_space.space_id).former_paths.get(rest.strip("/"), (None, ""))
            if place:
                return self.address(site_space, place, anchor)
        return None

    def _previewed(self) -> PreviewedRequest | None:
        match = _CHANGES(self.reader.path) if self.reader.is_previewing else None
        if match is None:
            return None
        space_path_part = self.reader.path[: match.start()].strip("/")
        site_space = next((candidate for candidate, rest in self._candidates(space_path_part) if not rest), None)
        if site_space is None:
            raise AccessDenied(404)
        try:
            request = branch_of(self.context, self.spaces[site_space.space_id], match[1])
        except ApiError:
            raise AccessDenied(404) from None
        return PreviewedRequest(site_space, request)

    def _possible_spaces(self, path: str) -> Iterator[tuple[SiteSpaceRow, str]]:
        """Yield the spaces that may have the page at a path (see `path`), each with the path within the space."""
        return iter(((self.previewed.site_space, path),)) if self.previewed else self._candidates(path.strip("/"))

    def _candidates(self, path: str) -> Iterator[tuple[SiteSpaceRow, str]]:
        sections: list[SectionRow | None] = [*self.sections()]
        first = next((section for section in sections if section and section.id == self.site.default_section_id), None)
        if not sections:
            yield from self._in_section(None, path)
            return
        name, _, rest = path.partition("/")
        section_by_name = next((section for section in sections if section and section.path == name), None)
        if section_by_name and section_by_name is not first:
            yield from self._in_section(section_by_name, rest)
        yield from self._in_section(first or sections[0], path)
        if section_by_name and section_by_name is first:
            yield from self._in_section(section_by_name, rest)

    def _in_section(self, section: SectionRow | None, path: str) -> Iterator[tuple[SiteSpaceRow, str]]:
        first = self.first_of(section)
        name, _, rest = path.partition("/")
        space_by_name = next((candidate for candidate in self.within(section) if candidate.path == name), None)
        if space_by_name and space_by_name is not first:
            yield space_by_name, rest
        if first:
            yield first, path
        if first and space_by_name is first:
            yield first, rest

    def _specifications(self, revision: RevisionContent) -> dict[str, str]:
        """Return the ids of the stored specifications from which pages of a revision are generated, by slug."""
        key = ("specifications of pages", revision.id)
        slugs = cached(self.context, key, lambda: generated_slugs(revision.tree), lambda slugs: 200 + 100 * len(slugs))
        return newest_contents(self.context, self.site.organization_id, slugs)

    def _visible(self, tree: Tree, specifications: dict[str, str]) -> Tree:
        def specification(slug: str) -> Specification | None:
            content = specifications.get(slug)
            return stored_specification(self.context, content) if content else None

        tree = with_generated_pages(tree, specification) if specifications else tree
        return _tree_with_emoji(visible_pages(tree, self.holds))


def _tree_with_emoji(tree: Sequence[Page]) -> Tree:
    return [
        page | _texts_with_emoji(page) | ({"pages": _tree_with_emoji(children(page))} if children(page) else {})
        for page in tree
    ]


def _texts_with_emoji(page: Page) -> dict[str, str]:
    texts = ((name, page.get(name)) for name in WORDS)
    return {name: with_emoji(text) for name, text in texts if isinstance(text, str) and ":" in text}
