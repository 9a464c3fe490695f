"""The search index returns each page once, follows renames, and drops pages that their source no longer has."""

from __future__ import annotations

import json
from pathlib import Path

from presscheck.store.cache import Cache
from presscheck.store.search_index import Entry, SourceEntries


def page(name: str, body: str | None, *, request: str = "", title: str = "Tokens") -> Entry:
    scope = f"s1 {request}".strip()
    words = (title.lower(), "", (body or "").lower())
    return Entry(scope, name, "page", "s1", request, name, title, f"{name}.md", "", body, None, words)


def index(cache: Cache, name: str, entries: SourceEntries) -> None:
    key = f"listPages {name}"
    cache.keep(key, json.dumps({"changed": key}).encode(), 1.0)
    while cache.search.waiting():
        cache.search.fill(lambda source, _: entries if source == key else SourceEntries())


def results(cache: Cache, query: str) -> list[tuple[str, str]]:
    return [(result.id, result.change_request) for result in cache.search.find(query, 10)]


def test_page_is_found_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    index(cache, "live", SourceEntries((page("p1", "a secret"), page("p2", "nothing")), ("s1",)))
    index(cache, "first", SourceEntries((page("p1", "secret", request="r1"),)))
    index(cache, "second", SourceEntries((page("p2", "a secret", request="r1"), page("p2", "a secret", request="r2"))))
    assert sorted(results(cache, "secret")) == [("p1", ""), ("p2", "r1")], (
        "one result per page: the live one, or one of a change request"
    )

    index(cache, "tree", SourceEntries((page("p1", None, title="Keys"),)))
    assert results(cache, "title : keys") == [("p1", "")], "an entry without a text renames the page"
    assert ("p1", "") in results(cache, "secret")
    assert results(cache, "title : tokens") != [("p1", "")]

    index(cache, "live again", SourceEntries((page("p2", "a secret"),), ("s1",)))
    assert sorted(results(cache, "secret")) == [("p1", "r1"), ("p2", "")], (
        "a complete source removes the pages that it does not have"
    )
    cache.close()
