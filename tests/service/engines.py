"""The database engines that tests run on."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest
from tests.postgresql import Cluster

from presscheck.service.db.engine import Database

BOTH = "PRESSCHECK_BOTH_ENGINES"
"""Environment variable that runs every test on both engines; without it, only tests with the marker `engines` do."""
NAMES = ("sqlite", "postgresql")


def new_database(request: pytest.FixtureRequest) -> str | None:
    """Create a PostgreSQL database and return its URL. Returns None for SQLite, which uses its default file."""
    if request.param == "sqlite":
        return None
    running: Cluster = request.getfixturevalue("postgresql")
    return running.new_database()


def on_second_engine(names: Sequence[str]) -> set[str]:
    """Return the names of PostgreSQL tests that also exist for SQLite."""
    known = set(names)
    twins = {name.replace(NAMES[0], NAMES[1]) for name in names if NAMES[0] in name and NAMES[1] not in name}
    return known & twins


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Lock the database, so that all writers of a service wait."""
    with closing(Database(url)) as database, database.engine.connect() as connection, connection.begin():
        if database.is_postgresql:
            connection.exec_driver_sql("LOCK TABLE alembic_version IN EXCLUSIVE MODE")
        else:
            connection.exec_driver_sql("ROLLBACK")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        yield
