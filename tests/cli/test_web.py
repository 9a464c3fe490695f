"""`presscheck web`: the app in a browser, and the access to it."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import httpx
import pytest
from aiohttp import web
from click.testing import CliRunner
from tests.browser_tab import TabScreen, WebProgram, opened_tab, signed_in, web_program
from tests.cli.shell import Shell
from tests.cli.shell import signed_in as user_of
from tests.running_service import RunningService
from tests.service.browser import Browser
from tests.table import each_row
from tests.terminal import children_of

from presscheck import __version__
from presscheck.browser import app_process, server
from presscheck.browser.access import Access
from presscheck.browser.app_process import AppProcess, Size, environment
from presscheck.cli.main import Options, command
from presscheck.cli.web import app_command

pytestmark = pytest.mark.service(shared=True)

FIRST_ROW = "Rewrite the auth guide"
OWN = "http://127.0.0.1:8302"


@pytest.fixture
def program(service: RunningService, tmp_path: Path) -> Iterator[WebProgram]:
    """A running `presscheck web` whose home directory has blanks and quotes in its path."""
    with web_program(user_of(tmp_path / 'it\'s "my" home', service).environment) as running:
        yield running


def gone(pids: list[int]) -> bool:
    """Wait until processes have ended. Returns False if one still runs after 20 seconds."""
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_key_works_only_once(program: WebProgram) -> None:
    with httpx.Client() as stranger, httpx.Client() as browser:
        assert stranger.get(program.url).status_code == 403
        assert "started" not in stranger.get(f"{program.url}?key=").text
        assert stranger.get(f"{program.url}?key=guess").status_code == 403
        assert stranger.head(program.url_with_key).status_code == 403, "the preview of a link does not spend it"
        first = browser.get(program.url_with_key)
        assert first.status_code == 200
        cookie = first.headers["set-cookie"]
        assert re.fullmatch(rf"presscheck-{program.port}=[\w-]{{43}}; HttpOnly; Path=/; SameSite=Strict", cookie)
        assert 'content="0;url=/"' in first.text, "a page leads on: after a redirect the cookie might not be sent"
        again = stranger.get(program.url_with_key)
        assert (again.status_code, "set-cookie" in again.headers) == (403, False)
        assert "was used already" in again.text
        page = browser.get(program.url)
        assert page.status_code == 200
        assert f"ws://127.0.0.1:{program.port}/socket" in page.text
        back = browser.get(program.url_with_key)
        assert (back.status_code, back.headers["location"]) == (303, "/")


@each_row(
    [
        ("the printed name", ["127.0.0.1:8302"], [], False, "let in"),
        ("localhost", ["localhost:8302"], [], False, "let in"),
        ("capitals", ["LOCALHOST:8302"], ["http://localhost:8302"], True, "let in"),
        ("IPv6", ["[::1]:8302"], ["http://[::1]:8302"], True, "let in"),
        ("a socket of the page", ["127.0.0.1:8302"], [OWN], True, "let in"),
        ("a socket of a program", ["127.0.0.1:8302"], [], True, "no origin"),
        ("a socket of a sandboxed page", ["127.0.0.1:8302"], ["null"], True, "another website"),
        ("a sandboxed page", ["127.0.0.1:8302"], ["null"], False, "another website"),
        ("another port", ["127.0.0.1:8302"], ["http://127.0.0.1:8303"], True, "another website"),
        ("another scheme", ["127.0.0.1:8302"], ["https://127.0.0.1:8302"], True, "another website"),
        ("another name", ["127.0.0.1:8302"], ["http://localhost:8302"], True, "another website"),
        ("a longer name", ["127.0.0.1:8302"], [f"{OWN}.evil.example"], True, "another website"),
        ("two origins", ["127.0.0.1:8302"], [OWN, "http://evil.example"], True, "another website"),
        ("a rebound name", ["evil.example:8302"], [], False, "this machine"),
        ("a socket of a rebound name", ["evil.example:8302"], ["http://evil.example:8302"], True, "this machine"),
        ("a name that begins so", ["127.0.0.1.evil.example:8302"], [], False, "this machine"),
        ("no port", ["127.0.0.1"], [], False, "this machine"),
        ("the port of another server", ["127.0.0.1:8303"], [], False, "this machine"),
        ("two hosts", ["127.0.0.1:8302", "evil.example"], [], False, "this machine"),
        ("an empty host", [""], [], False, "this machine"),
        ("no host", [], [], False, "this machine"),
    ]
)
def test_only_local_hosts_and_the_same_origin_are_accepted(
    hosts: list[str], origins: list[str], is_socket: bool, refused: str
) -> None:
    assert refused in (Access(8302).refusal(hosts, origins, needs_origin=is_socket) or "let in")


def test_the_default_port_may_be_left_out() -> None:
    assert Access(80).refusal(["localhost"], ["http://localhost"], needs_origin=True) is None


async def test_foreign_hosts_and_origins_are_rejected_by_the_server(program: WebProgram) -> None:
    async with signed_in(program) as session:
        for path in ("", "textual.js", "socket"):
            async with session.get(program.url + path, headers={"Host": f"evil.example:{program.port}"}) as answer:
                assert (answer.status, await answer.text()) == (
                    403,
                    f"presscheck: the host must be this machine: open {program.url}\n",
                )
            async with session.get(program.url + path, headers={"Origin": "http://evil.example"}) as answer:
                assert answer.status == 403
        own = program.url.rstrip("/")
        for origin, host in (
            ("http://evil.example", None),
            (None, None),
            ("null", None),
            (f"http://evil.example:{program.port}", f"evil.example:{program.port}"),
        ):
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await session.ws_connect(f"{program.url}socket", origin=origin, headers={"Host": host} if host else {})
            assert refused.value.status == 403
        assert children_of(program.process.pid) == [], "no app was started"
    async with aiohttp.ClientSession() as stranger:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await stranger.ws_connect(f"{program.url}socket", origin=own)
        assert refused.value.status == 403, "without the cookie"


async def test_page_loads_nothing_from_other_hosts(program: WebProgram) -> None:
    async with signed_in(program) as session:
        async with session.get(program.url) as answer:
            page, headers = await answer.text(), answer.headers
        async with session.get(f"{program.url}page.css") as answer:
            style = await answer.text()
        links = re.findall(r'(?:src|href)="([^"]*)"', page) + re.findall(r'url\("([^"]*)"\)', style)
        assert len(links) == 7
        for link in links:
            if link != "data:,":
                async with session.get(program.url.rstrip("/") + link) as answer:
                    assert answer.status == 200, link
        assert re.findall(r"\w+://[^/\"]*", page + style) == [f"ws://127.0.0.1:{program.port}"]
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert re.findall(r"\w+://\S*", policy) == [f"ws://127.0.0.1:{program.port};"]
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert headers["Server"] == "presscheck"
        for path in ("static/js/textual.js", "../pyproject.toml", "download/x"):
            async with session.get(program.url + path) as answer:
                assert answer.status == 404


@pytest.mark.slow
async def test_app_of_a_tab_ends_if_the_server_is_killed(program: WebProgram) -> None:
    async with signed_in(program) as session, opened_tab(program, session) as tab:
        await tab.wait(FIRST_ROW)
        await tab.socket.send_str("no JSON")
        await tab.socket.send_bytes(b"\0")
        await tab.socket.send_json(["resize", {"width": -1, "height": 10**9}])
        await tab.socket.send_json({"stdin": ["x"]})
        await tab.socket.send_json(["resize", {"width": 80, "height": 24}])
        tab.screen.resize(24, 80)
        await tab.press("o")
        while not tab.messages:
            await tab.read()
        assert tab.messages[0][0] == "open_url"
        await tab.wait("opened, unless the browser blocks it: http")
        await tab.press(".", "F")
        await tab.wait("not in the browser")
        apps = children_of(program.process.pid)
        assert len(apps) == 1
        program.process.send_signal(signal.SIGKILL)
        assert await asyncio.to_thread(gone, apps)


async def test_tabs_beyond_the_limit_get_an_error_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_TABS", 1)
    one = server.BrowserServer(["cat"], 0)
    url, runner = one.access.url, web.AppRunner(one.application())
    await runner.setup()
    await web.SockSite(runner, one._listener).start()
    headers = {"Cookie": f"{one.access.cookie_name}={one.access.cookie}", "Origin": url.rstrip("/")}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.ws_connect(f"{url}socket"):
            monkeypatch.setattr(server, "ENDING", 0.01)
            async with session.get(url) as answer:
                assert answer.status == 503
                assert "All 1 tabs of presscheck are in use. Close one" in await answer.text()
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await session.ws_connect(f"{url}socket")
            assert refused.value.status == 503
            monkeypatch.setattr(server, "ENDING", 10.0)
            waiting = asyncio.create_task(session.get(url))
            await asyncio.sleep(0)
        async with await waiting as answer:
            assert answer.status == 200, "a tab that is loaded again waits until it is closed"
    await runner.cleanup()


async def test_tab_shows_the_error_of_an_app_that_cannot_start(service: RunningService, tmp_path: Path) -> None:
    user = user_of(tmp_path, service)
    with web_program(user.environment) as program:
        user.config.write_text("theme = 1\n")
        async with signed_in(program) as session, opened_tab(program, session) as tab:
            assert "theme" in await tab.end()


def test_app_is_not_imported_from_the_current_folder(tmp_path: Path) -> None:
    for name in ("presscheck", "gc", "os"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not this one')")
    options = Options(None, None, offline=False, low_bandwidth=False, linear=False, no_project=False)
    own = app_command(options, sample=False)
    ran = subprocess.run([*own, "--version"], cwd=tmp_path, env=Shell(tmp_path).environment, capture_output=True)
    assert (ran.returncode, ran.stdout.decode()) == (0, f"presscheck {__version__}\n")


def test_options_before_the_command_are_passed_to_tabs() -> None:
    options = Options("work", "ink", offline=True, low_bandwidth=True, linear=False, no_project=True)
    given = ["--profile=work", "--theme=ink", "--offline", "--low-bandwidth", "--no-project"]
    assert app_command(options, sample=False)[-len(given) :] == given
    assert len(given) == len(Options._fields) - 1, "all but --linear, which is for terminals"


def test_linear_is_rejected(tmp_path: Path) -> None:
    ran = CliRunner().invoke(command, ["--linear", "web"], env={"PRESSCHECK_HOME": str(tmp_path)})
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == "presscheck: --linear: is for a terminal, not for a web browser\n"


def test_invalid_settings_are_reported_before_anything_is_served(tmp_path: Path) -> None:
    ran = CliRunner().invoke(command, ["--profile", "nobody", "web"], env={"PRESSCHECK_HOME": str(tmp_path)})
    assert (ran.exit_code, ran.stdout) == (2, "")


def test_port_in_use_is_a_one_line_error(program: WebProgram, tmp_path: Path) -> None:
    ran = CliRunner().invoke(command, ["web", "--port", str(program.port)], env={"PRESSCHECK_HOME": str(tmp_path)})
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr == f"presscheck: could not listen on 127.0.0.1:{program.port}: Address already in use\n"


def test_app_does_not_inherit_the_terminal_of_the_server() -> None:
    outer = {"TMUX": "x", "SSH_TTY": "x", "KITTY_WINDOW_ID": "1", "TERM": "dumb", "PRESSCHECK_TOKEN": "x", "LINES": "3"}
    inner = environment(outer, Size(100, 30))
    assert not {"TMUX", "SSH_TTY", "KITTY_WINDOW_ID"} & {*inner}
    assert (inner["TERM"], inner["COLUMNS"], inner["ROWS"]) == ("xterm-256color", "100", "30")
    assert inner["PRESSCHECK_TOKEN"] == "x"


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_app_works_in_chromium(service: RunningService, tmp_path: Path) -> None:
    with web_program(user_of(tmp_path / "home", service).environment) as program:
        browser = Browser(tmp_path)
        try:
            browser.watch()
            browser.open(program.url_with_key)
            browser.wait("document.querySelector('body.-first-byte')")
            browser.wait("document.fonts.check('15px Roboto Mono')")
            shown = Shown(browser)
            shown.wait(FIRST_ROW)
            browser.type("C")
            shown.wait("the draft is kept")
            browser.type("Typed in Chromium")
            shown.wait("Typed in Chromium")
            apps = children_of(program.process.pid)
            assert len(apps) == 1
            browser.open("about:blank")
            assert gone(apps), "the app ends with its page"
            browser.received.clear()
            browser.open(program.url)
            shown = Shown(browser)
            shown.wait(FIRST_ROW)
            browser.type("C")
            shown.wait("Typed in Chromium")
            hosts = {re.sub(r"^\w+://([^/]*)/.*", r"\1", url, flags=re.DOTALL) for url in browser.requested}
            assert hosts - {"about:blank", "data:,"} == {f"127.0.0.1:{program.port}"}
            apps = children_of(program.process.pid)
            assert program.interrupt() == 0
            assert gone(apps), "ctrl+c ends all"
        finally:
            browser.close()


class Shown(TabScreen):
    """The terminal of a page, emulated from the messages of its WebSocket."""

    def __init__(self, browser: Browser) -> None:
        super().__init__(300, 100)
        self._browser = browser

    def wait(self, pattern: str) -> None:
        """Wait until the terminal shows a pattern."""
        until = time.monotonic() + 30
        while not re.search(pattern, self.text):
            assert time.monotonic() < until, self.text
            self._browser.value("0")
            while self._browser.received:
                self.take(self._browser.received.pop(0))


@pytest.mark.slow
async def test_app_that_reads_no_input_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_process, "LONGEST_END", 0.3)
    app = AppProcess([sys.executable, "-c", "import time; time.sleep(60)"])
    await app.start(Size())
    with pytest.raises(TimeoutError):
        await app.type("x" * 1_000_000)
    await asyncio.wait_for(app.end(), 10)
