"""Measures how the cost of requests grows with the service's data: SQL statements and processor time, by size.

Usage: python -m benchmarks.growth [--sizes N,N,N] [--pages N,N,N] [--calls N] [--merge N] [--edit N]. The application
runs in this process, without HTTP and on SQLite. Before each read something else is written, so that no answer is kept;
the write is not measured. All sizes are read in turn. Then change requests whose pages were changed on both sides are
merged, against the three-way merge of the same texts in memory, and many pages are edited at once.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from sqlalchemy import update
from tests.service.counted_service import CountedService
from tests.service.large_data import TOKEN, both_changed, planted

from presscheck.documents.merge.text import merge_text
from presscheck.service.db.ids import hash_token
from presscheck.service.models.organizations import TokenRow


@contextmanager
def running(url: str, home: Path) -> Generator[CountedService]:
    """Run the application in this process on a database."""
    service = CountedService(home, url, TOKEN)
    try:
        yield service
    finally:
        service.database.close()


class Grown:
    """A service with an organization of `requests` change requests and a space of `pages` pages."""

    def __init__(self, stack: ExitStack, requests: int, pages: int) -> None:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = home / "growth.sqlite"
        url = f"sqlite:///{path}"
        start = time.process_time()
        self.reads = planted(url, requests, pages)
        print(
            f"{requests:,} change requests, {pages:,} pages: {time.process_time() - start:.1f} s to write", flush=True
        )
        self.other = stack.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
        self.other.execute("PRAGMA synchronous=OFF")
        self.service = stack.enter_context(running(url, home))

    async def cost(self, path: str) -> tuple[float, int]:
        """Return the processor time in seconds and the number of SQL statements of an uncached read."""
        self.other.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('benchmark', '1')")
        seconds, statements, _ = await self.service.send("GET", path)
        return seconds, statements


async def grown(sizes: Sequence[tuple[int, int]], calls: int) -> None:
    """Print a line for each read: milliseconds and statements by size. All sizes are read in turn."""
    with ExitStack() as stack:
        places = [Grown(stack, *size) for size in sizes]
        heads = " | ".join(f"{requests:,}; {pages:,}" for requests, pages in sizes)
        print(f"| processor time, statements | {heads} | growth |")
        for reads in zip(*(place.reads for place in places), strict=True):
            pairs = [*zip(places, reads, strict=True)]
            turns = [[await place.cost(read.path) for place, read in pairs] for _ in range(calls + 1)]
            row = [(statistics.median(spent for spent, _ in of), of[-1][1]) for of in zip(*turns[1:], strict=True)]
            shown = " | ".join(f"{spent * 1e3:.2f} ms, {statements}" for spent, statements in row)
            print(f"| {reads[0].name} | {shown} | {row[-1][0] / row[0][0]:.2f} × |", flush=True)


async def merged(pages: int, edits: int, rounds: int) -> None:
    """Print the cost of merging pages that both sides changed, compared with merging their texts in memory.

    A small merge comes first, so that the service is warmed up.
    """
    ratios: list[tuple[float, float, int]] = []
    for turn in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            url = f"sqlite:///{home / 'growth.sqlite'}"
            place = both_changed(url, pages, turn)
            small = both_changed(url, 3, rounds + turn)
            with running(url, home) as service:
                await service.send("POST", f"/v1/spaces/{small.space}/change-requests/{small.request}/merge")
                owned = update(TokenRow).where(TokenRow.sha256 == hash_token(TOKEN)).values(user_id=place.admin)
                service.database.write(lambda session, owned=owned: session.execute(owned))
                gc.collect()  # garbage of the generated data
                path = f"/v1/spaces/{place.space}/change-requests/{place.request}/merge"
                seconds, statements, answer = await service.send("POST", path)
                assert json.loads(answer)["result"] == "merge", answer
            gc.collect()
            start = time.process_time()
            for sides in place.texts:
                merge_text(*sides)
            ratios.append((seconds, time.process_time() - start, statements))
    seconds, floor = (statistics.median(row[column] for row in ratios) for column in (0, 1))
    statements = ratios[-1][2]
    ratio = statistics.median(merge_seconds / text_seconds for merge_seconds, text_seconds, _ in ratios)
    print(f"merge of {pages} pages: {seconds * 1e3:.0f} ms, {statements} statements")
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
            seconds, statements, _ = await service.send("POST", path, body)
        print(f"edit of {edits} pages of {pages}: {seconds * 1e3:.0f} ms, {statements} statements")


def main() -> None:
    """Run the measurements of the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="400,10000,100000", help="change requests of the large organization")
    parser.add_argument("--pages", default="3,500,5000", help="pages of the large space, one for each size")
    parser.add_argument("--calls", type=int, default=30, help="reads of each kind, fewer where one takes long")
    parser.add_argument("--merge", type=int, default=500, help="pages that both sides changed")
    parser.add_argument("--edit", type=int, default=50, help="pages that are edited at once")
    parser.add_argument("--rounds", type=int, default=3, help="merges")
    options = parser.parse_args()
    sizes = [*map(int, options.sizes.split(","))]
    pages = [*map(int, options.pages.split(","))]
    if options.merge:
        asyncio.run(merged(options.merge, options.edit, options.rounds))
    if sizes[0]:
        asyncio.run(grown([*zip(sizes, pages, strict=True)], options.calls))


if __name__ == "__main__":
    main()
