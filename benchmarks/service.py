"""How many reads and writes the service answers in a second, on both engines, against a route that does nothing.

Usage: python -m benchmarks.service [--seconds N] [--rounds N] [--clients N]. The route is Starlette's own, under the
same uvicorn, and returns the bytes that the service returned. All are asked in turn, so that the machine is as busy for
one as for the other; the figures are medians.
"""

from __future__ import annotations

import argparse
import http.client
import json
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

from tests.postgresql import cluster, programs
from tests.service.factories import World, plant_world

BARE = """
import json, sys
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

def route(path, method, status, body):
    async def answer(request: Request) -> Response:
        await request.body()
        return Response(body, status, media_type="application/json")
    return Route(path, answer, methods=[method])

routes = [route(path, method, status, body.encode()) for path, method, status, body in json.loads(sys.argv[1])]
print("ready", flush=True)
uvicorn.run(Starlette(routes=routes), port=int(sys.argv[2]), log_level="critical")
"""


@dataclass(frozen=True)
class Call:
    """One call, as it is said again and again."""

    name: str
    method: str
    path: str
    body: bytes | None = None


@dataclass(frozen=True)
class Place:
    """Where it is said."""

    name: str
    address: str
    token: str
    calls: tuple[Call, ...]


def say(connection: http.client.HTTPConnection, call: Call, token: str) -> tuple[int, bytes]:
    """Say it once."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    connection.request(call.method, call.path, call.body, headers)
    response = connection.getresponse()
    body = response.read()
    if response.status not in (200, 201):
        raise SystemExit(f"{call.name}: {response.status} {body[:300]!r}")
    return response.status, body


def per_second(place: Place, call: Call, seconds: float, clients: int) -> float:
    """How many of these are answered in a second, by so many who ask without a pause."""
    counts = [0] * clients
    until = time.monotonic() + seconds

    def ask(number: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(place.address).netloc, timeout=120)
        while time.monotonic() < until:
            say(connection, call, place.token)
            counts[number] += 1
        connection.close()

    begun = time.monotonic()
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - begun)


@contextmanager
def service(name: str, directory: Path, database: str) -> Iterator[Place]:
    """The service over a database of its own, with a world in it."""
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
    """What is measured: fifty change requests with their comments are there before."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    space = f"/v1/spaces/{world.space}"
    begin = Call("write: a change request", "POST", f"{space}/change-requests", b'{"subject": "Better"}')
    made = [json.loads(say(connection, begin, world.tokens["admin"])[1]) for _ in range(50)]
    branch = f"{space}/change-requests/{made[0]['id']}"
    edited = {"operation": "update_page", "page": "guide", "document": {"markdown": "First.\n\nOther.\n"}}
    connection.close()
    return (
        Call("read: a space", "GET", space),
        Call("read: a page as Markdown", "GET", f"{space}/content/page/guide?format=markdown"),
        Call("read: fifty change requests", "GET", f"{space}/change-requests?status=draft&limit=50"),
        Call("write: a comment", "POST", f"{branch}/comments", b'{"body": {"markdown": "Hm"}}'),
        Call("write: an edit of a page", "POST", f"{branch}/content", json.dumps({"changes": [edited]}).encode()),
        begin,
    )


@contextmanager
def bare(place: Place, port: int) -> Iterator[Place]:
    """Routes that return what the service returned."""
    connection = http.client.HTTPConnection(urlsplit(place.address).netloc, timeout=120)
    said = [(call, *say(connection, call, place.token)) for call in place.calls]
    connection.close()
    routes = json.dumps([(urlsplit(call.path).path, call.method, status, body.decode()) for call, status, body in said])
    with subprocess.Popen([sys.executable, "-c", BARE, routes, str(port)], stdout=subprocess.PIPE) as process:
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


def main() -> None:
    """Measure, and print a line for each call."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--port", type=int, default=8797)
    chosen = parser.parse_args()
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places = [stack.enter_context(service("SQLite", home / "a", f"sqlite:///{home / 'service.sqlite'}"))]
        if programs():
            url = stack.enter_context(cluster(durable=True)).new_database()
            places.append(stack.enter_context(service("PostgreSQL", home / "b", url)))
        floor = stack.enter_context(bare(places[0], chosen.port))
        print(f"| {'what':28} | bare route | " + " | ".join(f"{place.name:>17}" for place in places) + " |")
        for number, call in enumerate(floor.calls):
            found: dict[str, list[float]] = {}
            for _ in range(chosen.rounds):
                for place in (floor, *places):
                    rate = per_second(place, place.calls[number], chosen.seconds, chosen.clients)
                    found.setdefault(place.name, []).append(rate)
            shown: list[str] = []
            for place in places:
                ratio = statistics.median(
                    ours / theirs for ours, theirs in zip(found[place.name], found[floor.name], strict=True)
                )
                shown.append(f"{statistics.median(found[place.name]):6.0f}/s, 1/{1 / ratio:5.1f}")
            print(
                f"| {call.name:28} | {statistics.median(found[floor.name]):8.0f}/s | {' | '.join(shown)} |", flush=True
            )


if __name__ == "__main__":
    main()
