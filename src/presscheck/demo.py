"""Runs the local service as a child process on a private Unix socket, with the sample workspace or a folder.

The socket listens before the child is ready, so that the app can send requests at once. The service also listens on a
local port, where browsers open published sites and PDFs. The data is kept for the next start, unless a demo is started
with `fresh`.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from filelock import FileLock, Timeout

from presscheck.config.profile import Profile, low_bandwidth
from presscheck.errors import ConfigurationError, NetworkError
from presscheck.extras import require_extra
from presscheck.paths import Places, places, private_directory, private_opener

LONGEST_SOCKET_PATH = 100
"""Maximum length of a socket path in bytes; operating systems allow 104 to 108."""
LOOPBACK = "127.0.0.1"
CLOSING = 10.0
"""Maximum seconds to wait until an unreachable service exits."""


@dataclass(frozen=True)
class LocalService:
    """A running local service: a profile to connect to it, the process and the log file."""

    profile: Profile
    process: subprocess.Popen[bytes]
    log: Path

    def failure(self) -> str:
        """Return why the service exited (the last line of its log), or an empty text while it runs."""
        if self.process.poll() is None:
            return ""
        lines = self.log.read_text("utf-8", errors="replace").split("\n") if self.log.exists() else []
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last.removeprefix("presscheck: ") or f"it ended with exit code {self.process.returncode}"


@contextmanager
def demo_service(
    *, fresh: bool = False, docs: tuple[Path, ...] = (), where: Places | None = None
) -> Generator[Profile]:
    """Run the sample workspace and yield its profile. The service is stopped at the end of the block or process.

    Args:
        fresh: whether to delete the data of earlier demos first; impossible while another demo runs.
        docs: documentation repositories to import as spaces.
        where: the directories to use; by default those of the user.

        Raises:
            ConfigurationError: `fresh` is set and another demo is running, or the service exited.
        MissingExtra: the libraries of the local service are not installed.
    """
    require_extra("serve")  # the child process would only log the error
    where = where or places()
    directory = where.data / "demo"
    with _own_socket(private_directory(where.data), "demo", alone=fresh) as path:
        if fresh:
            _delete_data(directory, where)
        with _running(path, directory, ["--sample"], docs) as (process, token):
            profile = Profile(
                name="demo",
                base_url=f"unix:{path}",
                token=token,
                is_sample=True,
                low_bandwidth=low_bandwidth(os.environ),
            )
            service = LocalService(profile, process, directory / "service.log")
            try:
                yield profile
            except NetworkError:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(CLOSING)  # the socket is closed before the process ends
                if failure := service.failure():
                    raise ConfigurationError(f"the service of the demo did not start: {failure}") from None
                raise


@contextmanager
def folder_service(folder: Path, where: Places | None = None) -> Generator[LocalService]:
    """Run a service with a documentation folder as its only space, imported at the first start.

    Each folder has its own service and data. The service is stopped at the end of the block or process.

    Args:
        folder: the folder; it must exist.
        where: the directories to use; by default of the user.

    Raises:
        MissingExtra: the libraries of the local service are not installed.
    """
    require_extra("serve")
    where = where or places()
    name = f"folder-{hashlib.sha256(bytes(folder.resolve())).hexdigest()[:8]}"
    directory = where.data / name
    with (
        _own_socket(private_directory(where.data), name, alone=False) as path,
        _running(path, directory, [], (folder,)) as (process, token),
    ):
        profile = Profile(name="folder", base_url=f"unix:{path}", token=token)
        yield LocalService(profile, process, directory / "service.log")


@contextmanager
def _running(
    path: Path, directory: Path, options: list[str], docs: tuple[Path, ...]
) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """Run the service on a socket. Yield the process and the token of the owner."""
    private_directory(directory)
    token = _token(directory / "token")
    with socket.socket(socket.AF_UNIX) as listening, _for_browsers(directory / f"{path.stem}.port") as web:
        listening.bind(str(path))
        path.chmod(0o600)
        listening.listen(128)
        child = _start(listening.fileno(), web.fileno(), directory, options, docs)
    with child:
        try:
            yield child, token
        finally:
            child.terminate()


@contextmanager
def _own_socket(directory: Path, name: str, *, alone: bool) -> Generator[Path]:
    """Yield a path for a socket. It is the same at each start, unless another service with this name is running.

    Raises:
        ConfigurationError: `alone` is set and another demo is running.
    """
    for number in count(1):
        # the context may be exited in another thread than it was entered in
        lock = FileLock(directory / f"{name}-{number}.lock", timeout=0, mode=0o600, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            if alone:
                raise ConfigurationError("another demo is running: quit it before using --fresh") from None
            continue
        path = socket_path(directory, f"{name}-{number}.sock")
        path.unlink(missing_ok=True)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)
            lock.release()
        return


def _for_browsers(port: Path) -> socket.socket:
    """Return a listening local TCP socket. It reuses the last port if possible, so that web addresses stay valid."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, int(port.read_text("ascii"))))
    except (OSError, ValueError, OverflowError):  # the first time, or the port is taken
        listening.bind((LOOPBACK, 0))
        with open(port, "w", encoding="ascii", opener=private_opener) as file:
            file.write(str(listening.getsockname()[1]))
    listening.listen(128)
    return listening


def _start(
    fd: int, web_fd: int, directory: Path, options: list[str], docs: tuple[Path, ...]
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "presscheck", "serve", *options, "--until-closed"]
    command += ["--fd", str(fd), "--web-fd", str(web_fd)]
    command += ["--data", str(directory), "--token-file", str(directory / "token")]
    command += [part for repository in docs for part in ("--docs", str(repository.absolute()))]
    # only the app logs TLS keys; the service would exit if it could not write the file
    env = {name: value for name, value in os.environ.items() if name != "SSLKEYLOGFILE"}
    with open(directory / "service.log", "ab", opener=private_opener) as log:
        return subprocess.Popen(  # noqa: S603  # this program, with its own paths
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=env,
            pass_fds=[fd, web_fd],
            start_new_session=True,
        )


def _token(file: Path) -> str:
    if not file.exists():
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(32))
    return file.read_text("utf-8").strip()


def socket_path(directory: Path, name: str) -> Path:
    """Return a path for a socket: in the directory, or in a folder for temporary files if that path would be too long.

    Raises:
        ConfigurationError: another user may have created the private directory.
    """
    path = directory / name
    if len(bytes(path)) <= LONGEST_SOCKET_PATH:
        return path
    short = hashlib.sha256(bytes(directory)).hexdigest()[:8]
    own = Path(f"presscheck-{os.getuid()}") / f"{short}-{name}"
    # the folder that TMPDIR names may be too long, too
    paths = (Path(folder) / own for folder in (tempfile.gettempdir(), "/tmp"))  # noqa: S108  # private below
    path = next(path for path in paths if len(bytes(path)) <= LONGEST_SOCKET_PATH)
    return own_directory(path.parent) / path.name


def own_directory(path: Path) -> Path:
    """Create a private directory in a world-writable directory if it is missing, and return its path.

    Raises:
        ConfigurationError: another user may have created the directory, to intercept connections.
    """
    status = private_directory(path).lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise ConfigurationError(
            f"the folder {path} must be yours, with mode 0700: remove it, or set TMPDIR to a folder of your own"
        )
    return path


def _delete_data(directory: Path, where: Places) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    for parent in (where.cache, where.state):
        for file in parent.glob("demo-*"):
            file.unlink()
