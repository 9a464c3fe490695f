"""Times searches in a cache of 5,000 pages: `python -m benchmarks.search [PAGES]`.

The pages are of words as often as words are (Zipf's law), about 600 each. They are kept and read up as any answer is;
every query goes through the engine, from the event loop to the store and back with its excerpts.
"""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median, quantiles

from presscheck.api.content import GetPage
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.paths import Places
from presscheck.store.cache import Cache
from presscheck.wiring import open_engine

PAGES = 5000
WORDS = 600
QUERIES = 200
SHOWN = 30
"""Maximum number of hits, as in the app."""
SYLLABLES = "ba co den fi gra ha il jo ka lem mo nu or pe qui ra sto tu ur vel wen ya zi".split()  # noqa: SIM905


def words_of(chance: random.Random, count: int = 20_000) -> tuple[list[str], list[float]]:
    """Return distinct words and their weights."""
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(chance.choices(SYLLABLES, k=chance.randint(1, 4)))] = None
    return list(words), [1 / rank for rank in range(1, count + 1)]


def page_of(chance: random.Random, words: list[str], weights: list[float], number: int) -> str:
    """Return the Markdown of a page."""
    chosen = chance.choices(words, weights, k=WORDS)
    lines = [" ".join(chosen[at : at + 12]) for at in range(0, WORDS, 12)]
    for at in range(0, len(lines), 10):
        lines[at] = f"\n## {lines[at]}\n"
    return f"# Page {number}\n\n" + "\n".join(lines)


def queries_of(chance: random.Random, words: list[str], weights: list[float]) -> list[str]:
    """Return typical queries: a letter, the beginning of a word, a word, two words, a phrase."""
    queries: list[str] = []
    for number in range(QUERIES):
        first, second = chance.choices(words, weights, k=2)
        queries.append((first[0], first[:3], first, f"{first} {second}", f'"{first} {second}"')[number % 5])
    return queries


def keep(cache: Cache, pages: list[str]) -> None:
    """Store the pages in the cache as responses of the service."""
    for number, text in enumerate(pages):
        answer = {"id": f"p{number}", "title": f"Page {number}", "path": f"page-{number}", "markdown": text}
        call = GetPage(space_id="s", page_id=f"p{number}", format="markdown")
        cache.keep(call.key(), json.dumps(answer).encode(), time.time())


async def timed(engine: Engine, queries: list[str]) -> list[float]:
    """Run the queries. Returns the time of each in milliseconds."""
    times: list[float] = []
    for query in queries:
        start = time.perf_counter()
        [_] = [results async for results in engine.search(query, limit=SHOWN, local_only=True)]
        times.append((time.perf_counter() - start) * 1000)
    return times


async def main(count: int) -> None:
    """Fill a cache, search it, and print the times."""
    chance = random.Random(5)
    words, weights = words_of(chance)
    with tempfile.TemporaryDirectory() as home:
        places = Places(*(Path(home) / name for name in ("config", "cache", "state", "data")))
        engine = open_engine(Profile(base_url="http://127.0.0.1:9", token="t"), places)
        pages = [page_of(chance, words, weights, number) for number in range(count)]
        await engine.in_store(partial(keep, pages=pages))
        [file] = (Path(home) / "cache").glob("*.sqlite")
        before, start = _bytes(file), time.perf_counter()
        async for _ in engine.search("nothing", index_timeout=3600, local_only=True):
            sys.stdout.write(f"{count} pages read up in {time.perf_counter() - start:.1f} s\n")
        sys.stdout.write(f"{before / 1e6:.0f} MB became {_bytes(file) / 1e6:.0f} MB\n")
        times = await timed(engine, queries_of(chance, words, weights))
        p95 = quantiles(times, n=20)[-1]
        sys.stdout.write(
            f"{len(times)} queries: median {median(times):.1f} ms, p95 {p95:.1f} ms, most {max(times):.1f} ms\n"
        )
        bare_times = bare_timed(file, queries_of(random.Random(6), words, weights))
        engine_times = await timed(engine, queries_of(random.Random(6), words, weights))
        sys.stdout.write(f"against the bare index: {median(engine_times):.1f} ms to {median(bare_times):.1f} ms\n")
        await engine.close()


def bare_timed(file: Path, queries: list[str]) -> list[float]:
    """Run the queries on the bare index, for row ids only. Returns the time of each in milliseconds."""
    from presscheck.documents.markdown.search_terms import query_phrases

    times: list[float] = []
    with closing(sqlite3.connect(file)) as bare:
        for query in queries:
            match_expression = " AND ".join(
                f'"{words}"{" *" if goes_on else ""}' for words, goes_on in query_phrases(query)
            )
            start = time.perf_counter()
            bare.execute(
                "SELECT rowid FROM search_words WHERE search_words MATCH ? ORDER BY rank LIMIT ?",
                (match_expression, SHOWN),
            ).fetchall()
            times.append((time.perf_counter() - start) * 1000)
    return times


def _bytes(file: Path) -> int:
    return sum(path.stat().st_size for path in file.parent.glob(f"{file.name}*"))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PAGES))
