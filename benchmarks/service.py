"""Compares the service's throughput of reads and writes, on both database engines, with that of a trivial route.

Usage: python -m benchmarks.service [--seconds N] [--rounds N] [--clients N] [--writes]. The route is Starlette's own,
under the same uvicorn, and returns the bytes that the service returned; before it answers a write, it inserts one row
into a database of the same engine, as durably as the service does. All are asked in turn, so that the machine is as
busy for one as for the other; the figures are medians. What one fsync takes is measured beside the SQLite database.
Of writes on PostgreSQL it prints how many transactions were rolled back, which are those that began again.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from tests.postgresql import cluster, programs
from tests.service.factories import World, plant_world

BARE = """
import json, sys
import uvicorn
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from presscheck.service.db.engine import Database

database = Database(sys.argv[3])
with database.writing.begin() as session:
    session.execute(text("CREATE TABLE bare_writes (body TEXT)"))
INSERT = text("INSERT INTO bare_writes VALUES (:body)")

def insert(body):
    database.write(lambda session: session.execute(INSERT, {"body": body}))

def route(path, method, status, body):
    async def answer(request: Request) -> Response:
        received = await request.body()
        if method == "POST":
            await run_in_threadpool(insert, received.decode())
        return Response(body, status, media_type="application/json")
    return Route(path, answer, methods=[method])

routes = [route(path, method, status, body.encode()) for path, method, status, body in json.loads(sys.argv[1])]
print("ready", flush=True)
uvicorn.run(Starlette(routes=routes), port=int(sys.argv[2]), log_level="critical")
"""


@dataclass(frozen=True)
class Call:
    """A request that is sent repeatedly."""

    name: str
    method: str
    path: str
    body: bytes | None = None


@dataclass(frozen=True)
class Place:
    """A server with the calls to measure."""

    name: str
    address: str
    token: str
    calls: tuple[Call, ...]


def say(connection: http.client.HTTPConnection, call: Call, token: str) -> tuple[int, bytes]:
    """Send a request. Returns the status and the body."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    connection.request(call.method, call.path, call.body, headers)
    response = connection.getresponse()
    body = response.read()
    if response.status not in (200, 201):
        raise SystemExit(f"{call.name}: {response.status} {body[:300]!r}")
    return response.status, body


def per_second(place: Place, call: Call, seconds: float, clients: int) -> float:
    """Return the requests per second that `clients` concurrent clients get, each without pauses."""
    counts = [0] * clients
    until = time.monotonic() + seconds

    def ask(number: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(place.address).netloc, timeout=120)
        while time.monotonic() < until:
            say(connection, call, place.token)
            counts[number] += 1
        connection.close()

    start = time.monotonic()
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - start)


