"""Broken connections, resized terminals, tmux and screen, and an exit while the service does not answer."""

import fcntl
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.needs import require
from tests.running_service import RunningService
from tests.stalling_proxy import holding_back
from tests.terminal import Terminal

from presscheck.store.outbox import Outbox

pytestmark = [pytest.mark.slow, pytest.mark.service(shared=True)]

APP = [sys.executable, "-m", "presscheck"]
REVIEW = "Fix typos in quickstart"
TYPED = "Typed until the line broke"


def environment(service: RunningService, home: Path) -> dict[str, str]:
    return {
        "PRESSCHECK_HOME": str(home),
        "PRESSCHECK_BASE_URL": service.base_url,
        "PRESSCHECK_TOKEN": service.token,
        "EDITOR": "",
        "VISUAL": "",
    }


@contextmanager
def opened(
    service: RunningService, home: Path, size: tuple[int, int] = (120, 40), *, arguments: tuple[str, ...] = ()
) -> Iterator[Terminal]:
    terminal = Terminal([*APP, *arguments], size=size, env=environment(service, home))
    try:
        yield terminal
    finally:
        terminal.close()


def open_composer(terminal: Terminal, keys: str) -> None:
    """Press keys in the review that open a composer, or the editor with a page."""
    terminal.wait("Can merge")
    terminal.wait("1 of 1")
    terminal.press(*keys.split())
    terminal.wait("ctrl.s save|draft is kept|longer text")


@pytest.mark.parametrize(
    ("keys", "which", "code"), [("C", signal.SIGHUP, 129), ("tab e", signal.SIGTERM, 143)], ids=["comment", "page"]
)
def test_typed_text_is_a_draft_after_a_signal(
    service: RunningService, tmp_path: Path, keys: str, which: signal.Signals, code: int
) -> None:
    with opened(service, tmp_path, arguments=("open", "guides#3")) as terminal:
        open_composer(terminal, keys)
        terminal.press(TYPED)
        terminal.wait(TYPED)
        terminal.kill(which)
        assert terminal.end() == code
        assert b"Traceback" not in terminal.raw
        assert terminal.left_on() == []
    [file] = (tmp_path / "state").glob("*.sqlite")
    with closing(Outbox(file)) as outbox:
        assert any(TYPED in draft.text for draft in outbox.drafts())


def resize(terminal: Terminal, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    terminal.kill(signal.SIGWINCH)


def without_ages(terminal: Terminal) -> list[str]:
    """Return the lines without ages and the spaces around them: the ages change during a test."""
    return [re.sub(r" *\b(\d+ (min|h|d)|now)\b *", " ", line) for line in terminal.text.split("\n")]


def test_the_screen_is_correct_after_many_resizes_and_with_20_columns_and_5_lines(
    service: RunningService, tmp_path: Path
) -> None:
    chance = random.Random(47)
    with opened(service, tmp_path) as terminal:
        terminal.wait(REVIEW)
        terminal.wait("conflict")  # conflicts are loaded last
        terminal.rest(1)
        before = without_ages(terminal)
        for _ in range(20):
            resize(terminal, chance.randint(20, 200), chance.randint(5, 50))
            terminal.read(chance.choice([0, 0.01, 0.05, 0.15]))  # some resizes arrive during a layout, some after it
        resize(terminal, 120, 40)
        terminal.wait(REVIEW)
        terminal.rest(1)
        assert without_ages(terminal) == before
        resize(terminal, 20, 5)
        terminal.rest(1)
        first = terminal.wait(r"▌ +#\d+")
        terminal.press("j")
        terminal.rest(0.5)
        assert re.findall(r"▌ +#\d+", terminal.text) != re.findall(r"▌ +#\d+", first)
        terminal.press("enter")
        terminal.rest(2)
        terminal.press("q", "ctrl+q")
        assert terminal.end() == 0
        assert b"Traceback" not in terminal.raw


def test_the_inbox_is_printed_if_stderr_is_a_file(service: RunningService, tmp_path: Path) -> None:
    command = ["sh", "-c", f"exec {shlex.join(APP)} 2>{shlex.quote(str(tmp_path / 'errors'))}"]
    terminal = Terminal(command, size=(120, 40), env=environment(service, tmp_path / "home"))
    terminal.wait(REVIEW)
    assert terminal.end() == 0
    assert (tmp_path / "errors").read_text() == ""


@pytest.mark.parametrize("program", ["tmux", "screen"])
def test_the_app_works_in_a_multiplexer(service: RunningService, tmp_path: Path, program: str) -> None:
    """Move the cursor by keys and copy a text; the screen is the same after detaching and attaching again."""
    path = str(require(program))
    # paths of sockets must be short
    socket = Path("/tmp") / f"presscheck-{os.getpid()}-{program}"
    socket.mkdir(mode=0o700)
    settings = tmp_path / "settings"
    settings.write_text("set -g set-clipboard on\n" if program == "tmux" else "startup_message off\n")
    env = environment(service, tmp_path) | {
        "SCREENDIR": str(socket),
        "TMUX": "",
        "STY": "",
        "SSH_CONNECTION": "a 1 b 2",
    }
    start = [path, "-S", str(socket / "s"), "-f", str(settings), "new", *APP]
    again = [path, "-S", str(socket / "s"), "attach"]
    if program == "screen":
        start, again = [path, "-U", "-c", str(settings), "-S", "s", *APP], [path, "-U", "-r", "s"]
    terminal = Terminal(start, env=env)
    try:
        terminal.wait(REVIEW)
        terminal.down_to(f"▌ +#3 {REVIEW}")
        terminal.press("o")
        terminal.wait("copied: http")
        assert b"\x1b]52;" in terminal.raw
        terminal.gone("copied: http")
        terminal.rest(1)
        picture = without_ages(terminal)[:20]  # without the lines where messages appear
        terminal.press(*(("ctrl+b", "d") if program == "tmux" else ("ctrl+a", "d")))
        assert terminal.end() == 0
        terminal.close()
        terminal = Terminal(again, env=env)
        terminal.wait(f"▌ +#3 {REVIEW}")
        terminal.rest(1)
        assert without_ages(terminal)[:20] == picture
        terminal.press("ctrl+q")
        assert terminal.end() == 0
    finally:
        terminal.close()
        if program == "tmux":
            subprocess.run([path, "-S", str(socket / "s"), "kill-server"], capture_output=True, check=False)
        else:
            subprocess.run([path, "-S", "s", "-X", "quit"], capture_output=True, check=False, env={**os.environ, **env})
        time.sleep(0.2)
        shutil.rmtree(socket, ignore_errors=True)


def test_quitting_soon_after_the_start_does_not_wait_for_responses(service: RunningService, tmp_path: Path) -> None:
    with holding_back(service, tmp_path, "/v1/") as address:
        terminal = Terminal(APP, size=(80, 24), env=environment(service, tmp_path) | {"PRESSCHECK_BASE_URL": address})
        try:
            terminal.wait("Needs me|Loading")
            started = time.monotonic()
            terminal.press("q")
            assert terminal.end() == 0
            assert time.monotonic() - started < 10, "a request without an answer ends after thirty seconds"
        finally:
            terminal.close()
