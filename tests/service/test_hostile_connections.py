"""Slow, incomplete and ambiguous requests, and wrong hosts: the service stays available for other clients."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world
from tests.web_server import web_server

from presscheck.service.app import MOST_BODIES_OF_USER, build
from presscheck.service.db.engine import Database
from presscheck.service.http.middleware import JsonLines
from presscheck.service.http.operations import ApiError
from presscheck.service.http.turns import RETRY_AFTER, Turns
from presscheck.service.models.sites import SiteRow
from presscheck.service.server.protocol import HEADER_DEADLINE, MAX_PIPELINED, LimitedProtocol, network_of
from presscheck.service.server.server import ServiceServer, service_config


def connected(base_url: str) -> socket.socket:
    host, port = base_url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


@pytest.mark.attack("half-sent and slow requests")
@pytest.mark.parametrize("authorization", ["", "authorization: Bearer unknown\r\n", "authorization: Basic eDp5\r\n"])
@pytest.mark.parametrize("size", ["content-length: 31000000", "transfer-encoding: chunked"])
def test_the_token_is_checked_before_the_body_is_read(service: RunningService, authorization: str, size: str) -> None:
    with connected(service.base_url) as connection:
        head = f"POST /v1/spaces/x/change-requests HTTP/1.1\r\nhost: localhost\r\n{authorization}{size}\r\n\r\n"
        connection.sendall(head.encode())  # and no body
        assert connection.recv(12) == b"HTTP/1.1 401"


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_token_is_checked_if_a_small_body_does_not_arrive(service: RunningService) -> None:
    with connected(service.base_url) as connection:
        path, host = "/v1/orgs/tallowick/spaces", "host: localhost\r\nauthorization: Bearer unknown"
        connection.sendall(f"POST {path} HTTP/1.1\r\n{host}\r\ncontent-length: 20\r\n\r\n{{".encode())
        assert connection.recv(12) == b"HTTP/1.1 401"
    with connected(service.base_url) as connection:
        known = f"host: localhost\r\nauthorization: Bearer {service.token}\r\nconnection: close"
        connection.sendall(f"POST {path} HTTP/1.1\r\n{known}\r\ncontent-length: 17\r\n\r\n{{".encode())
        time.sleep(1.5)  # longer than `LONGEST_UNKNOWN`, so that the sender is authenticated before the rest is read
        connection.sendall(b'"title": "Slow"}')
        assert connection.recv(12) == b"HTTP/1.1 404", "its sender is known, the organization is not"


@pytest.mark.attack("half-sent and slow requests")
def test_a_long_body_is_refused_by_its_declared_length(service: RunningService) -> None:
    for length in ("40000000", "9" * 5000):
        with connected(service.base_url) as connection:
            head = f"POST /v1/spaces/x/change-requests HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
            connection.sendall(head.encode())
            assert connection.recv(12) in (b"HTTP/1.1 413", b"HTTP/1.1 400")


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_incomplete_body_is_logged_without_a_warning(service: RunningService, caplog: pytest.LogCaptureFixture) -> None:
    """A traceback for each lost client would fill the log."""
    with caplog.at_level(logging.INFO), connected(service.base_url) as connection:
        head = f"POST /v1/orgs/tallowick/spaces HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {service.token}"
        connection.sendall(f"{head}\r\ncontent-length: 31000000\r\n\r\n{{".encode())
        time.sleep(0.2)  # until the token is checked
        connection.close()
        ends = time.monotonic() + 20
        while not any("/spaces" in str(getattr(record, "details", "")) for record in caplog.records):
            assert time.monotonic() < ends, caplog.text
            time.sleep(0.02)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


LARGE = 1_000_000


def large_request(service: RunningService, token: str) -> tuple[socket.socket, bytes]:
    """Send the beginning of a large request that creates a space. Returns the connection and the rest of the body."""
    body = b'{"title": "Large"}'.ljust(LARGE)
    head = f"POST /v1/orgs/none/spaces HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}"
    connection = connected(service.base_url)
    connection.sendall(f"{head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body[:1000])
    return connection, body[1000:]


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_large_bodies_of_a_user_take_turns(service: RunningService, world: World) -> None:
    with ExitStack() as stack:
        waiting = [large_request(service, service.token) for _ in range(MOST_BODIES_OF_USER)]
        for connection, _ in waiting:
            stack.enter_context(connection)
        time.sleep(0.5)  # until the requests have their turns
        last, rest = large_request(service, service.token)
        stack.enter_context(last).sendall(rest)
        last.settimeout(1)
        with pytest.raises(TimeoutError):
            last.recv(12)
        headers = {"authorization": f"Bearer {service.token}"}
        small = httpx.post(f"{service.base_url}/v1/orgs/none/spaces", json={"title": "Small"}, headers=headers)
        assert small.status_code == 404, "small requests go on"
        other, rest = large_request(service, world.tokens["admin"])
        with other:
            other.sendall(rest)
            assert other.recv(12) == b"HTTP/1.1 404", "other users have turns of their own"
        first, rest = waiting[0]
        first.sendall(rest)
        assert first.recv(12) == b"HTTP/1.1 404"
        last.settimeout(20)
        assert last.recv(12) == b"HTTP/1.1 404"


@contextmanager
def silent_server() -> Iterator[str]:
    """A server that accepts connections and never responds."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(200)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_slow_tunnels_of_an_organization_delay_only_its_own_calls(tmp_path: Path) -> None:
    asked = {"componentId": "c", "props": {}, "context": {}}
    details = {"title": "Lamp", "description": "", "scopes": [], "script": "0"}
    with running_service(tmp_path, outside=LOOPBACK) as service, silent_server() as silent, web_server({}) as tunnel:
        clients: list[httpx.AsyncClient] = []
        tasks: list[asyncio.Task[httpx.Response]] = []
        for address in (silent, tunnel.url):
            world = plant_world(service.database_url, service.base_url)
            for role in ("admin", "create", "edit", "review", "read"):
                headers = {"authorization": f"Bearer {world.tokens[role]}"}
                http = httpx.AsyncClient(base_url=f"{service.base_url}/v1", headers=headers, timeout=60)
                at = f"/integrations/lamp-{world.organization}"
                if role == "admin":
                    await http.post(at, json={**details, "organization": world.organization, "visibility": "unlisted"})
                    await http.put(f"{at}/dev", json={"tunnelUrl": address, "all": True})
                clients.append(http)
                if address == silent:
                    tasks += [asyncio.create_task(http.post(f"{at}/render", json=asked)) for _ in range(3)]
        await asyncio.sleep(0.5)
        for http in clients[-5:]:
            assert (await http.post(f"{at}/render", json=asked, timeout=10)).status_code == 200
        assert not any(task.done() for task in tasks), "15 calls wait for the silent tunnel"
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for http in clients:
            await http.aclose()


