"""What the cache holds is found by its words, without a connection, as soon as it is there and no longer than that."""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.comments import ListComments, ListReplies
from presscheck.api.content import GetChangeRequestPage, GetPage, ListPages
from presscheck.config import Profile
from presscheck.desk.desk import Desk, Hit
from presscheck.paths import Places
from presscheck.store.cache import Cache
from presscheck.wiring import open_desk

ADA = {"object": "user", "id": "u1", "displayName": "Ada"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    places = Places(*(tmp_path / name for name in ("config", "cache", "state", "data")))
    opened = open_desk(Profile(base_url="http://127.0.0.1:9", token="t"), places)
    yield opened
    await opened.close()


async def keep(desk: Desk, call: Any, answer: Any) -> None:
    await desk.keep(call, json.dumps(answer).encode())


async def page(desk: Desk, number: int, title: str, markdown: str, **more: str) -> None:
    call = GetChangeRequestPage if more else GetPage
    asked = call(space_id="s1", page_id=f"p{number}", format="markdown", **more)
    answer = {"id": f"p{number}", "type": "document", "title": title, "path": f"at/{number}", "markdown": markdown}
    await keep(desk, asked, answer)


async def found(desk: Desk, text: str, **how: Any) -> list[str]:
    return [hit.id for hit in await desk.search(text, **how)]


async def one(desk: Desk, text: str) -> Hit:
    hits = await desk.search(text)
    assert len(hits) == 1, (text, hits)
    return hits[0]


async def test_titles_come_first_then_headings_then_the_text(desk: Desk) -> None:
    await page(desk, 1, "Start", "# Start\n\n" + "The tokens rotate. " * 30)
    await page(desk, 2, "Other", "# Other\n\nFirst.\n\n## Tokens and keys\n\nA word.")
    await page(desk, 3, "Tokens of every kind that there is in this long title", "Nothing here.")
    assert (await found(desk, "tokens"))[0] == "p3"
    assert set(await found(desk, "tokens")) == {"p1", "p2", "p3"}
    assert await found(desk, "tokens rotate") == ["p1"]


async def test_words_are_found_as_they_are_typed_and_phrases_as_they_stand(desk: Desk) -> None:
    await page(desk, 1, "One", "Restore the backup, then read `max_retry_count`.")
    await page(desk, 2, "Two", "The backup is old; restore nothing.")
    assert set(await found(desk, "back")) == {"p1", "p2"}
    assert await found(desk, '"restore the backup"') == ["p1"]
    assert await found(desk, '"restore the back"') == []
    assert await found(desk, "max_retry") == ["p1"]
    assert await found(desk, "restore -- nothing") == ["p2"]
    assert await found(desk, '"restore noth') == []
    for nothing in ("", '"', "***", "-", "🎉", "NEAR(", "a AND", "{title}"):
        await desk.search(nothing)


async def test_accents_case_and_width_count_for_nothing(desk: Desk) -> None:
    await page(desk, 1, "Über uns", "Le café est fermé. STRAẞE, \ufb01nal.")
    for text in ("uber", "ÜBER", "cafe ferme", "strasse", "final", "ＣＡＦＥ", "cafe\u0301"):
        assert await found(desk, text) == ["p1"], text
    assert "café est fermé" in (await one(desk, "ferme")).excerpt


async def test_writing_without_blanks_is_found_by_any_part_of_it(desk: Desk) -> None:
    await page(desk, 1, "认证指南", "本页说明如何使用API密钥进行认证。")
    await page(desk, 2, "ガイド", "認証トークンを更新します。")
    await page(desk, 3, "ภาษาไทย", "การยืนยันตัวตน")
    assert await found(desk, "密钥") == ["p1"]
    assert await found(desk, "API密钥") == ["p1"]
    assert await found(desk, "钥密") == []
    assert await found(desk, "トークン") == ["p2"]
    assert await found(desk, "ยืนยัน") == ["p3"]
    assert "使用API密钥" in (await one(desk, "密钥")).excerpt


async def test_change_requests_comments_and_replies_are_found(desk: Desk) -> None:
    request = {"object": "change-request", "id": "r1", "number": 42, "subject": "Rename workspaces", "space": "s1"}
    text = {"object": "text", "leaves": [{"text": "Because of the merger"}]}
    paragraph = {"object": "block", "type": "paragraph", "nodes": [text]}
    request["description"] = {"object": "document", "nodes": [paragraph]}
    await keep(desk, ListChangeRequests(space_id="s1"), {"items": [request], "count": 1})
    path = {"space_id": "s1", "change_request_id": "r1"}
    comment = {"object": "comment", "id": "c1", "postedBy": ADA, "body": {"markdown": "This **limit** is wrong"}}
    comment["target"] = {"space": "s1", "changeRequest": "r1"}
    reply = {"object": "comment-reply", "id": "c2", "postedBy": ADA, "body": {"markdown": "It is a quota"}}
    await keep(desk, ListComments(**path, limit=1000), {"items": [comment]})
    await keep(desk, ListReplies(**path, comment_id="c1"), {"items": [reply]})
    assert [hit.title for hit in await desk.search("42")] == ["#42 Rename workspaces"]
    assert await found(desk, "merger") == ["r1"]
    hit = await one(desk, "limit")
    assert (hit.kind, hit.id, hit.change_request, hit.title) == ("comment", "c1", "r1", "Ada")
    assert hit.excerpt == "This limit is wrong"
    assert (await one(desk, "quota")).change_request == "r1"
    assert await found(desk, "quota", spaces=["s2"]) == []
    await keep(desk, ListComments(**path, limit=1000), {"items": []})
    await keep(desk, ListReplies(**path, comment_id="c1"), {"items": []})
    assert await found(desk, "limit") == []
    assert await found(desk, "quota") == []


async def test_what_is_new_is_found_and_what_is_gone_is_not(desk: Desk) -> None:
    await page(desk, 1, "Old title", "An old word.")
    assert await found(desk, "old word") == ["p1"]
    await page(desk, 1, "New title", "Another word.")
    assert await found(desk, "old") == []
    assert await found(desk, "new another") == ["p1"]
    tree = [{"id": "p1", "title": "Newer title", "path": "a"}, {"id": "p2", "title": "Never read", "path": "b"}]
    await keep(desk, ListPages(space_id="s1"), {"pages": tree})
    assert await found(desk, "newer another") == ["p1"]
    assert await found(desk, "never") == ["p2"]
    await keep(desk, ListPages(space_id="s1"), {"pages": tree[1:]})
    assert await found(desk, "another") == []


async def test_a_page_is_found_once_and_in_its_change_request_where_it_says_so_there(desk: Desk) -> None:
    await page(desk, 1, "Page", "It is so.")
    await page(desk, 1, "Page", "It is so, newly.", change_request_id="r1")
    assert [hit.change_request for hit in await desk.search("so")] == [""]
    assert [hit.change_request for hit in await desk.search("newly")] == ["r1"]
    done = {"object": "change-request", "id": "r1", "number": 1, "status": "merged", "space": "s1"}
    await keep(desk, ListChangeRequests(space_id="s1", status="merged"), {"items": [done]})
    assert await found(desk, "newly") == []


async def test_what_an_older_version_kept_is_read_up_in_the_background(desk: Desk, tmp_path: Path) -> None:
    await page(desk, 1, "Page", "Kept before there was a search.")
    await desk.in_store(lambda cache: None)
    [file] = (tmp_path / "cache").glob("*.sqlite")
    with sqlite3.connect(file) as other:
        for name in ("first_answer", "new_answer", "new_listing", "new_resource"):
            other.execute(f"DROP TRIGGER search_{name}")
        for name in ("words", "texts", "queue", "mark"):
            other.execute(f"DROP TABLE search_{name}")
    other.close()
    cache = Cache(file)
    assert cache.search.waiting() == 1
    cache.close()
    async with asyncio.timeout(20):
        desk._searching.came()
        while not await desk.in_store(lambda one: one.search.waiting() == 0):
            await asyncio.sleep(0.05)
    assert await found(desk, "before there was") == ["p1"]


async def test_nothing_is_read_twice_where_nothing_is_new(desk: Desk) -> None:
    await page(desk, 1, "Page", "Text.")
    await desk.search("text")
    await page(desk, 1, "Page", "Text.")
    assert await desk.in_store(lambda cache: cache.search.waiting()) == 0


async def test_a_window_of_hits_comes_soon(desk: Desk) -> None:
    for number in range(300):
        await page(desk, number, f"Page {number}", f"Common words and n{number} " * 50)
    await desk.search("common", patience=60)
    began = time.perf_counter()
    assert len(await desk.search("c", most=20)) == 20
    assert time.perf_counter() - began < 1
    assert await found(desk, "n299") == ["p299"]
