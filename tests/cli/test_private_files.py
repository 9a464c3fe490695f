"""Files that the program writes are readable only by their owner, even with a permissive umask."""

import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import Shell
from tests.running_service import RunningService

from presscheck.demo import LONGEST_SOCKET_PATH, own_directory, socket_path
from presscheck.errors import ConfigurationError
from presscheck.paths import private_directory


@pytest.fixture(autouse=True)
def permissive() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Return the files below a folder that other users can access, with their modes."""
    return {
        str(path): oct(path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077
    }


def test_files_of_a_user_are_private(shell: Shell, service: RunningService, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    shell.ok("inbox")
    shell.ok("cr", "comment", "api#4", "--body", "Private.")
    shell.ok("serve", "--data", str(service.directory), "export", str(folder / "backup.zip"))
    assert (folder / "backup.zip").exists()
    assert modes(tmp_path) == {}


def test_new_parents_of_a_folder_are_private(tmp_path: Path) -> None:
    folder = private_directory(tmp_path / "a" / "b" / "c")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.parents[:2])] == [0o700] * 3


def test_folder_for_sockets_must_be_private_and_not_a_link(tmp_path: Path) -> None:
    own = tmp_path / "own"
    assert own_directory(own) == own
    own.chmod(0o755)
    link = tmp_path / "link"
    link.symlink_to(own)
    for path in (own, link):
        with pytest.raises(ConfigurationError, match="must be yours, with mode 0700"):
            own_directory(path)


@pytest.mark.parametrize("temporary", [1, 100], ids=["short", "long"])
def test_socket_path_of_the_demo_is_short_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: int
) -> None:
    own = Path("/tmp") / f"presscheck-{os.getuid()}-test"
    monkeypatch.setattr(tempfile, "tempdir", str(own / ("t" * temporary)))
    path = socket_path(tmp_path / ("long-" * 20), "demo.sock")
    assert len(bytes(path)) <= LONGEST_SOCKET_PATH
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
    path.unlink()
    shutil.rmtree(own, ignore_errors=True)
