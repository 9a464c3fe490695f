"""RSS 2.0 feeds of a site, with only the pages that the reader may see.

`rss.xml` has the most recently changed pages. `PAGE/rss.xml` has the update blocks of a page, as on GitBook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from typing import NamedTuple

from presscheck.documents.markdown.code_ranges import without_code
from presscheck.documents.markdown.page_sections import page_sections, section_anchors
from presscheck.documents.pages.tree import PagePosition
from presscheck.documents.visitors.condition_tags import Holds
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.published_site import PublishedSite

FEED = "rss.xml"
MEDIA_TYPE = "application/rss+xml"
MOST_ITEMS = 50
LONGEST = 2_000
"""Maximum number of characters of the text of an update."""
_UPDATE = re.compile(r"\{%-?[ \t]*(?:update\b(?P<attributes>[^%\n]*)|(?P<end>endupdate)[ \t]*-?)%\}")
_DATE = re.compile(r"\bdate=[\"']([^\"'\n]{1,40})[\"']").search
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class FeedItem(NamedTuple):
    """An item of a feed. `moment` is a time of the API or a date; empty if unknown."""

    title: str
    url: str
    identity: str
    moment: str
    text: str


def site_feed(site: PublishedSite, pages: Iterable[tuple[SiteSpaceRow, PagePosition]]) -> str:
    """Return the feed of a site: the most recently changed pages, newest first."""
    changed = [page for page in pages if page[1].page.get("updatedAt")]
    changed.sort(key=lambda page: str(page[1].page["updatedAt"]), reverse=True)
    items: list[FeedItem] = []
    for site_space, place in changed[:MOST_ITEMS]:
        url, moment = site.absolute(site.address(site_space, place)), str(place.page["updatedAt"])
        description = str(place.page.get("description") or "")
        items.append(FeedItem(str(place.page["title"]), url, f"{url} {moment}", moment, description))
    home = site.absolute(site.base)
    return _feed(site.title, home, home + FEED, items)


def has_updates(markdown: str, holds: Holds) -> bool:
    """Return whether a text has visible update blocks. Code that looks like an update block counts, too."""
    return bool(_UPDATE.search(markdown) and _UPDATE.search(visible_text(markdown, holds)))


def page_feed(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition, markdown: str) -> str | None:
    """Return the feed of a page: its update blocks with a heading, in the order of the page; None if there are none."""
    url = site.absolute(site.address(site_space, place))
    items = [*_updates(url, markdown)][:MOST_ITEMS]
    address = site.absolute(feed_address(site, site_space, place))
    return _feed(f"{place.page['title']} | {site.title}", url, address, items) if items else None


def feed_address(site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition) -> str:
    """Return the URL of the feed of a page."""
    return f"{site.own_address(site_space, place)}/{FEED}"


def _updates(url: str, markdown: str) -> Iterator[FeedItem]:
    """Yield an item for each update block of a page. Blocks without a heading are left out: they have no anchor."""
    anchors: list[str] = []
    sections_before, end, opening = 1, 0, None
    for tag in _UPDATE.finditer(without_code(markdown)):
        sections = page_sections(markdown[end : tag.start()])
        if opening is not None and tag["end"] and len(sections) > 1:
            anchors = anchors or section_anchors(page_sections(markdown))
            heading, *others = sections[1:]
            text = "\n".join((heading.text, *(f"{section.title}\n{section.text}" for section in others)))[:LONGEST]
            date = _DATE(opening)
            anchor = anchors[sections_before]
            yield FeedItem(heading.title, f"{url}#{anchor}", f"{url}#{anchor}", date[1] if date else "", text)
        sections_before += len(sections) - 1
        opening, end = tag["attributes"], tag.end()


def _feed(title: str, url: str, address: str, items: Iterable[FeedItem]) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>',
        f"<title>{_xml(title)}</title><link>{_xml(url)}</link><description>{_xml(title)}</description>",
        f'<atom:link href="{_xml(address)}" rel="self" type="{MEDIA_TYPE}"/>',
    ]
    for item in items:
        lines.append(f"<item><title>{_xml(item.title)}</title><link>{_xml(item.url)}</link>")
        lines.append(f'<guid isPermaLink="false">{_xml(item.identity)}</guid>')
        published = _time(item.moment)
        lines.append(f"<pubDate>{published}</pubDate>" if published else "")
        lines.append(f"<description>{_xml(item.text)}</description></item>")
    return "\n".join((*filter(None, lines), "</channel></rss>\n"))


def _time(moment: str) -> str:
    """Convert a time to the format of RSS. Return an empty string if `moment` is not a time."""
    try:
        parsed = datetime.fromisoformat(moment)
        return format_datetime(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
    except ValueError:
        return ""


def _xml(words: str) -> str:
    """Escape a text, without the characters that XML does not allow."""
    return escape(_NOT_IN_XML.sub("", words))
