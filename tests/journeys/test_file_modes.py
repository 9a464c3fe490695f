"""Files of sign-in, sync, the app and the demo are private to the user, also after the program is killed."""

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
    """Return the modes of all files and folders below `folders` that are accessible to other users, by path."""
    paths = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {
        str(path): stat.filemode(path.lstat().st_mode)
        for path in paths
        if stat.S_IMODE(path.lstat().st_mode) != (0o700 if path.is_dir() else 0o600)
    }


def test_files_of_sign_in_sync_and_app_are_private(tmp_path: Path, service: RunningService) -> None:
    shell = Shell(tmp_path / "new" / "home")
    result = shell.program("login", "--base-url", service.base_url, typed=service.token)
    assert result.returncode == 0, result.stderr
    assert open_to_others(tmp_path / "new") == {}
    result = shell.program("sync")
    assert result.returncode == 0, result.stderr
    assert {path.name for path in shell.home.iterdir()} == {"cache", "config", "state"}
    assert open_to_others(tmp_path / "new") == {}
    terminal = Terminal(COMMAND, env=shell.environment | {"TERM": "xterm-256color"})
    terminal.wait("Needs me 7")
    terminal.kill(signal.SIGKILL)
    terminal.end()
    terminal.close()
    assert open_to_others(tmp_path / "new") == {}


def test_files_of_the_sample_workspace_are_private(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The service's socket is in the temporary folder because the path of the home directory is too long."""
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
