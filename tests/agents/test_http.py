"""The MCP server over HTTP: the SDK's client with the key, and requests that must not reach the server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation
from tests.agents.agent_client import ShellBeside, call
from tests.cli.shell import Shell, signed_in
from tests.running_service import RunningService


class Running(NamedTuple):
    """A server over HTTP: its URL and the header with its key."""

    url: str
    authorization: str

    @property
    def address(self) -> str:
        return self.url.removeprefix("http://").removesuffix("/mcp")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, shared_service: Callable[..., RunningService]) -> Shell:
    """A signed-in shell with its own home directory."""
    return ShellBeside(tmp_path_factory.mktemp("home"), signed_in(Path(), shared_service(sample=True)).env)


@pytest.fixture(scope="module")
def running(shell: Shell) -> Iterator[Running]:
    """One server for all tests; starting it takes longer than the tests."""
    process = subprocess.Popen(
        [sys.executable, "-m", "presscheck", "mcp", "--http", "--allow", "draft"],
        env=shell.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        first, second = process.stderr.readline(), process.stderr.readline()
        assert first.startswith("Serving on http://127.0.0.1:"), first
        yield Running(first.split()[2], second.strip().removeprefix("Authorization: "))
    finally:
        process.terminate()
        process.communicate(timeout=20)


@asynccontextmanager
async def client_of(running: Running, name: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": running.authorization}) as http,
        Client(
            streamable_http_client(running.url, http_client=http), client_info=Implementation(name=name, version="1")
        ) as client,
    ):
        yield client


MESSAGE = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}


@pytest.mark.slow
async def test_requests_with_a_wrong_key_host_origin_or_body_are_rejected(running: Running) -> None:
    right = {"authorization": running.authorization, "accept": "application/json, text/event-stream"}
    port = running.address.partition(":")[2]
    attacks: list[tuple[int, dict[str, str]]] = [
        (401, {"authorization": ""}),
        (401, {"authorization": "Bearer wrong"}),
        (401, {"authorization": running.authorization[:-1]}),
        (401, {"authorization": running.authorization.replace("Bearer", "Basic")}),
        (421, {"host": "attacker.example"}),
        (421, {"host": f"attacker.example:{port}"}),
        (421, {"host": f"127.0.0.1.attacker.example:{port}"}),
        (421, {"host": "127.0.0.1:1"}),
        (403, {"origin": "https://attacker.example"}),
        (403, {"origin": "null"}),
        (403, {"origin": f"http://attacker.example:{port}"}),
    ]
    async with httpx.AsyncClient() as http:
        for status, headers in attacks:
            for method in ("POST", "GET", "DELETE", "OPTIONS"):
                response = await http.request(method, running.url, json=MESSAGE, headers={**right, **headers})
                assert response.status_code == status, (method, headers, response.text)
                assert "access-control-allow-origin" not in response.headers
        huge = await http.post(
            running.url, content=b" " * (2 << 20), headers={**right, "content-type": "application/json"}
        )
        assert huge.status_code == 413
        for body in (b"", b"[", b"[]", b"\xff\xff", json.dumps([MESSAGE] * 3).encode(), b"{" * 100_000):
            wrong = await http.post(running.url, content=body, headers={**right, "content-type": "application/json"})
            assert 400 <= wrong.status_code < 500, body[:20]
    async with client_of(running, "After") as client:
        assert (await call(client, "list_spaces"))["total"] == 6, "it still serves"


def test_used_port_is_named_in_the_error(shell: Shell, running: Running) -> None:
    port = running.address.partition(":")[2]
    ran = shell.run("mcp", "--http", port)
    assert ran.exit_code == 2
    assert f"--http {port}: Address already in use" in ran.stderr
