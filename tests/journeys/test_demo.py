"""`presscheck demo` as a new user runs it: in a pseudo-terminal or in a pipe."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.terminal import Terminal, children_of

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-m", "presscheck", "demo"]


def environment(home: Path) -> dict[str, str]:
    return {"PRESSCHECK_HOME": str(home), "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(DEMO, env=environment(tmp_path))
    yield opened
    opened.close()


def test_in_a_pipe_it_prints_the_inbox(tmp_path: Path) -> None:
    ran = subprocess.run(DEMO, env=os.environ | environment(tmp_path), capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert "Needs me" in ran.stdout
    assert "Rewrite the auth guide" in ran.stdout
    assert "\x1b" not in ran.stdout


def test_it_opens_on_the_inbox_and_leaves_the_terminal_as_it_was(terminal: Terminal) -> None:
    terminal.wait("A tour of two minutes")
    assert "Rewrite the auth guide" in terminal.text, "the invitation comes after the rows"
    terminal.wait("live")
    terminal.press("esc")
    terminal.wait("tour ended")
    assert children_of(terminal.pid)
    terminal.press("j", "j")
    terminal.wait("by Noor Haddad")
    service = children_of(terminal.pid)
    terminal.press("q")
    assert terminal.end() == 0
    assert terminal.left_on() == []
    assert not [pid for pid in service if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize(("which", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_the_terminal_as_it_was(terminal: Terminal, which: signal.Signals, code: int) -> None:
    terminal.wait("Rewrite the auth guide")
    terminal.kill(which)
    assert terminal.end() == code
    assert terminal.left_on() == []


def test_read_a_page_with_keys(terminal: Terminal) -> None:
    terminal.wait("Rewrite the auth guide")
    terminal.press("g", "o")
    terminal.wait("Developers")
    terminal.press("j", "j")
    terminal.wait("▌")
    terminal.press("enter")
    terminal.wait("Overview")
    terminal.press("j")
    terminal.wait("The Tallowick API moves parcels")
    terminal.press("g", "i")
    terminal.wait("Needs me")


def test_viewed_content_is_available_offline(tmp_path: Path) -> None:
    first = Terminal(DEMO, env=environment(tmp_path))
    first.wait("✗ Ada")
    first.press("q")
    assert first.end() == 0
    first.close()
    second = Terminal(DEMO, env=environment(tmp_path))
    second.wait("live")
    for pid in children_of(second.pid):
        os.kill(pid, signal.SIGKILL)
    second.press("ctrl+r")
    second.wait("offline")
    assert "Rewrite the auth guide" in second.text
    assert "A tour of two minutes" not in second.text, "it was offered before"
    second.press("q")
    assert second.end() == 0
    second.close()
