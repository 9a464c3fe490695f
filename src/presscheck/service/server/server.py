"""The service process: listens, prints its address, and shuts down cleanly on a signal or when its parent exits."""

from __future__ import annotations

import gc
import logging
import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import uvicorn
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.types import ASGIApp
from typing_extensions import override

from presscheck.errors import ConfigurationError
from presscheck.paths import private_opener
from presscheck.service.app import build
from presscheck.service.blobs.location import save_location, store_of
from presscheck.service.blobs.store import BlobStore, FilesUnavailable
from presscheck.service.db.bounded_cache import CacheSizes
from presscheck.service.db.engine import Database, cause_of, database_address, unavailable, unchanged
from presscheck.service.db.ids import Clock, system_clock
from presscheck.service.db.migrate import NEWEST, version_of
from presscheck.service.http.middleware import write_log
from presscheck.service.jobs.queue import OutboundConfig
from presscheck.service.server.bootstrap import create_owner_token, ensure_owner, import_docs, queue_sample_job
from presscheck.service.server.prepared_sample import write_prepared
from presscheck.service.server.protocol import LimitedProtocol
from presscheck.service.server.supervisor import run_processes
from presscheck.service.web.assets import LARGEST_SCRIPT, DiagramScript
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

BACKLOG = 128
"""Maximum number of connections that wait to be accepted."""
ACCEPTED_AT_ONCE = 1
"""Number of connections that a process accepts in a row, before other processes get their share."""
COLLECTED_AFTER = 2_000, 10, 100
"""Thresholds of garbage collection, which holds up the event loop.

A collection of the youngest objects takes 2 to 8 ms with 2,000, and 16 to 33 ms with 10,000. A full collection, which
takes 40 to 90 ms, comes after some 400,000 calls of a mixed load.
"""
SWITCHED_AFTER = 0.0003
"""Seconds that a thread may run while other threads wait for the interpreter; Python's default is 0.005.

The event loop is one of these threads. With four computing threads, a step of the loop that sends four messages takes
4 ms. It takes 10 ms with 0.001, and 100 ms or more with the default. The computing threads do 3 % less work in the same
time than with 0.001, and 10 % less than with the default.
"""
PROBLEMS = "docs-problems.txt"
"""The file in the data directory that lists the problems of imported documentation."""
PATIENCE = 5
"""Seconds for running requests to finish on shutdown."""
LONGEST_END = 2 * PATIENCE
"""Seconds after which the process ends in any case, although a thread waits for a database or a bucket that hangs."""


@dataclass(frozen=True)
class ServeOptions:
    """Options of the service.

    The service listens on `fd` (an inherited listening socket), or else on `uds`, or else on `host` and `port`. In
    addition, it listens on `web_fd`, an inherited TCP socket for browsers, which cannot use a Unix socket.
    """

    database: str
    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    uds: Path | None = None
    fd: int | None = None
    web_fd: int | None = None
    files: str | None = None
    """The location of uploaded files; by default the location in the database, or the data directory."""
    token_file: Path | None = None
    docs: tuple[Path, ...] = ()
    sample: bool = False
    until_closed: bool = False
    clock: Clock = field(default=system_clock)
    outside: OutboundConfig = field(default_factory=OutboundConfig)
    rate_limit: int | None = None
    log_requests: bool = False
    public_url: str | None = None
    """The URL of the service for users, through a proxy."""
    release: str | None = None
    """Serve only the operations of this API release; see `build`."""
    cache: int | None = None
    """Capacity of the caches of each process, in megabytes; see `CacheSizes` for the default."""
    mermaid: Path | None = None
    """The file `mermaid.min.js` of the npm package, which draws diagrams."""
    processes: int = 1
    arguments: tuple[str, ...] = ()
    """The command line arguments of each of several processes, without the database."""


def serve(options: ServeOptions) -> None:
    """Run the service until SIGTERM or SIGINT. With `until_closed`, a single process also stops when standard
    input ends.

    Print the address on the first line of standard output, and the token of the owner on the second if the token is
    new and not in a file.

    Raises:
        ConfigurationError: the address, the database or the script of diagrams cannot be used.
    """
    diagrams = diagram_script(options.mermaid) if options.mermaid else None
    os.umask(0o077)  # database, files and socket are private to the user
    write_log(requests=options.log_requests)
    with listening(options) as listener:
        database, files, token = _prepare(options)
        if options.processes > 1:
            database.close()
            _print_address(address_of(listener), token)
            # not an argument: arguments are visible to all users of the machine, and the URL may contain a password
            environment = {**os.environ, "PRESSCHECK_DATABASE_URL": options.database}
            run_processes(options.arguments, environment, listener.fileno(), options.processes, LONGEST_END + 1)
            return
        sockets = [listener, *([] if options.web_fd is None else [socket.socket(fileno=options.web_fd)])]
        app = build(
            database,
            data_dir=options.data,
            files=files,
            clock=options.clock,
            release=options.release,
            outside=options.outside,
            rate_limit=options.rate_limit,
            public_url=options.public_url or (address_of(sockets[-1]) if options.web_fd is not None else None),
            hosts=_own_hosts(options.host),
            diagrams=diagrams,
        )
        # without a public URL, any user of this machine could forge an address
        config = service_config(app, proxy_headers=options.public_url is not None)
        server = ServiceServer(config)
        if options.until_closed:
            threading.Thread(target=_stop_at_end_of_input, args=(server,), daemon=True).start()
        _print_address(address_of(listener), token)
        # objects loaded so far are never freed; visiting them in each collection would take half the time of a page
        gc.freeze()
        gc.set_threshold(*COLLECTED_AFTER)
        sys.setswitchinterval(SWITCHED_AFTER)
        server.run(sockets=sockets)


