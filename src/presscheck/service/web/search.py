"""Search in a site: the visible pages of all spaces that match a query, ranked, with their matching sections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from presscheck.api.search_results import SearchPageResult, SearchSpaceResult
from presscheck.documents.markdown.emoji import with_emoji
from presscheck.documents.pages.tree import PagePosition
from presscheck.documents.visitors.condition_tags import visible_words
from presscheck.documents.visitors.conditions import problem_of
from presscheck.service.content.included_texts import IncludedTexts
from presscheck.service.content.relevance import Term, marked, passages
from presscheck.service.content.search import Hit, Matches, SearchedPage, TextReading, as_results, find
from presscheck.service.models.sites import SiteSpaceRow
from presscheck.service.web.navigation import trail
from presscheck.service.web.published_site import PublishedSite
from presscheck.service.web.reference_texts import reference_texts

LONGEST_QUERY = 512
PAGE_SIZE = 20
MOST_WHILE_TYPING = 8
"""Number of results that are shown while a reader types."""
MOST_PASSAGES = 3
"""Maximum number of sections of a page that are shown."""
MOST = 50
"""Maximum number of pages in a response of the API."""

Marked = list[tuple[str, bool]]
"""The parts of a text, each with whether it matches the query."""
_Places = dict[tuple[str, str], tuple[SiteSpaceRow, PagePosition]]


class ShownPassage(NamedTuple):
    """A matching section of a page."""

    title: Marked
    url: str
    text: Marked


class ShownPage(NamedTuple):
    """A matching page and its location."""

    title: Marked
    url: str
    where: tuple[str, ...]
    passages: tuple[ShownPassage, ...]


class Filter(NamedTuple):
    """A link that limits the results to a section, or to a space of a site without sections."""

    title: str
    url: str
    count: int
    is_current: bool


class SearchPage(NamedTuple):
    """A page of search results.

    Attributes:
        pages: the results on this page.
        total: the number of results with the chosen filter.
        first: the number of the first result on this page.
        is_exact: whether the results have all words of the query.
        is_complete: whether all pages of the site were searched.
        filters: a link to all results, then the filters that have results; empty if there is only one such filter.
        before: the URL of the previous page of results, if any.
        after: the URL of the next page of results, if any.
    """

    pages: list[ShownPage]
    total: int
    first: int
    is_exact: bool
    is_complete: bool
    filters: list[Filter]
    before: str
    after: str


def search_page(site: PublishedSite, query: str, chosen: str, number: int, *, is_typing: bool = False) -> SearchPage:
    """Search a site for a reader.

    Args:
        site: the site.
        query: the query.
        chosen: the filter of the results, as in their URLs; an unknown filter is ignored.
        number: the number of the page of results, from 1.
        is_typing: whether to return only the first `MOST_WHILE_TYPING` results, and without their sections.
    """
    places = _places(site, site.site_spaces)
    matches = _find(site, places, query)

    def group(hit: Hit) -> tuple[str, str]:
        return _group(site, places[hit.place.space_id, hit.page["id"]][0])

    counts = Counter(map(group, matches.hits))
    chosen = chosen if chosen in {key for key, _ in counts} else ""
    hits = [hit for hit in matches.hits if not chosen or group(hit)[0] == chosen]
    last = max(1, -(-len(hits) // PAGE_SIZE))
    number = min(max(1, number), last)
    first = (number - 1) * PAGE_SIZE
    size = MOST_WHILE_TYPING if is_typing else PAGE_SIZE
    pages = [_shown(site, places, hit, matches.terms, has_passages=not is_typing) for hit in hits[first : first + size]]

    def url(key: str, page: int) -> str:
        parts = {"q": query, "in": key, "page": page if page > 1 else ""}
        return f"?{urlencode({name: value for name, value in parts.items() if value})}"

    filters = [Filter("All", url("", 1), len(matches.hits), not chosen)]
    filters += [Filter(title, url(key, 1), count, key == chosen) for (key, title), count in counts.items()]
    return SearchPage(
        pages,
        len(hits),
        first + 1,
        matches.is_exact,
        matches.is_complete,
        filters if len(counts) > 1 else [],
        url(chosen, number - 1) if number > 1 else "",
        url(chosen, number + 1) if number < last else "",
    )


def search_results(site: PublishedSite, site_spaces: Sequence[SiteSpaceRow], query: str) -> list[SearchSpaceResult]:
    """Find the pages in some spaces of a site that match a query.

    The results are grouped by space, the space with the best match first. Better matches have higher scores.
    """
    places = _places(site, site_spaces)
    matches = _find(site, places, query)
    pages: dict[str, list[SearchPageResult]] = {}
    for rank, result in enumerate(as_results(site.context, matches.hits[:MOST], matches.terms), start=1):
        space_id = matches.hits[rank - 1].place.space_id
        sections = tuple(section.model_copy(update={"score": 1 / rank}) for section in result.sections or ())
        update = {"description": result.description or "", "score": 1 / rank, "rank": rank, "sections": sections}
        pages.setdefault(space_id, []).append(result.model_copy(update=update))
    return [
        SearchSpaceResult(
            type="space", id=space_id, title=site.spaces[space_id].title, score=some[0].score, pages=tuple(some)
        )
        for space_id, some in pages.items()
    ]


def _places(site: PublishedSite, site_spaces: Sequence[SiteSpaceRow]) -> _Places:
    """Return the pages that the reader may find, without hidden pages, by space and page id."""
    places: _Places = {}
    for site_space in site_spaces:
        for place in site.content(site_space.space_id).listed:
            if not place.page.get("noIndex"):
                places.setdefault((site_space.space_id, place.page["id"]), (site_space, place))
    return places


def _find(site: PublishedSite, places: _Places, query: str) -> Matches:
    reading = _FOR_EVERYBODY if site.site.adaptive_content else _WITHOUT_CONDITIONS
    included = {space_id: _included(site, space_id) for space_id, _ in places}
    spaces = {site_space.space_id: site_space for site_space, _ in places.values()}
    references = {
        space_id: reference_texts(site, site_space, included[space_id], reading)
        for space_id, site_space in spaces.items()
    }
    pages = [
        SearchedPage(
            site_space.space_id,
            place.page,
            place.path or "",
            tuple(ancestor.page["title"] for ancestor in trail(site, site_space, place)),
            included[site_space.space_id],
            references[site_space.space_id].get(place.page["id"]),
        )
        for site_space, place in places.values()
    ]
    return find(site.context, pages, query, reading)


def _included(site: PublishedSite, space_id: str) -> IncludedTexts | None:
    """Return the texts that pages of a space include, or None if the space has no reusable content."""
    content = site.content(space_id)
    if not content.revision.reusable_contents:
        return None
    return IncludedTexts(site.context, content.revision, site.targets(content))


def _never_holds(_condition: str) -> bool:
    return False


def _is_valid(condition: str) -> bool:
    return not problem_of(condition)


_FOR_EVERYBODY = TextReading("search text for everybody", _never_holds)
"""With adaptive content, only text without conditions is searched, because the cached text is the same for everyone."""
_WITHOUT_CONDITIONS = TextReading("search text without conditions", _is_valid)
"""Parts with invalid conditions are always left out."""


def _group(site: PublishedSite, site_space: SiteSpaceRow) -> tuple[str, str]:
    """Return the key and title of the filter for a space: its section, or the space if the site has no sections."""
    section = site.section_of(site_space)
    if section and len(site.sections()) > 1:
        return section.path or section.id, section.title
    return site_space.path or site_space.id, site.spaces[site_space.space_id].title


def _shown(site: PublishedSite, places: _Places, hit: Hit, terms: Sequence[Term], *, has_passages: bool) -> ShownPage:
    site_space, place = places[hit.place.space_id, hit.page["id"]]
    section = site.section_of(site_space)
    titles = [section.title] if section else []
    if sum(other.section_id == site_space.section_id for other in site.site_spaces) > 1:
        titles.append(site.spaces[site_space.space_id].title)
    where = (*(visible_words(title, site.holds) for title in titles), *hit.place.above)
    shown = [
        ShownPassage(
            marked(with_emoji(passage.title), terms),
            site.address(site_space, place, passage.anchor),
            marked(with_emoji(passage.text), terms),
        )
        for passage in (passages(terms, hit.text)[:MOST_PASSAGES] if has_passages else ())
    ]
    description = place.page.get("description")
    if not shown and description and has_passages:
        shown = [ShownPassage([], "", marked(description, terms))]
    title = marked(place.page["title"], terms)
    return ShownPage(title, site.address(site_space, place), tuple(dict.fromkeys(where)), tuple(shown))
