"""Downloads of files: connections, retries, and what is sent."""

import asyncio

import pytest

from presscheck.api.users import GetCurrentUser
from presscheck.client.client import ATTEMPTS, Client
from presscheck.errors import MalformedAnswer, NetworkError, RequestError, ServiceFailed

from .conftest import Exchanged, Fault, FaultServer, http

CALL = GetCurrentUser()
FILE = http(200, b"\x89PNG", kind="image/png")


async def cut(connection: Exchanged) -> None:
    await connection.write(FILE[:-1])


async def test_downloads_share_a_connection_and_send_no_token(server: FaultServer, client: Client) -> None:
    server.script = [FILE]
    for name in ("a.png", "b.png"):
        assert await client.download(CALL, f"{server.address}/files/{name}") == b"\x89PNG"
    assert [(asked.target, asked.connection) for asked in server.asked] == [("/files/a.png", 1), ("/files/b.png", 1)]
    assert not any("authorization" in asked.headers for asked in server.asked)


async def test_downloads_and_calls_use_different_connections(server: FaultServer, client: Client) -> None:
    server.always = {"/v1/user": http(200, {"id": "u1"})}
    server.script = [FILE]
    await client.send(CALL)
    await client.download(CALL, f"{server.address}/files/a.png")
    assert [asked.connection for asked in server.asked] == [1, 2]


@pytest.mark.parametrize("fault", [cut, http(503)])
async def test_a_download_is_repeated_after_a_transient_error(
    server: FaultServer, client: Client, fault: Fault
) -> None:
    server.script = [fault, FILE]
    assert await client.download(CALL, f"{server.address}/files/a.png") == b"\x89PNG"
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "asked"),
    [
        (cut, MalformedAnswer, ATTEMPTS),
        (http(503), ServiceFailed, ATTEMPTS),
        (http(204), MalformedAnswer, 1),
        (lambda connection: connection.hang(), NetworkError, 1),
    ],
)
async def test_a_download_that_keeps_failing_is_an_error(
    server: FaultServer, client: Client, fault: Fault, kind: type[RequestError], asked: int
) -> None:
    server.script = [fault]
    with pytest.raises(kind):
        await client.download(CALL, f"{server.address}/files/a.png")
    assert len(server.asked) == asked


async def test_closing_the_client_closes_the_connections_of_downloads(server: FaultServer, client: Client) -> None:
    server.script = [FILE]
    await client.download(CALL, f"{server.address}/files/a.png")
    assert server.open_now == 1
    await client.aclose()
    async with asyncio.timeout(5):
        await server.all_closed.wait()
