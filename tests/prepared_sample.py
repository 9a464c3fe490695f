"""Makes the prepared sample: what the migrations and the API calls of the sample leave in a new SQLite database.

python -m tests.prepared_sample
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, text

from presscheck.service.db.engine import Database
from presscheck.service.sample import plant
from presscheck.service.server.prepared_sample import MADE_AT, PREPARED

WORDS = "document_words"
"""The full-text index, a virtual table: SQLite makes tables for it by itself, whose names begin with its own."""


def planted(present: datetime) -> str:
    """The contents of a database with the sample as its API calls make it at a present time."""
    with tempfile.TemporaryDirectory() as directory:
        url = f"sqlite:///{directory}/service.sqlite"
        database = Database(url)
        with database.writing.begin() as session:
            plant(session, lambda: present)
        database.close()
        return read_database(url)


def read_database(url: str) -> str:
    """The tables, rows, indexes and triggers of a database as JSON, a line for each; without secrets."""
    database = Database(url)
    try:
        with database.snapshot() as session:
            return _contents(session.connection())
    finally:
        database.close()


def _contents(connection: Connection) -> str:
    query = text("SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'trigger', name")
    made = [row for row in connection.execute(query).all() if not row.name.startswith(f"{WORDS}_")]
    tables = {row.name: row.sql for row in made if row.type == "table"}
    rows = {name: found for name in tables if (found := [*_rows(connection, name)])}
    parts = {
        "tables": _lines(tables.values()),
        "rows": "{\n" + ",\n".join(f"{_json(name)}: {_lines(found)}" for name, found in rows.items()) + "\n}",
        "indexes": _lines(row.sql for row in made if row.type != "table"),
    }
    return "{\n" + ",\n".join(f"{_json(name)}: {part}" for name, part in parts.items()) + "\n}\n"


def _rows(connection: Connection, table: str) -> Iterator[list[Any]]:
    for row in connection.execute(text(f'SELECT * FROM "{table}" ORDER BY rowid')):
        if table == WORDS:  # the words of a document are in no order
            yield [row.id, " ".join(sorted(row.words.split()))]
        else:
            yield ["" if name == "auth_key" else value for name, value in row._mapping.items()]


def _lines(values: Any) -> str:
    return "[\n" + ",\n".join(map(_json, values)) + "\n]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    made, before = planted(MADE_AT), PREPARED.read_text("utf-8") if PREPARED.exists() else ""
    PREPARED.write_text(made, "utf-8")
    sys.stdout.write(f"{PREPARED.relative_to(Path.cwd())}\n" if made != before else "")
