"""Bringing a database up to date before anything else touches it: whoever comes first does it, the others wait."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, text

NEWEST = "0002"
"""The step that this version of the service works with: the last of `migrations/versions`."""
_LOCK = 7_070_707
"""What processes on one PostgreSQL take turns by."""


def migrate(engine: Engine) -> None:
    """Take the steps that a database lacks, all in one transaction.

    Args:
        engine: whose transactions take the writers' lock where there is one.

    Raises:
        RuntimeError: a newer presscheck wrote this database.
    """
    with engine.connect() as connection:
        if _version(connection) == NEWEST:
            return
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        version = _version(connection)
        if version == NEWEST:  # somebody else was faster
            return
        if version is not None and version > NEWEST:
            raise RuntimeError(
                f"this database was written by a newer presscheck (database version {version}): use that version"
            )
        _upgrade(connection)


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.scalar(text("SELECT version_num FROM alembic_version"))


def _upgrade(connection: Connection) -> None:
    from alembic import command  # late: most starts find nothing to do
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "presscheck.service:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
