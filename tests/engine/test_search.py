"""Full-text search: first in cached content, then by the service."""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.engine.live_engine import places_in
from tests.engine.scripted_service import ScriptedService

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.comments import GetComment, ListComments, ListReplies
from presscheck.api.content import GetChangeRequestPage, GetCurrentRevision, GetDocument, GetPage, ListPages
from presscheck.api.organizations import ListOrganizations, SearchOrganization
from presscheck.api.spaces import GetSpace
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine, Hit
from presscheck.engine.search.search import MAX_QUERY_LENGTH
from presscheck.errors import NetworkError, ServiceFailed
from presscheck.store.cache import Cache
from presscheck.wiring import open_engine

ADA = {"object": "user", "id": "u1", "displayName": "Ada"}
COMMENT = {
    "object": "comment",
    "id": "c1",
    "postedBy": ADA,
    "body": {"markdown": "A word."},
    "target": {"space": "s1", "changeRequest": "r1", "page": {"id": "p7"}},
}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    opened = open_engine(Profile(base_url="http://127.0.0.1:9", token="t"), places_in(tmp_path))
    yield opened
    await opened.close()


async def keep(engine: Engine, call: Any, answer: Any) -> None:
    await engine.keep(call, json.dumps(answer).encode())


async def page(engine: Engine, number: int, title: str, markdown: str, **more: str) -> None:
    call = GetChangeRequestPage if more else GetPage
    asked = call(space_id="s1", page_id=f"p{number}", format="markdown", **more)
    answer = {"id": f"p{number}", "type": "document", "title": title, "path": f"at/{number}", "markdown": markdown}
    await keep(engine, asked, answer)


async def here(engine: Engine, text: str, **how: Any) -> tuple[Hit, ...]:
    [seen] = [one async for one in engine.search(text, local_only=True, **how)]
    return seen.value


async def found(engine: Engine, text: str, **how: Any) -> list[str]:
    return [hit.id for hit in await here(engine, text, **how)]


async def one(engine: Engine, text: str) -> Hit:
    hits = await here(engine, text)
    assert len(hits) == 1, (text, hits)
    return hits[0]


async def test_titles_come_first_then_headings_then_the_text(engine: Engine) -> None:
    await page(engine, 1, "Start", "# Start\n\n" + "The tokens rotate. " * 30)
    await page(engine, 2, "Other", "# Other\n\nFirst.\n\n## Tokens and keys\n\nA word.")
    await page(engine, 3, "Tokens of every kind that there is in this long title", "Nothing here.")
    assert (await found(engine, "tokens"))[0] == "p3"
    assert set(await found(engine, "tokens")) == {"p1", "p2", "p3"}
    assert await found(engine, "tokens rotate") == ["p1"]


async def test_words_match_their_beginnings_and_phrases_match_whole_words(engine: Engine) -> None:
    await page(engine, 1, "One", "Restore the backup, then read `max_retry_count`.")
    await page(engine, 2, "Two", "The backup is old; restore nothing.")
    assert set(await found(engine, "back")) == {"p1", "p2"}
    assert await found(engine, '"restore the backup"') == ["p1"]
    assert await found(engine, '"restore the back"') == []
    assert await found(engine, "max_retry") == ["p1"]
    assert await found(engine, "restore -- nothing") == ["p2"]
    assert await found(engine, '"restore noth') == []
    for nothing in ("", '"', "***", "-", "🎉", "NEAR(", "a AND", "{title}"):
        await here(engine, nothing)


async def test_search_ignores_accents_case_and_width(engine: Engine) -> None:
    await page(engine, 1, "Über uns", "Le café est fermé. STRAẞE, \ufb01nal.")
    for text in ("uber", "ÜBER", "cafe ferme", "strasse", "final", "ＣＡＦＥ", "cafe\u0301"):
        assert await found(engine, text) == ["p1"], text
    assert "café est fermé" in (await one(engine, "ferme")).excerpt


