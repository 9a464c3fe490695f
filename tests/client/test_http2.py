"""HTTP/2 over verified TLS."""

import asyncio
import json
import logging
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived, StreamReset
from tests.tcp_server import listening

from presscheck.api.spaces import GetSpace
from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.errors import NetworkError

from .conftest import QUICK, TOKEN


@dataclass
class Stream2Server:
    """An HTTP/2 server based on the library h2; requests for the space `slow` get no response."""

    address: str = ""
    connections: int = 0
    paths: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    resets: int = 0
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        speaking = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        speaking.initiate_connection()
        while True:
            writer.write(speaking.data_to_send())
            await writer.drain()
            data = await reader.read(65536)
            if not data:
                return
            for event in speaking.receive_data(data):
                await self.take(speaking, event)

    async def take(self, speaking: H2Connection, event: object) -> None:
        if isinstance(event, StreamReset):
            self.resets += 1
        if not isinstance(event, RequestReceived):
            return
        headers = {str(name): str(value) for name, value in event.headers}
        self.tokens.add(headers["authorization"])
        if not headers[":path"].endswith("slow"):
            body = json.dumps({"id": "u1"}).encode()
            speaking.send_headers(event.stream_id, [(":status", "200"), ("content-type", "application/json")])
            speaking.send_data(event.stream_id, body, end_stream=True)
        async with self.news:
            self.paths.append(headers[":path"])
            self.news.notify_all()


@pytest.fixture
async def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stream2Server]:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    context.set_alpn_protocols(["h2"])
    made = Stream2Server()
    async with listening(made.talk, secure=context) as made.address:
        yield made


async def test_many_calls_share_one_connection(offered: Stream2Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with Client(offered.address, TOKEN, timeout=QUICK) as client:
        await client.send(GetCurrentUser())
        await asyncio.gather(*(client.send(GetSpace(space_id=f"s{number}")) for number in range(20)))
    assert offered.connections == 1
    assert len(offered.paths) == 21
    assert offered.tokens == {f"Bearer {TOKEN}"}
    assert TOKEN not in caplog.text, "the library that packs headers would tell them all"


async def test_cancelling_one_stream_does_not_affect_others(offered: Stream2Server) -> None:
    async with Client(offered.address, TOKEN, timeout=QUICK) as client:
        await client.send(GetCurrentUser())
        slow = asyncio.create_task(client.send(GetSpace(space_id="slow")))
        async with offered.news:
            await offered.news.wait_for(lambda: len(offered.paths) == 2)
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)
        assert (await client.send(GetCurrentUser())).id == "u1"
    assert slow.cancelled()


async def test_an_untrusted_certificate_is_rejected(offered: Stream2Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with Client(offered.address, TOKEN, timeout=QUICK) as client:
        with pytest.raises(NetworkError, match="its certificate is not trusted"):
            await client.send(GetCurrentUser())
    assert offered.tokens == set()