def service_config(app: ASGIApp, *, proxy_headers: bool = False) -> uvicorn.Config:
    """Return the configuration of `ServiceServer`.

    `proxy_headers` is whether to trust the client address in headers.
    """
    return uvicorn.Config(
        app,
        http=LimitedProtocol,
        proxy_headers=proxy_headers,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=PATIENCE,
        backlog=ACCEPTED_AT_ONCE,
    )


class ServiceServer(uvicorn.Server):
    """A server that shares its sockets with other processes, and shuts down on a signal without raising it again.

    asyncio accepts as many connections in a row as the backlog allows, so that one of several processes would get all
    connections that arrive together. Therefore asyncio's backlog is `ACCEPTED_AT_ONCE`, and the kernel's backlog is set
    to `BACKLOG` afterwards.
    """

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(BACKLOG)

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        handled = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self._end) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def end(self) -> None:
        """Begin to shut down. The process exits after `LONGEST_END` seconds if it has not ended by then."""
        if not self.should_exit:
            self.should_exit = True
            overdue = threading.Timer(LONGEST_END, _exit)
            overdue.daemon = True
            overdue.start()

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        self.end()


def _exit() -> None:
    logging.getLogger("presscheck.service").warning("ended while threads still waited, after %d seconds", LONGEST_END)
    # not sys.exit: Python would wait for the threads. Transactions that are open are rolled back
    os._exit(0)


def opened(url: str, cache: int | None = None, sample_clock: Clock | None = None) -> Database:
    """Open and migrate the database at a URL.

    Args:
        url: a SQLAlchemy URL.
        cache: capacity of its caches, in megabytes.
        sample_clock: the clock for the sample workspace, which is written to a new SQLite database; None for no sample.

    Raises:
        ConfigurationError: the database cannot be opened.
    """
    with _plain_errors(url):
        if sample_clock is not None:
            write_prepared(url, sample_clock)
        return Database(url, CacheSizes() if cache is None else CacheSizes().within(cache))


def require_current(url: str, *, may_be_new: bool) -> None:
    """Check that a command can use a database, which it neither creates nor migrates: its service may be running.

    Args:
        url: a SQLAlchemy URL.
        may_be_new: whether the database may be empty or missing.

    Raises:
        ConfigurationError: the database cannot be opened, is empty, or has another version.
    """
    with _plain_errors(url), unchanged(url) as session:
        version = version_of(session.connection()) if session else None
    if version is None and not may_be_new:
        raise ConfigurationError(
            f"the database {database_address(url).database} has no data of a service: check --database and --data,"
            " which stand before the name of the command"
        )
    if version not in (None, NEWEST):
        raise ConfigurationError(
            f"the database has version {version} of an older presscheck, and this one needs {NEWEST}: use that"
            " presscheck, for a backup too, or start the service with this one, which migrates the database"
        )


@contextmanager
def _plain_errors(url: str) -> Generator[None, None, None]:
    """Convert errors of opening a database to `ConfigurationError`."""
    try:
        yield
    except SQLAlchemyError as error:
        name = database_address(url).set(query={}).render_as_string(hide_password=True)
        raise ConfigurationError(f"could not open the database {name}: {cause_of(error)}") from error
    except (RuntimeError, ValueError, ModuleNotFoundError) as error:
        raise ConfigurationError(f"could not open the database: {error}") from error


@contextmanager
def plain_faults() -> Generator[None, None, None]:
    """Convert an error of a database that cannot be used now to `ConfigurationError`."""
    try:
        yield
    except DBAPIError as error:
        reason = unavailable(error)
        if reason is None:
            raise
        raise ConfigurationError(f"{reason}: {cause_of(error)}") from None


def _prepare(options: ServeOptions) -> tuple[Database, BlobStore, str | None]:
    database = opened(options.database, options.cache, options.clock if options.sample else None)
    try:
        with plain_faults():
            files = _checked_files(database, options)
            # retried on conflicts: transactions of a killed service may still be ending
            token, problems = database.write(lambda session: _first_data(session, files, options))
    except BaseException:
        database.close()
        raise
    if problems:
        _report_problems(problems, options.data / PROBLEMS)
    return database, files, token