async def test_unspaced_scripts_are_found_by_any_part(engine: Engine) -> None:
    await page(engine, 1, "认证指南", "本页说明如何使用API密钥进行认证。")
    await page(engine, 2, "ガイド", "認証トークンを更新します。")
    await page(engine, 3, "ภาษาไทย", "การยืนยันตัวตน")
    assert await found(engine, "密钥") == ["p1"]
    assert await found(engine, "API密钥") == ["p1"]
    assert await found(engine, "钥密") == []
    assert await found(engine, "トークン") == ["p2"]
    assert await found(engine, "ยืนยัน") == ["p3"]
    assert "使用API密钥" in (await one(engine, "密钥")).excerpt


async def test_change_requests_comments_and_replies_are_found(engine: Engine) -> None:
    request = {"object": "change-request", "id": "r1", "number": 42, "subject": "Rename workspaces", "space": "s1"}
    text = {"object": "text", "leaves": [{"text": "Because of the merger"}]}
    paragraph = {"object": "block", "type": "paragraph", "nodes": [text]}
    request["description"] = {"object": "document", "nodes": [paragraph]}
    await keep(engine, ListChangeRequests(space_id="s1"), {"items": [request], "count": 1})
    path = {"space_id": "s1", "change_request_id": "r1"}
    comment = COMMENT | {"body": {"markdown": "This **limit** is wrong"}}
    reply = {"object": "comment-reply", "id": "c2", "postedBy": ADA, "body": {"markdown": "It is a quota"}}
    await keep(engine, ListComments(**path, limit=1000), {"items": [comment]})
    await keep(engine, ListReplies(**path, comment_id="c1"), {"items": [reply]})
    assert [hit.title for hit in await here(engine, "42")] == ["#42 Rename workspaces"]
    assert await found(engine, "merger") == ["r1"]
    hit = await one(engine, "limit")
    assert (hit.kind, hit.id, hit.change_request, hit.title) == ("comment", "c1", "r1", "Ada")
    assert hit.page == "p7"
    assert hit.excerpt == "This limit is wrong"
    assert [(one.change_request, one.path) for one in await here(engine, "quota")] == [("r1", "c1")]
    assert await found(engine, "quota", organization="o1") == []
    await keep(engine, GetSpace(space_id="s1"), {"object": "space", "id": "s1", "title": "Docs", "organization": "o1"})
    assert [hit.space_title for hit in await here(engine, "quota", organization="o1")] == ["Docs"]
    assert await found(engine, "quota", organization="o2") == []
    await keep(engine, ListComments(**path, limit=1000), {"items": []})
    await keep(engine, ListReplies(**path, comment_id="c1"), {"items": []})
    assert await found(engine, "limit") == []
    assert await found(engine, "quota") == []


async def test_the_index_follows_changes_and_deletions(engine: Engine) -> None:
    await page(engine, 1, "Old title", "An old word.")
    assert await found(engine, "old word") == ["p1"]
    await page(engine, 1, "New title", "Another word.")
    assert await found(engine, "old") == []
    assert await found(engine, "new another") == ["p1"]
    tree = [{"id": "p1", "title": "Newer title", "path": "a"}, {"id": "p2", "title": "Never read", "path": "b"}]
    await keep(engine, ListPages(space_id="s1"), {"pages": tree})
    assert await found(engine, "newer another") == ["p1"]
    assert await found(engine, "never") == ["p2"]
    await keep(engine, ListPages(space_id="s1"), {"pages": tree[1:]})
    assert await found(engine, "another") == []


async def test_page_is_found_once_on_main_or_in_a_change_request(engine: Engine) -> None:
    await page(engine, 1, "Page", "It is so.")
    await page(engine, 1, "Page", "It is so, newly.", change_request_id="r1")
    assert [hit.change_request for hit in await here(engine, "so")] == [""]
    assert [hit.change_request for hit in await here(engine, "newly")] == ["r1"]
    done = {"object": "change-request", "id": "r1", "number": 1, "status": "merged", "space": "s1"}
    await keep(engine, ListChangeRequests(space_id="s1", status="merged"), {"items": [done]})
    assert await found(engine, "newly") == []


