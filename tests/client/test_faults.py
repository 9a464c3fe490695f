"""Network faults: each raises the expected error in time, and the next request works."""

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from tests.tcp_server import listening

from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import Operation
from presscheck.api.spaces import ListSpaces
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client, Timeouts
from presscheck.errors import Ambiguous, MalformedAnswer, NetworkError, RequestError

from .conftest import TOKEN, Exchanged, Fault, FaultServer, http

READ = GetCurrentUser()
WRITE = PostComment(space_id="s", change_request_id="1", body=Document(markdown="hello"))
GOOD = http(200, {"id": "u1", "postedBy": {"id": "u1"}})
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"


def after(sent: bytes, then: Callable[[Exchanged], Awaitable[None] | None]) -> Fault:
    async def fault(connection: Exchanged) -> None:
        await connection.write(sent)
        done = then(connection)
        if done is not None:
            await done

    return fault


FAULTS: dict[str, tuple[Fault, type[RequestError], type[RequestError]]] = {
    "slow headers": (after(b"", Exchanged.hang), NetworkError, Ambiguous),
    "half of the headers": (after(GOOD[:30], Exchanged.hang), NetworkError, Ambiguous),
    "headers without end": (after(GOOD[:20], lambda c: c.trickle(b"x")), NetworkError, Ambiguous),
    "slow body": (after(GOOD[:-5], Exchanged.hang), NetworkError, Ambiguous),
    "a body that drips for ever": (after(CHUNKED, lambda c: c.trickle(b"1\r\n \r\n")), NetworkError, Ambiguous),
    "cut body": (after(GOOD[:-5], lambda c: None), MalformedAnswer, Ambiguous),
    "cut chunks": (after(CHUNKED + b"5\r\n{", lambda c: None), MalformedAnswer, Ambiguous),
    "closed without an answer": (after(b"", lambda c: None), NetworkError, Ambiguous),
    "reset without an answer": (after(b"", Exchanged.reset), NetworkError, Ambiguous),
    "reset in the body": (after(GOOD[:-5], Exchanged.reset), NetworkError, Ambiguous),
    "not HTTP": (after(b"220 mail.example.org ESMTP\r\n\r\n", lambda c: None), MalformedAnswer, Ambiguous),
    "bad JSON": (http(200, b'{"id": "u1"'), MalformedAnswer, Ambiguous),
    "not UTF-8": (http(200, b'{"id": "\xff\xfe"}'), MalformedAnswer, Ambiguous),
    "another shape": (http(200, ["u1"]), MalformedAnswer, Ambiguous),
    "a page of HTML": (http(200, b"<html>Sign in to the Wi-Fi", kind="text/html"), MalformedAnswer, Ambiguous),
    "no content type": (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}", MalformedAnswer, Ambiguous),
    "an empty answer": (http(200), MalformedAnswer, Ambiguous),
    "no content": (http(204), MalformedAnswer, Ambiguous),
    "an unknown status of success": (http(226, {"id": "u1"}), MalformedAnswer, MalformedAnswer),
    "not modified": (http(304), MalformedAnswer, MalformedAnswer),
    "too large, and says so": (http(200, b" " * 20_000), MalformedAnswer, Ambiguous),
    "too large in chunks": (after(CHUNKED + b"4e20\r\n" + b" " * 20_000, Exchanged.hang), MalformedAnswer, Ambiguous),
    "a bomb": (http(200, gzip.compress(b" " * 5_000_000), content_encoding="gzip"), MalformedAnswer, Ambiguous),
    "broken gzip": (http(200, b"no gzip at all", content_encoding="gzip"), MalformedAnswer, Ambiguous),
    "cut gzip": (http(200, gzip.compress(b'{"id": "u"}')[:-9], content_encoding="gzip"), MalformedAnswer, Ambiguous),
    "more after gzip": (
        after(
            CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n")
            + b"1e\r\n"
            + zlib.compress(b'{"id": "u1"}', wbits=31).ljust(30, b"\0")[:30]
            + b"\r\n",
            lambda c: c.trickle(b"1\r\nx\r\n"),
        ),
        MalformedAnswer,
        Ambiguous,
    ),
    "an encoding not asked for": (http(200, b"xx", content_encoding="br"), MalformedAnswer, Ambiguous),
    "a redirect to nowhere": (http(302, location="http://[::"), MalformedAnswer, Ambiguous),
    "a redirect without a place": (http(302), MalformedAnswer, MalformedAnswer),
}


def client_of(server: FaultServer) -> Client:
    quick = Timeouts(connect=5, read=1, write=1, pool=5, whole=2, pause=0.001)
    return Client(server.address, TOKEN, timeout=quick, max_size=10_000, connections=1)


@pytest.fixture
def small(server: FaultServer) -> Client:
    return client_of(server)


TOGETHER = 8
"""Number of concurrent cases; most of them end only with a time-out."""


