"""The sample workspace as rows: a new SQLite database gets them in a fiftieth of the time that its API calls take.

`prepared.json` has the tables that the migrations make and the rows that `plant` adds to them, made by `make sample`.
Times are shifted to the present. Secrets are not among the rows: each database draws its own.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

from presscheck.service.db.engine import new_engine
from presscheck.service.db.ids import Clock, moment_text
from presscheck.service.sites.urls import new_signing_key

PREPARED = Path(__file__).parents[1] / "sample" / "prepared.json"
MADE_AT = datetime(3000, 1, 1, tzinfo=UTC)
"""The present of the prepared rows: times are known by their millennium, because no text of the sample names one."""
_TIME = re.compile(r"(?:2998|2999|3000)-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def write_prepared(url: str, clock: Clock) -> None:
    """Writes the tables and the sample to an SQLite database that has no tables; other databases stay as they are."""
    if make_url(url).get_backend_name() != "sqlite":
        return
    engine = new_engine(url)
    try:
        with engine.execution_options(writes=True).begin() as connection:
            driver: Any = connection.connection.driver_connection
            if driver.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                _write(driver, clock())
    finally:
        engine.dispose()


def _write(driver: Any, present: datetime) -> None:
    """Executes the prepared statements on a connection of the driver: SQLAlchemy would take ten times as long."""

    @cache
    def shifted(time: str) -> str:
        return moment_text(present + (datetime.fromisoformat(time) - MADE_AT))

    prepared = json.loads(_TIME.sub(lambda match: shifted(match[0]), PREPARED.read_text("utf-8")))
    for statement in prepared["tables"]:
        driver.execute(statement).close()
    for table, rows in prepared["rows"].items():
        values = ", ".join("?" * len(rows[0]))
        driver.executemany(f"INSERT INTO {table} VALUES ({values})", rows).close()  # noqa: S608  # a table of ours
    for statement in prepared["indexes"]:  # triggers are among them, which keep rows that are there already
        driver.execute(statement).close()
    for (site,) in driver.execute("SELECT site_id FROM site_settings").fetchall():
        driver.execute("UPDATE site_settings SET auth_key = ? WHERE site_id = ?", (new_signing_key(), site)).close()
