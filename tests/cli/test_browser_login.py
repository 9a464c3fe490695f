"""`presscheck login --web` and `--browser` against the real service, renewal of tokens, and sign-out."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select
from tests.browser_sign_in import SetClock, SignInSite
from tests.cli.shell import Shell
from tests.client.conftest import FaultServer, http
from tests.running_service import RunningService, running_service
from tests.service.browser import Browser
from tests.web_server import web_server

from presscheck.api.users import GetCurrentUser
from presscheck.client.client import Client
from presscheck.client.token_renewal import RenewedBearer
from presscheck.config.browser_session import BrowserSession, StoredSession
from presscheck.config.tokens import store_token, stored_token
from presscheck.errors import ConfigurationError, NetworkError, NotSignedIn
from presscheck.service.db.engine import Database
from presscheck.service.models.oauth import RefreshTokenRow
from presscheck.service.oauth.server import ACCESS_SECONDS
from presscheck.sign_in import SignIn

pytestmark = pytest.mark.service(shared=True)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "home")


@pytest.fixture
def site(service: RunningService) -> Iterator[SignInSite]:
    with httpx.Client(follow_redirects=True) as browser:
        yield SignInSite(service.base_url, service.token, browser)


def stored(shell: Shell) -> tuple[Path, BrowserSession]:
    """Return the path of the stored sign-in and the sign-in itself."""
    [file] = [file for file in (shell.home / "config" / "tokens").iterdir() if file.suffix != ".lock"]
    session = BrowserSession.parse(file.read_text())
    assert session
    return file, session


def login(shell: Shell, *words: str, answer: Callable[[str], object]) -> tuple[int, str]:
    """Run `presscheck login`; `answer` gets the sign-in URL that it prints. Returns the exit code and stderr."""
    command = [sys.executable, "-m", "presscheck", "login", *words]
    with subprocess.Popen(command, env=shell.environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        text = ""
        for line in process.stderr:
            text += line
            if url := re.search(r"http://\S+(user_code|response_type)\S+", line):
                answer(url[0])
        return process.wait(30), text


@pytest.mark.slow
def test_device_code_signs_in_and_logout_revokes_the_tokens(shell: Shell, site: SignInSite) -> None:
    code, text = login(shell, "--web", "--base-url", site.base_url, answer=site.decide)
    assert code == 0, text
    assert "Signed in to" in text and "presscheck may read and write content" in text
    file, session = stored(shell)
    assert file.stat().st_mode & 0o777 == 0o600
    assert session.access not in text and session.refresh not in text
    who = shell.json("whoami")
    assert who["id"] == "robin" and "a sign-in by browser with the scope write" in who["tokenFrom"]
    assert site.user(session.access) == 200
    shell.ok("logout")
    assert (file.exists(), site.user(session.access)) == (False, 401)
    assert shell.run("whoami").exit_code == 4


@pytest.mark.slow
def test_signing_in_again_revokes_the_earlier_sign_in(shell: Shell, site: SignInSite) -> None:
    sessions: list[BrowserSession] = []
    for _ in range(2):
        code, text = login(shell, "--web", "--base-url", site.base_url, answer=site.decide)
        assert (code, "revoked" in text) == (0, False), text
        sessions.append(stored(shell)[1])
    first, second = (session.access for session in sessions)
    assert (site.user(first), site.user(second)) == (401, 200)
    assert shell.run("login", typed=site.token).exit_code == 0
    assert (site.user(second), shell.run("whoami").exit_code) == (401, 0)


def test_sign_in_succeeds_if_the_earlier_one_cannot_be_revoked(
    shell: Shell, site: SignInSite, session_of: Callable[..., StoredSession]
) -> None:
    shell.config.write_text(f'[profiles.default]\nbase_url = "{site.base_url}"\n')
    replaced = replace(session_of(revocation_url="http://127.0.0.1:9/revoke"), directory=shell.config.parent)
    replaced.write(replaced.session)
    ran = shell.run("login", typed=site.token)
    assert (ran.exit_code, "The earlier sign-in could not be revoked at the service" in ran.stderr) == (0, True)
    assert site.user(replaced.session.access) == 200
    assert stored_token(shell.config.parent, "default", site.base_url).text == site.token


def test_service_without_browser_sign_in_is_an_error(shell: Shell) -> None:
    with web_server({}) as other:
        for way in ("--web", "--browser"):
            ran = shell.run("login", way, "--base-url", other.url)
            assert (ran.exit_code, "does not offer sign-in by browser. A personal" in ran.stderr) == (7, True)


@pytest.mark.service(on_a_path=True, shared=True)
def test_service_on_a_unix_socket_has_no_browser_sign_in(shell: Shell, service: RunningService) -> None:
    ran = shell.run("login", "--web", "--base-url", service.base_url)
    assert (ran.exit_code, "does not offer sign-in by browser" in ran.stderr) == (7, True)


def test_web_and_browser_cannot_be_combined(shell: Shell) -> None:
    assert shell.run("login", "--web", "--browser").exit_code == 2


def sign_in(shell: Shell) -> SignIn:
    return SignIn(shell.config, "default", {})


async def test_used_port_is_named_in_the_error(shell: Shell, site: SignInSite) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port} of this machine is in use"):
            await sign_in(shell).by_redirect(site.base_url, "write", port, lambda _: None, lambda _: None)


async def test_response_with_a_wrong_state_is_rejected(shell: Shell, site: SignInSite) -> None:
    def attack(url: str) -> None:
        target = httpx.URL(url).params["redirect_uri"]
        with httpx.Client() as attacker:
            assert attacker.get(target.replace("/callback", "/")).status_code == 404
            assert attacker.get(target, headers={"host": "attacker.example"}).status_code == 404
            assert attacker.get(f"{target}?code=c&state=wrong").status_code == 200

    attacks: list[Future[None]] = []
    with ThreadPoolExecutor() as pool:
        with pytest.raises(NotSignedIn, match=r"another sign-in \(state mismatch\)"):
            await sign_in(shell).by_redirect(
                site.base_url, "write", 0, lambda url: attacks.append(pool.submit(attack, url)), lambda _: None
            )
        attacks[0].result()


@pytest.mark.slow
async def test_real_browser_returns_without_a_referrer(shell: Shell, site: SignInSite, tmp_path: Path) -> None:
    """The form policy of the page permits the redirect, and the last page has no referrer with the code."""
    browser = Browser(tmp_path / "browser", runs_scripts=False)

    def approve(url: str) -> str:
        browser.open(url)
        browser.click("#token")
        browser.type(site.token)
        browser.click("button[value=approve]")
        browser.wait("document.body?.textContent.includes('You can close this window')")
        return browser.value("document.referrer")

    try:
        with ThreadPoolExecutor() as pool:
            referrers: list[Future[str]] = []
            session = await sign_in(shell).by_redirect(
                site.base_url, "read", 0, lambda url: referrers.append(pool.submit(approve, url)), lambda _: None
            )
            assert [referrer.result() for referrer in referrers] == [""]
    finally:
        browser.close()
    assert site.user(session.access) == 200


@pytest.mark.slow
@pytest.mark.slow
async def test_a_wrong_clock_is_reported(shell: Shell) -> None:
    async with FaultServer().listening() as server:
        urls = {"token_endpoint": "/t", "device_authorization_endpoint": "/d"}
        device = {"device_code": "d", "user_code": "BCDF", "verification_uri": server.address, "interval": 1}
        tokens = {"access_token": "a", "token_type": "bearer", "expires_in": 60}
        server.always = {
            "/.well-known/oauth-authorization-server": http(
                200, {"issuer": server.address, **{name: server.address + path for name, path in urls.items()}}
            ),
            "/d": http(200, device),
            "/t": http(200, tokens, date="Thu, 01 Jan 1970 00:00:09 GMT"),
        }
        reports: list[str] = []
        session = await sign_in(shell).by_device(server.address, "read", lambda _: None, reports.append)
    assert (session.access, session.scope) == ("a", "read")
    assert [report.rpartition(" min ")[2] for report in reports] == ["ahead: set it"]


@pytest.fixture
def session_of(site: SignInSite, tmp_path: Path) -> Callable[..., StoredSession]:
    """Return a function that signs in and stores the session in `tmp_path`."""

    def store(**changed: object) -> StoredSession:
        tokens = site.signed_in()
        urls = (f"{site.base_url}/oauth/token", f"{site.base_url}/oauth/revoke")
        session = BrowserSession("id", tokens["access_token"], tokens["refresh_token"], 4e9, "write", *urls)
        kept = StoredSession(tmp_path, "default", site.base_url, replace(session, **changed))
        kept.write(kept.session)
        return kept

    return store


def refresh_tokens(service: RunningService) -> int:
    """Return the number of refresh tokens in the service, including used ones."""
    database = Database(service.database_url)
    with database.snapshot() as session:
        count = session.scalar(select(func.count()).select_from(RefreshTokenRow))
    database.close()
    return count or 0


@pytest.mark.parametrize("changed", [{"expires_at": 0.0}, {"access": "refused-by-the-service"}])
async def test_concurrent_processes_renew_a_token_once(
    session_of: Callable[..., StoredSession],
    site: SignInSite,
    service: RunningService,
    changed: dict[str, object],
) -> None:
    before = refresh_tokens(service)
    kept = session_of(**changed)
    # each client has its own connection and lock, like a process
    clients = [Client(site.base_url, None, auth=RenewedBearer(kept)) for _ in range(4)]
    await asyncio.gather(*(client.send(GetCurrentUser()) for client in clients for _ in range(3)))
    for client in clients:
        await client.aclose()
    renewed = kept.read()
    assert renewed and renewed.refresh != kept.session.refresh and renewed.id == kept.session.id
    assert site.user(renewed.access) == 200, "no refresh token was used twice"
    assert refresh_tokens(service) == before + 2, "the first one and the one that replaced it"


async def test_renewed_tokens_are_stored_if_the_request_is_cancelled(
    session_of: Callable[..., StoredSession], site: SignInSite
) -> None:
    kept = session_of(expires_at=0.0)
    bearer = RenewedBearer(kept)
    client = Client(site.base_url, None, auth=bearer)
    request = asyncio.create_task(client.send(GetCurrentUser()))
    async with asyncio.timeout(10):
        while bearer._renewal is None:  # noqa: ASYNC110  # there is no event for it
            await asyncio.sleep(0)
    request.cancel()
    await client.aclose()
    renewed = kept.read()
    assert renewed and renewed.access != kept.session.access
    assert site.user(renewed.access) == 200


async def test_revoked_sign_in_is_an_error_with_the_command_to_sign_in(
    session_of: Callable[..., StoredSession], site: SignInSite
) -> None:
    kept = session_of()
    site.post("revoke", token=kept.session.refresh)
    async with Client(site.base_url, None, auth=RenewedBearer(kept)) as client:
        with pytest.raises(NotSignedIn, match="has ended: run `presscheck login --web`"):
            await client.send(GetCurrentUser())


async def test_running_process_is_signed_out_after_a_sign_out(
    session_of: Callable[..., StoredSession], site: SignInSite
) -> None:
    kept = session_of(expires_at=0.0)
    store_token(kept.directory, kept.profile, kept.base_url, "a personal token")
    async with Client(site.base_url, None, auth=RenewedBearer(kept)) as client:
        with pytest.raises(NotSignedIn, match="You signed out"):
            await client.send(GetCurrentUser())


async def test_running_process_does_not_use_a_newer_sign_in(session_of: Callable[..., StoredSession]) -> None:
    kept = session_of(expires_at=0.0)
    session_of(id="perhaps of another user")
    async with Client(kept.base_url, None, auth=RenewedBearer(kept)) as client:
        with pytest.raises(NotSignedIn, match="You signed in again: restart"):
            await client.send(GetCurrentUser())


@pytest.mark.parametrize("is_new", [False, True])
def test_renewal_in_another_process_does_not_undo_a_sign_out_or_sign_in(
    shell: Shell, site: SignInSite, session_of: Callable[..., StoredSession], *, is_new: bool
) -> None:
    shell.config.write_text(f'[profiles.default]\nbase_url = "{site.base_url}"\n')
    kept = replace(session_of(), directory=shell.config.parent)
    kept.write(kept.session)
    is_locked = threading.Event()

    def renew() -> None:
        with kept.lock():
            is_locked.set()
            time.sleep(0.5)
            kept.write(kept.session)

    renewal = threading.Thread(target=renew)
    renewal.start()
    assert is_locked.wait(10)
    if is_new:
        SignIn(shell.config, "default", shell.environment).store(None, "a new token", None)
    else:
        shell.ok("logout")
    renewal.join()
    token = stored_token(kept.directory, kept.profile, kept.base_url).text
    assert token == ("a new token" if is_new else None)


@pytest.mark.parametrize(
    "changed", [{"expires_at": "soon"}, {"access": None}, {"access": "\ud800"}, {"token_url": ["a"]}, {"new": "key"}]
)
def test_a_damaged_sign_in_is_not_used(session_of: Callable[..., StoredSession], changed: dict[str, object]) -> None:
    kept = session_of()
    assert BrowserSession.parse(json.dumps(asdict(kept.session) | changed)) is None
    assert BrowserSession.parse('{"a":' * 100_000) is None


async def test_body_of_a_401_response_is_not_read(session_of: Callable[..., StoredSession], site: SignInSite) -> None:
    kept = session_of(access="refused-by-the-service")
    async with FaultServer().listening() as server:
        endless = b"HTTP/1.1 401 Some\r\ncontent-length: 1000000000000\r\n\r\n"
        server.script = [endless, http(200, {"id": "u", "displayName": "U"})]
        async with Client(server.address, None, auth=RenewedBearer(kept)) as client:
            async with asyncio.timeout(10):
                await client.send(GetCurrentUser())
        assert len(server.asked) == 2


async def test_stored_tokens_are_kept_if_the_renewal_cannot_connect(session_of: Callable[..., StoredSession]) -> None:
    kept = session_of(expires_at=0.0, token_url="http://127.0.0.1:9/token")
    async with Client(kept.base_url, None, auth=RenewedBearer(kept)) as client:
        with pytest.raises(NetworkError):
            await client.send(GetCurrentUser())
    assert kept.read() == kept.session


def test_an_expired_token_is_renewed_by_the_command_line(tmp_path: Path) -> None:
    clock = SetClock()
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", clock=clock) as service, httpx.Client() as browser:
        site = SignInSite(service.base_url, service.token, browser)
        shell = Shell(tmp_path / "home")
        shell.config.write_text(f'[profiles.default]\nbase_url = "{service.base_url}"\n')
        tokens = site.signed_in()
        urls = (f"{site.base_url}/oauth/token", f"{site.base_url}/oauth/revoke")
        session = BrowserSession("id", tokens["access_token"], tokens["refresh_token"], 4e9, "write", *urls)
        store_token(shell.home / "config", "default", service.base_url, session.text())
        clock.pass_by(ACCESS_SECONDS)
        assert json.loads(shell.ok("whoami", "--json"))["id"] == service.owner_id
        assert stored(shell)[1].access != session.access
