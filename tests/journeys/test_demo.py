"""`presscheck demo` as a new user runs it: in a pseudo-terminal or in a pipe."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.terminal import Terminal, children_of

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-m", "presscheck", "demo"]


def environment(home: Path) -> dict[str, str]:
    return {"PRESSCHECK_HOME": str(home), "PYTHONUNBUFFERED": "1"}


def test_in_a_pipe_it_prints_the_inbox(tmp_path: Path) -> None:
    ran = subprocess.run(DEMO, env=os.environ | environment(tmp_path), capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert "Needs me" in ran.stdout
    assert "Rewrite the auth guide" in ran.stdout
    assert "\x1b" not in ran.stdout


def test_it_opens_on_the_inbox_shows_pages_and_is_available_offline(tmp_path: Path) -> None:
    """Three starts in one home, which end by a key and by two signals: each leaves the terminal as it was."""
    first = Terminal(DEMO, env=environment(tmp_path))
    first.wait("A tour of two minutes")
    assert "Rewrite the auth guide" in first.text, "the invitation comes after the rows"
    first.wait("live")
    first.press("esc")
    first.wait("tour ended")
    first.wait("✗ Ada")
    assert children_of(first.pid)
    first.press("j", "j")
    first.wait("by Noor Haddad")
    read_a_page(first)
    service = children_of(first.pid)
    first.press("q")
    assert first.end() == 0
    assert first.left_on() == []
    assert not [pid for pid in service if Path(f"/proc/{pid}").exists()]
    first.close()

    second = Terminal(DEMO, env=environment(tmp_path))
    second.wait("live")
    for pid in children_of(second.pid):
        os.kill(pid, signal.SIGKILL)
    second.press("ctrl+r")
    second.wait("offline")
    assert "Rewrite the auth guide" in second.text
    assert "A tour of two minutes" not in second.text, "it was offered before"
    second.kill(signal.SIGTERM)
    assert second.end() == 143
    assert second.left_on() == []
    second.close()

    third = Terminal(DEMO, env=environment(tmp_path))
    third.wait("Rewrite the auth guide")
    third.kill(signal.SIGHUP)
    assert third.end() == 129
    assert third.left_on() == []
    third.close()


def read_a_page(terminal: Terminal) -> None:
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
