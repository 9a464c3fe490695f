"""A PostgreSQL of the tests' own: a cluster in a directory of its own, reached by a socket in it, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

MISSING = "PostgreSQL is not on this machine: install it (Debian: postgresql) to run these tests"
FASTER = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
"""What a database does without that nobody keeps."""


def programs() -> Path | None:
    """Where its programs are; None where it is not installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return versions[-1].parent if versions else None


class Cluster:
    """A running PostgreSQL; `new_database()` makes an empty database and tells its URL."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._made = 0

    def new_database(self) -> str:
        self._made += 1
        name = f"presscheck_{self._made}"
        with psycopg.connect(f"host={self.directory} dbname=postgres user=presscheck", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore
        return f"postgresql://presscheck@/{name}?host={quote(str(self.directory))}"


@contextmanager
def cluster(*, durable: bool = False) -> Iterator[Cluster]:
    """A cluster, started; it refuses to run as root, so there it runs as its own user. `durable` is for measuring."""
    found = programs()
    assert found, MISSING
    account = pwd.getpwnam("postgres").pw_name if os.geteuid() == 0 else None
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
        options = f"-k {directory} -c listen_addresses='' " + " ".join(f"-c {one}" for one in FASTER if not durable)
        run(found / "pg_ctl", "-D", data, "-w", "-l", directory / "log", "-o", options, "start")
        try:
            yield Cluster(directory)
        finally:
            run(found / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)
