"""A temporary PostgreSQL cluster for tests, which listens on a socket in its own directory."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg
from tests.needs import PROGRAMS, find_initdb

FASTER = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_connections=200")
"""Settings that trade durability for speed: the databases are temporary."""


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; None if it is not installed."""
    initdb = find_initdb()
    # only initdb may be linked to PATH; the other programs are beside the target of the link
    return initdb.resolve().parent if initdb else None


class Cluster:
    """A running PostgreSQL; `new_database()` creates an empty database and returns its URL."""

    def __init__(self, directory: Path, control: Callable[..., None]) -> None:
        self.directory = directory
        self._control = control
        self._made = 0

    def restart(self, mode: str, *, seconds: float = 0) -> None:
        """Stop the cluster with a mode of `pg_ctl`, and start it again after `seconds`."""
        self._control("-m", mode, "stop")
        time.sleep(seconds)
        self._control("start")

    def new_database(self) -> str:
        self._made += 1
        name = f"presscheck_{self._made}"
        with psycopg.connect(
            host=str(self.directory), dbname="postgres", user="presscheck", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore
        return f"postgresql://presscheck@/{name}?host={quote(str(self.directory))}"


def plain_user() -> str:
    """Return the account for running PostgreSQL as root: `postgres` if the installation created it, else `nobody`."""
    accounts = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in accounts else "nobody"


@contextmanager
def cluster(*, durable: bool = False) -> Iterator[Cluster]:
    """A cluster, started; it refuses to run as root, so there it runs as its own user. `durable` is for measuring."""
    found = programs()
    assert found, PROGRAMS["postgresql"].missing()
    account = plain_user() if os.geteuid() == 0 else None
    directory = Path(tempfile.mkdtemp(prefix="presscheck-pg-"))
    if account:
        shutil.chown(directory, account)

    def run(*command: str | Path) -> None:
        subprocess.run([str(one) for one in command], check=True, capture_output=True, user=account, cwd="/")

    try:
        data = directory / "data"
        run(
            found / "initdb",
            "-D",
            data,
            "-U",
            "presscheck",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C.UTF-8",
        )
        options = f"-k {shlex.quote(str(directory))} -c listen_addresses='' " + " ".join(
            f"-c {one}" for one in FASTER if not durable
        )
        control = partial(run, found / "pg_ctl", "-D", data, "-w", "-l", directory / "log", "-o", options)
        control("start")
        try:
            yield Cluster(directory, control)
        finally:
            control("-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
