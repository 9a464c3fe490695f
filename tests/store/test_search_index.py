"""What the index finds: each page once, renamed with its resource, gone with its source."""

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


def found(cache: Cache, query: str) -> list[tuple[str, str]]:
    return [(entry.id, entry.change_request) for entry in cache.search.find(query, 10)]


def test_a_page_is_found_once(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache.sqlite")
    index(cache, "live", SourceEntries((page("p1", "a secret"), page("p2", "nothing")), ("s1",)))
    index(cache, "first", SourceEntries((page("p1", "secret", request="r1"),)))
    index(cache, "second", SourceEntries((page("p2", "a secret", request="r1"), page("p2", "a secret", request="r2"))))
    assert sorted(found(cache, "secret")) == [("p1", ""), ("p2", "r1")], "live, or of one request"

    index(cache, "tree", SourceEntries((page("p1", None, title="Keys"),)))
    assert found(cache, "title : keys") == [("p1", "")], "a title without a text renames what was found"
    assert ("p1", "") in found(cache, "secret")
    assert found(cache, "title : tokens") != [("p1", "")]

    index(cache, "live again", SourceEntries((page("p2", "a secret"),), ("s1",)))
    assert sorted(found(cache, "secret")) == [("p1", "r1"), ("p2", "")], "what a complete source does not have is gone"
    cache.close()
