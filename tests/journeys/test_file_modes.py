"""Only the user can read what a whole day leaves: signing in, sync, the app, the demo, and their sudden ends."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService
from tests.terminal import Terminal

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "presscheck"]


@pytest.fixture(autouse=True)
def permissive() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(*folders: Path) -> dict[str, str]:
    """The folders and what is below them that others can use, with their modes."""
    every = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {
        str(path): stat.filemode(path.lstat().st_mode)
        for path in every
        if stat.S_IMODE(path.lstat().st_mode) != (0o700 if path.is_dir() else 0o600)
    }


def test_signing_in_sync_and_the_app(tmp_path: Path, service: RunningService) -> None:
    shell = Shell(tmp_path / "new" / "home")
    ran = shell.program("login", "--base-url", service.base_url, typed=service.token)
    assert ran.returncode == 0, ran.stderr
    assert open_to_others(tmp_path / "new") == {}
    ran = shell.program("sync")
    assert ran.returncode == 0, ran.stderr
    assert {path.name for path in shell.home.iterdir()} == {"cache", "config", "state"}
    assert open_to_others(tmp_path / "new") == {}
    terminal = Terminal(COMMAND, env=shell.environment | {"TERM": "xterm-256color"})
    terminal.wait("Needs me 7")
    terminal.kill(signal.SIGKILL)
    terminal.end()
    terminal.close()
    assert open_to_others(tmp_path / "new") == {}


def test_the_sample_workspace_of_a_first_start(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its socket is in the temporary folder, as the home has a long path."""
    temporary = tmp_path_factory.mktemp("t")
    home, runtime = tmp_path / ("long-" * 20) / "home", temporary / f"presscheck-{os.getuid()}"
    shell = Shell(home, {"TMPDIR": str(temporary)})
    terminal = Terminal(COMMAND, env=shell.environment | {"TERM": "xterm-256color"})
    terminal.wait("Where is your documentation")
    terminal.press("w")
    terminal.wait("Rewrite the auth guide", 60)
    assert [path.suffix for path in runtime.iterdir()] == [".sock"]
    assert open_to_others(home.parent, runtime) == {}
    terminal.kill(signal.SIGKILL)
    assert terminal.end() == 137
    terminal.close()
    assert open_to_others(home.parent, runtime) == {}
