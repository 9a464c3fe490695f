"""The sample workspace: the local service as a child process on a private Unix socket.

The socket listens before the child is ready, so that the app can send requests at once. For browsers, which open
published sites and PDFs, the service also listens on a port of this machine. Changes are kept until a demo is started
with `fresh`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from presscheck.config.profile import Profile
from presscheck.errors import ConfigurationError
from presscheck.extras import require_extra
from presscheck.paths import Places, places, private_directory

LONGEST_SOCKET_PATH = 100
"""Bytes; systems allow 104 to 108."""
LOOPBACK = "127.0.0.1"


@contextmanager
def demo_service(
    *, fresh: bool = False, docs: tuple[Path, ...] = (), where: Places | None = None
) -> Generator[Profile]:
    """Run the sample workspace; yields its profile. The service ends with the block, or with this process.

    Args:
        fresh: delete all data of earlier demos first; not possible while another demo is running.
        docs: documentation repositories to import as spaces.
        where: the directories to use; those of the user by default.

    Raises:
        ConfigurationError: `fresh` is set and another demo is running.
        MissingExtra: the libraries of the local service are not installed.
    """
    require_extra("serve")  # the child process would only log the error
    where = where or places()
    directory = where.data / "demo"
    with _own_socket(private_directory(where.data), alone=fresh) as path:
        if fresh:
            _delete_data(directory, where)
        private_directory(directory)
        with socket.socket(socket.AF_UNIX) as listening, _for_browsers(directory / f"{path.stem}.port") as web:
            listening.bind(str(path))
            path.chmod(0o600)
            listening.listen(128)
            child = _start(listening.fileno(), web.fileno(), directory, docs)
        with child:
            try:
                yield Profile(name="demo", base_url=f"unix:{path}", token=_token(directory / "token"))
            finally:
                child.terminate()


@contextmanager
def _own_socket(directory: Path, *, alone: bool) -> Generator[Path]:
    """The path of the socket, the same at each start; a second demo at the same time gets another one.

    Raises:
        ConfigurationError: `alone` is set and another demo is running.
    """
    for number in count(1):
        lock = FileLock(directory / f"demo-{number}.lock", timeout=0, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            if alone:
                raise ConfigurationError("another demo is running: quit it before using --fresh") from None
            continue
        path = _socket_path(directory, f"demo-{number}.sock")
        path.unlink(missing_ok=True)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)
            lock.release()
        return


def _for_browsers(port: Path) -> socket.socket:
    """A TCP socket of this machine; its port is that of the last time if possible, so that addresses stay right."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, int(port.read_text("ascii"))))
    except (OSError, ValueError, OverflowError):  # the first time, or the port is taken
        listening.bind((LOOPBACK, 0))
        port.write_text(str(listening.getsockname()[1]), "ascii")
    listening.listen(128)
    return listening


def _start(fd: int, web_fd: int, directory: Path, docs: tuple[Path, ...]) -> subprocess.Popen[bytes]:
    _token(directory / "token")
    command = [sys.executable, "-m", "presscheck", "serve", "--sample", "--until-closed"]
    command += ["--fd", str(fd), "--web-fd", str(web_fd)]
    command += ["--data", str(directory), "--token-file", str(directory / "token")]
    command += [part for repository in docs for part in ("--docs", str(repository.absolute()))]
    with (directory / "service.log").open("ab") as log:
        return subprocess.Popen(  # noqa: S603  # this program, with its own paths
            command, stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[fd, web_fd], start_new_session=True
        )


def _token(file: Path) -> str:
    if not file.exists():
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(32))
    return file.read_text("utf-8").strip()


def _socket_path(directory: Path, name: str) -> Path:
    path = directory / name
    if len(bytes(path)) <= LONGEST_SOCKET_PATH:
        return path
    short = hashlib.sha256(bytes(directory)).hexdigest()[:8]
    return private_directory(Path(tempfile.gettempdir()) / f"presscheck-{os.getuid()}") / f"{short}-{name}"


def _delete_data(directory: Path, where: Places) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    for parent in (where.cache, where.state):
        for file in parent.glob("demo-*"):
            file.unlink()