async def test_turns_are_counted_by_key() -> None:
    turns, held, most = Turns(2, waiting=100, patience=60, what="Calls"), Counter[str](), Counter[str]()

    async def call(key: str) -> None:
        async with turns.turn(key):
            held[key] += 1
            most[key] = max(most[key], held[key])
            await asyncio.sleep(0.01)
            held[key] -= 1

    await asyncio.gather(*(call(f"user {number % 4}") for number in range(40)))
    assert most == {f"user {number}": 2 for number in range(4)}
    assert not turns.held(), "a user without calls takes no memory"


async def test_too_many_calls_of_a_key_are_refused() -> None:
    turns = Turns(1, waiting=1, patience=0.05, what="Calls")

    async def call(key: str) -> None:
        async with turns.turn(key):
            return

    async with turns.turn("u"):
        waiting = asyncio.create_task(call("u"))
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="too many calls wait") as refused:
            await call("u")
        assert (refused.value.status, refused.value.retry_after) == (503, RETRY_AFTER)
        with pytest.raises(ApiError, match="take too long"):
            await waiting
        await call("another")
    await call("u")


async def test_turns_are_taken_in_order() -> None:
    turns, order = Turns(1, waiting=100, patience=60, what="Calls"), list[int]()

    async def call(number: int) -> None:
        async with turns.turn("u"):
            await asyncio.sleep(0)
            order.append(number)

    await asyncio.gather(*(call(number) for number in range(20)))
    assert order == [*range(20)]


def statuses(base_url: str, path: str, *authorizations: str, host: str | None = None) -> list[int]:
    more = {"host": host} if host else {}
    found = [httpx.get(base_url + path, headers={"authorization": given, **more}) for given in authorizations]
    return [response.status_code for response in found]


class ServerInThread(ServiceServer):
    capture_signals = uvicorn.Server.capture_signals


