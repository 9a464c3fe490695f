"""Search in a site: visible pages that contain all words of a query, with the matching sections."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.api.search_results import SearchSectionResult
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.pages.tree import PagePosition
from presscheck.documents.visitors.condition_tags import has_conditions
from presscheck.documents.visitors.conditional_text import condition_mistakes
from presscheck.service.content.search import as_results, search
from presscheck.service.content.serializers import body_of
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.navigation import trail
from presscheck.service.web.published_site import PublishedSite

LONGEST_QUERY = 512
MOST = 50
"""Maximum number of pages in a result."""

_TAG = re.compile(r"\{%[^%]*(?:%\}|$)|</?[a-zA-Z][^<>]*>")


class Passage(NamedTuple):
    """A matching section of a page."""

    title: str
    url: str
    text: str


class FoundPage(NamedTuple):
    """A matching page and its location."""

    title: str
    url: str
    where: tuple[str, ...]
    passages: tuple[Passage, ...]


def found_pages(site: PublishedSite, query: str) -> list[FoundPage]:
    """Returns the pages of a site that contain all words of a query, without hidden pages."""
    rows = [site.spaces[site_space.space_id] for site_space in site.site_spaces]
    hits = search(site.context, rows, query)
    pages: list[FoundPage] = []
    for site_space in site.site_spaces:
        listed = {place.page["id"]: place for place in site.content(site_space.space_id).listed}
        visible_hits = [hit for hit in hits.get(site_space.space_id, ()) if hit.page["id"] in listed]
        visible_hits = [hit for hit in visible_hits if not hit.page.get("noIndex")][: MOST - len(pages)]
        for hit, result in zip(visible_hits, as_results(site.context, visible_hits, query), strict=True):
            place = listed[result.id]
            title = place.page["title"]
            is_secret = has_conditions(hit.page["title"]) or _may_hide(site, body_of(site.context, hit.page))
            if is_secret and not all(word in title.casefold() for word in query.casefold().split()):
                continue  # the words may be in a part that this reader may not see
            passages = (
                () if is_secret else (_passage(site, site_space, place, section) for section in result.sections or ())
            )
            above = (ancestor.page["title"] for ancestor in trail(site, site_space, place))
            where = (site.spaces[site_space.space_id].title, *above)
            pages.append(FoundPage(title, site.address(site_space, place), where, tuple(passages)))
    return pages


def _may_hide(site: PublishedSite, body: str) -> bool:
    """Returns whether parts of a text may be hidden from readers.

    Without adaptive content, only parts with invalid conditions, or a text too large to check, count as hidden.
    """
    if not has_conditions(body):
        return False
    return site.site.adaptive_content or size_problem(body) is not None or bool(condition_mistakes(body))


def _passage(
    site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition, section: SearchSectionResult
) -> Passage:
    anchor = section.id.partition("#")[2]
    url = site.address(site_space, place, anchor)
    title = with_emoji(section.title) if anchor else ""
    return Passage(title, url, " ".join(_TAG.sub(" ", section.body or "").split()))
