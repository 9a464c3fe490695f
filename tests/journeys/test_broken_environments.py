"""`presscheck` in a pseudo-terminal and a broken environment: one line that names the cause, and a clean terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.broken_environments import CONNECTIONS, PROFILES, Broken, shell_in
from tests.terminal import Terminal

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "presscheck"]
COLUMNS = 200
"""Wide enough that no message is wrapped or cut off."""


@contextmanager
def opened(broken: Broken, folder: Path, before: tuple[str, ...] = ()) -> Iterator[Terminal]:
    """Start the program in a terminal and a broken environment; `before` are words in front of the command."""
    shell = shell_in(broken, folder)
    broken.prepare(shell.home)
    env = {name: value for name, value in shell.environment.items() if value is not None}
    terminal = Terminal([*before, *COMMAND], env={"TERM": "xterm-256color", **env}, size=(COLUMNS, 24))
    try:
        yield terminal
        assert b"Traceback" not in terminal.raw
        assert terminal.left_on() == []
    finally:
        terminal.close()


def only_line(terminal: Terminal) -> str:
    """Return the single line that the program printed."""
    [line] = [line for line in terminal.text.splitlines() if line]
    return line


def test_unusable_state_folder_is_named_and_nothing_opens(tmp_path: Path) -> None:
    broken = PROFILES["a state folder that is a file"]
    with opened(broken, tmp_path) as terminal:
        assert terminal.end() == broken.code
        assert broken.says.replace("HOME", str(tmp_path / "home")) in only_line(terminal)


def test_invalid_proxy_is_named_in_the_open_app(tmp_path: Path) -> None:
    broken = CONNECTIONS["a proxy with a bad port"]
    with opened(broken, tmp_path) as terminal:
        terminal.wait("ctrl\\+r retries")
        assert broken.says in terminal.text
        assert "No change request needs your review" not in terminal.text
        terminal.press("q")
        assert terminal.end() == 0


def test_read_only_home_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir(mode=0o500)
    without_rights = (sys.executable, "-m", "tests.privileges")
    with opened(Broken(1, ""), tmp_path, before=without_rights) as terminal:
        assert terminal.end() == 1
        message = f"presscheck: Could not use the folder {tmp_path}/home/state: Permission denied"
        assert only_line(terminal) == message


def test_dumb_terminal_gets_error_without_escape_sequences(tmp_path: Path) -> None:
    with opened(Broken(3, "", {"TERM": "dumb", "PRESSCHECK_BASE_URL": "http://127.0.0.1:9"}), tmp_path) as terminal:
        assert terminal.end() == 3
        assert "Could not connect to 127.0.0.1:9" in only_line(terminal)
        assert b"\x1b" not in terminal.raw
