"""The service as a separate process: its address, its shutdown, and what survives a kill."""

import asyncio
import secrets
import signal
import socket
import stat
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from tests.service.server import line, serving

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.server.api_tokens import revoke_token
from presscheck.service.server.server import BACKLOG, ServiceServer, service_config


@pytest.mark.slow
def test_the_service_prints_its_address_and_a_new_token_once(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    with serving(tmp_path, "--port", "0", "--token-file", str(token_file)) as process:
        address = line(process)
        token = line(process).removeprefix("token: ")
        assert address.startswith("http://127.0.0.1:")
        assert token_file.read_text().strip() == token
        assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
        found = httpx.get(f"{address}/v1/user", headers={"authorization": f"Bearer {token}"})
        assert (found.status_code, found.json()["object"]) == (200, "user")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert process.stdout and process.stdout.read() == ""
    with serving(tmp_path, "--port", "0", "--token-file", str(token_file)) as process:
        address = line(process)
        assert httpx.get(f"{address}/v1/user", headers={"authorization": f"Bearer {token}"}).status_code == 200
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=10)
        assert (process.returncode, out) == (0, "")


@pytest.mark.slow
def test_a_token_in_the_file_becomes_the_owners_at_the_first_start_only(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.touch(0o600)
    chosen, later = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    for token in (chosen, later):
        token_file.write_text(token + "\n")
        with serving(tmp_path, "--port", "0", "--token-file", str(token_file)) as process:
            assert statuses(line(process), chosen, later) == [200, 401]


@pytest.mark.slow
def test_a_revoked_token_stays_revoked_after_a_restart(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    options = ("--port", "0", "--token-file", str(token_file))
    with serving(tmp_path, *options) as process:
        address, token = line(process), line(process).removeprefix("token: ")
        assert statuses(address, token) == [200]
    database = Database(f"sqlite:///{tmp_path / 'service.sqlite'}")
    with database.writing.begin() as session:
        revoke_token(session, hash_token(token)[:12])
    database.close()
    with serving(tmp_path, *options) as process:
        assert statuses(line(process), token) == [401]
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=10)
    assert (process.returncode, out) == (0, "")


def statuses(address: str, *tokens: str) -> list[int]:
    return [
        httpx.get(f"{address}/v1/user", headers={"authorization": f"Bearer {token}"}).status_code for token in tokens
    ]


@pytest.mark.slow
def test_the_token_is_not_in_the_data(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as process:
        line(process)
        token = line(process).removeprefix("token: ")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
    assert len(token) > 30
    assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in tmp_path.glob("service.sqlite*"))
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]


@pytest.mark.slow
def test_a_unix_socket_is_private_and_removed_on_exit(tmp_path: Path) -> None:
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with serving(tmp_path, "--uds", str(path)) as process:
        assert line(process) == f"unix:{path}"
        token = line(process).removeprefix("token: ")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as http:
            found = http.get("http://service/v1/user", headers={"authorization": f"Bearer {token}"})
            assert found.json()["urls"]["location"].startswith("http://service/v1/users/")
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert not path.exists()


@pytest.mark.slow
def test_an_inherited_socket_is_served_until_the_parent_exits(tmp_path: Path) -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        port = listening.getsockname()[1]
        with serving(tmp_path, "--fd", str(listening.fileno()), "--until-closed", fds=(listening.fileno(),)) as process:
            assert httpx.get(f"http://127.0.0.1:{port}/v1/user", timeout=20).status_code == 401
            assert process.stdin
            process.stdin.close()
            process.stdin = None
            assert process.wait(10) == 0


async def test_connections_that_arrive_together_are_shared_by_the_processes() -> None:
    async def answer(_scope: Scope, _receive: Receive, _send: Send) -> None:
        """Is never asked."""

    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(BACKLOG)
        for _ in range(20):
            stack.enter_context(socket.create_connection(listener.getsockname()))
        servers = [ServiceServer(service_config(answer)) for _ in range(2)]
        sockets = [stack.enter_context(listener.dup()) for _ in servers]
        for server, own in zip(servers, sockets, strict=True):
            server.config.load()
            server.lifespan = server.config.lifespan_class(server.config)
            await server.startup([own])
        for _ in range(200):  # each lets the loop look at both sockets once
            await asyncio.sleep(0)
        shares = [len(server.server_state.connections) for server in servers]
        for server, own in zip(servers, sockets, strict=True):
            await server.shutdown([own])
    assert sum(shares) == 20 and min(shares) >= 5, shares


@pytest.mark.slow
def test_an_address_in_use_is_a_one_line_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with serving(tmp_path, "--port", str(taken.getsockname()[1])) as process:
            out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "could not listen" in err and "Traceback" not in err


@pytest.mark.slow
def test_an_invalid_database_is_a_one_line_error(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0", "--database", "nonsense") as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "database" in err and "Traceback" not in err


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESSCHECK_HOME", str(tmp_path / "home"))
