"""The cache and the outbox: what they store, recovery, and the speed of reads."""

import json
import sqlite3
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import get_ident
from typing import Any

import pytest
from tests.table import each_case

from presscheck.store.cache import Cache, Condition
from presscheck.store.outbox import Outbox


@pytest.fixture
def cache(tmp_path: Path):
    opened = Cache(tmp_path / "home" / "cache.sqlite")
    yield opened
    opened.close()


def things(start: int, count: int) -> list[dict[str, object]]:
    return [
        {"object": "thing", "id": f"t{number}", "n": number, "words": "x" * 200}
        for number in range(start, start + count)
    ]


def test_files_are_private(tmp_path: Path, cache: Cache) -> None:
    outbox = Outbox(tmp_path / "home" / "outbox.sqlite")
    outbox.put("a.B", {}, "s", 1.0)
    for file in (tmp_path / "home").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    outbox.close()


def test_new_version_of_a_resource_is_in_every_response(cache: Cache) -> None:
    cache.keep("get", b'{"object":"thing","id":"t1","title":"old"}', 1.0)
    cache.keep("list", b'{"items":[{"object":"thing","id":"t1","title":"new"}],"count":1}', 2.0)
    answer = cache.answer("get")
    assert answer is not None
    assert '"new"' in answer.json


def test_storing_an_unchanged_response_returns_false(cache: Cache) -> None:
    assert cache.keep("k", b'{"a":1}', 1.0)
    assert not cache.keep("k", b'{"a":1}', 2.0)
    answer = cache.answer("k")
    assert answer is not None
    assert answer.at == 2.0
    assert cache.keep("k", b'{"a":2}', 3.0)


def test_old_rows_of_a_listing_stay_until_the_last_page_is_stored(cache: Cache) -> None:
    cache.keep_page("l", things(0, 3), 0, 1.0, total=3, last=True)
    cache.keep_page("l", things(10, 2), 0, 2.0, total=4, last=False)
    assert '"t0"' in cache.window("l", 0, 9).items[0]
    cache.keep_page("l", things(12, 2), 2, 2.0, total=4, last=True)
    assert [f'"t{number}"' in item for number, item in zip(range(10, 14), cache.window("l", 0, 9).items, strict=True)]
    assert cache.window("l", 0, 9).total == 4


@pytest.mark.parametrize(
    ("read", "rows"),
    [
        (lambda cache: len(cache.window("l", 0, 9).items), 3),
        (lambda cache: len(json.loads(cache.answer("l").json)["items"]), 3),
        (lambda cache: len(cache.rows("l", [0, 1, 2])), 3),
        (lambda cache: cache.positions("l", ["t1"]), {"t1": 1}),
        (lambda cache: len(cache.first_matching("l", [Condition("$.n", "is", 1)], 3)), 1),
    ],
    ids=["window", "answer", "rows", "positions", "first matching"],
)
def test_listing_is_never_empty_while_its_rows_are_replaced(
    cache: Cache, read: Callable[[Cache], Any], rows: Any
) -> None:
    cache.keep_page("l", things(0, 3), 0, 1.0, total=3, last=True)
    replaced: list[str] = []

    def replace(statement: str) -> None:
        if "FROM items" in statement and not replaced:
            replaced.append(statement)
            cache.keep_page("l", things(0, 3), 0, 2.0, total=3, last=True)

    cache._readers[0].database.set_trace_callback(replace)
    assert read(cache) == rows
    assert replaced, "the rows were not replaced between the statements"
    assert read(cache) == rows


@pytest.mark.slow
def test_window_takes_constant_time_in_long_listings(cache: Cache) -> None:
    for key, count in (("short", 1000), ("long", 20_000)):
        for start in range(0, count, 1000):
            cache.keep_page(key, things(start, 1000), start, 1.0, total=count, last=start + 1000 == count)

    def cpu_time(key: str, start: int) -> float:
        start_time = time.thread_time()
        for _ in range(200):
            assert len(cache.window(key, start, 40).items) == 40
        return time.thread_time() - start_time

    cpu_time("short", 0)
    assert min(cpu_time("long", 12_000) for _ in range(3)) < 4 * min(cpu_time("short", 500) for _ in range(3))


