"""The MCP server over stdin and stdout as a separate process: invalid messages, and the end of the server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.shell import Shell

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "Tester", "version": "1"}}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


class Server:
    """A process of `presscheck mcp` that exchanges lines with the test."""

    def __init__(self, shell: Shell) -> None:
        command, pipe = [sys.executable, "-m", "presscheck", "mcp"], subprocess.PIPE
        self.process = subprocess.Popen(command, env=shell.environment, stdin=pipe, stdout=pipe, stderr=pipe)

    def write(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, line: str) -> dict[str, Any]:
        assert self.process.stdout
        self.write(line)
        return json.loads(self.process.stdout.readline())


def request(identity: Any, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


@pytest.fixture
def server(shell: Shell) -> Iterator[Server]:
    running = Server(shell)
    try:
        assert running.answer(request(1, "initialize", **HELLO))["id"] == 1
        yield running
    finally:
        with running.process as process:
            process.kill()


def test_invalid_message_is_answered_with_an_error(server: Server) -> None:
    half_an_emoji = request(2, "tools/call", name="search", arguments={"query": chr(0xD83D)})
    for line, identity, code in (
        (half_an_emoji, 2, -32600),
        ('{"jsonrpc": "1.0", "id": "three", "method": "ping"}', "three", -32600),
        ("[1]", None, -32600),
        ("{", None, -32700),
        ("[" * 100_000, None, -32700),
    ):
        answer = server.answer(line)
        assert (answer["id"], answer["error"]["code"]) == (identity, code)
    server.write("")
    assert server.answer(request(4, "ping")) == {"jsonrpc": "2.0", "id": 4, "result": {}}


def test_ctrl_c_ends_a_waiting_server_without_a_traceback(server: Server) -> None:
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(20) == -signal.SIGINT
    assert server.process.stderr and "Traceback" not in server.process.stderr.read().decode()


def test_server_ends_without_a_traceback_after_the_client_disconnects(server: Server) -> None:
    assert server.process.stdin and server.process.stdout and server.process.stderr
    server.process.stdout.close()
    server.write(request(2, "ping"))
    server.process.stdin.close()
    assert server.process.wait(20) == 0
    assert server.process.stderr.read().decode() == "Serving on stdin and stdout (--allow read).\n"
