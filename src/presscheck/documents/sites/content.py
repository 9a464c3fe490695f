"""The content of a site that its checks examine: its structure and settings, and the pages and links of its spaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content import RevisionPage
from presscheck.api.links import Link
from presscheck.api.openapi import OpenAPISpec
from presscheck.api.site_settings import AdaptiveSchema, PublishingAuth, Redirect, ShareLink
from presscheck.api.site_structure import SiteSection, SiteSpace, SiteStructure, StructureItem
from presscheck.api.sites import Site
from presscheck.api.spaces import Space
from presscheck.documents.markdown.links import unnamed_images
from presscheck.documents.markdown.spec_references import SpecReference, find_specs
from presscheck.documents.merge.conflict_blocks import START_SIGNS, unresolved_conflicts
from presscheck.documents.pages.tree import flatten
from presscheck.documents.visitors.conditional_text import ConditionMistake, condition_mistakes


class PageFacts(NamedTuple):
    """The facts that checks need about the text of a page; lines are counted from 1.

    Attributes:
        is_empty: whether the page has no text.
        conflicts: the lines at which unresolved conflicts start.
        unnamed_images: the lines of images without alternative text.
        specs: the OpenAPI specifications named by blocks.
        conditions: the conditions that cannot be parsed.
    """

    is_empty: bool = False
    conflicts: tuple[int, ...] = ()
    unnamed_images: tuple[int, ...] = ()
    specs: tuple[SpecReference, ...] = ()
    conditions: tuple[ConditionMistake, ...] = ()


NOTHING_FOUND = PageFacts()
"""The facts about a page without findings, shared by most pages."""


@dataclass(frozen=True)
class PublishedSpace:
    """A space as it was published.

    Attributes:
        id: the id of the site space.
        space: the id of the space.
        title: the title in the site.
        path: the path within the site, such as `/api`; empty for the root of the site.
        revision: the id of the published revision.
    """

    id: str
    space: str
    title: str
    path: str
    revision: str


@dataclass(frozen=True)
class PublishedItem:
    """A structure item as it was published; `above` is the key of its parent."""

    title: str
    path: str = ""
    above: str = ""
    is_default: bool = False
    condition: str = ""


@dataclass(frozen=True)
class PublishedState:
    """The published state of a site at a point in time.

    Attributes:
        at: the time in seconds since the epoch.
        is_own: whether this machine published the site; False if the site was live already when first seen.
        spaces: the spaces.
        items: the structure items by key, in order.
        visibility: the visibility of the site.
        redirects: the target of each redirect by source path; None if the redirects could not be read.
        customization: the settings by path, such as `styling.theme`; None if they could not be read.
    """

    at: float
    is_own: bool
    spaces: tuple[PublishedSpace, ...] = ()
    items: Mapping[str, PublishedItem] = field(default_factory=dict[str, PublishedItem])
    visibility: str = ""
    redirects: Mapping[str, str] | None = None
    customization: Mapping[str, str] | None = None


@dataclass(frozen=True)
class SpaceContent:
    """A space of a site.

    Attributes:
        item: the space in the structure of the site.
        section: the section that contains the space.
        space: the current space; if it cannot be read, the space in the structure.
        pages: the live page tree.
        facts: the facts about page texts by page id; texts that could not be read are missing.
        links: the links in the live pages.
        outdated: the page id of each open comment whose text is gone; an empty id if the page is gone, too.
        requests: the open change requests.
    """

    item: SiteSpace
    section: SiteSection | None
    space: Space
    pages: tuple[RevisionPage, ...] = ()
    facts: Mapping[str, PageFacts] = field(default_factory=dict[str, PageFacts])
    links: tuple[Link, ...] = ()
    outdated: tuple[str, ...] = ()
    requests: tuple[ChangeRequest, ...] = ()

    @cached_property
    def by_id(self) -> Mapping[str, RevisionPage]:
        """All pages by id, in the order of the tree."""
        return {page.id: page for page in flatten(self.pages)}

    @property
    def title(self) -> str:
        """The title of the space in the site."""
        return self.item.title or self.space.title or self.item.space.title


class Unread(NamedTuple):
    """A part of a site that could not be read completely; `name` is its name in `Check.needs`."""

    name: str
    where: str
    reason: str


class FormerSpace(NamedTuple):
    """A space as it was published, with its pages at that time."""

    space: PublishedSpace
    pages: tuple[RevisionPage, ...]


class IncomingLink(NamedTuple):
    """A link to the site on a page of another site: to a page by id, or to an address."""

    where: str
    space: str
    page: str
    target_page: str = ""
    address: str = ""


@dataclass(frozen=True)
class SiteContent:
    """The data for the checks of a site; parts that could not be read are empty and listed in `unread`."""

    site: Site
    structure: SiteStructure
    spaces: tuple[SpaceContent, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    share_links: tuple[ShareLink, ...] = ()
    authentication: PublishingAuth | None = None
    schema: AdaptiveSchema | None = None
    unread: tuple[Unread, ...] = ()
    published: PublishedState | None = None
    """The last published state recorded by this machine."""
    former: tuple[FormerSpace, ...] = ()
    """The spaces of the published state."""
    specs: tuple[OpenAPISpec, ...] | None = ()
    """The specifications of the organization, if a page uses any; None if they could not be read."""
    incoming: tuple[IncomingLink, ...] = ()
    """Links to the site from other published sites."""


def page_facts(markdown: str) -> PageFacts:
    """Return the facts that checks need about the text of a page."""
    conflicts = unresolved_conflicts(markdown) if "<" in markdown and START_SIGNS in markdown else []
    images, specs = unnamed_images(markdown), find_specs(markdown)
    is_empty = not markdown or markdown.isspace()
    conditions = condition_mistakes(markdown)
    if not (conflicts or images or specs or conditions or is_empty):
        return NOTHING_FOUND
    lines = tuple(block.first + 1 for block in conflicts)
    image_lines = tuple(markdown.count("\n", 0, start) + 1 for start in images)
    return PageFacts(is_empty, lines, image_lines, specs, tuple(conditions))


def spec_addresses(specs: Iterable[OpenAPISpec]) -> dict[str, OpenAPISpec]:
    """Return the specifications by address."""
    return {url: spec for spec in specs for url in (spec.source_url, spec.urls.published) if url}


def key_of(item: StructureItem) -> str:
    """Return the key of an item, which is unique in its site."""
    return f"{item.object} {item.id}"


def space_path(item: SiteSpace, section: SiteSection | None) -> str:
    """Return the path of a space within its site, such as `/guides/api`; empty for the root of the site."""
    parts = (section.path if section and not section.default else "", "" if item.default else item.path)
    return "".join(f"/{part}" for part in parts if part)