@contextmanager
def service(name: str, directory: Path, database: str) -> Iterator[Place]:
    """Run the service on a new database with test data."""
    world = plant_world(database, "http://127.0.0.1:1")
    command = [sys.executable, "-m", "presscheck", "serve", "--data", str(directory), "--database", database]
    with subprocess.Popen([*command, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            address = process.stdout.readline().strip()
            yield Place(name, address, world.tokens["admin"], calls_of(address, world))
        finally:
            process.terminate()


def calls_of(address: str, world: World) -> tuple[Call, ...]:
    """Create fifty change requests with comments. Returns the calls to measure."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    space = f"/v1/spaces/{world.space}"
    begin = Call("write: a change request", "POST", f"{space}/change-requests", b'{"subject": "Better"}')
    made = [json.loads(say(connection, begin, world.tokens["admin"])[1]) for _ in range(50)]
    # one for comments, one for edits: what is edited has no thousands of comments, which each answer counts
    branch, draft = (f"{space}/change-requests/{change_request['id']}" for change_request in made[:2])
    edited = {"operation": "update_page", "page": "guide", "document": {"markdown": "First.\n\nOther.\n"}}
    connection.close()
    return (
        Call("read: a space", "GET", space),
        Call("read: a page as Markdown", "GET", f"{space}/content/page/guide?format=markdown"),
        Call("read: fifty change requests", "GET", f"{space}/change-requests?status=draft&limit=50"),
        Call("write: a comment", "POST", f"{branch}/comments", b'{"body": {"markdown": "Hm"}}'),
        Call("write: an edit of a page", "POST", f"{draft}/content", json.dumps({"changes": [edited]}).encode()),
        begin,
    )


@contextmanager
def bare(place: Place, port: int, database: str) -> Iterator[Place]:
    """Run routes that return the service's responses; for writes they insert a row into their own database first."""
    connection = http.client.HTTPConnection(urlsplit(place.address).netloc, timeout=120)
    said = [(call, *say(connection, call, place.token)) for call in place.calls]
    connection.close()
    routes = json.dumps([(urlsplit(call.path).path, call.method, status, body.decode()) for call, status, body in said])
    with subprocess.Popen([sys.executable, "-c", BARE, routes, str(port), database], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout and process.stdout.readline()
            for _ in range(200):
                try:
                    http.client.HTTPConnection("127.0.0.1", port).connect()
                    break
                except OSError:
                    time.sleep(0.05)
            yield Place("bare route", f"http://127.0.0.1:{port}", place.token, place.calls)
        finally:
            process.terminate()


def fsync_cost(directory: Path) -> float:
    """Return the median time of writing a database page to disk, in microseconds."""
    times: list[float] = []
    with (directory / "synced").open("wb", buffering=0) as file:
        for _ in range(100):
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def rolled_back(database: str) -> int:
    """Return the number of rolled back transactions of a PostgreSQL database."""
    with psycopg.connect(database, autocommit=True) as connection:
        rows = connection.execute("SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()")
        return next(iter(rows))[0]


def main() -> None:
    """Print a line for each call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--port", type=int, default=8797)
    parser.add_argument("--writes", action="store_true", help="only writes")
    options = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR"))))
        places = [stack.enter_context(service("SQLite", home / "a", f"sqlite:///{home / 'service.sqlite'}"))]
        floors = [stack.enter_context(bare(places[0], options.port, f"sqlite:///{home / 'bare.sqlite'}"))]
        counted = ""
        if programs():
            databases = stack.enter_context(cluster(durable=True))
            counted = databases.new_database()
            places.append(stack.enter_context(service("PostgreSQL", home / "b", counted)))
            floors.append(stack.enter_context(bare(places[1], options.port + 1, databases.new_database())))
        print(f"one fsync: {fsync_cost(home):.0f} µs; {options.clients} clients")
        print(
            f"| {'what':28} | " + " | ".join(f"{place.name + ': bare, service, ratio':32}" for place in places) + " |"
        )
        for number, call in enumerate(floors[0].calls):
            if options.writes and call.method == "GET":
                continue
            rates_by_name: dict[str, list[tuple[float, float]]] = {}
            before = rolled_back(counted) if counted else 0
            for _ in range(options.rounds):
                for floor, place in zip(floors, places, strict=True):
                    rates = [
                        per_second(server, server.calls[number], options.seconds, options.clients)
                        for server in (floor, place)
                    ]
                    rates_by_name.setdefault(place.name, []).append((rates[0], rates[1]))
            shown: list[str] = []
            for pairs in rates_by_name.values():
                theirs, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
                ratio = statistics.median(ours / theirs for theirs, ours in pairs)
                shown.append(f"{f'{theirs:.0f}/s, {ours:.0f}/s, {ratio:.2f} ×':32}")
            print(f"| {call.name:28} | {' | '.join(shown)} |", flush=True)
            if counted and call.method != "GET":
                time.sleep(1.5)  # the database updates its statistics late
                print(f"rolled back on PostgreSQL: {rolled_back(counted) - before}", flush=True)


if __name__ == "__main__":
    main()