def _report_problems(problems: Sequence[str], file: Path) -> None:
    """Write the problems of the documentation to a file, and report them.

    A terminal shows only a summary, so that the address stays in view. A log gets each problem.
    """
    with open(file, "w", encoding="utf-8", opener=private_opener) as listing:
        listing.writelines(f"{problem}\n" for problem in problems)
    if sys.stderr.isatty():
        number = count(len(problems), "problem")
        print(f"{number} in the documentation, such as: {sanitize(problems[0])}", file=sys.stderr)  # noqa: T201
        print(f"All are listed in {sanitize(str(file))}", file=sys.stderr)  # noqa: T201
        return
    for problem in problems:
        logging.getLogger("presscheck.service").warning("%s", problem)


def _first_data(session: Session, files: BlobStore, options: ServeOptions) -> tuple[str | None, list[str]]:
    """Create the owner, the owner's token and the documentation if they are missing.

    Returns:
        The token if it has to be printed, and the problems of the documentation.
    """
    owner = ensure_owner(session, options.clock, sample=options.sample)
    session.flush()
    if options.sample:
        queue_sample_job(session, options.clock)
    token = create_owner_token(session, options.clock, owner, options.token_file)
    problems = import_docs(session, options.clock, owner, files, options.docs) if options.docs else []
    return token, problems


def _checked_files(database: Database, options: ServeOptions) -> BlobStore:
    """Return the store of the uploaded files. Log a warning if it is temporarily unavailable.

    Raises:
        ConfigurationError: the store is unusable until the operator acts.
    """
    with database.snapshot() as session:
        files = store_of(session, options.files, options.data)
    try:
        files.check()
    except FilesUnavailable as error:
        if error.is_lasting:
            raise ConfigurationError(f"could not open the file storage: {error}") from None
        logging.getLogger("presscheck.service").warning("%s", error)
    database.write(lambda session: save_location(session, files.location))
    return files


@contextmanager
def listening(options: ServeOptions) -> Generator[socket.socket, None, None]:
    """Yield a socket that listens at the address of the options.

    Raises:
        ConfigurationError: the address cannot be used.
    """
    try:
        listener = _bound(options)
        listener.listen(BACKLOG)
    except OSError as error:
        address = options.uds or f"{options.host}:{options.port}"
        raise ConfigurationError(f"could not listen on {address}: {error.strerror or error}") from error
    with listener:
        yield listener
    if options.fd is None and options.uds:
        options.uds.unlink(missing_ok=True)


def _bound(options: ServeOptions) -> socket.socket:
    if options.fd is not None:
        return socket.socket(fileno=options.fd)
    if options.uds is not None:
        return _bound_to_path(options.uds)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # asyncio disables Nagle's algorithm only if the protocol is given
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _bind(listener, (options.host, options.port))
    return listener


def _bind(listener: socket.socket, address: tuple[str, int] | str) -> None:
    try:
        listener.bind(address)
    except OSError:
        listener.close()
        raise


def _bound_to_path(path: Path) -> socket.socket:
    if path.exists() and stat.S_ISSOCK(path.stat().st_mode) and not _is_alive(path):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    _bind(listener, str(path))
    path.chmod(0o600)
    return listener


def _is_alive(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


def address_of(listener: socket.socket) -> str:
    """Return the address of a socket as a URL, or as `unix:PATH`."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def diagram_script(path: Path) -> DiagramScript:
    """Read the script that draws diagrams.

    Raises:
        ConfigurationError: the file cannot be read, or is not `mermaid.min.js`.
    """
    try:
        with path.open("rb") as file:
            body = file.read(LARGEST_SCRIPT + 1)
    except OSError as error:
        raise ConfigurationError(f"--mermaid {path}: {error.strerror}") from None
    if len(body) > LARGEST_SCRIPT or b'globalThis["mermaid"]' not in body:
        raise ConfigurationError(f"--mermaid {path}: must be dist/mermaid.min.js of the npm package mermaid, 10 or 11")
    return DiagramScript(body)


def _own_hosts(host: str) -> tuple[str, ...]:
    """Return the host that the service listens on, or nothing if it listens on all addresses."""
    return () if host in ("", "0.0.0.0", "::") else (host,)  # noqa: S104  # compared, not listened on


def _print_address(address: str, token: str | None) -> None:
    print(address, flush=True)  # noqa: T201  # part of the command line interface
    if token:
        print(f"token: {token}", flush=True)  # noqa: T201


def _stop_at_end_of_input(server: ServiceServer) -> None:
    # bypasses the buffer of sys.stdin: this thread would hold its lock, which is fatal at interpreter exit
    with suppress(OSError):
        while os.read(0, 4096):
            pass
    server.end()
