"""The database engines that tests run on."""

import os

import pytest
from tests.postgresql import Cluster

BOTH = "PRESSCHECK_BOTH_ENGINES"
"""The variable that runs tests on both engines that run on SQLite alone by default, because they take long."""
ENGINES = ("sqlite", "postgresql") if os.environ.get(BOTH) else ("sqlite",)


def new_database(request: pytest.FixtureRequest) -> str | None:
    """The URL of a new PostgreSQL database; None for SQLite with its default file."""
    if request.param == "sqlite":
        return None
    running: Cluster = request.getfixturevalue("postgresql")
    return running.new_database()
