"""Full-text search in the pages of spaces, for the API and for published sites.

The index of the database selects candidate pages. The candidates are matched and ranked by their text as readers see
it, so that neither markup nor hidden parts of a page are found.

A page matches if it has all words of the query, or words that start with them. The search for readers of a site also
finds pages whose titles have most of the words. If there is no match, it replaces words that occur in no page by words
that differ in one letter. If there is still no match, it returns the pages with the most words of the query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select

from presscheck.api.roles import Location
from presscheck.api.search_results import Ancestor, SearchPageResult, SearchSectionResult
from presscheck.documents.markdown.anchors import encode_fragment
from presscheck.documents.markdown.page_size import size_problem
from presscheck.documents.markdown.search_terms import MAX_TERM
from presscheck.documents.pages.tree import Page, walk
from presscheck.documents.visitors.condition_tags import Holds, has_conditions
from presscheck.documents.visitors.conditional_text import visible_text
from presscheck.service.content.relevance import (
    Fields,
    SearchText,
    Term,
    corrected,
    matched_terms,
    normalized,
    one_letter_off,
    passages,
    rarity,
    score,
    search_text,
    terms_of,
)
from presscheck.service.content.revision_content import cached, cached_by_document, known_content
from presscheck.service.db.fulltext_index import documents_with, words_of
from presscheck.service.db.statements import among
from presscheck.service.http.operations import Context
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.spaces import SpaceRow

if TYPE_CHECKING:
    from presscheck.service.content.included_texts import IncludedTexts  # takes 40 modules, only for reusable content

MOST_RANKED = 2_000
"""Maximum number of pages whose texts are read for a query; the pages with the most words in the title come first."""
MOST_CHARACTERS = 10_000_000
"""Number of characters after which no further texts are read for a query."""
SHORTEST_CORRECTED = 4
"""Minimum number of letters of a word that is corrected."""
MOSTLY = 0.6
"""Minimum share of the words of a query, weighted by rarity, for a title to match without all words."""
RECENCY = 0.05
"""The share by which the score of the newest page exceeds the score of an equal page that is a year older."""
_AT_ONCE = 50
_YEAR = 365 * 24 * 3600
_EMPTY = search_text("")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

_revisions = RevisionRow.__table__.c
_CONTENTS = select(_revisions.id, _revisions.tree, _revisions.reusable_contents).where(among(_revisions.id, "ids"))


class SearchedPage(NamedTuple):
    """A page to search.

    Attributes:
        above: the titles of its ancestors.
        included: the reader of reusable content, if its space has any.
        text: the text to search, if it is more than the documents of the page, as for API references; otherwise None.
    """

    space_id: str
    page: Page
    path: str
    above: tuple[str, ...]
    included: IncludedTexts | None = None
    text: SearchText | None = None

    @property
    def documents(self) -> frozenset[str]:
        """The ids of the documents with the text of the page: its own, and the documents that it includes."""
        document = self.page.get("documentId")
        own = frozenset((document,)) if document else frozenset[str]()
        return own | self.included.documents_of(self.page) if self.included else own


class Hit(NamedTuple):
    """A matching page with its text."""

    place: SearchedPage
    text: SearchText

    @property
    def page(self) -> Page:
        """The stored page."""
        return self.place.page


class Matches(NamedTuple):
    """The matching pages, the best first, and the terms that were searched, after any corrections.

    `is_complete` is False if there were too many candidate pages to read all of them. `is_exact` is False if no page
    contains all words of the query as written.
    """

    hits: list[Hit]
    terms: list[Term]
    is_complete: bool = True
    is_exact: bool = True


class TextReading(NamedTuple):
    """A way to convert the Markdown of a page to the text that is searched.

    Attributes:
        name: the part of the cache key for texts of this kind.
        holds: returns whether a condition is true; None keeps all parts of a text.
    """

    name: str
    holds: Holds | None

    def visible(self, markdown: str) -> str:
        """Return a text without the parts whose conditions are false.

        A text with conditions that is too large to evaluate is left out as a whole.
        """
        if self.holds is None or not has_conditions(markdown):
            return markdown
        return "" if size_problem(markdown) else visible_text(markdown, self.holds)


WHOLE = TextReading("search text", None)


def search(context: Context, spaces: Sequence[SpaceRow], query: str) -> tuple[dict[str, list[Hit]], list[Term]]:
    """Return the matching pages by space id, and the terms of the query. Spaces without matches are left out."""
    result = find(context, searched_pages(context, spaces) if query.strip() else (), query, WHOLE, is_strict=True)
    matches: dict[str, list[Hit]] = {}
    for hit in result.hits:
        matches.setdefault(hit.place.space_id, []).append(hit)
    return matches, result.terms


def best_hits(context: Context, spaces: Sequence[SpaceRow], query: str, most: int) -> Matches:
    """Return at most `most` pages that have a word of the query, the best first."""
    terms, pages = terms_of(query), searched_pages(context, spaces)
    if not terms or not pages:
        return Matches([], terms)
    result = _Finder(context, pages, WHOLE, is_strict=True).matches(terms, 1)
    return result._replace(hits=result.hits[:most])


def searched_pages(context: Context, spaces: Sequence[SpaceRow]) -> list[SearchedPage]:
    """Return the live pages of spaces, with the reusable content that they include."""
    rows = context.rows(_CONTENTS, ids=[space.revision_id for space in spaces])
    contents = {name: (tree, _included(context, name) if snippets else None) for name, tree, snippets in rows}
    return [page for space in spaces for page in _pages(space.id, *contents.get(space.revision_id or "", ([], None)))]


def _included(context: Context, revision_id: str) -> IncludedTexts:
    # takes 130 ms to import, so only for spaces with reusable content
    from presscheck.service.content.included_texts import IncludedTexts
    from presscheck.service.content.serializers import link_targets

    revision = known_content(context, revision_id)
    return IncludedTexts(context, revision, link_targets(context, revision))


def find(
    context: Context, pages: Sequence[SearchedPage], query: str, reading: TextReading, *, is_strict: bool = False
) -> Matches:
    """Find the pages that match a query, by approximation if no page matches exactly (see the module).

    Args:
        context: the transaction.
        pages: the pages to search, in reading order.
        query: the query.
        reading: how to convert pages to the text that is searched.
        is_strict: whether only pages with all words match.
    """
    terms = terms_of(query)
    if not terms or not pages:
        return Matches([], terms)
    finder = _Finder(context, pages, reading, is_strict=is_strict)
    result = finder.matches(terms, sum(term.is_required for term in terms))
    if result.hits or is_strict:
        return result
    better = finder.corrected(terms)
    if better != terms:
        result = finder.matches(better, sum(term.is_required for term in better))
    required = sum(term.is_required for term in better)
    for least in range(required - 1, (required - 1) // 2, -1):
        if result.hits:
            break
        result = finder.matches(better, least)
    return result._replace(is_exact=False)


class _Finder:
    """A search in a list of pages. It caches the lookups in the index. Pages are numbered by their position."""

    def __init__(
        self, context: Context, pages: Sequence[SearchedPage], reading: TextReading, *, is_strict: bool
    ) -> None:
        self._context, self._pages, self._reading, self._is_strict = context, pages, reading, is_strict
        self._by_page = [page.documents for page in pages]
        self._documents = set[str]().union(*self._by_page)
        self._fields = [
            Fields(normalized(page.page["title"]), normalized(page.page.get("description") or ""), "") for page in pages
        ]
        self._by_lookup: dict[tuple[str, bool], set[str]] = {}

    def matches(self, terms: list[Term], least: int) -> Matches:
        """Return the pages with at least `least` of the required terms, the best first.

        Unless the search is strict, pages whose titles have most of the terms match too.
        """
        possible = self._possible(terms)
        rarities = [rarity(len(possible), sum(matches)) for matches in zip(*possible, strict=True)]
        numbers = [
            number for number, matches in enumerate(possible) if self._accepts(terms, rarities, number, matches, least)
        ]
        texts, is_complete = self._texts(terms, numbers)
        matched = {number: matched_terms(terms, self._fields[number], text) for number, text in texts.items()}
        newest = max(_moment(page.page) for page in self._pages)
        scored: list[tuple[float, int]] = []
        for number, matches in matched.items():
            if self._accepts(terms, rarities, number, matches, least):
                page = self._pages[number]
                fields = self._fields[number]._replace(above=normalized(" ".join(page.above)))
                recency = 1 + RECENCY * max(0.0, 1 - (newest - _moment(page.page)) / _YEAR)
                value = score(terms, rarities, fields, texts[number]) * _share(terms, rarities, matches) * recency
                scored.append((-value, number))
        hits = [Hit(self._pages[number], texts[number]) for _, number in sorted(scored)]
        return Matches(hits, terms, is_complete)

    def corrected(self, terms: list[Term]) -> list[Term]:
        """Replace the terms that occur in no page by words that differ in one letter.

        Terms are looked up in the texts, because the index also contains words that the reader may not see.
        """
        numbers = [number for number, matches in enumerate(self._possible(terms)) if any(matches)]
        texts, _ = self._texts(terms, numbers)
        matched = [matched_terms(terms, self._fields[number], text) for number, text in texts.items()]
        unknown = [
            term
            for number, term in enumerate(terms)
            if " " not in term.words
            and SHORTEST_CORRECTED <= len(term.words) <= MAX_TERM
            and not any(matches[number] for matches in matched)
        ]
        if not unknown:
            return terms
        words = words_of(self._context.session.connection(), self._documents)
        words.update(word for fields in self._fields for word in fields.title.split())
        letters = "".join(sorted({letter for term in unknown for letter in term.words} | _LETTERS))
        by_term = {term: sorted({*one_letter_off(term.words, letters)} & words) for term in unknown}
        return [corrected(term, found) if (found := by_term.get(term)) else term for term in terms]

    def _possible(self, terms: list[Term]) -> list[list[bool]]:
        """Return for each page whether it may contain each term, according to the index and to short texts."""
        having = [self._documents_with(term) for term in terms]
        return [
            [
                not own.isdisjoint(documents)
                or bool(term.weight_in(fields.title) or term.weight_in(fields.description))
                or bool(page.text and (term.weight_in(page.text.headings) or term.weight_in(page.text.body)))
                for term, documents in zip(terms, having, strict=True)
            ]
            for page, own, fields in zip(self._pages, self._by_page, self._fields, strict=True)
        ]

    def _accepts(self, terms: list[Term], rarities: list[float], number: int, matches: list[bool], least: int) -> bool:
        if _required(terms, matches) >= least:
            return True
        in_title = [bool(term.weight_in(self._fields[number].title)) for term in terms]
        return not self._is_strict and _share(terms, rarities, in_title) >= MOSTLY

    def _documents_with(self, term: Term) -> set[str]:
        documents: set[str] = set()
        for words, is_prefix in term.lookups:
            documents |= set[str].intersection(
                *(self._with_word(word, is_prefix and word == words[-1]) for word in words)
            )
        return documents

    def _with_word(self, word: str, is_prefix: bool) -> set[str]:
        key = word, is_prefix
        if key not in self._by_lookup:
            connection = self._context.session.connection()
            self._by_lookup[key] = documents_with(connection, self._documents, word, begins=is_prefix)
        return self._by_lookup[key]

    def _texts(self, terms: list[Term], numbers: list[int]) -> tuple[dict[int, SearchText], bool]:
        """Return texts to search by page number, and whether all of them were read."""
        if len(numbers) > MOST_RANKED:
            numbers.sort(key=lambda number: -sum(bool(term.weight_in(self._fields[number].title)) for term in terms))
        texts: dict[int, SearchText] = {}
        characters = 0
        for start in range(0, len(numbers), _AT_ONCE):
            if characters > MOST_CHARACTERS or start >= MOST_RANKED:
                return texts, False
            some = numbers[start : start + _AT_ONCE]
            documents = {number: self._pages[number].page.get("documentId") for number in some}
            known = cached_by_document(
                self._context,
                self._reading.name,
                {
                    document
                    for number, document in documents.items()
                    if document and len(self._by_page[number]) < 2 and self._pages[number].text is None
                },
                lambda markdown: search_text(self._reading.visible(markdown)),
                SearchText.weight,
            )
            for number, document in documents.items():
                is_alone = len(self._by_page[number]) < 2
                texts[number] = self._pages[number].text or (
                    known.get(document or "", _EMPTY) if is_alone else self._with_included(number)
                )
                characters += len(texts[number].body)
        return texts, True

    def _with_included(self, number: int) -> SearchText:
        """Return the text to search of a page with the reusable content that it includes."""
        page = self._pages[number]
        included = page.included
        if included is None:
            return _EMPTY
        return cached(
            self._context,
            (self._reading.name, included.revision_id, page.page["id"]),
            lambda: search_text(included.markdown(page.page, self._reading.holds)),
            SearchText.weight,
        )


def _required(terms: Sequence[Term], matches: Sequence[bool]) -> int:
    """Return the number of required terms that match."""
    return sum(is_match for term, is_match in zip(terms, matches, strict=True) if term.is_required)


def _share(terms: Sequence[Term], rarities: Sequence[float], matches: Sequence[bool]) -> float:
    """Return the share of the required terms that match, weighted by how rare they are."""
    weights = [rare if term.is_required else 0.0 for term, rare in zip(terms, rarities, strict=True)]
    matching = sum(weight for weight, is_match in zip(weights, matches, strict=True) if is_match)
    return matching / sum(weights)


def as_results(context: Context, hits: Sequence[Hit], terms: Sequence[Term]) -> tuple[SearchPageResult, ...]:
    """Serialize search results with the matching sections."""
    return tuple(_result(context, hit, terms) for hit in hits)


def _pages(space_id: str, tree: list[Page], included: IncludedTexts | None) -> Iterator[SearchedPage]:
    above: dict[str, tuple[str, ...]] = {}
    for place in walk(tree):
        titles = (*above[place.above["id"]], place.above["title"]) if place.above else ()
        above[place.page["id"]] = titles
        if place.page["type"] == "document":
            yield SearchedPage(space_id, place.page, place.path or "", titles, included)


def _moment(page: Page) -> float:
    moment: Any = page.get("updatedAt") or page.get("createdAt")
    try:
        return datetime.fromisoformat(moment).timestamp() if moment else 0.0
    except ValueError:
        return 0.0


def _result(context: Context, hit: Hit, terms: Sequence[Term]) -> SearchPageResult:
    page, path = hit.page, hit.place.path
    app = context.app(f"/spaces/{hit.place.space_id}/pages/{page['id']}")
    sections = [
        SearchSectionResult(
            id=f"{page['id']}#{passage.anchor}" if passage.anchor else page["id"],
            title=passage.title or page["title"],
            path=f"{path}#{passage.anchor}" if passage.anchor else path,
            body=passage.text,
            urls=Location(app=f"{app}#{encode_fragment(passage.anchor)}" if passage.anchor else app),
        )
        for passage in passages(terms, hit.text)
    ]
    return SearchPageResult(
        id=page["id"],
        title=page["title"],
        description=page.get("description"),
        path=path,
        sections=tuple(sections),
        ancestors=tuple(Ancestor(title=title) for title in hit.place.above),
        urls=Location(app=app),
    )
