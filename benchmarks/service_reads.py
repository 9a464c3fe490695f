"""Compares the processor time of the service's reads with that of a route that only sends the same bytes.

Usage: python -m benchmarks.service_reads [--requests N] [--pages N] [--rounds N] [--calls N] [--before FOLDER]
[--clock]. The route is Starlette's own, behind the same log, host check and rate limit, in the same uvicorn with the
same protocol; all are asked in turn, each on one connection that stays open. With `--clock`, the time that a client
waits for each response is measured instead of the processor time. These figures are taken of each read:

- again: the same read again and again, while nobody writes, on SQLite and, if it is installed, on PostgreSQL;
- first: a read whose answer is not kept, while nobody writes, on SQLite and, if it is installed, on PostgreSQL;
- after a write: before each read, another process writes to the database;
- mixed: a comment is written through the service before each fiftieth read; its own cost is left out;
- before: first, by the service of another version of the source, such as the `src` of a `git worktree`, on a copy.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
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

from tests.postgresql import cluster, programs
from tests.service.factories import PAGES, World, plant_world

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.models.organizations import MemberRow, TokenRow
from presscheck.service.sample import plant_many

NOW = "2026-05-20T09:30:00.000Z"
LIMIT = 100_000_000
"""A rate limit that requests are counted against but never reach."""
BARE = f"""
import json, sys
import uvicorn
from pathlib import Path
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import system_clock
from presscheck.service.http.middleware import (
    RateLimitMiddleware, RequestIdMiddleware, TrustedHostMiddleware, write_log
)
from presscheck.service.db.version import current_version
from presscheck.service.server.protocol import LimitedProtocol

def route(path, body):
    async def answer(request: Request) -> Response:
        return Response(body, 200, {{"etag": '"0123456789abcdef0123456789abcdef"'}}, media_type="application/json")
    return Route(path, answer, methods=["GET"])

write_log(requests=False)
database = Database(sys.argv[1])
routes = [route(path, body.encode()) for path, body in json.loads(Path(sys.argv[2]).read_text())]
app = Starlette(routes=routes, middleware=[
    Middleware(RequestIdMiddleware),
    Middleware(TrustedHostMiddleware, database=database, versions=current_version(database)),
    Middleware(RateLimitMiddleware, limit={LIMIT}, database=database, clock=system_clock),
])
print("ready", flush=True)
uvicorn.run(app, port=int(sys.argv[3]), http=LimitedProtocol, proxy_headers=False, log_config=None, access_log=False,
    ws="none", server_header=False)