@each_case("damage", [b"no database at all" * 99, b""])
def test_damaged_cache_is_moved_aside_and_reported(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "cache.sqlite"
    path.write_bytes(damage)
    cache = Cache(path)
    assert bool(cache.notice) == bool(damage)
    assert cache.keep("k", b'{"a":1}', 1.0)
    cache.close()
    assert bool(list(tmp_path.glob("*.aside-*"))) == bool(damage)


def test_cache_of_an_unknown_version_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    other = sqlite3.connect(path)
    other.execute("PRAGMA user_version = 99")
    other.close()
    cache = Cache(path)
    assert "a new one was created" in (cache.notice or "")
    cache.close()


def test_without_a_writable_directory_the_cache_is_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache.sqlite")
    assert "in memory" in (cache.notice or "")
    assert cache.keep("k", b'{"a":1}', 1.0)
    assert cache.answer("k") is not None
    cache.close()


def test_outbox_is_never_rebuilt_silently(tmp_path: Path) -> None:
    (tmp_path / "outbox.sqlite").write_bytes(b"damaged" * 1000)
    outbox = Outbox(tmp_path / "outbox.sqlite")
    assert ".aside-" in (outbox.notice or "")
    outbox.close()


def test_delivered_id_replaces_the_placeholder_in_dependent_writes(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    first = outbox.put("comments.PostComment", {"body": "a"}, "s", 1.0)
    outbox.put("comments.PostReply", {"comment_id": f"waiting:{first}"}, "s", 2.0)
    outbox.delivered(first, "c9")
    assert [row.given for row in outbox.rows()] == [{"comment_id": "c9"}]
    outbox.close()


def test_only_one_instance_may_send(tmp_path: Path) -> None:
    first, second = (Outbox(tmp_path / "outbox.sqlite") for _ in range(2))
    assert first.may_send()
    assert not second.may_send()
    first.close()
    assert second.may_send()
    second.close()


def test_drafts_and_marks_survive_a_restart(tmp_path: Path) -> None:
    outbox = Outbox(tmp_path / "outbox.sqlite")
    outbox.save_draft("d", "half a sen")
    outbox.mark_viewed("c", "p", "r1")
    outbox.remember("m", "v")
    outbox.close()
    again = Outbox(tmp_path / "outbox.sqlite")
    assert (again.draft("d"), again.viewed("c"), again.recall("m")) == ("half a sen", {"p": "r1"}, "v")
    again.save_draft("d", "")
    again.mark_viewed("c", "p", None)
    assert (again.draft("d"), again.viewed("c")) == ("", {})
    again.close()


@pytest.mark.parametrize("can_write", [True, False], ids=["a file", "in memory"])
def test_no_connection_is_used_by_both_threads(
    tmp_path: Path, can_write: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def connect_and_record(*arguments: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", connect_and_record)
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / ("cache" if can_write else "file") / "cache.sqlite")
    users: dict[int, set[int]] = {number: set() for number in range(len(opened))}
    for number, connection in enumerate(opened):
        connection.set_trace_callback(lambda _, number=number: users[number].add(get_ident()))
    with ThreadPoolExecutor(1) as writer:
        for key in ("a listing", "another"):
            assert not cache.window(key, 0, 9).items
            assert writer.submit(cache.matching, key, []).result().tolist() == []
            writer.submit(cache.keep_page, key, things(0, 3), 0, 1.0, total=3, last=True).result()
            assert len(writer.submit(cache.matching, key, []).result()) == 3
            assert len(cache.window(key, 0, 9).items) == len(cache.first_matching(key, [], 9)) == 3
    assert sorted(len(threads) for threads in users.values()) == [1, 1]
    cache.close()
