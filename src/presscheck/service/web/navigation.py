"""Navigation of a site: sections, the page tree, previous and next page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import Any, NamedTuple

from presscheck.documents.markdown.emoji import icon_sign
from presscheck.documents.pages.tree import Page, PagePosition, children
from presscheck.documents.visitors.condition_tags import visible_words
from presscheck.service.models.sites import ExternalLinkRow, SiteSpaceRow
from presscheck.service.web.links import resolve_reference, resolve_url
from presscheck.service.web.published_site import PublishedSite, SpaceContent

MOST_COMPARED = 2_000
"""Maximum number of pages of a space that are compared with a path that has no page; this takes about 20 ms."""


class NavigationLink(NamedTuple):
    """A link to a section, a page or an external URL."""

    title: str
    url: str
    is_current: bool = False
    emoji: str = ""


class LinkGroup(NamedTuple):
    """Consecutive links with the same group. `title` is the title of the group; empty for links without a group."""

    title: str
    links: tuple[NavigationLink, ...]


class Node(NamedTuple):
    """A page in the tree. `number` is its index among the visible pages."""

    title: str
    emoji: str
    url: str
    is_group: bool
    number: int
    nodes: tuple[Node, ...]


class PageTree(NamedTuple):
    """The visible pages of a space as a tree, and their ids by `Node.number`."""

    nodes: tuple[Node, ...]
    ids: tuple[str, ...]


class TreeHtml:
    """A rendered page tree that can be marked up for any current page without rendering it again.

    Args:
        html: the tree with two placeholders for each page N: `<!cN>` in the tag of its link, for `aria-current`, and
            `<!oN>` in the tag of its subtree, for `open`.
        ids: the ids of the pages by number.
    """

    def __init__(self, html: str, ids: Sequence[str]) -> None:
        parts = _MARK.split(html)  # text, kind, number, text, …
        self._text = "".join(parts[::3])
        self._current: dict[str, int] = {}
        self._opened: dict[str, int] = {}
        offset = 0
        for text, kind, number in zip(parts[:-1:3], parts[1::3], parts[2::3], strict=True):
            offset += len(text)
            (self._current if kind == "c" else self._opened)[ids[int(number)]] = offset

    def weight(self) -> int:
        """Estimate the size in memory in bytes."""
        return 1000 + 2 * len(self._text) + 300 * (len(self._current) + len(self._opened))

    def at(self, place: PagePosition | None, above: Sequence[PagePosition]) -> str:
        """Return the HTML of the tree with `place` as the current page and its ancestors `above` open."""
        if place is None:
            return self._text
        open_offsets = [self._opened.get(ancestor.page["id"]) for ancestor in (*above, place)]
        marks = [(self._current.get(place.page["id"]), ' aria-current="page"'), *((at, " open") for at in open_offsets)]
        parts: list[str] = []
        start = 0
        for at, text in sorted((at, text) for at, text in marks if at is not None):
            parts += (self._text[start:at], text)
            start = at
        return "".join((*parts, self._text[start:]))


def sections(site: PublishedSite, current: SiteSpaceRow | None) -> list[LinkGroup]:
    """Return the links to sections and the external links of a site, by group; empty if there are fewer than two."""
    links: list[tuple[str, NavigationLink]] = []
    language = site.spaces[current.space_id].language if current else None
    for section in site.sections_and_links():
        if isinstance(section, ExternalLinkRow):
            link = resolve_url(site, section.url)
            title = (section.localized_title or {}).get(language or "") or section.title
            if link:
                links.append(
                    (site.group_title(section), NavigationLink(visible_words(str(title), site.holds), link.url))
                )
            continue
        first = site.first_of(section)
        if first:
            is_current = current is not None and current.section_id == section.id
            links.append((site.group_title(section), NavigationLink(section.title, site.address(first), is_current)))
    if len(links) < 2:
        return []
    grouped = groupby(links, lambda link: link[0])
    return [LinkGroup(title, tuple(link for _, link in group)) for title, group in grouped]


def tree(site: PublishedSite, site_space: SiteSpaceRow) -> PageTree:
    """Return the page tree of a space, without hidden pages."""
    content = site.content(site_space.space_id)
    ids: list[str] = []
    return PageTree(_nodes(site, site_space, content, content.tree, ids), tuple(ids))


def _nodes(
    site: PublishedSite, site_space: SiteSpaceRow, content: SpaceContent, pages: Sequence[Page], ids: list[str]
) -> tuple[Node, ...]:
    """Return the nodes of the shown pages among `pages`, and append their ids and those of their subpages to `ids`."""
    nodes: list[Node] = []
    for page in pages:
        if page.get("hidden") or page["type"] not in _SHOWN:
            continue
        number = len(ids)
        ids.append(page["id"])
        node = Node(
            title=str(page.get("linkTitle") or page["title"]),
            emoji=page_sign(page),
            url=_url(site, site_space, content.places[page["id"]]),
            is_group=page["type"] == "group",
            number=number,
            nodes=_nodes(site, site_space, content, children(page), ids),
        )
        nodes.append(node)
    return tuple(nodes)


def trail(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> list[PagePosition]:
    """Return the ancestors of a page, outermost first."""
    places = site.content(site_space.space_id).places
    ancestors: list[PagePosition] = []
    above = place.above
    while above:
        ancestors.insert(0, places[above["id"]])
        above = ancestors[0].above
    return ancestors


def neighbours(
    site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition
) -> tuple[NavigationLink | None, NavigationLink | None]:
    """Return links to the previous and the next page; None where there is no page."""
    content = site.content(site_space.space_id)
    at = content.order.get(place.page["id"])
    if at is None:
        return None, None

    def link(index: int) -> NavigationLink | None:
        if not 0 <= index < len(content.listed):
            return None
        document = content.listed[index]
        return NavigationLink(str(document.page["title"]), site.address(site_space, document))

    return link(at - 1), link(at + 1)


def similar(site: PublishedSite, path: str) -> list[NavigationLink]:
    """Return links to at most five pages whose last path segment is similar to the last segment of `path`."""
    wanted = path.rstrip("/").rpartition("/")[2].casefold()[:100].removesuffix(".md").removesuffix(".html")
    pages: dict[str, NavigationLink] = {}
    for site_space in site.site_spaces:
        for place in site.content(site_space.space_id).listed[:MOST_COMPARED]:
            name = (place.path or "").rpartition("/")[2].casefold()
            pages.setdefault(name, NavigationLink(str(place.page["title"]), site.address(site_space, place)))
    return [pages[name] for name in get_close_matches(wanted, pages, n=5, cutoff=0.6)]


def emoji_of(code: Any) -> str:
    """Return the emoji for hexadecimal code points such as `1f600`. Other texts are unchanged; other values give ""."""
    if not isinstance(code, str) or not code:
        return ""
    try:
        return "".join(chr(int(part, 16)) for part in code.split("-"))
    except (ValueError, OverflowError):
        return code


def page_sign(page: Page) -> str:
    """Return the emoji of a page, or a character for its icon."""
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
        link = resolve_url(site, page["href"])
    else:
        link = resolve_reference(site, target, site_space.space_id)
    return link.url if link else ""
