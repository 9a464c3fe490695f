"""The outbox: what was written and not yet sent, drafts, and the marks that a person makes; never thrown away.

A write is on disk when `put` returns. A row is a call by its stored name and its JSON; one that this version cannot
read is parked and shown. One process sends, by a lock that the kernel frees.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from presscheck.store.files import open_file

VERSION = 1
CALL_VERSION = 1
SCHEMA = """
CREATE TABLE writes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, version INTEGER NOT NULL, given TEXT NOT NULL,
    scope TEXT NOT NULL, state TEXT NOT NULL, error TEXT, noted TEXT, created_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0
);
CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE viewed (change_request TEXT, page TEXT, revision TEXT NOT NULL, PRIMARY KEY (change_request, page));
CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL)
"""
COLUMNS = "id, name, given, scope, state, error, noted, created_at, attempts, not_before"


@dataclass(frozen=True)
class Row:
    """One write: `state` is waiting, sending, refused or parked; `noted` the ids that were there before it was sent."""

    id: int
    name: str
    given: dict[str, Any]
    scope: str
    state: str
    error: str | None
    noted: tuple[str, ...] | None
    created_at: float
    attempts: int
    not_before: float


class Outbox:
    """The outbox of one profile at one service.

    Raises:
        StoreError: it cannot be opened; a damaged one is set aside and named in `notice`.
    """

    def __init__(self, path: Path) -> None:
        self.notice: str | None = None
        self._db, aside = open_file(path, SCHEMA, VERSION, durable=True)
        if aside:
            self.notice = f"The outbox could not be read: it was set aside as {aside}, with what it held"
        self._lock = FileLock(f"{path}.lock", mode=0o600)

    def close(self) -> None:
        """Close the file and let another instance send."""
        self._lock.release()
        self._db.close()

    def may_send(self) -> bool:
        """True for the one instance that sends."""
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            return False
        return True

    def put(self, name: str, given: dict[str, Any], scope: str, now: float, *, hold: float = 0) -> int:
        """Take a write; it is on disk when this returns. `hold` is how long it stays unsent, in seconds."""
        written = self._db.execute(
            "INSERT INTO writes (name, version, given, scope, state, created_at, not_before)"
            " VALUES (?, ?, ?, ?, 'waiting', ?, ?)",
            (name, CALL_VERSION, json.dumps(given, ensure_ascii=False), scope, now, now + hold),
        )
        return int(written.lastrowid or 0)

    def rows(self) -> tuple[Row, ...]:
        """Everything that is not sent, the oldest first."""
        return tuple(_row(found) for found in self._db.execute(f"SELECT {COLUMNS} FROM writes ORDER BY id"))  # noqa: S608

    def row(self, number: int) -> Row | None:
        """One of them; None once it is sent or dropped."""
        found = self._db.execute(f"SELECT {COLUMNS} FROM writes WHERE id = ?", (number,)).fetchone()  # noqa: S608
        return _row(found) if found else None

    def note(self, number: int, ids: tuple[str, ...]) -> None:
        """Note on disk the ids that are there before it is sent."""
        self._db.execute("UPDATE writes SET noted = ? WHERE id = ?", (json.dumps(ids), number))

    def sending(self, number: int) -> None:
        """It is about to leave."""
        self._db.execute("UPDATE writes SET state = 'sending', attempts = attempts + 1 WHERE id = ?", (number,))

    def again(self, number: int, not_before: float, error: str | None, *, state: str = "waiting") -> None:
        """It must be tried again, not before then; `state` sending where nobody knows what became of it."""
        self._db.execute(
            "UPDATE writes SET state = ?, not_before = ?, error = ? WHERE id = ?", (state, not_before, error, number)
        )

    def refuse(self, number: int, error: str, *, state: str = "refused") -> None:
        """It was refused, or cannot be read: kept until its author decides."""
        self._db.execute("UPDATE writes SET state = ?, error = ? WHERE id = ?", (state, error, number))

    def landed(self, number: int, identity: str | None) -> None:
        """It is done; what waited for the id that it now has learns it in the same transaction."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("DELETE FROM writes WHERE id = ?", (number,))
        if identity:
            self._db.execute(
                "UPDATE writes SET given = replace(given, ?, ?)", (f'"waiting:{number}"', json.dumps(identity))
            )
        self._db.execute("COMMIT")

    def drop(self, number: int, *, unless_sending: bool = False) -> bool:
        """Take a write back; False where it is gone already (or on its way, where that matters)."""
        condition = " AND state <> 'sending'" if unless_sending else ""
        return self._db.execute(f"DELETE FROM writes WHERE id = ?{condition}", (number,)).rowcount > 0  # noqa: S608

    def save_draft(self, key: str, text: str) -> None:
        """Keep what is being typed; an empty text forgets it."""
        if text:
            self._db.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?)", (key, text))
        else:
            self._db.execute("DELETE FROM drafts WHERE key = ?", (key,))

    def draft(self, key: str) -> str:
        """What was being typed."""
        found = self._db.execute("SELECT text FROM drafts WHERE key = ?", (key,)).fetchone()
        return found[0] if found else ""

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision, or no longer."""
        if revision is None:
            self._db.execute("DELETE FROM viewed WHERE change_request = ? AND page = ?", (change_request, page))
        else:
            self._db.execute("INSERT OR REPLACE INTO viewed VALUES (?, ?, ?)", (change_request, page, revision))

    def viewed(self, change_request: str) -> dict[str, str]:
        """The pages that were viewed, and at which revision each."""
        return dict(self._db.execute("SELECT page, revision FROM viewed WHERE change_request = ?", (change_request,)))

    def remember(self, key: str, value: str | None) -> None:
        """Keep a small thing for the next start; None forgets it."""
        if value is None:
            self._db.execute("DELETE FROM marks WHERE key = ?", (key,))
        else:
            self._db.execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (key, value))

    def swap(self, key: str, expected: str | None, values: Mapping[str, str | None]) -> bool:
        """Remember all of this, or nothing where `key` holds something else than was expected; whether it was done."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            is_so = self.recall(key) == expected
            for name, value in values.items() if is_so else ():
                self.remember(name, value)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return is_so

    def recall(self, key: str) -> str | None:
        """What was remembered."""
        found = self._db.execute("SELECT value FROM marks WHERE key = ?", (key,)).fetchone()
        return found[0] if found else None

    def recall_all(self, prefix: str) -> dict[str, str]:
        """Everything that was remembered under keys that begin so, by the rest of the key."""
        size = len(prefix)
        found = self._db.execute("SELECT key, value FROM marks WHERE substr(key, 1, ?) = ?", (size, prefix))
        return {key[size:]: value for key, value in found}


def _row(found: Any) -> Row:
    number, name, given, scope, state, error, noted, created_at, attempts, not_before = found
    ids = tuple(json.loads(noted)) if noted else None
    return Row(number, name, json.loads(given), scope, state, error, ids, created_at, attempts, not_before)
