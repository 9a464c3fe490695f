"""The text of a published page as HTML, cached until the site or a page of its space changes.

A page is rendered again after each commit, because its frame may have changed; its text is then taken from this cache.
Rendering a text takes far longer than rendering the frame.
"""

from __future__ import annotations

import re
import sys
from html import unescape
from textwrap import shorten
from typing import NamedTuple

from presscheck.documents.pages.tree import PagePosition
from presscheck.service.content.serializers import body_of
from presscheck.service.db.signing import TIMED
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.feeds import has_updates
from presscheck.service.web.html.page import HtmlPage, render_page_html
from presscheck.service.web.integration_blocks import BlockDrawer
from presscheck.service.web.links import PageLinks
from presscheck.service.web.published_site import PublishedSite

SUMMARY = 160
"""Maximum number of characters of the text that search engines show for a page without a description."""
_HEADING = 300
"""Approximate size of a heading of the outline in memory, in bytes."""
_tags = re.compile("<[^<>]*>")


class PageBody(NamedTuple):
    """The text of a page.

    Attributes:
        html: the rendered text.
        summary: the words of the first paragraph.
        has_updates: whether the text has update blocks, which have a feed.
    """

    html: HtmlPage
    summary: str
    has_updates: bool

    def weight(self) -> int:
        """Estimate the size in memory in bytes."""
        return sys.getsizeof(self.html.html) + _HEADING * (len(self.html.outline) + 5)


def page_body(
    site: PublishedSite,
    site_space: SiteSpaceRow,
    place: PagePosition,
    blocks: BlockDrawer | None,
    language: str,
    *,
    is_new_tab: bool,
) -> PageBody:
    """Return the text of a page.

    The text is not cached if it has blocks of integrations or specifications of the organization, which can change
    while site and pages stay the same.

    Args:
        site: the site.
        site_space: the space of the page.
        place: the page.
        blocks: draws the blocks of integrations; without it, a page with such a block is not cached at all.
        language: the language of labels for screen readers.
        is_new_tab: whether links out of the site open a new tab.
    """
    context = site.context
    drawn = blocks.of_page(context, site.site.id, site_space.space_id) if blocks else None
    links: list[PageLinks] = []

    def render() -> PageBody:
        links.append(PageLinks(site, site_space, place, is_new_tab=is_new_tab, blocks=drawn))
        markdown = body_of(context, place.page)
        html = render_page_html(markdown, links[0].source, links[0], language)
        if links[0].has_blocks and drawn is None:
            context.session.info[TIMED] = True  # the page is not cached
        return PageBody(html, _summary(html.html), has_updates(markdown, site.holds))

    # includes the origin, because app URLs with this origin become links to pages of the site
    name = f"body of {place.page['id']} at {context.origin} {is_new_tab} {language}"
    return site.cached(name, site_space, render, lambda body: body.weight() if links[0].is_lasting else None)


def _summary(html: str) -> str:
    """Return the words of the first paragraph, or an empty string."""
    paragraph = html.partition("<p>")[2].partition("</p>")[0]
    return shorten(unescape(_tags.sub("", paragraph)), SUMMARY, placeholder=" …")
