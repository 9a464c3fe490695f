"""Compares the processor time of published pages with that of Starlette's StaticFiles.

Usage: python -m benchmarks.published_pages [--pages N] [--words N] [--rounds N] [--calls N]. StaticFiles serves the
bytes that the service sent, in a process of its own, behind the same log, host check and rate limit, in the same
uvicorn with the same protocol; both are asked in turn, on one connection that stays open. A page is asked for

- again: plain, compressed with gzip (StaticFiles has the compressed bytes as a file), and with its ETag;
- after a commit: before each read, another process writes something to the database that the site does not show;
- mixed: a comment is written through the service before each fiftieth read; its own cost is left out;
- first: each page of the site once, against what markdown-it takes to render the same text, without HTTP.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from tests.service.factories import plant_world

from benchmarks.service_reads import LIMIT, NOW, Connection
from presscheck.api.sites import CreateSite, PublishSite, Site
from presscheck.client.client import Client
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.models.organizations import TokenRow

FLOOR = f"""
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.http.middleware import (
    RateLimitMiddleware, RequestIdMiddleware, TrustedHostMiddleware, write_log
)
from presscheck.service.db.version import current_version
from presscheck.service.server.protocol import LimitedProtocol

write_log(requests=False)
database = Database(sys.argv[1])
app = Starlette(routes=[Mount("/docs", StaticFiles(directory=sys.argv[2]))], middleware=[
    Middleware(RequestIdMiddleware),
    Middleware(TrustedHostMiddleware, database=database, versions=current_version(database)),
    Middleware(RateLimitMiddleware, limit={LIMIT}, database=database, clock=system_clock),
])
print("ready", flush=True)
uvicorn.run(app, port=int(sys.argv[3]), http=LimitedProtocol, proxy_headers=False, log_config=None, access_log=False,
    ws="none", server_header=False)
