"""Times reads of the first rows of a screen from the cache, compared with reading the same bytes with plain sqlite3.

Usage: python -m benchmarks.cached_reading [--rounds N]. Makes caches of 1,000, 10,000 and 100,000 change requests in a
directory of its own, then reads a window of 40 rows, and one answer of 100 kB, in turn with plain sqlite3: with the
opening of the file, as a start does, and once it is open. Medians in microseconds.
"""

import argparse
import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from presscheck.api.change_requests import ListOrganizationChangeRequests
from presscheck.api.content import GetPage
from presscheck.store.cache import Cache

ROWS = 40
PAGE = 1000
"""Number of rows that are stored at once."""
LISTING = ListOrganizationChangeRequests(organization_id="o1", status="open")
TEXT = GetPage(space_id="s1", page_id="p1", format="markdown")
PLAIN = """
SELECT coalesce(resources.json, items.json) FROM items
LEFT JOIN resources ON resources.object = items.object AND resources.id = items.id
WHERE answer = ? AND generation = ? AND position >= ? AND position < ? ORDER BY position
"""


def request(number: int) -> dict[str, object]:
    """Return a change request as the service sends it, about 700 bytes of JSON."""
    person = {"object": "user", "id": f"u{number % 50}", "displayName": f"Person {number % 50}", "urls": {}}
    return {
        "object": "change-request",
        "id": f"c{number}",
        "number": number,
        "status": "open",
        "subject": f"Say where the keyring is, and what to do without one, part {number}",
        "space": f"s{number % 20}",
        "createdBy": person,
        "createdAt": "2026-03-01T09:00:00.000Z",
        "updatedAt": "2026-03-14T09:00:00.000Z",
        "comments": number % 7,
        "outdated": number % 5 == 0,
        "contributors": [],
        "revision": f"r{number}",
        "revisionInitial": f"i{number}",
        "urls": {"location": f"https://api.example.org/v1/spaces/s1/change-requests/c{number}", "app": "x" * 120},
    }


def filled(path: Path, count: int) -> Path:
    """Create a cache with a listing of `count` rows and a page of text."""
    cache = Cache(path)
    for start in range(0, count, PAGE):
        rows = [request(number) for number in range(start, min(start + PAGE, count))]
        cache.keep_page(LISTING.key(), rows, start, 1.0, total=count, last=start + PAGE >= count)
    page = {"object": "revision-page", "id": "p1", "title": "Large", "markdown": "A sentence of a page. " * 4700}
    cache.keep(TEXT.key(), json.dumps(page).encode(), 1.0)
    cache.close()
    return path


def plain_window(database: sqlite3.Connection, start: int) -> int:
    """Read the rows with sqlite3. Returns their size in bytes."""
    answer = database.execute("SELECT number, generation FROM answers WHERE key = ?", (LISTING.key(),)).fetchone()
    return sum(len(text) for (text,) in database.execute(PLAIN, (*answer, start, start + ROWS)))


def plain_answer(database: sqlite3.Connection) -> int:
    """Read the response with sqlite3. Returns its size in bytes."""
    row = database.execute(
        "SELECT resources.json FROM answers JOIN resources USING (object, id) WHERE key = ?", (TEXT.key(),)
    ).fetchone()
    return len(row[0])


def ours_window(cache: Cache, start: int) -> int:
    """Read the rows from the cache. Returns their size in bytes."""
    return sum(map(len, cache.window(LISTING.key(), start, ROWS).items))


def ours_answer(cache: Cache) -> int:
    """Read the response from the cache. Returns its size in bytes."""
    answer = cache.answer(TEXT.key())
    return len(answer.json) if answer else 0


def in_turn(rounds: int, ours: Callable[[], int], plain: Callable[[], int]) -> tuple[float, float]:
    """Run both functions in turn and return their median times in microseconds. Both must read the same bytes."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        sizes: list[int] = []
        for durations, read in zip(times, (ours, plain), strict=True):
            start = perf_counter()
            sizes.append(read())
            durations.append((perf_counter() - start) * 1e6)
        assert sizes[0] == sizes[1] > 0, sizes
    return median(times[0]), median(times[1])


def opened(rounds: int, path: Path) -> tuple[float, float]:
    """Return the median times in microseconds of opening the file and reading the rows."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        start = perf_counter()
        cache = Cache(path)
        ours_window(cache, 0)
        times[0].append((perf_counter() - start) * 1e6)
        cache.close()
        start = perf_counter()
        database = sqlite3.connect(path)
        plain_window(database, 0)
        times[1].append((perf_counter() - start) * 1e6)
        database.close()
    return median(times[0]), median(times[1])


def tell(label: str, ours: float, plain: float) -> None:
    """Print a line of the table."""
    print(f"{label:<52} {ours:>9,.0f} µs {plain:>9,.0f} µs {ours / plain:>6.2f}")


def main() -> None:
    """Create the caches and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    rounds: int = parser.parse_args().rounds
    print(f"{'':<52} {'presscheck':>12} {'sqlite3':>12} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as home:
        for count in (1_000, 10_000, 100_000):
            path = filled(Path(home) / f"{count}.sqlite", count)
            tell(f"{ROWS} of {count:,} rows, with opening the file", *opened(rounds // 3, path))
            cache, database = Cache(path), sqlite3.connect(path)
            for name, start in (("first", 0), ("middle", count // 2), ("last", count - ROWS)):
                results = in_turn(
                    rounds,
                    lambda cache=cache, start=start: ours_window(cache, start),
                    lambda database=database, start=start: plain_window(database, start),
                )
                tell(f"the {name} {ROWS} of {count:,} rows", *results)
            results = in_turn(
                rounds, lambda cache=cache: ours_answer(cache), lambda database=database: plain_answer(database)
            )
            tell(f"an answer of 100 kB, beside {count:,} rows", *results)
            cache.close()
            database.close()


if __name__ == "__main__":
    main()
