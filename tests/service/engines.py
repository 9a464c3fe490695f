"""The database engines that tests run on."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
from tests.postgresql import Cluster

from presscheck.service.db.engine import Database

BOTH = "PRESSCHECK_BOTH_ENGINES"
"""The variable that runs every test on both engines; without it, only those with the marker `engines` run on both."""
NAMES = ("sqlite", "postgresql")


def new_database(request: pytest.FixtureRequest) -> str | None:
    """The URL of a new PostgreSQL database; None for SQLite with its default file."""
    if request.param == "sqlite":
        return None
    running: Cluster = request.getfixturevalue("postgresql")
    return running.new_database()


def on_second_engine(names: Sequence[str]) -> set[str]:
    """The names of tests on PostgreSQL that differ from another one in their engine alone."""
    known = set(names)
    twins = {name.replace(NAMES[0], NAMES[1]) for name in names if NAMES[0] in name and NAMES[1] not in name}
    return known & twins


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Keeps all writers of a service waiting."""
    with closing(Database(url)) as database, database.engine.connect() as connection, connection.begin():
        if database.is_postgresql:
            connection.exec_driver_sql("LOCK TABLE alembic_version IN EXCLUSIVE MODE")
        else:
            connection.exec_driver_sql("ROLLBACK")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield
