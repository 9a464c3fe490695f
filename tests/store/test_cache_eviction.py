"""The cache stays within its size limit: least recently used responses are evicted in batches, pinned ones stay."""

import json
import sqlite3
import time
from pathlib import Path

import pytest

from presscheck.store.cache import BATCH, Cache, size

KB = 1000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache.sqlite"


def answer(number: int, kilobytes: int = 20) -> bytes:
    return json.dumps({"object": "thing", "id": f"t{number}", "text": "x" * kilobytes * KB}).encode()


def things(count: int, name: str = "t") -> list[dict[str, object]]:
    return [{"object": "thing", "id": f"{name}{number}", "text": "x" * 100} for number in range(count)]


def evict_all(cache: Cache, *pinned: str) -> int:
    """Evict until nothing is left to evict. Returns the number of steps."""
    steps = 0
    while cache.evict(pinned):
        steps += 1
        assert steps < 10_000
    return steps


def stored_bytes(path: Path) -> int:
    database = sqlite3.connect(path)
    bytes_used = size(database)
    database.close()
    return bytes_used


def test_below_the_limit_nothing_is_evicted(path: Path) -> None:
    cache = Cache(path, limit=1000 * KB)
    for number in range(30):
        cache.keep(f"k{number}", answer(number), float(number))
    assert not cache.evict(())
    assert all(cache.answer(f"k{number}") for number in range(30))
    cache.close()


def test_least_recently_used_response_is_evicted_first(path: Path) -> None:
    cache = Cache(path, limit=1000 * KB)
    for number in range(100):
        cache.keep(f"k{number}", answer(number), float(number))
    assert cache.answer("k3")
    evict_all(cache, "k5")
    remaining = [number for number in range(100) if cache.answer(f"k{number}")]
    assert remaining[:2] == [3, 5], "k3 was read just now, k5 is pinned"
    assert remaining[2:] == [*range(100 - len(remaining) + 2, 100)]
    assert len(remaining) > 30
    assert stored_bytes(path) <= 1000 * KB
    cache.close()
    assert path.stat().st_size <= 1100 * KB, "the file has shrunk"


def test_times_of_use_survive_a_restart(path: Path) -> None:
    first = Cache(path, limit=1000 * KB)
    for number in range(40):
        first.keep(f"k{number}", answer(number), float(number))
    assert first.window("k0", 0, 1)
    assert first.answer("k0")
    first.close()
    second = Cache(path, limit=500 * KB)
    evict_all(second)
    assert second.answer("k0")
    assert not second.answer("k1")
    second.close()


def test_shared_resource_stays_when_one_response_is_evicted(path: Path) -> None:
    cache = Cache(path, limit=400 * KB)
    cache.keep("old", answer(0), 1.0)
    cache.keep_page("old list", [json.loads(answer(0)), *things(3)], 0, 2.0, total=4, last=True)
    cache.keep("new", answer(0), 3.0)
    for number in range(1, 40):
        cache.keep(f"k{number}", answer(number), 4.0)
    assert cache.answer("new")
    evict_all(cache)
    assert cache.answer("old") is None
    assert cache.window("old list", 0, 9).at is None
    assert cache.resource("thing", "t2") is None
    remaining = cache.answer("new")
    assert remaining
    assert json.loads(remaining.json)["id"] == "t0"
    cache.close()


def test_unreferenced_resources_are_evicted_first(path: Path) -> None:
    cache = Cache(path, limit=1000 * KB)
    cache.keep("old", answer(0), 1.0)
    for number in range(1, 60):
        cache.keep_resource(json.loads(answer(number)))
    evict_all(cache)
    assert cache.answer("old")
    assert cache.resource("thing", "t7") is None
    cache.close()


def test_long_listing_is_evicted_in_batches_and_never_read_in_part(path: Path) -> None:
    cache = Cache(path, limit=200 * KB)
    cache.keep_page("long", things(2_000), 0, 1.0, total=2_000, last=True)
    cache.keep_page("short", things(50, "s"), 0, 2.0, total=50, last=True)
    changes_before, row_counts = cache._writer.total_changes, set[int]()
    largest = 0
    while cache.evict(()):
        window = cache._readers[0].window("long", 0, 4_000)  # unlike Cache.window, this does not update the time of use
        row_counts.add(len(window.items) if window else 0)
        largest = max(largest, cache._writer.total_changes - changes_before)
        changes_before = cache._writer.total_changes
        cache.keep("meanwhile", b'{"a":1}', time.time())
    assert row_counts == {2_000, 0}, "the listing is complete or gone, never partial"
    assert largest <= 2 * BATCH + 5
    assert len(cache.window("short", 0, 99).items) == 50
    cache.close()


def test_pinned_responses_stay_above_the_limit(path: Path) -> None:
    cache = Cache(path, limit=100 * KB)
    cache.keep_page("shown", things(3000), 0, 1.0, total=3000, last=True)
    cache.keep("gone", answer(1), 2.0)
    evict_all(cache, "shown")
    assert len(cache.window("shown", 0, 5000).items) == 3000
    assert cache.answer("gone") is None
    assert not cache.evict(("shown",)), "eviction ends although the cache is above its limit"
    cache.close()


def test_two_instances_can_evict_from_one_cache(path: Path) -> None:
    both = [Cache(path, limit=500 * KB) for _ in range(2)]
    for number in range(60):
        both[number % 2].keep(f"k{number}", answer(number), float(number))
    while both[0].evict(()) | both[1].evict(()):
        pass
    assert stored_bytes(path) <= 500 * KB
    assert both[0].answer("k59")
    assert [cache.notice for cache in both] == [None, None]
    for cache in both:
        cache.close()


def test_page_of_an_unknown_listing_is_ignored_unless_it_is_the_first(path: Path) -> None:
    cache = Cache(path)
    assert not cache.keep_page("l", things(5), 100, 1.0, total=105, last=True)
    assert cache.window("l", 0, 200).at is None
    cache.close()
