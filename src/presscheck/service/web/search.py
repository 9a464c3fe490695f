"""Search in a site: pages that have all words, with the matching sections, limited to what this reader may see."""

from __future__ import annotations

import re
from typing import NamedTuple

from presscheck.api.search_results import SearchSectionResult
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.pages.tree import PagePosition
from presscheck.documents.visitors.conditional_text import has_conditions
from presscheck.service.content.search import Hit, as_results, search
from presscheck.service.content.serializers import body_of
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.published_site import PublishedSite

LONGEST_QUERY = 512
MOST = 50
"""The most pages in a result."""

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
    """Finds the pages of a site that have all words of a query; hidden pages are never included."""
    rows = [site.spaces[site_space.space_id] for site_space in site.site_spaces]
    hits = search(site.context, rows, query)
    pages: list[FoundPage] = []
    for site_space in site.site_spaces:
        listed = {place.page["id"]: place for place in site.content(site_space.space_id).listed}
        near = [hit for hit in hits.get(site_space.space_id, ()) if hit.page["id"] in listed]
        near = [hit for hit in near if not hit.page.get("noIndex")][: MOST - len(pages)]
        for hit, result in zip(near, as_results(site.context, near, query), strict=True):
            is_secret = site.site.adaptive_content and _has_conditions(site, hit)
            if is_secret and not all(word in hit.page["title"].casefold() for word in query.casefold().split()):
                continue  # the words may be in a part that this reader may not see
            place = listed[result.id]
            passages = (
                () if is_secret else (_passage(site, site_space, place, section) for section in result.sections or ())
            )
            where = (site.spaces[site_space.space_id].title, *hit.above)
            pages.append(FoundPage(with_emoji(result.title), site.address(site_space, place), where, tuple(passages)))
    return pages


def _has_conditions(site: PublishedSite, hit: Hit) -> bool:
    return has_conditions(body_of(site.context, hit.page))


def _passage(
    site: PublishedSite, site_space: SiteSpaceRow, place: PagePosition, section: SearchSectionResult
) -> Passage:
    anchor = section.id.partition("#")[2]
    url = site.address(site_space, place, anchor)
    title = with_emoji(section.title) if anchor else ""
    return Passage(title, url, " ".join(_TAG.sub(" ", section.body or "").split()))
