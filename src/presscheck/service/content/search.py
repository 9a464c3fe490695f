"""Full-text search in titles and content of live pages.

A page matches if it has all words of the query, or words that start with them. Pages with all words in the title come
first, then the order of the space.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import select

from presscheck.api.roles import Location
from presscheck.api.search_results import Ancestor, SearchPageResult, SearchSectionResult
from presscheck.documents.markdown.anchors import AnchorNames, encode_fragment
from presscheck.documents.markdown.headings import heading_level, heading_text
from presscheck.documents.markdown.search_terms import fold, query_terms
from presscheck.documents.pages.tree import Page, walk
from presscheck.service.content.revisions import document_texts
from presscheck.service.db.fulltext_index import documents_with
from presscheck.service.db.statements import among
from presscheck.service.http.operations import Context
from presscheck.service.models.content import RevisionRow
from presscheck.service.models.spaces import SpaceRow

MOST_SECTIONS = 5
"""Maximum number of sections per page in a result."""
AROUND = 80
"""Number of characters of context on each side of a match."""

_revisions = RevisionRow.__table__.c
_TREES = select(_revisions.id, _revisions.tree).where(among(_revisions.id, "ids"))
_FENCE = re.compile(r"[ \t]*(```|~~~)")


class Hit(NamedTuple):
    """A matching page, its path, and the titles of its ancestors."""

    space_id: str
    page: Page
    path: str
    above: tuple[str, ...]


def search(context: Context, spaces: Sequence[SpaceRow], query: str) -> dict[str, list[Hit]]:
    """Return the pages that have all words of a query, by space; spaces without matches are missing."""
    words = query_terms(query)
    matches: dict[str, list[Hit]] = {}
    for space_id, hits in _with_words(context, spaces, words).items():
        matching = [hit for hit, number in hits if number == len(words)]
        if matching:
            matches[space_id] = sorted(matching, key=lambda hit: not all(_in_title(hit, word) for word, _ in words))
    return matches


def best_hits(context: Context, spaces: Sequence[SpaceRow], query: str, most: int) -> list[Hit]:
    """Return at most `most` pages that have a word of the query, those with most of its words first."""
    words = query_terms(query)
    by_space = _with_words(context, spaces, words)
    hits = [hit for space in spaces for hit in by_space.get(space.id, ())]
    in_title = {id(hit): sum(_in_title(hit, word) for word, _ in words) for hit, _ in hits}
    return [hit for hit, _ in sorted(hits, key=lambda one: (-one[1], -in_title[id(one[0])]))[:most]]


def _with_words(
    context: Context, spaces: Sequence[SpaceRow], words: Sequence[tuple[str, bool]]
) -> dict[str, list[tuple[Hit, int]]]:
    """Return the pages that have at least one of some words, by space, each with the number of its words."""
    if not words:
        return {}
    trees = _trees(context, spaces)
    pages = {space_id: _pages(space_id, tree) for space_id, tree in trees.items()}
    documents = {hit.page["documentId"] for hits in pages.values() for hit in hits if hit.page.get("documentId")}
    index = context.session.connection()
    documents_by_word = {word: documents_with(index, documents, word, begins=begins) for word, begins in words}
    return {
        space_id: [
            (hit, number)
            for hit in hits
            if (number := sum(_has(hit, word, documents_by_word[word]) for word, _ in words))
        ]
        for space_id, hits in pages.items()
    }


def as_results(context: Context, hits: Sequence[Hit], query: str) -> tuple[SearchPageResult, ...]:
    """Serialize search results with the matching sections."""
    words = [word for word, _ in query_terms(query)]
    texts = document_texts(context.session, [hit.page["documentId"] for hit in hits if hit.page.get("documentId")])
    return tuple(_result(context, hit, texts.get(hit.page.get("documentId", ""), ""), words) for hit in hits)


def _trees(context: Context, spaces: Sequence[SpaceRow]) -> dict[str, list[Page]]:
    live = {space.revision_id: space.id for space in spaces}
    return {live[revision]: tree for revision, tree in context.rows(_TREES, ids=[*live])}


def _pages(space_id: str, tree: list[Page]) -> list[Hit]:
    hits: list[Hit] = []
    above: dict[str, tuple[str, ...]] = {}
    for place in walk(tree):
        titles = (*above[place.above["id"]], place.above["title"]) if place.above else ()
        above[place.page["id"]] = titles
        if place.page["type"] == "document":
            hits.append(Hit(space_id, place.page, place.path or "", titles))
    return hits


def _has(hit: Hit, word: str, documents: set[str]) -> bool:
    return hit.page.get("documentId") in documents or _in_title(hit, word)


def _in_title(hit: Hit, word: str) -> bool:
    return word in fold(hit.page["title"])


def _result(context: Context, hit: Hit, text: str, words: list[str]) -> SearchPageResult:
    app = context.app(f"/spaces/{hit.space_id}/pages/{hit.page['id']}")
    sections = [
        SearchSectionResult(
            id=f"{hit.page['id']}#{anchor}" if anchor else hit.page["id"],
            title=title,
            path=f"{hit.path}#{anchor}" if anchor else hit.path,
            body=body,
            urls=Location(app=f"{app}#{encode_fragment(anchor)}" if anchor else app),
        )
        for title, anchor, body in _sections(hit.page["title"], text, words)
    ]
    return SearchPageResult(
        id=hit.page["id"],
        title=hit.page["title"],
        description=hit.page.get("description"),
        path=hit.path,
        sections=tuple(sections),
        ancestors=tuple(Ancestor(title=title) for title in hit.above),
        urls=Location(app=app),
    )


def _sections(title: str, text: str, words: list[str]) -> list[tuple[str, str, str]]:
    """Return title, anchor and excerpt of the sections that contain a word of the query."""
    sections: list[tuple[str, str, str]] = []
    names = AnchorNames()
    for level, heading, body in _divided(text):
        anchor = names.markdown(level, heading) if heading else ""
        excerpt = _excerpt(body, words)
        if excerpt or any(word in fold(heading) for word in words):
            sections.append((heading or title, anchor, excerpt or _on_one_line(body)[: 2 * AROUND]))
        if len(sections) == MOST_SECTIONS:
            break
    return sections


def _divided(text: str) -> list[tuple[int, str, str]]:
    divided: list[tuple[int, str, list[str]]] = [(0, "", [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        heading = None if fence else heading_text(line)
        if heading:
            divided.append((heading_level(line), heading, []))
        else:
            divided[-1][2].append(line)
    return [(level, heading, "\n".join(lines)) for level, heading, lines in divided]


def _excerpt(body: str, words: list[str]) -> str:
    flat = _on_one_line(body)
    text = fold(flat)
    places = [at for word in words if (at := text.find(word)) >= 0]
    if not places:
        return ""
    start, end = max(0, min(places) - AROUND), min(places) + AROUND
    return ("…" if start else "") + flat[start:end].strip() + ("…" if end < len(flat) else "")


def _on_one_line(body: str) -> str:
    return " ".join(body.split())
