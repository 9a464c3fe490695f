"""The sample workspace: the local service as a child of this process, on a Unix socket that nobody else can open.

The socket listens before the child is up, so the app may ask at once. What was done in it stays until it is asked to
begin afresh.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from presscheck.config import Profile
from presscheck.paths import Places, places, private_directory

LONGEST_SOCKET_PATH = 100
"""Bytes; systems allow 104 to 108."""


@contextmanager
def demo_service(
    *, fresh: bool = False, docs: tuple[Path, ...] = (), where: Places | None = None
) -> Generator[Profile]:
    """The profile of a running sample workspace; the service ends with the block, or with this process.

    Args:
        fresh: throw away what was done in it before, here and in the service.
        docs: documentation repositories to bring in as spaces.
        where: the directories of the user, when not given.
    """
    where = where or places()
    kept = where.data / "demo"
    if fresh:
        _forget(kept, where)
    path = _socket_path(private_directory(kept))
    with socket.socket(socket.AF_UNIX) as listening:
        path.unlink(missing_ok=True)
        listening.bind(str(path))
        path.chmod(0o600)
        listening.listen(128)
        child = _start(listening.fileno(), kept, docs)
    try:
        yield Profile(name="demo", base_url=f"unix:{path}", token=_token(kept / "token"))
    finally:
        child.terminate()
        child.wait(10)
        path.unlink(missing_ok=True)


def _start(fd: int, kept: Path, docs: tuple[Path, ...]) -> subprocess.Popen[bytes]:
    _token(kept / "token")
    command = [sys.executable, "-m", "presscheck", "serve", "--sample", "--fd", str(fd), "--until-closed"]
    command += ["--data", str(kept), "--token-file", str(kept / "token")]
    command += [part for repository in docs for part in ("--docs", str(repository.absolute()))]
    with (kept / "service.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603  # this program itself, with paths of its own
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[fd], start_new_session=True
        )


def _token(file: Path) -> str:
    if not file.exists():
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(32))
    return file.read_text("utf-8").strip()


def _socket_path(kept: Path) -> Path:
    path = kept / "service.sock"
    if len(bytes(path)) <= LONGEST_SOCKET_PATH:
        return path
    return private_directory(Path(tempfile.gettempdir()) / f"presscheck-{os.getuid()}") / f"{os.getpid()}.sock"


def _forget(kept: Path, where: Places) -> None:
    shutil.rmtree(kept, ignore_errors=True)
    for directory in (where.cache, where.state):
        for file in directory.glob("demo-*"):
            file.unlink()
