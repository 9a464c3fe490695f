"""A service on a real socket whose responses have the declared shape, except for one kind of nonsense.

Responses are generated from the published description of each operation. Every string is `x`, so that the argument `x`
of a command matches whatever the command looks up.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.contract.answers import told
from tests.contract.description import NEWEST, example

from presscheck.api.operation import FAMILIES, Operation, every_operation

DEPTH = 20
"""Levels of a page that is nested in itself; the JSON parser rejects more than 200 levels."""
BAD_CURSORS: tuple[Any, ...] = ("x", ["x"], 7, {"page": 7}, {"page": None}, {}, True)
DIGITS = 123456789123456789
"""Placeholder for a number with 5,000 digits, which `json` cannot write."""
Spoil = Callable[[Any, int], Any]
"""A function from a well-formed response and the number of the request to a response with nonsense."""


def change_listings(change: Callable[[dict[str, Any], int], None]) -> Spoil:
    """Change the responses that are lists; `change` gets the list and the number of the request."""

    def spoil(answer: Any, number: int) -> Any:
        if isinstance(answer, dict) and isinstance(answer.get("items"), list):
            change(answer, number)
        return answer

    return spoil


def change_values(change: Callable[[str, Any], Any]) -> Spoil:
    """Replace all values, at every depth; `change` gets the name of the field and the value."""

    def walk(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {key: walk(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [walk(inner, name) for inner in value]
        return change(name, value)

    return lambda answer, number: walk(answer, "")


def change_objects(change: Callable[[dict[str, Any]], None]) -> Spoil:
    """Change every object, the innermost first."""

    def walk(value: Any) -> Any:
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(inner)
        if isinstance(value, dict):
            change(value)
        return value

    return lambda answer, number: walk(answer)


def nested(thing: dict[str, Any], depth: int) -> None:
    """Nest a page, section or collection in itself `depth` times, and make it its own parent."""
    if "parent" in thing:
        thing["parent"] = thing.get("id")
    for name in ("pages", "children", "sections"):
        if "id" in thing and isinstance(thing.get(name), list):
            inner = {key: value for key, value in thing.items() if not isinstance(value, dict | list)}
            for _ in range(depth):
                thing[name] = [{**inner, name: thing[name]}]


def dates(date: str) -> Spoil:
    """Set every time field to the same date."""
    return change_values(lambda name, value: date if re.search("(At|timestamp|Date)$", name) else value)


def numbers(number: float) -> Spoil:
    """Replace all numbers by the same number."""
    return change_values(lambda _, value: number if type(value) in (int, float) else value)


def both(first: Spoil, second: Spoil) -> Spoil:
    """Combine two kinds of nonsense that leave a response valid."""
    return lambda answer, number: second(first(answer, number), number)


KINDS: dict[str, Spoil] = {
    "well-formed": lambda answer, _: answer,
    "a repeated cursor": change_listings(lambda listing, _: listing.update(next={"page": "again"})),
    "a new cursor for the same items": change_listings(lambda listing, n: listing.update(next={"page": str(n)})),
    "empty pages with a cursor": change_listings(lambda listing, n: listing.update(items=[], next={"page": str(n)})),
    "a cursor of a wrong type": change_listings(
        lambda listing, n: listing.update(next=BAD_CURSORS[n % len(BAD_CURSORS)])
    ),
    "repeated ids, and no dates": both(
        change_listings(lambda listing, _: listing.update(items=listing["items"] * 3)), dates("yesterday")
    ),
    "null items": change_listings(lambda listing, _: listing.update(items=[None, *listing["items"]])),
    "no items": change_listings(lambda listing, _: listing.update(items=None)),
    "things inside themselves, in the year 1": both(
        change_objects(lambda thing: nested(thing, 3)), dates("0001-01-01T00:00:00+14:00")
    ),
    "deep trees": change_objects(lambda thing: nested(thing, DEPTH)),
    "large numbers": numbers(10**30),
    "numbers with 5,000 digits": numbers(DIGITS),
    "infinite numbers": numbers(float("inf")),
    "negative numbers, in the year 9999": both(numbers(-1), dates("9999-12-31T23:59:59.999999-14:00")),
    "a parser's limit": lambda answer, number: None,
    "a body without an end": lambda answer, number: None,
    "a slow body": lambda answer, number: None,
}


@dataclass
class HostileService:
    """A service with one kind of nonsense; `asked` are the received requests, `bodies` their JSON bodies."""

    kind: str
    asked: list[str] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    base_url: str = ""
    stopped: bool = False

    @contextmanager
    def running(self) -> Iterator[HostileService]:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.hostile = self
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        self.base_url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            self.stopped = True
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, method: str, path: str) -> bytes | None:
        """Return the body of the response, or None for an operation without one."""
        operation = operation_at(method, path.removeprefix("/v1"))
        well_formed = sample(operation.qualified_name()) if operation else None
        if well_formed is None:
            return None
        text = json.dumps(KINDS[self.kind](deepcopy(well_formed), len(self.asked)))
        return text.replace(str(DIGITS), "9" * 5000).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that no thread is left after the test
    hostile: HostileService

    def handle_error(self, *_: object) -> None:
        """Ignore clients that are gone: the message would be printed into the output of the command."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for head and body
    disable_nagle_algorithm = True
    timeout = 5

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        hostile, length = self.server.hostile, int(self.headers.get("content-length", "0"))
        hostile.bodies.append(json.loads(self.rfile.read(length) or "null"))
        hostile.asked.append(f"{self.command} {self.path}")
        try:
            self.respond(hostile)
        except ConnectionError:
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815  the names of the library

    def respond(self, hostile: HostileService) -> None:
        match hostile.kind:
            case "a body without an end":
                self.stream(b'{"items": [' + b'{"id": "x"}, ' * 10_000, pause=0)
            case "a slow body":
                self.stream(b" ", pause=0.02)
            case "a parser's limit":
                self.whole(b'{"items": ' + b"[" * 100_000)
            case _:
                self.whole(hostile.answer(self.command, self.path.partition("?")[0]))

    def whole(self, body: bytes | None) -> None:
        self.send_response(204 if body is None else 200)
        if body is not None:
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body or b"")
        self.wfile.flush()

    def stream(self, chunk: bytes, *, pause: float) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        while not self.server.hostile.stopped:
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            self.wfile.flush()
            time.sleep(pause)


@cache
def sample(name: str) -> Any:
    """Return the well-formed response of an operation, or None if it has none."""
    if FAMILIES[name].answer is None:
        return None
    described = sorted(told(FAMILIES[name]), key=lambda one: one.release == NEWEST)
    dated = change_values(lambda key, value: "2026-01-02T03:04:05Z" if key.endswith("At") and value == "x" else value)
    answer = dated(example(described[-1]), 0) if described else None
    if isinstance(answer, dict) and "items" in answer:
        answer.pop("next", None)
    return answer


@cache
def routes() -> list[tuple[str, re.Pattern[str], type[Operation[Any]]]]:
    """Return every operation with its method and path pattern, those with the fewest parameters first."""
    found = [
        (method, re.compile(re.sub(r"\{page_path\}", ".+", re.sub(r"\{(?!page_path)\w+\}", "[^/]+", path)) + "$"), one)
        for one in every_operation()
        for method, _, path in [one.route.partition(" ")]
    ]
    return sorted(found, key=lambda row: row[2].route.count("{"))


@cache
def operation_at(method: str, path: str) -> type[Operation[Any]] | None:
    return next((one for verb, pattern, one in routes() if verb == method and pattern.match(path)), None)