@contextmanager
def served(
    app: Any, protocol: type[LimitedProtocol] = LimitedProtocol, *, proxy_headers: bool = False
) -> Iterator[str]:
    """Run an application on a free port. Yields its URL."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(200)
        config = service_config(app, proxy_headers=proxy_headers)
        config.http, config.timeout_graceful_shutdown = protocol, 1
        server = ServerInThread(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.mark.attack("half-sent and slow requests")
def test_the_rate_limit_counts_tokens_and_addresses(tmp_path: Path, own_database: str | None) -> None:
    service = RunningService(tmp_path, database_url=own_database)
    while time.time() % 60 > 50:  # the window must not end during the test
        time.sleep(0.1)
    with served(build(service.database_url, data_dir=tmp_path, rate_limit=3)) as address:
        token = service.token
        spellings = [f"Bearer {token}", f"bearer {token}", f"BEARER  {token}", f"bEaReR {token}"]
        assert statuses(address, "/v1/user", *spellings) == [200, 200, 200, 429], "a token counts, not its spelling"
        assert statuses(address, "/v1/user", "Bearer a", "Bearer b", "c", "Bearer d") == [401, 401, 401, 429]
        assert statuses(address, "/docs/none/", "", "", "", "") == [404, 404, 404, 429], "sites count for the address"
        for path in ("/docs", "/files/a/b", "/integrations/a", "/assets/site.css", "/other"):
            assert statuses(address, path, "x") == [429], path
        assert statuses(address, "/healthz", "") == [200], "a monitor is not limited"
        assert statuses(address, "/healthz", "", "") == [200, 200]


@pytest.mark.attack("half-sent and slow requests")
def test_two_authorization_headers_are_refused(world: World) -> None:
    one = ("authorization", f"Bearer {world.tokens['admin']}")
    assert httpx.get(f"{world.base_url}/v1/user", headers=[one]).status_code == 200
    refused = httpx.get(f"{world.base_url}/v1/user", headers=[one, ("Authorization", "Bearer other")])
    assert (refused.status_code, "exactly one" in refused.text) == (400, True)


@pytest.mark.attack("Unicode and escape sequences")
def test_log_escapes_control_characters() -> None:
    path = "/v1/a\x1b\x7f\x85\x9b\u202e\u2066\u200b\u2028ü"
    record = logging.LogRecord("presscheck.requests", logging.INFO, "", 0, "request", None, None)
    record.details = {"path": path}
    line = JsonLines().format(record)
    assert line.isprintable()
    assert json.loads(line)["path"] == path
    assert "ü" in line


@pytest.mark.attack("bad hosts")
def test_only_known_hosts_are_served(world: World) -> None:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    port = world.base_url.rpartition(":")[2]

    def status(host: str) -> int:
        return httpx.get(f"{world.base_url}/v1/user", headers={**headers, "host": host}).status_code

    for host in (
        f"localhost:{port}",
        "127.0.0.1",
        "[::1]:8300",
        "LOCALHOST",
        "docs.localhost",
        "localhost.",
        "127.0.0.2",
    ):
        assert status(host) == 200, host
    foreign = (
        "evil.example", "127.0.0.1.evil.example", "127.0.0.1@evil.example", "localhost:80:80", "localhost/x", "a b",
        "10.0.0.1", "0.0.0.0", "[::]", "localhost:x", "évil.example".encode().decode("latin-1"), "docs.lamps.example",
    )  # fmt: skip
    for host in foreign:
        response = httpx.get(f"{world.base_url}/v1/user", headers={**headers, "host": host.encode("latin-1")})
        assert response.status_code == 400, host
        assert host not in response.text
    made = httpx.post(
        f"{world.base_url}/v1/orgs/{world.organization}/sites",
        headers=headers,
        json={"title": "Lamps", "spaces": [world.space]},
    )
    database = Database(world.database_url)
    for published, expected in ((False, 400), (True, 200)):
        with database.writing.begin() as session:
            site = session.get_one(SiteRow, made.json()["id"])
            site.hostname, site.published = f"Docs-{world.organization}.example", published
        assert status(f"docs-{world.organization}.example".lower()) == expected
    database.close()


def test_a_request_without_host_is_served(service: RunningService) -> None:
    with connected(service.base_url) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"


@pytest.mark.attack("bad hosts")
def test_urls_start_with_the_public_url(tmp_path: Path, own_database: str | None) -> None:
    service = RunningService(tmp_path, database_url=own_database)
    app = build(service.database_url, data_dir=tmp_path, public_url="https://docs.example.org/", hosts=("lamps.local",))
    with served(app) as address:
        for host in (None, "docs.example.org", "lamps.local:80"):
            headers = {"authorization": f"Bearer {service.token}", **({"host": host} if host else {})}
            response = httpx.get(f"{address}/v1/user", headers=headers)
            assert response.json()["urls"]["location"].startswith("https://docs.example.org/v1/users/")


class HastyProtocol(LimitedProtocol):
    header_deadline = 1.0


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Respond with 2 bytes; at `/read`, after the whole body was received."""
    if scope["type"] != "http":
        return
    while scope["path"] == "/read" and (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


def closed_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_half_sent_requests_are_closed() -> None:
    with served(echo, HastyProtocol) as address:
        silent = [connected(address) for _ in range(10)]
        half = [connected(address) for _ in range(10)]
        later = connected(address)
        later.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert later.recv(12) == b"HTTP/1.1 200"
        unread = connected(address)
        unread.sendall(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n")
        assert unread.recv(12) == b"HTTP/1.1 200"
        for connection in half:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n")
        until = time.monotonic() + 3
        trickling = {later: b"GET / HTTP/1.1\r\nx: " + b"y" * 100, unread: b"z" * 100}
        while time.monotonic() < until:  # single bytes do not extend the deadline
            for connection, text in trickling.items():
                try:
                    connection.sendall(text[:1])
                except ConnectionError:
                    continue
                trickling[connection] = text[1:]
            time.sleep(0.1)
        for connection in (*silent, *half, later, unread):
            with closing(connection):
                assert closed_within(connection, 10)


async def told_back(scope: Any, receive: Any, send: Any) -> None:
    """Respond with the method, path, body and header names of the request."""
    if scope["type"] != "http":
        return
    body, has_more = b"", True
    while has_more:
        message = await receive()
        body, has_more = body + message["body"], message["more_body"]
    names = b" ".join(name for name, _ in scope["headers"])
    content = b" ".join((scope["method"].encode(), scope["path"].encode(), body, names))
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(content))]})
    await send({"type": "http.response.body", "body": content})


