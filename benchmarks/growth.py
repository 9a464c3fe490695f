"""Whether requests to the service cost more as its data grows: SQL statements and processor time of each, by size.

Usage: python -m benchmarks.growth [--sizes N,N,N] [--pages N,N,N] [--calls N] [--merge N] [--edit N]. The application
runs in this process, without HTTP and on SQLite. Before each read something else is written, so that no answer is kept;
the write is not measured. Then change requests whose pages were changed on both sides are merged, against the three-way
merge of the same texts in memory, and many pages are edited at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.service.counted_service import CountedService
from tests.service.large_data import TOKEN, both_changed, planted

from presscheck.documents.merge.text import merge_text


@contextmanager
def running(url: str, home: Path) -> Generator[CountedService]:
    """The application on a database."""
    service = CountedService(home, url, TOKEN)
    try:
        yield service
    finally:
        service.database.close()


async def cost(service: CountedService, path: str, calls: int, disturb: Any) -> tuple[float, int]:
    """Median seconds of processor time and the SQL statements of a read that is not kept."""
    await service.send("GET", path)
    found: list[float] = []
    statements = 0
    for _ in range(calls):
        disturb()
        spent, statements, _ = await service.send("GET", path)
        found.append(spent)
        if sum(found) > 3:
            break
    return statistics.median(found), statements


async def grown(sizes: Sequence[tuple[int, int]], calls: int) -> None:
    """Prints a line for each read: milliseconds and statements by size."""
    table: dict[str, list[tuple[float, int]]] = {}
    for requests, pages in sizes:
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            url = f"sqlite:///{home / 'growth.sqlite'}"
            begun = time.process_time()
            reads = planted(url, requests, pages)
            print(f"{requests:,} change requests, {pages:,} pages: {time.process_time() - begun:.1f} s to write")
            other = sqlite3.connect(home / "growth.sqlite", isolation_level=None)
            other.execute("PRAGMA synchronous=OFF")

            def disturb(other: sqlite3.Connection = other) -> None:
                other.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('benchmark', '1')")

            with closing(other), running(url, home) as service:
                for read in reads:
                    table.setdefault(read.name, []).append(await cost(service, read.path, calls, disturb))
    heads = " | ".join(f"{requests:,}; {pages:,}" for requests, pages in sizes)
    print(f"| processor time, statements | {heads} | growth |")
    for read, row in table.items():
        shown = " | ".join(f"{spent * 1e3:.2f} ms, {statements}" for spent, statements in row)
        print(f"| {read} | {shown} | {row[-1][0] / row[0][0]:.2f} × |", flush=True)


async def merged(pages: int, edits: int, rounds: int) -> None:
    """Prints what a merge of pages that both sides changed costs, against that of their texts in memory."""
    ratios: list[tuple[float, float, int]] = []
    for turn in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            url = f"sqlite:///{home / 'growth.sqlite'}"
            place = both_changed(url, pages, turn)
            with running(url, home) as service:
                await service.send("GET", f"/v1/spaces/{place.space}")
                path = f"/v1/spaces/{place.space}/change-requests/{place.request}/merge"
                spent, statements, answer = await service.send("POST", path)
                assert json.loads(answer)["result"] == "merge", answer
            begun = time.process_time()
            for sides in place.texts:
                merge_text(*sides)
            ratios.append((spent, time.process_time() - begun, statements))
    spent, floor, statements = ratios[-1]
    ratio = statistics.median(one / other for one, other, _ in ratios)
    print(f"merge of {pages} pages: {spent * 1e3:.0f} ms, {statements} statements")
    print(f"the texts in memory: {floor * 1e3:.0f} ms: {ratio:.2f} ×")
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        url = f"sqlite:///{home / 'growth.sqlite'}"
        place = both_changed(url, pages, 0)
        changes = [
            {"operation": "update_page", "page": f"page-{number}", "document": {"markdown": f"Text {number}, again.\n"}}
            for number in range(edits)
        ]
        with running(url, home) as service:
            body = json.dumps({"changes": changes}).encode()
            path = f"/v1/spaces/{place.space}/change-requests/{place.request}/content"
            spent, statements, _ = await service.send("POST", path, body)
        print(f"edit of {edits} pages of {pages}: {spent * 1e3:.0f} ms, {statements} statements")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10,10000,100000", help="change requests of the large organization")
    parser.add_argument("--pages", default="3,500,5000", help="pages of the large space, one for each size")
    parser.add_argument("--calls", type=int, default=30, help="reads of each kind, fewer where one takes long")
    parser.add_argument("--merge", type=int, default=500, help="pages that both sides changed")
    parser.add_argument("--edit", type=int, default=50, help="pages that are edited at once")
    parser.add_argument("--rounds", type=int, default=3, help="merges")
    chosen = parser.parse_args()
    sizes = [*map(int, chosen.sizes.split(","))]
    pages = [*map(int, chosen.pages.split(","))]
    if chosen.merge:
        asyncio.run(merged(chosen.merge, chosen.edit, chosen.rounds))
    if sizes[0]:
        asyncio.run(grown([*zip(sizes, pages, strict=True)], chosen.calls))


if __name__ == "__main__":
    main()
