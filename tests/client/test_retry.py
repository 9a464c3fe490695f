"""Retries: transient errors of reads, and 429 responses."""

import asyncio
import logging
from collections.abc import Awaitable

import pytest

from presscheck.api.comments import Document, PostComment
from presscheck.api.operation import Operation
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import ATTEMPTS, Client, Timeouts
from presscheck.errors import MalformedAnswer, NetworkError, RequestError, ServiceFailed, TooManyRequests

from .conftest import TOKEN, Exchanged, Fault, FaultServer, http

READ = GetCurrentUser()
WRITE = PostComment(space_id="s", change_request_id="1", body=Document(markdown="hello"))
GOOD = http(200, {"id": "u1", "postedBy": {"id": "u1"}})
BUSY = http(429, {"error": {"code": 429, "message": "slow down"}})


async def reset(connection: Exchanged) -> None:
    connection.reset()


async def cut(connection: Exchanged) -> None:
    await connection.write(GOOD[:-5])


@pytest.mark.parametrize("fault", [reset, cut, http(502), http(503), http(504), BUSY])
async def test_a_read_is_repeated_after_a_transient_error(server: FaultServer, client: Client, fault: Fault) -> None:
    server.script = [fault, GOOD]
    assert (await client.send(READ)).id == "u1"
    assert len(server.asked) == 2


async def test_a_write_is_repeated_after_429(server: FaultServer, client: Client) -> None:
    server.script = [BUSY, GOOD]
    assert (await client.send(WRITE)).id == "u1"
    assert [asked.json() for asked in server.asked] == [{"body": {"markdown": "hello"}}] * 2


@pytest.mark.parametrize(
    ("fault", "call", "kind"),
    [
        (http(500), READ, ServiceFailed),
        (http(503), WRITE, ServiceFailed),
        (http(200, b"{", kind="application/json"), READ, MalformedAnswer),
        (lambda connection: connection.hang(), READ, NetworkError),
    ],
)
async def test_permanent_errors_are_not_repeated(
    server: FaultServer, client: Client, fault: Fault, call: Operation[object], kind: type[RequestError]
) -> None:
    server.script = [fault]
    with pytest.raises(kind):
        await client.send(call)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "kind"), [(reset, NetworkError), (http(503), ServiceFailed), (BUSY, TooManyRequests)]
)
async def test_retries_end_after_the_last_attempt(
    server: FaultServer, client: Client, fault: Fault, kind: type[RequestError]
) -> None:
    server.script = [fault]
    with pytest.raises(kind):
        await client.send(READ)
    assert len(server.asked) == ATTEMPTS


async def test_pauses_grow_and_differ(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = list[float]()
    sleep, sender = asyncio.sleep, asyncio.current_task()

    def recorded_sleep(seconds: float) -> Awaitable[None]:
        if asyncio.current_task() is sender:  # services of other tests sleep, too
            pauses.append(seconds)
        return sleep(seconds)

    # the requested pauses are exact; the measured ones are longer on a busy machine
    monkeypatch.setattr(asyncio, "sleep", recorded_sleep)
    server.script = [http(503)]
    async with Client(server.address, TOKEN, timeout=Timeouts(pause=0.04)) as client:
        for _ in range(3):
            with pytest.raises(ServiceFailed):
                await client.send(READ)
    firsts, seconds = pauses[::2], pauses[1::2]
    assert len(firsts) == len(seconds) == 3
    assert all(0.04 <= first <= 0.08 for first in firsts), "the pause and up to as much again"
    assert all(0.08 <= second <= 0.12 for second in seconds), "twice the pause and up to one more"
    assert len(set(firsts)) == 3, "jitter"


async def test_a_long_retry_after_is_an_error_at_once(server: FaultServer, client: Client) -> None:
    server.script = [http(429, retry_after="600")]
    with pytest.raises(TooManyRequests, match="try again in 10 min") as caught:
        await client.send(READ)
    assert caught.value.retry_after == 600
    assert len(server.asked) == 1


async def test_cancelling_during_a_pause_frees_the_connection(server: FaultServer) -> None:
    server.script = [http(503)]
    async with Client(server.address, TOKEN, timeout=Timeouts(pause=30, longest_pause=60), connections=1) as client:
        asking = asyncio.create_task(client.send(READ))
        await server.has_been_asked(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        server.script = [GOOD]
        assert (await client.send(READ)).id == "u1"


async def test_retries_do_not_log_the_token(
    server: FaultServer, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.script = [reset, http(503), GOOD]
    await client.send(READ)
    assert TOKEN not in caplog.text