def answers(base_url: str, sent: bytes) -> bytes:
    """Send bytes. Returns everything that is received until the connection is closed."""
    with closing(connected(base_url)) as connection:
        received = b""
        with suppress(ConnectionError):
            connection.sendall(sent)
        with suppress(ConnectionError):
            while part := connection.recv(65536):
                received += part
    return received


LAST = b"host: x\r\nconnection: close\r\n"
POST, CHUNKED = b"POST / HTTP/1.1\r\n" + LAST, b"POST / HTTP/1.1\r\n" + LAST + b"transfer-encoding: chunked\r\n"
UPGRADE = b"host: x\r\nconnection: Upgrade\r\nupgrade: h2c\r\n"
FOLLOWED = b"GET /next HTTP/1.1\r\n" + LAST + b"\r\n"


@pytest.mark.attack("half-sent and slow requests")
def test_ambiguous_and_invalid_requests_are_refused() -> None:
    refused = (
        ("two hosts", b"GET / HTTP/1.1\r\nhost: y\r\n" + LAST + b"\r\n"),
        ("no host", b"GET / HTTP/1.1\r\n\r\n"),
        ("an unknown method", b"BREW / HTTP/1.1\r\n" + LAST + b"\r\n"),
        ("another protocol", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        ("NUL in a header", b"GET / HTTP/1.1\r\na: b\0c\r\n" + LAST + b"\r\n"),
        ("an escape in a header", b"GET / HTTP/1.1\r\na: \x1b[0m\r\n" + LAST + b"\r\n"),
        ("a folded header", b"GET / HTTP/1.1\r\na: b\r\n c\r\n" + LAST + b"\r\n"),
        ("a header without a name", b"GET / HTTP/1.1\r\n: b\r\n" + LAST + b"\r\n"),
        ("a space before the colon", b"GET / HTTP/1.1\r\na : b\r\n" + LAST + b"\r\n"),
        ("length and chunks", CHUNKED + b"content-length: 5\r\n\r\n0\r\n\r\n"),
        ("two lengths", POST + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab"),
        ("a negative length", POST + b"content-length: -1\r\n\r\n"),
        ("an endless length", POST + b"content-length: 99999999999999999999999\r\n\r\n"),
        ("a compressed body", POST + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
        ("two encodings", CHUNKED + b"transfer-encoding: identity\r\n\r\n0\r\n\r\n"),
        ("a chunk without a length", CHUNKED + b"\r\nzz\r\nabc\r\n"),
        ("a chunk that is too long", CHUNKED + b"\r\n3\r\nabcdef\r\n0\r\n\r\n"),
        ("chunks and an upgrade", b"POST / HTTP/1.1\r\n" + UPGRADE + b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("a large header", b"GET / HTTP/1.1\r\n" + LAST + b"a: " + b"y" * 70_000 + b"\r\n\r\n"),
        ("many headers", b"GET / HTTP/1.1\r\n" + LAST + b"a:\r\n" * 20_000 + b"\r\n"),
        ("a large URL", b"GET /" + b"y" * 70_000 + b" HTTP/1.1\r\n" + LAST + b"\r\n"),
        ("a header without an end", b"GET / HTTP/1.1\r\n" + LAST + b"a: " + b"y" * 1_000_000),
        ("lines before a request", b"\r\n" * 500_000),
        ("a chunk extension without an end", CHUNKED + b"\r\n3;" + b"y" * 1_000_000),
        ("a trailer without an end", CHUNKED + b"\r\n0\r\na: " + b"y" * 1_000_000),
        ("many trailers", CHUNKED + b"\r\n0\r\n" + b"a: b\r\n" * 100_000),
    )
    with served(told_back) as address:
        for what, sent in refused:
            began = time.monotonic()
            received = answers(address, sent)
            assert time.monotonic() - began < HEADER_DEADLINE, what
            # a client that is still sending may lose the response
            assert received.startswith(b"HTTP/1.1 400") or (not received and len(sent) > 60_000), (what, received)
            assert received.count(b"HTTP/1.1") <= 1, what


def test_valid_requests_are_read_in_any_form() -> None:
    read = (
        ("a full URL", b"GET http://x/a?b HTTP/1.1\r\n" + LAST + b"\r\n", b"GET /a  host"),
        ("two slashes", b"GET //a HTTP/1.1\r\n" + LAST + b"\r\n", b"GET //a  host"),
        ("lines before a request", b"\r\n\r\n" + FOLLOWED, b"GET /next  host"),
        ("chunks", CHUNKED + b"\r\n3;a=b\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", b"POST / abcd host"),
        ("a trailer", CHUNKED + b"\r\n1\r\na\r\n0\r\nauthorization: x\r\n\r\n", b"connection transfer-encoding"),
        ("a large body", POST + b"content-length: 400000\r\n\r\n" + b"y" * 400_000, b"POST / " + b"y" * 400_000),
        ("an upgrade", b"GET / HTTP/1.1\r\n" + UPGRADE + b"\r\n" + FOLLOWED, b"GET /  host connection upgrade"),
        (
            "an upgrade with a body",
            b"POST / HTTP/1.1\r\n" + UPGRADE + b"content-length: 3\r\n\r\nabc" + FOLLOWED,
            b"POST / abc host connection upgrade",
        ),
        ("garbage after a request", SMALL + b"\x00garbage\r\n\r\n", b"GET /small  host"),
    )
    with served(told_back) as address:
        for what, sent, expected in read:
            received = answers(address, sent)
            assert expected in received, (what, received)
            assert b"authorization" not in received, what
            assert received.count(b"HTTP/1.1 200") == (2 if UPGRADE in sent else 1), what


def test_the_body_of_an_upgrade_may_arrive_later() -> None:
    with served(told_back) as address, closing(connected(address)) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n" + UPGRADE + b"content-length: 3\r\n\r\na")
        time.sleep(0.2)
        connection.sendall(b"bc" + FOLLOWED)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"POST / abc" in received


@pytest.mark.attack("half-sent and slow requests")
def test_number_of_pipelined_requests_is_limited() -> None:
    with served(told_back) as address:
        received = answers(address, b"".join(b"GET /%d HTTP/1.1\r\nhost: x\r\n\r\n" % number for number in range(1000)))
    paths = [int(part.split()[0]) for part in received.split(b"GET /")[1:]]
    assert paths == [*range(len(paths))]
    assert MAX_PIPELINED < len(paths) < 100
    assert received.endswith(b"host")


@pytest.mark.slow
def test_a_slow_body_and_a_long_response_have_no_header_deadline() -> None:
    with served(echo, HastyProtocol) as address, connected(address) as connection:
        connection.sendall(b"POST /read HTTP/1.1\r\nhost: x\r\ncontent-length: 15\r\n\r\n")
        for _ in range(15):
            time.sleep(0.1)
            connection.sendall(b"x")
        assert connection.recv(12) == b"HTTP/1.1 200"


class Bodies:
    """An application that responds with 5 MB, 20 kB at `/small`, after 5 seconds at `/wait`; it counts requests."""

    def __init__(self) -> None:
        self.content = os.urandom(5_000_000)
        self.requests: Counter[str] = Counter()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        self.requests[scope["path"]] += 1
        await asyncio.sleep(5 if scope["path"] == "/wait" else 0)
        size = 20_000 if scope["path"] == "/small" else len(self.content)
        body = b"".join((self.content[:1], self.content[1:size]))  # a copy for each response
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body})


BIG = b"GET /big HTTP/1.1\r\nhost: x\r\n\r\n"
WAIT = b"GET /wait HTTP/1.1\r\nhost: x\r\n\r\n"
SMALL = b"GET /small HTTP/1.1\r\nhost: x\r\n\r\n"


def small_window(base_url: str, size: int = 4096) -> socket.socket:
    """Open a connection with a small receive buffer."""
    host, port = base_url.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
    connection.settimeout(20)
    connection.connect((host, int(port)))
    return connection


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_unread_responses_are_aborted() -> None:
    class Protocol(LimitedProtocol):
        send_deadline = 2.0
        max_unsent = 60_000_000

    app = Bodies()
    with served(app, Protocol) as address:
        big, small = [small_window(address) for _ in range(25)], [small_window(address) for _ in range(25)]
        for connection in big:
            connection.sendall(BIG)
        for connection in small:
            connection.sendall(SMALL * 300)
        assert httpx.get(f"{address}/small").content == app.content[:20_000], "the others are served"
        time.sleep(1)
        assert sum(not is_reset(connection) for connection in big) <= 12, "60 MB may wait"
        time.sleep(3)
        assert app.requests["/small"] < 25 * 40, "the next request waits until the response before it has left"
        for connection in (*big, *small):
            with closing(connection):
                assert is_reset(connection)


def is_reset(connection: socket.socket) -> bool:
    """Return True if the other side has reset the connection. Reads no data."""
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == b"\x07"  # TCP_CLOSE


@pytest.mark.slow
def test_slow_reader_gets_the_whole_response() -> None:
    class Protocol(LimitedProtocol):
        send_deadline = 1.0

    app = Bodies()
    with served(app, Protocol) as address, small_window(address, 65536) as connection:
        connection.sendall(b"GET /big HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        received, begun = bytearray(), time.monotonic()
        while part := connection.recv(65536, socket.MSG_WAITALL):
            received += part
            time.sleep(0.03)
        assert time.monotonic() - begun > 2, "longer than the deadline for a piece"
        assert received.endswith(app.content)


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_connections_are_limited_per_address_and_in_total() -> None:
    class Protocol(LimitedProtocol):
        max_connections = 10
        max_connections_of_address = 5

    for proxy_headers, limit in ((False, 5), (True, 10)):  # a proxy has the connections of many clients
        with served(Bodies(), Protocol, proxy_headers=proxy_headers) as address:
            first, *idle = [connected(address) for _ in range(limit)]
            assert httpx.get(f"{address}/small").status_code == 200, "in the place of the one that was silent longest"
            assert is_reset(first)
            busy = [connected(address) for _ in range(limit)]
            for connection in busy:
                connection.sendall(WAIT)
            time.sleep(0.3)
            response = httpx.get(f"{address}/small")
            assert (response.status_code, response.headers["retry-after"]) == (503, "5")
            assert f"more than {limit} connections" in response.json()["error"]["message"]
            busy.pop().close()
            stuck = small_window(address)
            stuck.sendall(BIG)
            time.sleep(0.3)
            assert httpx.get(f"{address}/small").status_code == 200, "in the place of the one that reads nothing"
            assert is_reset(stuck)
            for connection in (first, *idle, *busy, stuck):
                connection.close()


def test_addresses_of_an_ipv6_network_count_together() -> None:
    assert network_of("2001:db8:1:2::1") == network_of("2001:db8:1:2:ffff::9") != network_of("2001:db8:1:3::1")
    assert network_of("fe80::1%eth0") == network_of("fe80::2")
    assert network_of("192.0.2.1") != network_of("192.0.2.2")


@pytest.mark.slow
@pytest.mark.attack("half-sent and slow requests")
def test_unread_responses_take_little_memory() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    with served(Bodies()) as address, ExitStack() as held:
        before = resident()
        for _ in range(90):
            connection = held.enter_context(small_window(address))
            with suppress(ConnectionError):
                connection.sendall(BIG)
        assert httpx.get(f"{address}/small", timeout=10).status_code == 200
        assert resident() - before < 300_000_000, "90 responses have 450 MB"
