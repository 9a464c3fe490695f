"""Navigation of a site: sections, variants of a section, the page tree, previous and next page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from presscheck.documents.pages.tree import Page, PagePosition, children, walk
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.links import outside, reference
from presscheck.service.web.published_site import PublishedSite


class Way(NamedTuple):
    """A link to a section or a space."""

    title: str
    url: str
    is_current: bool = False
    emoji: str = ""


class Ways(NamedTuple):
    """Adjacent sections, with the title of their group if they are in one."""

    title: str
    ways: tuple[Way, ...]


class Node(NamedTuple):
    """A page in the tree; `is_open` if it contains the current page."""

    title: str
    emoji: str
    url: str
    is_group: bool
    is_current: bool
    is_open: bool
    nodes: tuple[Node, ...]


def sections(site: PublishedSite, current: SiteSpaceRow | None) -> list[Ways]:
    """The sections of a site by group; empty if there is only one."""
    links: list[tuple[str, Way]] = []
    for section in site.sections():
        first = site.first_of(section)
        if first:
            is_current = current is not None and current.section_id == section.id
            links.append((site.group_title(section), Way(section.title, site.address(first), is_current)))
    if len(links) < 2:
        return []
    grouped = groupby(links, lambda link: link[0])
    return [Ways(title, tuple(way for _, way in ways)) for title, ways in grouped]


def spaces(site: PublishedSite, current: SiteSpaceRow | None) -> list[Way]:
    """The spaces of a section; empty if there is only one."""
    beside = site.within(site.section_of(current)) if current else []
    links: list[Way] = []
    for sibling in beside:
        space = site.spaces[sibling.space_id]
        links.append(Way(space.title, site.address(sibling), sibling is current, emoji_of(space.emoji)))
    return links if len(links) > 1 else []


def tree(site: PublishedSite, site_space: SiteSpaceRow, current: PagePosition | None) -> tuple[Node, ...]:
    """The pages of a space, without hidden ones."""
    places = {place.page["id"]: place for place in walk(site.content(site_space.space_id).tree)}
    above = {ancestor.page["id"] for ancestor in trail(site, site_space, current)} if current else set[str]()

    def node(page: Page) -> Node:
        inner = level(children(page))
        is_current = current is not None and page["id"] == current.page["id"]
        return Node(
            title=str(page.get("linkTitle") or page["title"]),
            emoji=emoji_of(page.get("emoji")),
            url=_url(site, site_space, places[page["id"]]),
            is_group=page["type"] == "group",
            is_current=is_current,
            is_open=is_current or page["id"] in above,
            nodes=inner,
        )

    def level(pages: Sequence[Page]) -> tuple[Node, ...]:
        return tuple(node(page) for page in pages if not page.get("hidden") and page["type"] in _SHOWN)

    return level(site.content(site_space.space_id).tree)


def trail(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> list[PagePosition]:
    """The ancestors of a page, outermost first."""
    places = {place.page["id"]: place for place in walk(site.content(site_space.space_id).tree)}
    ancestors: list[PagePosition] = []
    above = place.above
    while above:
        ancestors.insert(0, places[above["id"]])
        above = ancestors[0].above
    return ancestors


def neighbours(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> tuple[Way | None, Way | None]:
    """The previous and the next page."""
    listed = site.content(site_space.space_id).listed()
    at = next((n for n, document in enumerate(listed) if document.page["id"] == place.page["id"]), None)
    if at is None:
        return None, None
    ways = [Way(str(document.page["title"]), site.address(site_space, document)) for document in listed]
    return (ways[at - 1] if at else None), (ways[at + 1] if at + 1 < len(ways) else None)


def emoji_of(code: Any) -> str:
    """The emoji character; the API gives it as hexadecimal code points or as the character itself."""
    if not isinstance(code, str) or not code:
        return ""
    try:
        return "".join(chr(int(part, 16)) for part in code.split("-"))
    except (ValueError, OverflowError):
        return code


_SHOWN = frozenset(("document", "group", "link"))


def _url(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> str:
    page = place.page
    if page["type"] == "document":
        return site.address(site_space, place)
    if page["type"] == "group":
        return ""
    target = page.get("target")
    if not target and isinstance(page.get("href"), str):
        found = outside(site, page["href"])
    else:
        found = reference(site, target, site_space.space_id)
    return found.url if found else ""