"""
SENTENCES = (
    "The *first* lamp of a row has the number `1`, and the others follow it.",
    "Nobody needs to know **which of them** is lit, because the panel says so.",
    "See [the page before]({before}) or [the standard](https://standards.example.org/lamps) for the reasons.",
    "A lamp that does not answer within 30 seconds counts as broken & is left out.",
    "Its colour is set once; `lamp set --colour amber` changes it later.",
)
PARTS = (
    "- Switch it off\n- Wait for *ten* seconds\n- Switch it on\n\n",
    "| Lamp | Colour | Since |\n|---|---|---:|\n| 1 | amber | 2019 |\n| 2 | **white** | 2021 |\n\n",
    '```python\nfor lamp in row:\n    lamp.set(colour="amber", level=0.5)  # half\n```\n\n',
    "> A lamp is warm for a while.\n\n",
)


@dataclass(frozen=True)
class Asked:
    """A kind of request: its name, its header lines, and the expected status."""

    name: str
    headers: tuple[str, ...] = ()
    status: int = 200


def text_of(number: int, words: int) -> str:
    """Return the Markdown of a page: paragraphs, links, a list, a table and code under headings."""
    text, count = "", 0
    while count < words:
        part = len(text)
        text += f"## Part {number}.{count}\n\n"
        for paragraph in range(3):
            sentence = SENTENCES[(number + paragraph + part) % len(SENTENCES)]
            text += " ".join((sentence.format(before=f"page-{max(0, number - 1)}.md"), *SENTENCES[:2])) + "\n\n"
        text += PARTS[(number + count) % len(PARTS)]
        count = len(text.split())
    return text


def published(address: str, token: str, organization: str, space: str) -> str:
    """Publish a site with the space. Returns the path of the site."""

    async def publish() -> Site:
        client = Client(address, token)
        made = await client.send(CreateSite(organization_id=organization, title="Docs", spaces=(space,)))
        site = await client.send(PublishSite(organization_id=organization, site_id=made.id))
        assert isinstance(site, Site)
        return site

    url = asyncio.run(publish()).urls.published
    assert url
    return url.removeprefix(address)


@dataclass(frozen=True)
class Place:
    """A service with a published site."""

    connection: Connection
    site: str
    space: str
    texts: dict[str, str]


@contextmanager
def service(home: Path, pages: int, words: int) -> Generator[Place]:
    """Run the service on SQLite with a published site."""
    database = f"sqlite:///{home / 'service.sqlite'}"
    texts = {f"Page-{number}": text_of(number, words) for number in range(pages)}
    world = plant_world(database, "http://127.0.0.1:1", tuple(texts.items()))
    made = Database(database)
    with made.writing.begin() as session:
        session.add(TokenRow(sha256=hash_token("reads"), user_id=world.users["admin"], created_at=NOW))
    made.close()
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(home), "--database", database]
    with subprocess.Popen(
        [*command, "--port", "0", "--rate-limit", str(LIMIT)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            address = str(process.stdout.readline()).strip()
            site = published(address, "reads", world.organization, world.space)
            with closing(Connection(int(address.rpartition(":")[2]), "reads", process.pid)) as connection:
                yield Place(connection, site, world.space, {title.lower(): text for title, text in texts.items()})
        finally:
            process.terminate()


@contextmanager
def floor(home: Path, files: dict[str, bytes], port: int) -> Generator[Connection]:
    """Run StaticFiles with the given files in another process."""
    directory = home / "static"
    directory.mkdir()
    for name, content in files.items():
        (directory / name).write_bytes(content)
    command = [sys.executable, "-c", FLOOR, f"sqlite:///{home / 'service.sqlite'}", str(directory), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout and process.stdout.readline()
            for _ in range(200):
                try:
                    connection = Connection(port, "reads", process.pid)
                    break
                except OSError:
                    time.sleep(0.05)
            else:
                raise SystemExit("StaticFiles did not start")
            with closing(connection):
                yield connection
        finally:
            process.terminate()


def cost(
    connection: Connection, path: str, asked: Asked, count: int, between: Callable[[int], float] = lambda _: 0.0
) -> float:
    """Return the processor time of a request in microseconds, without the time that `between` returns."""
    connection.again()
    connection.get(path, *asked.headers)
    other_seconds, start = 0.0, connection.spent()
    for number in range(count):
        other_seconds += between(number)
        status, body = connection.get(path, *asked.headers)
        if status != asked.status:
            raise SystemExit(f"{path}: {status} {body[:300]!r}")
    return (connection.spent() - start - other_seconds) / count * 1e6


def tag_of(connection: Connection, path: str, *headers: str) -> str:
    """Return the ETag of a response."""
    connection.again()
    return connection.tag(path, *headers) or '"none"'


def sheet_of(place: Place) -> str:
    """Return the path of the style sheet in a page."""
    place.connection.again()
    page = place.connection.get(f"{place.site}page-7")[1].decode()
    match = re.search(r'<link rel="stylesheet" href="([^"]+)"', page)
    assert match
    return match[1]


def line(name: str, size: str, theirs: list[float], ours: list[float]) -> None:
    """Print the medians, and the median ratio of the pairs."""
    ratio = statistics.median(floor / cost for floor, cost in zip(theirs, ours, strict=True))
    print(
        f"| {name:32} | {size:>9} | {statistics.median(theirs):.0f} µs | {statistics.median(ours):.0f} µs "
        f"| {ratio:.2f} × |",
        flush=True,
    )


def first_visits(place: Place, rounds: int) -> None:
    """Print the cost of the first visit of each page, compared with rendering its text with markdown-it."""
    paths = [*place.texts]
    place.connection.again()
    place.connection.get(f"{place.site}{paths.pop()}")  # warms up the service
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.render(place.texts[paths[0]])
    rendered: list[float] = []
    shown: list[float] = []
    size, batch_size = 0, max(1, len(paths) // rounds)
    for start in range(0, batch_size * rounds, batch_size):
        batch = paths[start : start + batch_size]
        start = time.process_time()
        for path in batch:
            parser.render(place.texts[path])
        rendered.append((time.process_time() - start) / len(batch) * 1e6)
        place.connection.again()
        start = place.connection.spent()
        for path in batch:
            status, body = place.connection.get(f"{place.site}{path}")
            assert status == 200
            size = len(body)
        shown.append((place.connection.spent() - start) / len(batch) * 1e6)
    ratio = statistics.median(ours / theirs for theirs, ours in zip(rendered, shown, strict=True))
    print(
        f"| {'first visit, against markdown-it':32} | {size:9,} | {statistics.median(rendered):.0f} µs "
        f"| {statistics.median(shown):.0f} µs | {ratio:.2f} times |",
        flush=True,
    )


def main() -> None:
    """Print a line for each kind of request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=120, help="pages of the site, all in its navigation")
    parser.add_argument("--words", type=int, default=600, help="words of a page")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--port", type=int, default=8799)
    options = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        place = stack.enter_context(service(home, options.pages, options.words))
        print(f"| {'what':32} | bytes     | floor | presscheck | ratio |")
        first_visits(place, options.rounds)
        ours, path, style = place.connection, f"{place.site}page-7", sheet_of(place)
        ours.again()
        plain, sheet = ours.get(path)[1], ours.get(style)[1]
        files = {"page.html": plain, "page.html.gz": gzip.compress(plain, 6), "site.css": sheet}
        theirs = stack.enter_context(floor(home, files, options.port))
        writer: Any = stack.enter_context(closing(sqlite3.connect(home / "service.sqlite", isolation_level=None)))
        writer.execute("PRAGMA synchronous=OFF")  # the write is not measured
        writer.execute("PRAGMA busy_timeout=30000")

        def write_elsewhere(_: int) -> float:
            writer.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('benchmark', '1')")
            return 0.0

        def write_here(number: int) -> float:
            if number % 50:
                return 0.0
            start = ours.spent()
            ours.send("POST", f"/v1/spaces/{place.space}/comments", b'{"body": {"markdown": "Hm"}}')
            return ours.spent() - start

        zipped, again = Asked("again, gzip", ("accept-encoding: gzip",)), Asked("again")
        kinds = (
            (again, path, "page.html", again, None),
            (zipped, path, "page.html.gz", again, None),
            (
                Asked("again, with its ETag", (f"if-none-match: {tag_of(ours, path)}",), 304),
                path,
                "page.html",
                Asked("", (f"if-none-match: {tag_of(theirs, '/docs/page.html')}",), 304),
                None,
            ),
            (Asked("after a commit elsewhere"), path, "page.html", again, write_elsewhere),
            (Asked("mixed with comments"), path, "page.html", again, write_here),
            (Asked("the style sheet"), style, "site.css", again, None),
        )
        for asked, our_path, name, their_asked, between in kinds:
            their_costs: list[float] = []
            our_costs: list[float] = []
            ours.again()
            size = len(ours.get(our_path, *asked.headers)[1])
            for _ in range(options.rounds):
                their_costs.append(cost(theirs, f"/docs/{name}", their_asked, options.calls))
                our_costs.append(cost(ours, our_path, asked, options.calls, between or (lambda _: 0.0)))
            line(asked.name, f"{size:,}", their_costs, our_costs)


if __name__ == "__main__":
    main()