"""


@dataclass(frozen=True)
class Read:
    """A read: its name, and its path with query."""

    name: str
    path: str


class Connection:
    """A persistent connection that also reads the processor time of the server's process.

    Attributes:
        by_clock: measure elapsed time instead.
    """

    by_clock = False

    def __init__(self, port: int, token: str, process: int) -> None:
        self._port, self._token = port, token
        self._socket = self._opened()
        self._spelling = self._spellings = 0
        # Linux: the processor time of another process, all threads
        self._clock = time.CLOCK_MONOTONIC if self.by_clock else (~process << 3) | 2
        self._headers: dict[bytes, bytes] = {}

    def _opened(self) -> socket.socket:
        opened = socket.create_connection(("127.0.0.1", self._port), timeout=120)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def close(self) -> None:
        self._socket.close()

    def again(self) -> None:
        """Reconnect: the server closes connections that are idle for five seconds."""
        self._socket.close()
        self._socket = self._opened()

    def spent(self) -> float:
        """Return the processor time of the process, or the time of the clock, in seconds."""
        return time.clock_gettime(self._clock)

    def get(self, path: str, *more: str) -> tuple[int, bytes]:
        """Return the status and the body of a resource."""
        return self.send("GET", path, b"", *more)

    def tag(self, path: str, *more: str) -> str:
        """Return the `ETag` of a resource; empty if it has none."""
        self.get(path, *more)
        return self._headers.get(b"etag", b"").decode()

    def send(self, method: str, path: str, body: bytes, *more: str) -> tuple[int, bytes]:
        """Send a request with additional header lines. Returns the status and the body."""
        token = f"{self._spelling:b}".translate({48: " ", 49: "\t"}) + self._token if self._spelling else self._token
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"authorization: Bearer {token}", *more]
        if body:
            lines += ["content-type: application/json", f"content-length: {len(body)}"]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._some()
        head, _, rest = received.partition(b"\r\n\r\n")
        headers = self._headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        parts, missing = [rest], int(headers.get(b"content-length", b"0")) - len(rest)
        while missing > 0:
            parts.append(self._some())
            missing -= len(parts[-1])
        return int(head.split(b" ", 2)[1]), b"".join(parts)

    def _some(self) -> bytes:
        part = self._socket.recv(1 << 20)
        if not part:
            raise SystemExit("the connection was closed")
        return part

    def cost(
        self, path: str, count: int, between: Callable[[int], float] = lambda _: 0.0, *, first: bool = False
    ) -> float:
        """Return the microseconds per read, without the time that `between` returns.

        With `first`, each read uses another spelling of the token, for which no response is cached.
        """
        self.again()
        self.get(path)
        other, begun = 0.0, self.spent()
        for number in range(count):
            other += between(number)
            if first:
                self._spellings += 1
                self._spelling = self._spellings
            status, body = self.get(path)
            if status != 200:
                raise SystemExit(f"{path}: {status} {body[:300]!r}")
        self._spelling, spent = 0, self.spent() - begun - other
        return spent / count * 1e6


@dataclass(frozen=True)
class Place:
    """A running service and the reads to measure."""

    connection: Connection
    space: str
    reads: tuple[Read, ...]


def pages_of(count: int) -> list[tuple[str, str]]:
    """Return titles and texts of the pages of a space."""
    return [(f"Page {number}", f"Text {number}.\n\n" + "Some more of it.\n" * 20) for number in range(count)]


@contextmanager
def planted(database: str, requests: int, pages: int) -> Generator[tuple[World, World]]:
    """Create a small space, a large space, and an organization with many change requests."""
    world = plant_world(database, "http://127.0.0.1:1", PAGES)
    large = plant_world(database, "http://127.0.0.1:1", pages_of(pages))
    made = Database(database)
    with made.writing.begin() as session:
        plant_many(session, requests)
        for organization in ("many", large.organization):
            session.merge(
                MemberRow(organization_id=organization, user_id=world.users["admin"], role="admin", joined_at=NOW)
            )
        session.add(TokenRow(sha256=hash_token("reads"), user_id=world.users["admin"], created_at=NOW))
    made.close()
    yield world, large


def prepare_former(copy: Path, source: Path) -> None:
    """Prepare a copy of the database for a former version, which ignores newer tables and columns."""
    steps = (source / "presscheck" / "service" / "db" / "migrations" / "versions").glob("step_*.py")
    with closing(sqlite3.connect(copy, isolation_level=None)) as database:
        newest = max(step.stem.removeprefix("step_") for step in steps)
        database.execute("UPDATE alembic_version SET version_num = ?", (newest,))
        if newest < "0007":  # that migration drops it
            database.execute("ALTER TABLE jobs ADD COLUMN leased_until TEXT")


@contextmanager
def serving(home: Path, database: str, source: Path | None = None) -> Generator[Connection]:
    """Run the service on a database, from this source or from another one."""
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(home), "--database", database]
    where = {"PYTHONPATH": str(source)} if source else {}
    with subprocess.Popen(
        [*command, "--port", "0", "--rate-limit", str(LIMIT)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **where},
    ) as process:
        try:
            assert process.stdout
            address = str(process.stdout.readline()).strip()
            with closing(Connection(int(address.rpartition(":")[2]), "reads", process.pid)) as connection:
                yield connection
        finally:
            process.terminate()


@contextmanager
def service(home: Path, database: str, requests: int, pages: int) -> Generator[Place]:
    """Run the service on a database with test data."""
    with planted(database, requests, pages) as (world, large), serving(home, database) as connection:
        space, big = f"/v1/spaces/{world.space}", f"/v1/spaces/{large.space}"
        organization = f"/v1/orgs/{world.organization}"
        first, site = furnish(connection, organization, space)
        branch, site = f"{space}/change-requests/{first}", f"{organization}/sites/{site}"
        revision = json.loads(connection.get(space)[1])["revision"]
        asked = f"&requestedReviewer={world.users['admin']}"
        yield Place(
            connection,
            world.space,
            (
                Read("the caller", "/v1/user"),
                Read("another user", f"/v1/users/{world.users['review']}"),
                Read("organizations", "/v1/orgs"),
                Read("a space", space),
                Read("the spaces of an organization", f"{organization}/spaces"),
                Read("a page as Markdown", f"{space}/content/page/guide?format=markdown"),
                Read("a page by path", f"{space}/content/path/guide?format=markdown"),
                Read("a page as nodes", f"{space}/content/page/guide?format=document"),
                Read("a page of a change request", f"{branch}/content/page/guide?format=markdown"),
                Read("the pages of a change request", f"{branch}/content/pages"),
                Read("a revision", f"{space}/revisions/{revision}"),
                Read("a change request", branch),
                Read("its changes", f"{branch}/changes"),
                Read("its reviews", f"{branch}/reviews"),
                Read("its requested reviewers", f"{branch}/requested-reviewers"),
                Read("fifty change requests", f"{space}/change-requests?status=draft&limit=50"),
                Read("fifty comments", f"{branch}/comments?limit=50"),
                Read(f"a tree of {pages:,} pages", f"{big}/content/pages"),
                Read(f"one page of {pages:,}", f"{big}/content/page/page%20{pages // 2}?format=markdown"),
                Read(f"an inbox of {requests:,}", "/v1/orgs/many/change-requests?limit=50"),
                Read(f"an inbox of {requests:,}, for me", f"/v1/orgs/many/change-requests?limit=50{asked}"),
                Read("a site", site),
                Read("its structure", f"{site}/structure"),
            ),
        )


def furnish(connection: Connection, organization: str, space: str) -> tuple[str, str]:
    """Create a site and fifty change requests, the first with an edit, a review and fifty comments.

    Returns the ids of the first change request and of the site.
    """

    def send(path: str, body: dict[str, Any]) -> Any:
        status, answer = connection.send("POST", path, json.dumps(body).encode())
        if status not in (200, 201):
            raise SystemExit(f"{path}: {status} {answer[:300]!r}")
        return json.loads(answer)

    made = [send(f"{space}/change-requests", {"subject": "Better"})["id"] for _ in range(50)]
    branch = f"{space}/change-requests/{made[0]}"
    edited = {"operation": "update_page", "page": "guide", "document": {"markdown": "First.\n\nOther.\n"}}
    send(f"{branch}/content", {"changes": [edited]})
    send(f"{branch}/reviews", {"status": "approved", "comment": {"markdown": "Well done"}})
    for _ in range(50):
        send(f"{branch}/comments", {"body": {"markdown": "Hm"}})
    site = send(f"{organization}/sites", {"title": "Docs", "spaces": [space.rpartition("/")[2]]})["id"]
    return made[0], site


@contextmanager
def bare(home: Path, place: Place, port: int) -> Generator[Connection]:
    """Run routes that return the service's responses, as the baseline."""
    place.connection.again()
    bodies = [(f"/v1/{number}", place.connection.get(read.path)[1].decode()) for number, read in enumerate(place.reads)]
    (home / "bodies.json").write_text(json.dumps(bodies))
    database = f"sqlite:///{home / 'service.sqlite'}"
    with subprocess.Popen(
        [sys.executable, "-c", BARE, database, str(home / "bodies.json"), str(port)], stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout and process.stdout.readline()
            for _ in range(200):
                try:
                    connection = Connection(port, "reads", process.pid)
                    break
                except OSError:
                    time.sleep(0.05)
            else:
                raise SystemExit("the bare route did not start")
            with closing(connection):
                yield connection
        finally:
            process.terminate()


def main() -> None:
    """Print a line for each read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000, help="change requests of the large organization")
    parser.add_argument("--pages", type=int, default=5_000, help="pages of the large space")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200, help="reads of a round, fewer where one takes long")
    parser.add_argument("--before", type=Path, help="the folder of another source, to measure it in the same run")
    parser.add_argument("--clock", action="store_true", help="measure what a client waits, not processor time")
    parser.add_argument("--port", type=int, default=8798)
    options = parser.parse_args()
    Connection.by_clock = options.clock
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        size = options.requests, options.pages
        place = stack.enter_context(service(home, f"sqlite:///{home / 'service.sqlite'}", *size))
        floor = stack.enter_context(bare(home, place, options.port))
        other = former = None
        if programs():
            other = stack.enter_context(service(home / "other", stack.enter_context(cluster()).new_database(), *size))
        if options.before:
            with closing(sqlite3.connect(home / "service.sqlite")) as now:
                now.execute("VACUUM INTO ?", (str(home / "former.sqlite"),))
            prepare_former(home / "former.sqlite", options.before)
            url = f"sqlite:///{home / 'former.sqlite'}"
            former = stack.enter_context(serving(home / "former", url, options.before.resolve()))
        writer = stack.enter_context(closing(sqlite3.connect(home / "service.sqlite", isolation_level=None)))
        writer.execute("PRAGMA synchronous=OFF")  # the write is not measured
        writer.execute("PRAGMA busy_timeout=30000")
        comment = f"/v1/spaces/{place.space}/comments"

        def write_elsewhere(_: int) -> float:
            writer.execute("INSERT OR REPLACE INTO settings (name, value) VALUES ('benchmark', '1')")
            return 0.0

        def write_here(number: int) -> float:
            if number % 50:
                return 0.0
            begun = place.connection.spent()
            place.connection.send("POST", comment, b'{"body": {"markdown": "Hm"}}')
            return place.connection.spent() - begun

        print(
            "| what | bytes | bare route | again | mixed | before | first | after a write | again, PostgreSQL "
            "| first, PostgreSQL |"
        )
        for number, read in enumerate(place.reads):
            place.connection.again()
            size = len(place.connection.get(read.path)[1])

            def costs(number: int = number, read: Read = read) -> dict[str, float]:
                calls, connection = options.calls, place.connection
                # compared reads follow each other directly: the speed of a busy machine changes every second
                results = {
                    "again": connection.cost(read.path, calls),
                    "bare": floor.cost(f"/v1/{number}", calls),
                    "first": connection.cost(read.path, calls, first=True),
                }
                if other:
                    results["postgresql"] = other.connection.cost(other.reads[number].path, calls, first=True)
                    results["postgresql again"] = other.connection.cost(other.reads[number].path, calls)
                if former:
                    results["before"] = former.cost(read.path, calls, first=True)
                results["written"] = connection.cost(read.path, calls, write_elsewhere)
                results["mixed"] = connection.cost(read.path, calls, write_here)
                return results

            rounds = [costs() for _ in range(options.rounds)]

            def shown(name: str, rounds: list[dict[str, float]] = rounds, against: str = "bare") -> str:
                if name not in rounds[0]:
                    return ""
                spent = statistics.median(row[name] for row in rounds)
                ratio = statistics.median(row[against] / row[name] for row in rounds)
                return f"{spent:.0f} µs" + ("" if name == "bare" else f"; {ratio:.2f} ×")

            names = ("bare", "again", "mixed", "before", "first", "written", "postgresql again")
            cells = [*map(shown, names), shown("postgresql", against="first")]
            print(f"| {read.name} | {size:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