@pytest.mark.slow
async def test_each_fault_raises_its_error_and_writes_are_sent_once() -> None:
    turns = asyncio.Semaphore(TOGETHER)
    failures: list[str] = []

    async def check(name: str, fault: Fault, call: Operation[Any], expected: type[RequestError]) -> None:
        async with turns:
            server = await servers.enter_async_context(FaultServer([fault]).listening())
            client = client_of(server)
            try:
                await ends(client, call, expected)
                sent = [one for one in server.asked if one.method == "POST"]
                assert len(sent) == (call is WRITE), "a write is never sent twice"
                server.script = [GOOD]
                assert (await client.send(READ)).id == "u1", "the next request works"
            except (AssertionError, RequestError, pytest.fail.Exception) as error:
                failures.append(f"{name}: {call}: {type(error).__name__}: {error}")
            await client.aclose()

    async with AsyncExitStack() as servers:
        await asyncio.gather(
            *(check(name, fault, READ, of_read) for name, (fault, of_read, _) in FAULTS.items()),
            *(check(name, fault, WRITE, of_write) for name, (fault, _, of_write) in FAULTS.items()),
        )
    assert not failures, "\n".join(failures)


async def ends(client: Client, call: Operation[Any], expected: type[RequestError]) -> None:
    """Check that a call fails within 5 seconds with an error of exactly the expected class.

    The error must name the call, and its message must not contain the token.
    """
    began = asyncio.get_running_loop().time()
    with pytest.raises(RequestError) as caught:
        await client.send(call)
    assert type(caught.value) is expected, caught.value
    assert caught.value.request == str(call)
    assert caught.value.message[0].isupper() or caught.value.message.startswith("127.0.0.1")
    assert TOKEN not in caught.value.message
    assert asyncio.get_running_loop().time() - began < 5


async def test_a_refused_connection_is_not_ambiguous(server: FaultServer) -> None:
    async with Client("http://127.0.0.1:1", TOKEN) as client:
        with pytest.raises(NetworkError, match="connection refused") as caught:
            await client.send(WRITE)
    assert not isinstance(caught.value, Ambiguous), "nothing was sent"


async def test_an_unknown_host_is_not_ambiguous() -> None:
    async with Client("https://presscheck.invalid", TOKEN) as client:
        with pytest.raises(NetworkError, match=r"Could not connect to presscheck\.invalid") as caught:
            await client.send(WRITE)
    assert not isinstance(caught.value, Ambiguous)


async def test_plain_http_response_to_a_tls_client_is_not_ambiguous() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.read(1000))
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    heard: list[bytes] = []
    async with listening(greet) as address, Client(address.replace("http:", "https:"), TOKEN) as client:
        with pytest.raises(NetworkError, match="the secure connection failed") as caught:
            await client.send(WRITE)
    assert not isinstance(caught.value, Ambiguous)
    assert TOKEN.encode() not in heard[0]


async def test_a_full_pool_is_not_ambiguous(server: FaultServer) -> None:
    server.script = [lambda connection: connection.hang()]
    waits = Timeouts(read=2, pool=0.1)
    async with Client(server.address, TOKEN, timeout=waits, connections=1) as client:
        first = asyncio.create_task(client.send(READ))
        await server.has_been_asked(1)
        with pytest.raises(NetworkError, match="too many requests") as caught:
            await client.send(WRITE)
        assert not isinstance(caught.value, Ambiguous)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)


async def test_a_read_on_a_closed_idle_connection_is_repeated(server: FaultServer, client: Client) -> None:
    server.script = [GOOD, after(b"", Exchanged.reset), GOOD]
    await client.send(READ)
    assert (await client.send(READ)).id == "u1"
    assert [asked.connection for asked in server.asked] == [1, 1, 2]


async def test_a_write_on_a_closed_idle_connection_is_not_repeated(server: FaultServer, client: Client) -> None:
    server.script = [GOOD, after(b"", Exchanged.reset), GOOD]
    await client.send(READ)
    with pytest.raises(Ambiguous):
        await client.send(WRITE)
    assert [asked.method for asked in server.asked] == ["GET", "POST"]


async def test_a_body_longer_than_declared_does_not_affect_the_next_response(
    server: FaultServer, client: Client
) -> None:
    server.script = [GOOD.replace(b"content-length: 38", b"content-length: 12"), GOOD]
    with pytest.raises(MalformedAnswer):
        await client.send(READ)
    assert (await client.send(READ)).id == "u1"


async def test_cancelling_a_request_frees_its_connection(server: FaultServer, small: Client) -> None:
    for number, place in enumerate((0, 30, len(GOOD) - 5)):
        server.script = [after(GOOD[:place], Exchanged.hang)]
        task = asyncio.create_task(small.send(READ))
        await server.has_been_asked(2 * number + 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        server.script = [GOOD]
        assert (await small.send(READ)).id == "u1", "the only connection of the pool is free again"
    await small.aclose()


async def test_closing_a_listing_early_frees_its_connection(server: FaultServer, small: Client) -> None:
    server.script = [http(200, {"items": [{"id": "a"}, {"id": "b"}], "next": {"page": "2"}}), GOOD]
    async for _ in small.every(ListSpaces(organization_id="o")):
        break
    assert (await small.send(READ)).id == "u1"
    await small.aclose()
