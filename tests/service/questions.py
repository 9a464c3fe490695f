"""Queries for a search, taken from the documentation itself, each with the page that it should find."""

from __future__ import annotations

import posixpath
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from presscheck.documents.markdown.links import find_links
from presscheck.documents.markdown.page_sections import page_sections, plain_line
from presscheck.service.content.relevance import normalized
from presscheck.service.content.search import SearchedPage


class Question(NamedTuple):
    """A query, and the space and id of the page that it should find."""

    query: str
    space_id: str
    page_id: str


def questions_of(pages: Sequence[tuple[SearchedPage, str]], count: int) -> list[Question]:
    """Choose random questions: half are headings of a single page, half texts of links that lead to a single page.

    Args:
        pages: pages with their texts.
        count: the number of questions; fewer are returned if there are not enough headings and links.
    """
    chance = random.Random("questions")
    titles = {normalized(page.page["title"]) for page, _ in pages}
    questions: list[Question] = []
    for pairs in (_headings(pages), _links(pages)):
        places: dict[str, set[tuple[str, str]]] = defaultdict(set)
        queries: dict[str, str] = {}
        for query, page in pairs:
            places[normalized(query)].add((page.space_id, page.page["id"]))
            queries[normalized(query)] = query
        usable = [words for words in sorted(places) if len(places[words]) == 1 and 2 <= len(words.split()) <= 8]
        usable = [words for words in usable if words not in titles]
        for words in chance.sample(usable, min(len(usable), count // 2)):
            ((space_id, page_id),) = places[words]
            questions.append(Question(queries[words], space_id, page_id))
    return questions


def reciprocal_rank(question: Question, found: Sequence[tuple[str, str]]) -> float:
    """Return 1 if the page is the first result, 1/2 for the second, 0 without it. `found` are space and page ids."""
    key = question.space_id, question.page_id
    return 1 / (found.index(key) + 1) if key in found else 0.0


def _headings(pages: Sequence[tuple[SearchedPage, str]]) -> Iterator[tuple[str, SearchedPage]]:
    for page, text in pages:
        for section in page_sections(text):
            if section.kind == "heading" and section.level > 1:
                yield section.title, page


def _links(pages: Sequence[tuple[SearchedPage, str]]) -> Iterator[tuple[str, SearchedPage]]:
    by_path = {(page.space_id, page.path): page for page, _ in pages}
    for page, text in pages:
        for link in find_links(text):
            target = link.target.partition("#")[0].removesuffix(".md").removesuffix("README")
            is_name = link.text.strip("`").endswith(".md")
            if not target or ":" in target or not link.text or is_name:
                continue
            for folder in (posixpath.dirname(page.path), page.path):
                leads = by_path.get((page.space_id, posixpath.normpath(posixpath.join(folder, target))))
                if leads and leads.page["id"] != page.page["id"]:
                    yield plain_line(link.text), leads
                    break
