"""Migration of a database before it is used. One process migrates; others wait for it."""

from __future__ import annotations

from sqlalchemy import Connection, Engine, inspect, text

NEWEST = "0015"
"""The database version of this release: the last step in `migrations/versions`."""
_LOCK = 7_070_707
"""Key of the PostgreSQL advisory lock for migrations."""


def migrate(engine: Engine) -> None:
    """Run all missing migrations in one transaction.

    Args:
        engine: an engine whose transactions take the write lock on SQLite.

    Raises:
        RuntimeError: the database was written by a newer presscheck.
    """
    with engine.connect() as connection:
        if version_of(connection) == NEWEST:
            return
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        if version_of(connection) != NEWEST:  # no other process has run the migrations in the meantime
            _upgrade(connection)


def version_of(connection: Connection) -> str | None:
    """Return the version of a database, or None if it has no tables.

    Raises:
        RuntimeError: the database was written by a newer presscheck.
    """
    if not inspect(connection).has_table("alembic_version"):
        return None
    version = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if version is not None and version > NEWEST:
        raise RuntimeError(
            f"this database was written by a newer presscheck (database version {version}): use that version"
        )
    return version


def _upgrade(connection: Connection) -> None:
    # importing takes 165 ms, so only if there is something to migrate
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "presscheck.service.db:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
