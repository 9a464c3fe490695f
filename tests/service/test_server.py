"""The service as a separate process: its socket, tokens, log and shutdown, and connections of several processes."""

import asyncio
import json
import secrets
import signal
import socket
import stat
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from tests.service.engines import locked
from tests.service.serve_command import repository_with_problems, run
from tests.service.server import Process, line, serving

from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.server.api_tokens import revoke_token
from presscheck.service.server.server import BACKLOG, ServiceServer, service_config


@pytest.mark.slow
def test_socket_and_token_are_private_and_a_revoked_token_stays_revoked(tmp_path: Path) -> None:
    path, data, token_file = tmp_path / "s.sock", tmp_path / "data", tmp_path / "token"
    options = ("--token-file", str(token_file))
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    with serving(data, "--uds", str(path), *options) as process:
        assert line(process) == f"unix:{path}"
        token = token_file.read_text().strip()
        assert len(token) > 30
        assert stat.S_IMODE(token_file.stat().st_mode) == stat.S_IMODE(path.stat().st_mode) == 0o600
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as http:
            found = http.get("http://service/v1/user", headers={"authorization": f"Bearer {token}"})
            assert found.json()["urls"]["location"].startswith("http://service/v1/users/")
        assert ended(process, signal.SIGTERM) == (0, "", ""), "a token in a file is not printed, because of logs"
    assert not path.exists()
    require_private(data, token)

    later = secrets.token_urlsafe(32)
    token_file.write_text(later + "\n")
    database = Database(f"sqlite:///{data / 'service.sqlite'}")
    with database.writing.begin() as session:
        revoke_token(session, hash_token(token)[:12])
    database.close()
    options += ("--docs", str(repository_with_problems(tmp_path)), "--rate-limit", "2", "--log-requests")
    with serving(data, "--port", "0", *options) as process:
        address = line(process)
        assert address.startswith("http://127.0.0.1:")
        while time.time() % 60 > 50:  # the window must not end during the test
            time.sleep(0.1)
        assert statuses(address, token, later, "x") == [401, 401, 429], "a later token in the file is nobody's"
        shared = httpx.get(f"{address}/docs/site/{token}/", timeout=20)
        code, out, log = ended(process, signal.SIGINT)
        assert (code, out) == (0, ""), "a token is printed at the first start only"
    lines = [json.loads(one) for one in log.splitlines()]
    asked = [one for one in lines if one["message"] == "request"]
    assert [(one["method"], one["path"], one["status"]) for one in asked] == [
        ("GET", "/v1/user", 401),
        ("GET", "/v1/user", 401),
        ("GET", "/v1/user", 429),
        ("GET", "/docs", 404),
    ]
    assert asked[-1]["request"] == shared.headers["x-request-id"]
    assert token not in log and later not in log
    problems = (data / "docs-problems.txt").read_text("utf-8").splitlines()
    assert len(problems) == 2 and [one["message"] for one in lines if one not in asked] == problems


IMPATIENT = (
    "-c",
    "from presscheck.service.server import server; server.PATIENCE, server.LONGEST_END = 1, 3\n"
    "from presscheck.__main__ import main; main()",
)


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_waiting_write_does_not_delay_the_shutdown(tmp_path: Path) -> None:
    answers = list[httpx.Response]()
    options = ("--port", "0", "--token-file", str(tmp_path / "token"))
    with serving(tmp_path, *options, run=IMPATIENT) as process:
        address = line(process)
        headers = {"authorization": f"Bearer {(tmp_path / 'token').read_text().strip()}"}
        with httpx.Client(base_url=address, headers=headers, timeout=40) as http:
            path = f"/v1/orgs/{http.get('/v1/orgs').json()['items'][0]['id']}"
            waiting = threading.Thread(target=lambda: answers.append(http.patch(path, json={"title": "Docs"})))
            with locked(f"sqlite:///{tmp_path / 'service.sqlite'}"):  # the write waits in its own thread
                waiting.start()
                time.sleep(1)
                began = time.monotonic()
                code, _, log = ended(process, signal.SIGTERM)
                assert time.monotonic() - began < 8
                waiting.join()
    assert (code, answers[0].status_code, answers[0].headers["retry-after"]) == (0, 503, "2")
    assert "The service is shutting down" in answers[0].text
    assert "ended while threads still waited" in log and "Traceback" not in log


def ended(process: Process, number: int) -> tuple[int, str, str]:
    """Send a signal. Returns the exit code and the rest of stdout and stderr."""
    process.send_signal(number)
    out, errors = process.communicate(timeout=10)
    return process.returncode, out, errors


def require_private(data: Path, token: str) -> None:
    """Fail unless only the owner can read the database, and no file contains the token."""
    assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in data.glob("service.sqlite*"))
    assert not [file for file in data.rglob("*") if file.is_file() and token.encode() in file.read_bytes()]


def statuses(address: str, *tokens: str) -> list[int]:
    return [
        httpx.get(f"{address}/v1/user", headers={"authorization": f"Bearer {token}"}, timeout=20).status_code
        for token in tokens
    ]


async def test_simultaneous_connections_are_distributed_among_processes() -> None:
    async def answer(_scope: Scope, _receive: Receive, _send: Send) -> None:
        """Do nothing, as no request is sent."""

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
        for _ in range(200):  # in each turn the loop checks both sockets
            await asyncio.sleep(0)
        shares = [len(server.server_state.connections) for server in servers]
        for server, own in zip(servers, sockets, strict=True):
            await server.shutdown([own])
    assert sum(shares) == 20 and min(shares) >= 5, shares


def test_port_in_use_and_invalid_database_are_reported_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        in_use = run("--data", str(tmp_path), "--port", str(taken.getsockname()[1]))
    invalid = run("--data", str(tmp_path), "--port", "0", "--database", "nonsense")
    for ran, words in ((in_use, "could not listen"), (invalid, "database")):
        assert (ran.exit_code, ran.stdout, ran.stderr.count("\n")) == (2, "", 1), ran.stderr
        assert words in ran.stderr


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRESSCHECK_HOME", str(tmp_path / "home"))