async def test_reusable_content_is_found_with_the_pages_that_include_it(engine: Engine) -> None:
    await page(engine, 1, "Lamps", 'Oil.\n\n{% include "../.gitbook/includes/safety.md" %}\n')
    await page(engine, 2, "Stoves", 'Heat.\n\n{% include "/~/reusable/safety" %}\n')
    await page(engine, 3, "Wicks", "A wick, and nothing else.")
    tree = [
        {"id": f"p{number}", "type": "document", "title": title, "path": f"at/{number}", "documentId": f"d{number}"}
        | {"git": {"oid": "0", "path": f"at/{number}.md"}}
        for number, title in enumerate(("Lamps", "Stoves", "Wicks"), start=1)
    ]
    git = {"oid": "0", "path": ".gitbook/includes/safety.md"}
    snippet = {"id": "safety", "title": "Safety", "document": "d9", "git": git}
    revision = {"object": "revision", "id": "v1", "pages": tree, "reusableContents": [snippet]}
    await keep(engine, GetCurrentRevision(space_id="s1"), revision)
    leaves = [{"object": "leaf", "text": "Trim the wick."}]
    text = {"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": leaves}]}
    for name in ("d9", "former"):
        await keep(engine, GetDocument(space_id="s1", document_id=name), {"object": "document", "nodes": [text]})
    hits = await here(engine, "wick")
    assert {(hit.kind, hit.title, hit.path) for hit in hits} == {
        ("page", "Lamps", "at/1"),
        ("page", "Stoves", "at/2"),
        ("page", "Wicks", "at/3"),
    }
    assert len(hits) == 3
    assert next(hit for hit in hits if hit.id == "p1").excerpt == "Trim the wick."


def file_of(home: Path) -> Path:
    [file] = (home / "cache").glob("*.sqlite")
    return file


