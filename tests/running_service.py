"""The real service on a real socket, which tests can stop and start again at the same address."""

from __future__ import annotations

import asyncio
import itertools
import random
import secrets
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

import uvicorn

from presscheck.service.app import build
from presscheck.service.blobs.location import open_store, save_location
from presscheck.service.blobs.store import DiskBlobStore
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import Clock, moment_text, system_clock
from presscheck.service.jobs.queue import OutboundConfig
from presscheck.service.jobs.worker import HOUSEKEEPING, Workers
from presscheck.service.models.jobs import JobRow
from presscheck.service.server.bootstrap import create_owner_token, ensure_owner
from presscheck.service.server.protocol import LimitedProtocol
from presscheck.service.server.server import opened
from presscheck.service.web.assets import DiagramScript

NOTHING_ALLOWED = OutboundConfig()
LOOPBACK = OutboundConfig(allowed=("127.0.0.0/8",))
"""The configuration of services that may send requests to servers of tests on this machine."""


class _Founded(NamedTuple):
    """The database file of a new service, and the token and the id of its owner."""

    database: bytes
    token: str
    owner_id: str


@cache
def _founded(clock: Clock, sample: bool) -> _Founded:
    """Return the state of a service after its first start. It is cached for each clock."""
    with tempfile.TemporaryDirectory() as directory:
        path, token_file = Path(directory) / "service.sqlite", Path(directory) / "token"
        database = opened(f"sqlite:///{path}", sample_clock=clock if sample else None)
        owner_id = _give_owner(database, clock, token_file, sample=sample)
        workers = Workers(database, DiskBlobStore(Path(directory)), clock, NOTHING_ALLOWED)
        database.write(workers.enter_housekeeping)
        with database.writing.begin() as session:
            session.get_one(JobRow, HOUSEKEEPING).run_at = moment_text(clock() + timedelta(hours=1))
        database.close()
        return _Founded(path.read_bytes(), token_file.read_text().strip(), owner_id)


def _give_owner(database: Database, clock: Clock, token_file: Path, *, sample: bool) -> str:
    """Create the owner if necessary, and the token in the file. Returns the owner's id."""
    with database.writing.begin() as session:
        owner = ensure_owner(session, clock, sample=sample)
        session.flush()
        create_owner_token(session, clock, owner, token_file)
        return owner.id


def free_port() -> int:
    """Return an unused port that outgoing connections do not get while the service is stopped."""
    while True:
        port = random.randrange(20_000, 32_000)  # below Linux's range of ports for outgoing connections
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class _Server(uvicorn.Server):
    """A server that stops at once; uvicorn checks only ten times a second whether it should stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        for tick in itertools.count():
            if await self.on_tick(tick):
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), 0.1)

    def end(self) -> None:
        """Stop the server from another thread."""
        self.should_exit = True
        if self._loop:
            self._loop.call_soon_threadsafe(self._ending.set)


class RunningService:
    """A service in its own thread, with an address that stays the same when it is restarted."""

    def __init__(
        self,
        directory: Path,
        *,
        sample: bool = False,
        clock: Clock = system_clock,
        on_a_path: bool = False,
        release: str | None = None,
        database_url: str | None = None,
        outside: OutboundConfig = NOTHING_ALLOWED,
        lacks: str | None = None,
        files: str | None = None,
        diagrams: DiagramScript | None = None,
    ) -> None:
        self.directory = directory
        self.diagrams = diagrams
        self.files = files
        self.lacks = lacks
        self.outside = outside
        self.release = release
        self.clock = clock
        self.database_url = database_url or f"sqlite:///{directory / 'service.sqlite'}"
        token_file = directory / "token"
        is_new = database_url is None and not (directory / "service.sqlite").exists()
        founded = _founded(clock, sample) if is_new else None
        if not token_file.exists():
            token_file.touch(0o600)
            token_file.write_text(founded.token if founded else secrets.token_urlsafe(32))
        if founded:
            (directory / "service.sqlite").write_bytes(founded.database)
            self.owner_id = founded.owner_id
        else:
            database = Database(self.database_url)
            self.owner_id = _give_owner(database, clock, token_file, sample=sample)
            database.close()
        self.token = token_file.read_text().strip()
        if self.files:
            database = Database(self.database_url)
            with database.writing.begin() as session:
                save_location(session, self.files)
            database.close()
        self.port = free_port()
        self._path = directory / "s" if on_a_path else None
        self.base_url = f"unix:{self._path}" if on_a_path else f"http://127.0.0.1:{self.port}"
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the service; it accepts connections when this returns."""
        assert self._thread is None, "it runs already"
        app = build(
            self.database_url,
            data_dir=self.directory,
            clock=self.clock,
            release=self.release,
            outside=self.outside,
            lacks=self.lacks,
            files=open_store(self.files, self.directory) if self.files else None,
            diagrams=self.diagrams,
        )
        listener = self._bound()
        listener.listen(128)
        config = uvicorn.Config(app, http=LimitedProtocol, log_config=None, ws="none", timeout_graceful_shutdown=1)
        server = self._server = _Server(config)

        def run() -> None:
            with listener:
                asyncio.run(server.serve(sockets=[listener]))

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def _bound(self) -> socket.socket:
        if self._path:
            self._path.unlink(missing_ok=True)
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self._path))
            return listener
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        return listener

    def stop(self) -> None:
        """Stop the service; the port is closed when this returns."""
        if self._thread and self._server:
            self._server.end()
            self._thread.join(20)
            assert not self._thread.is_alive()
        self._thread = self._server = None


@contextmanager
def running_service(
    directory: Path,
    *,
    sample: bool = False,
    clock: Clock = system_clock,
    on_a_path: bool = False,
    release: str | None = None,
    database_url: str | None = None,
    outside: OutboundConfig = NOTHING_ALLOWED,
    lacks: str | None = None,
    files: str | None = None,
    diagrams: DiagramScript | None = None,
) -> Iterator[RunningService]:
    """Run a service; it is stopped at the end of the block."""
    service = RunningService(
        directory,
        sample=sample,
        clock=clock,
        on_a_path=on_a_path,
        release=release,
        database_url=database_url,
        outside=outside,
        lacks=lacks,
        files=files,
        diagrams=diagrams,
    )
    service.start()
    try:
        yield service
    finally:
        service.stop()
