"""The database engines that tests run on."""

import os
from collections.abc import Sequence
from zlib import crc32

import pytest
from tests.postgresql import Cluster

BOTH = "PRESSCHECK_BOTH_ENGINES"
"""The variable that runs every test on both engines. Without it most run on one of the two, in turn."""
NAMES = ("sqlite", "postgresql")
ENGINES = NAMES if os.environ.get(BOTH) else NAMES[:1]
"""The engines of tests that take long: SQLite alone unless both are asked for."""


def new_database(request: pytest.FixtureRequest) -> str | None:
    """The URL of a new PostgreSQL database; None for SQLite with its default file."""
    if request.param == "sqlite":
        return None
    running: Cluster = request.getfixturevalue("postgresql")
    return running.new_database()


def in_turn(names: Sequence[str]) -> set[str]:
    """Of the names of tests, those that run: of two that differ in their engine alone, one of them, always the same."""
    known = set(names)
    twins = {name: name.replace(NAMES[0], NAMES[1]) for name in names if NAMES[0] in name and NAMES[1] not in name}
    pairs = [(name, twin) for name, twin in twins.items() if twin in known]
    skipped = {pair[crc32(pair[0].encode()) % 2] for pair in pairs}
    return known - skipped
