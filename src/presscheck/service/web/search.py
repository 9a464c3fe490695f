"""Search in a site: visible pages that contain all words of a query, with the matching sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from presscheck.api.search_results import Ancestor, SearchPageResult, SearchSectionResult, SearchSpaceResult
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


class _Match(NamedTuple):
    """A page that has all words, and whether the words may be in a part that this reader may not see."""

    place: PagePosition
    result: SearchPageResult
    is_secret: bool


def found_pages(site: PublishedSite, query: str) -> list[FoundPage]:
    """Find the pages of a site that have all words of a query; hidden pages are never included."""
    pages: list[FoundPage] = []
    for site_space, matches in _matches(site, site.site_spaces, query):
        for place, result, is_secret in matches:
            sections = () if is_secret else result.sections or ()
            passages = tuple(_passage(site, site_space, place, section) for section in sections)
            above = (ancestor.page["title"] for ancestor in trail(site, site_space, place))
            where = (site.spaces[site_space.space_id].title, *above)
            pages.append(FoundPage(place.page["title"], site.address(site_space, place), where, passages))
    return pages


def search_results(site: PublishedSite, site_spaces: Sequence[SiteSpaceRow], query: str) -> list[SearchSpaceResult]:
    """Find the pages of some spaces that have all words of a query, by space; better matches have higher scores."""
    results: list[SearchSpaceResult] = []
    for site_space, matches in _matches(site, site_spaces, query):
        pages = tuple(_scored(site, site_space, match, rank) for rank, match in enumerate(matches, start=1))
        space = site.spaces[site_space.space_id]
        results.append(SearchSpaceResult(type="space", id=space.id, title=space.title, score=1, pages=pages))
    return results


def _scored(site: PublishedSite, site_space: SiteSpaceRow, match: _Match, rank: int) -> SearchPageResult:
    place, result, is_secret = match
    above = tuple(Ancestor(title=one.page["title"]) for one in trail(site, site_space, place))
    sections = () if is_secret else result.sections or ()
    update = {
        "title": place.page["title"],
        "description": place.page.get("description") or "",
        "score": 1 / rank,
        "rank": rank,
        "ancestors": above,
        "sections": tuple(section.model_copy(update={"score": 1 / rank}) for section in sections),
    }
    return result.model_copy(update=update)


def _matches(
    site: PublishedSite, site_spaces: Sequence[SiteSpaceRow], query: str
) -> Iterator[tuple[SiteSpaceRow, list[_Match]]]:
    """Yield each site space that has matches, with its matches; at most `MOST` pages in total."""
    hits = search(site.context, [site.spaces[site_space.space_id] for site_space in site_spaces], query)
    room = MOST
    for site_space in site_spaces:
        listed = {place.page["id"]: place for place in site.content(site_space.space_id).listed}
        near = [hit for hit in hits.get(site_space.space_id, ()) if hit.page["id"] in listed]
        near = [hit for hit in near if not hit.page.get("noIndex")][:room]
        matches: list[_Match] = []
        for hit, result in zip(near, as_results(site.context, near, query), strict=True):
            place = listed[result.id]
            is_secret = has_conditions(hit.page["title"]) or _may_hide(site, body_of(site.context, hit.page))
            title = place.page["title"].casefold()
            if not is_secret or all(word in title for word in query.casefold().split()):
                matches.append(_Match(place, result, is_secret))
        room -= len(matches)
        if matches:
            yield site_space, matches


def _may_hide(site: PublishedSite, body: str) -> bool:
    """Return whether parts of a text may be hidden from readers.

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
