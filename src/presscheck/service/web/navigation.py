"""Navigation of a site: sections, variants of a section, the page tree, previous and next page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from presscheck.documents.markdown.emoji import icon_sign
from presscheck.documents.pages.tree import Page, PagePosition, children
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
    """A page in the tree; `number` counts the pages that are shown."""

    title: str
    emoji: str
    url: str
    is_group: bool
    number: int
    nodes: tuple[Node, ...]


class PageTree(NamedTuple):
    """The pages of a space, and the ids of the pages that are shown, by number."""

    nodes: tuple[Node, ...]
    ids: tuple[str, ...]


class TreeHtml:
    """The page tree of a space as HTML, in which any of its pages can be the current one.

    Args:
        html: the tree with two marks for each page: `<!cN>` where its link says that it is current, and `<!oN>` where
            the pages below it are opened.
        ids: the ids of the pages by number.
    """

    def __init__(self, html: str, ids: Sequence[str]) -> None:
        parts = _MARK.split(html)  # text, kind, number, text, …
        self._text = "".join(parts[::3])
        self._current: dict[str, int] = {}
        self._opened: dict[str, int] = {}
        at = 0
        for text, kind, number in zip(parts[:-1:3], parts[1::3], parts[2::3], strict=True):
            at += len(text)
            (self._current if kind == "c" else self._opened)[ids[int(number)]] = at

    def weight(self) -> int:
        """About how many bytes it takes in memory."""
        return 1000 + 2 * len(self._text) + 300 * (len(self._current) + len(self._opened))

    def at(self, place: PagePosition | None, above: Sequence[PagePosition]) -> str:
        """The HTML for a page whose ancestors are these."""
        if place is None:
            return self._text
        opened = [self._opened.get(one.page["id"]) for one in (*above, place)]
        marks = [(self._current.get(place.page["id"]), ' aria-current="page"'), *((at, " open") for at in opened)]
        parts: list[str] = []
        begin = 0
        for at, text in sorted((at, text) for at, text in marks if at is not None):
            parts += (self._text[begin:at], text)
            begin = at
        return "".join((*parts, self._text[begin:]))


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


def tree(site: PublishedSite, site_space: SiteSpaceRow) -> PageTree:
    """The pages of a space, without hidden ones."""
    content = site.content(site_space.space_id)
    ids: list[str] = []

    def node(page: Page) -> Node:
        number = len(ids)
        ids.append(page["id"])
        return Node(
            title=str(page.get("linkTitle") or page["title"]),
            emoji=page_sign(page),
            url=_url(site, site_space, content.places[page["id"]]),
            is_group=page["type"] == "group",
            number=number,
            nodes=level(children(page)),
        )

    def level(pages: Sequence[Page]) -> tuple[Node, ...]:
        return tuple(node(page) for page in pages if not page.get("hidden") and page["type"] in _SHOWN)

    return PageTree(level(content.tree), tuple(ids))


def trail(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> list[PagePosition]:
    """The ancestors of a page, outermost first."""
    places = site.content(site_space.space_id).places
    ancestors: list[PagePosition] = []
    above = place.above
    while above:
        ancestors.insert(0, places[above["id"]])
        above = ancestors[0].above
    return ancestors


def neighbours(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> tuple[Way | None, Way | None]:
    """The previous and the next page."""
    content = site.content(site_space.space_id)
    at = content.order.get(place.page["id"])
    if at is None:
        return None, None

    def way(index: int) -> Way | None:
        if not 0 <= index < len(content.listed):
            return None
        document = content.listed[index]
        return Way(str(document.page["title"]), site.address(site_space, document))

    return way(at - 1), way(at + 1)


def emoji_of(code: Any) -> str:
    """The emoji character; the API gives it as hexadecimal code points or as the character itself."""
    if not isinstance(code, str) or not code:
        return ""
    try:
        return "".join(chr(int(part, 16)) for part in code.split("-"))
    except (ValueError, OverflowError):
        return code


def page_sign(page: Page) -> str:
    """The emoji of a page, or the character for its icon."""
    return emoji_of(page.get("emoji")) or icon_sign(str(page.get("icon") or ""))


_MARK = re.compile(r"<!([co])(\d+)>")
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