async def test_new_responses_are_indexed_in_the_background(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("presscheck.engine.reads.cached_reads.INDEX_DELAY", 0.0)
    await engine.in_store(lambda cache: cache.search.waiting())
    for number in range(40):
        await page(engine, number, f"Page {number}", "Words. " * 500)
    assert engine._index._task
    await engine._index._task
    assert await engine.in_store(lambda cache: cache.search.waiting()) == 0
    assert await found(engine, "17", index_timeout=0) == ["p17"]


async def test_an_index_of_an_older_version_is_rebuilt(engine: Engine, tmp_path: Path) -> None:
    await page(engine, 1, "Page", "Kept before there was this kind of search.")
    assert await found(engine, "before there was") == ["p1"]
    with closing(sqlite3.connect(file_of(tmp_path), isolation_level=None)) as other:
        other.execute("UPDATE search_mark SET version = version - 1")
    cache = Cache(file_of(tmp_path))
    assert cache.search.waiting() == 1
    cache.close()
    assert await found(engine, "before there was") == ["p1"]


@pytest.mark.parametrize("goes", ["DELETE FROM answers", "UPDATE answers SET key = 'evicted ' || number"])
async def test_evicted_responses_leave_the_index_at_once(engine: Engine, tmp_path: Path, goes: str) -> None:
    await page(engine, 1, "One", "A word.")
    await page(engine, 2, "Two", "A word.")
    tree = [{"id": f"p{one}", "title": title, "path": title} for one, title in ((1, "One"), (2, "Two"), (3, "Three"))]
    await keep(engine, ListPages(space_id="s1"), {"pages": tree})
    await keep(engine, GetComment(space_id="s1", change_request_id="r1", comment_id="c1"), COMMENT)
    assert set(await found(engine, "word")) == {"p1", "p2", "c1"}
    with closing(sqlite3.connect(file_of(tmp_path), isolation_level=None)) as other:
        other.execute(f"{goes} WHERE key GLOB 'getPageById *\"p1\"*'")
        other.execute("DELETE FROM resources")
        assert other.execute("SELECT id FROM search_texts ORDER BY 1").fetchall() == [("p2",), ("p3",)]
        assert await found(engine, "word") == ["p2"]
        assert await found(engine, "one") == ["p1"], "its title is listed still"
        other.execute(f"{goes} WHERE key GLOB 'listPages *'")
        assert other.execute("SELECT id FROM search_texts").fetchall() == [("p2",)]
        other.execute(f"{goes} WHERE key GLOB 'getPage*'")
        for table in ("texts", "words", "sources", "queue"):
            assert other.execute(f"SELECT count(*) FROM search_{table}").fetchone() == (0,), table


async def test_page_that_is_listed_again_is_found_again(engine: Engine) -> None:
    tree = [{"id": "p1", "title": "One", "path": "a"}]
    await keep(engine, ListPages(space_id="s1"), {"pages": tree})
    await page(engine, 1, "One", "A word.")
    assert await found(engine, "word") == ["p1"]
    await keep(engine, ListPages(space_id="s1"), {"pages": []})
    assert await found(engine, "word") == []
    await keep(engine, ListPages(space_id="s1"), {"pages": tree})
    assert await found(engine, "word") == ["p1"]


async def test_a_damaged_index_has_no_results(engine: Engine, tmp_path: Path) -> None:
    await page(engine, 1, "One", "A word.")
    assert await found(engine, "word") == ["p1"]
    with closing(sqlite3.connect(file_of(tmp_path), isolation_level=None)) as other:
        other.execute("DROP TABLE search_words")
    assert await found(engine, "word") == []


async def test_an_unchanged_response_is_not_indexed_again(engine: Engine) -> None:
    await page(engine, 1, "Page", "Text.")
    await here(engine, "text")
    await page(engine, 1, "Page", "Text.")
    assert await engine.in_store(lambda cache: cache.search.waiting()) == 0


async def from_service(engine: Engine, service: ScriptedService, text: str, **how: Any) -> list[tuple[str, list[str]]]:
    """Search with the service. Returns the state and the ids of the hits of each result."""
    engine._scheduler._connect = lambda: service
    engine._scheduler.start()
    return [(result.state, [hit.id for hit in result.value]) async for result in engine.search(text, **how)]


def of_service(*pages: str) -> dict[str, Any]:
    rows = [{"id": name, "title": name, "path": name, "description": " A \n page ", "urls": {}} for name in pages]
    return {"items": [{"id": "s1", "title": "Space", "pages": rows}]}


async def test_hits_of_the_service_follow_cached_hits(engine: Engine) -> None:
    await keep(engine, GetSpace(space_id="s1"), {"object": "space", "id": "s1", "organization": "o"})
    await page(engine, 1, "Word", "A word.")
    ask = SearchOrganization(organization_id="o", query="word")
    service = ScriptedService([(ask, of_service("new", "p1", "other"))])
    assert await from_service(engine, service, "word", organization="o") == [
        ("cached", ["p1"]),
        ("fresh", ["p1", "new", "other"]),
    ]
    assert (await from_service(engine, service, "word", organization="o", limit=2))[1] == ("fresh", ["p1", "new"])
    service.answer(ask, of_service("p1"))
    assert (await from_service(engine, service, "word", organization="o"))[1] == ("unchanged", ["p1"])
    service.sent.clear()
    assert await from_service(engine, service, "  ", organization="o") == [("cached", [])]
    assert service.sent == []
    long = "word " * 200
    service.answer(SearchOrganization(organization_id="o", query=long[:MAX_QUERY_LENGTH]), of_service("far"))
    assert (await from_service(engine, service, long, organization="o"))[1] == ("fresh", ["p1", "far"])


async def test_all_organizations_are_searched_if_none_is_named(engine: Engine) -> None:
    names = {"items": [{"object": "organization", "id": name, "title": name} for name in ("a", "b")]}
    asks = [SearchOrganization(organization_id=name, query="x") for name in ("a", "b")]
    service = ScriptedService([(ListOrganizations(), names), (asks[0], of_service("1")), (asks[1], of_service("2"))])
    assert (await from_service(engine, service, "x"))[1] == ("fresh", ["1", "2"])
    [_, result] = [result async for result in engine.search("x")]
    assert [(hit.excerpt, hit.space_title, hit.kind, hit.page) for hit in result.value][:1] == [
        ("A page", "Space", "page", "1")
    ]
    assert service.sent.count(ListOrganizations()) == 1, "they are cached"


async def test_failed_search_keeps_cached_hits(engine: Engine) -> None:
    await keep(engine, GetSpace(space_id="s1"), {"object": "space", "id": "s1", "organization": "o"})
    await page(engine, 1, "Word", "A word.")
    ask = SearchOrganization(organization_id="o", query="word")
    service = ScriptedService([(ask, ServiceFailed("Broken", request="", status=500))])
    assert (await from_service(engine, service, "word", organization="o"))[1] == ("failed", ["p1"])
    service.answer(ask, NetworkError("gone", request=""))
    assert (await from_service(engine, service, "word", organization="o"))[1] == ("offline", ["p1"])
