"""Totals of listings. Only the local service sends totals; without one, the last page gives the number of rows."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from presscheck.store.cache import Cache


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    opened = Cache(tmp_path / "cache.sqlite")
    yield opened
    opened.close()


def things(start: int, count: int) -> list[dict[str, object]]:
    return [{"object": "thing", "id": f"t{number}"} for number in range(start, start + count)]


def stored_counts(cache: Cache, key: str) -> tuple[int | None, int | None]:
    """Return the count and the total of the cached response."""
    answer = cache.answer(key)
    assert answer
    listing = json.loads(answer.json)
    return listing.get("count"), listing.get("total")


def listing_length(cache: Cache, key: str) -> tuple[int, bool, bool]:
    """Return the number of rows of a listing, whether it is the total, and whether all rows are cached."""
    window = cache.window(key, 0, 0)
    return window.total, window.is_total_known, window.complete


@pytest.mark.parametrize(
    ("answer", "numbers", "expected"),
    [
        ({"items": things(0, 2), "count": 2}, (2, 2), (2, True, True)),
        ({"items": things(0, 2), "count": 2, "total": 2}, (2, 2), (2, True, True)),
        ({"items": things(0, 2), "count": 2, "next": {"page": "n"}}, (2, None), (2, False, False)),
        ({"items": things(0, 2), "count": 2, "total": 9, "next": {"page": "n"}}, (2, 9), (9, True, False)),
        ({"items": things(0, 2), "total": 1, "next": {"page": "n"}}, (2, None), (2, False, False)),
        ({"items": things(0, 2), "total": -1, "next": {"page": "n"}}, (2, None), (2, False, False)),
        ({"items": things(0, 2), "total": 10**30, "next": {"page": "n"}}, (2, None), (2, False, False)),
    ],
)
def test_totals_of_unpaged_responses(
    cache: Cache, answer: dict[str, object], numbers: tuple[int, int | None], expected: tuple[int, bool, bool]
) -> None:
    cache.keep("l", json.dumps(answer).encode(), 1.0)
    assert stored_counts(cache, "l") == numbers
    assert listing_length(cache, "l") == expected


def test_total_is_known_after_the_last_page(cache: Cache) -> None:
    assert cache.keep_page("l", things(0, 3), 0, 1.0, total=None, last=False)
    assert listing_length(cache, "l") == (3, False, False)
    assert cache.keep_page("l", things(3, 3), 3, 1.0, total=None, last=False)
    assert listing_length(cache, "l") == (6, False, False)
    assert stored_counts(cache, "l") == (6, None)
    assert cache.keep_page("l", things(6, 1), 6, 1.0, total=None, last=True)
    assert listing_length(cache, "l") == (7, True, True)
    assert stored_counts(cache, "l") == (7, 7)


@pytest.mark.parametrize("total", [None, 4])
def test_storing_the_same_pages_again_reports_no_change(cache: Cache, total: int | None) -> None:
    for changed in (True, False):
        assert cache.keep_page("l", things(0, 2), 0, 1.0, total=total, last=False) is changed
        assert cache.keep_page("l", things(2, 2), 2, 1.0, total=total, last=True) is changed
        assert listing_length(cache, "l") == (4, True, True)
    cache.keep_page("l", things(0, 2), 0, 1.0, total=total, last=False)
    assert cache.keep_page("l", things(2, 1), 2, 1.0, total=3, last=True), "one row was removed"


def test_truncated_listing_has_no_known_total(cache: Cache) -> None:
    cache.keep_page("l", things(0, 4), 0, 1.0, total=4, last=True)
    cache.keep_page("l", things(10, 2), 0, 2.0, total=None, last=True, has_more=True)
    assert listing_length(cache, "l") == (2, False, False)
    assert '"t10"' in cache.window("l", 0, 9).items[0]


def test_totals_of_an_older_cache_are_migrated(tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite"
    cache = Cache(file)
    cache.keep_page("whole", things(0, 3), 0, 1.0, total=None, last=True)
    cache.keep_page("begun", things(0, 2), 0, 1.0, total=None, last=False)
    cache.keep("resource", b'{"object":"thing","id":"t9"}', 1.0)
    cache.close()
    with closing(sqlite3.connect(file, isolation_level=None)) as older:
        older.execute(
            "UPDATE answers SET total = 100 WHERE key = 'begun'"
        )  # the older schema stored the page size here
        older.execute("ALTER TABLE answers DROP COLUMN more")
        older.execute("PRAGMA user_version = 3")
    cache = Cache(file)
    assert cache.notice is None
    assert listing_length(cache, "whole") == (3, True, True)
    assert listing_length(cache, "begun") == (2, False, False)
    assert stored_counts(cache, "begun") == (2, None)
    assert cache.answer("resource")
    cache.close()
