"""The outbox: what was written and not yet sent, drafts, and the marks that a person makes; never thrown away.

A write is on disk when `put` returns. A row is a call by its stored name and its JSON; one that this version cannot
read is parked and shown. One process sends, by a lock that the kernel frees; any may write, take back and decide, so
every change of a row's state says which state it must still be in.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from presscheck.store.local_state import Drafts, translate_sqlite_errors
from presscheck.store.sqlite_files import open_file

VERSION = 2
CALL_VERSION = 1
SCHEMA = """
CREATE TABLE writes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, version INTEGER NOT NULL, given TEXT NOT NULL,
    scope TEXT NOT NULL, state TEXT NOT NULL, error TEXT, noted TEXT, created_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0, author TEXT, sent_at REAL
);
CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE viewed (change_request TEXT, page TEXT, revision TEXT NOT NULL, PRIMARY KEY (change_request, page));
CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL)
"""
STEPS = {1: "ALTER TABLE writes ADD COLUMN author TEXT; ALTER TABLE writes ADD COLUMN sent_at REAL"}
"""By an older version of the schema, what makes the next one of it; what waits goes along."""
COLUMNS = "id, name, given, scope, state, error, noted, created_at, attempts, not_before, author, sent_at"


@dataclass(frozen=True)
class Row:
    """One write. Times are in seconds since the epoch.

    Attributes:
        state: `waiting`; `collected`, until its author lets it go; `sending`, also where nobody knows what became of
            it; `refused`; `parked`, where this version cannot read it; `now`, on its way from the window that wrote it
            and no other.
        noted: the ids that were there before it was first sent.
        author: the id of who wrote it, where that was known.
        sent_at: when it last left.
    """

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
    author: str | None = None
    sent_at: float | None = None


class Outbox(Drafts):
    """The outbox of one profile at one service.

    Raises:
        StoreError: it cannot be opened, read or written; a damaged one is set aside and named in `notice`.
    """

    def __init__(self, path: Path) -> None:
        self.notice: str | None = None
        self._db, aside = open_file(path, SCHEMA, VERSION, durable=True, steps=STEPS)
        if aside:
            self.notice = f"Could not read the outbox: the file was moved to {aside}; its changes are not sent"
        self._lock = FileLock(f"{path}.lock", mode=0o600)
        try:
            self._data_version = self._one("PRAGMA data_version")[0]
        except BaseException:
            self._db.close()
            raise

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
        except (Timeout, OSError):  # also where no lock can be made: then nobody sends, rather than two
            return False
        return True

    def changed_elsewhere(self) -> bool:
        """Whether another instance changed the file since this was last asked."""
        before, self._data_version = self._data_version, self._one("PRAGMA data_version")[0]
        return before != self._data_version

    def put(
        self,
        name: str,
        given: dict[str, Any],
        scope: str,
        now: float,
        *,
        hold: float = 0,
        author: str | None = None,
        state: str = "waiting",
    ) -> int:
        """Take a write; it is on disk when this returns.

        Args:
            name: the stored name of the call.
            given: its values.
            scope: what it must keep its order in.
            now: the time.
            hold: seconds in which it stays unsent.
            author: the id of who wrote it.
            state: `waiting`; `collected`; `now`, where whoever wrote it sends it.
        """
        sent_at = now if state == "now" else None
        return (
            self._change(
                "INSERT INTO writes (name, version, given, scope, state, created_at, not_before, author, sent_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (name, CALL_VERSION, _written(given), scope, state, now, now + hold, author, sent_at),
            ).lastrowid
            or 0
        )

    def rows(self) -> tuple[Row, ...]:
        """Everything that is not sent, the oldest first."""
        with translate_sqlite_errors():
            found = self._db.execute(f"SELECT {COLUMNS} FROM writes ORDER BY id").fetchall()  # noqa: S608
        return tuple(_row(one) for one in found)

    def row(self, number: int) -> Row | None:
        """One of them; None once it is sent or dropped."""
        found = self._one(f"SELECT {COLUMNS} FROM writes WHERE id = ?", number)  # noqa: S608
        return _row(found) if found else None

    def note(self, number: int, ids: tuple[str, ...]) -> None:
        """Note on disk the ids that are there before it is sent."""
        self._change("UPDATE writes SET noted = ? WHERE id = ?", (json.dumps(ids), number))

    def sending(self, number: int, now: float) -> bool:
        """It is about to leave; False where it must not: it was taken back, or decided over, in the meantime."""
        return self._is_changed(
            "UPDATE writes SET state = 'sending', attempts = attempts + 1, sent_at = ?"
            " WHERE id = ? AND state IN ('waiting', 'sending')",
            (now, number),
        )

    def again(self, number: int, not_before: float, error: str | None, *, state: str = "waiting") -> None:
        """It must be tried again, not before then; `state` sending where nobody knows what became of it."""
        self._change(
            "UPDATE writes SET state = ?, not_before = ?, error = ? WHERE id = ?", (state, not_before, error, number)
        )

    def refuse(self, number: int, error: str, *, state: str = "refused") -> None:
        """It was refused, or cannot be read: kept until its author decides."""
        self._change("UPDATE writes SET state = ?, error = ? WHERE id = ?", (state, error, number))

    def retry(self, number: int) -> bool:
        """Its author wants it sent again; False where it was not refused."""
        return self._is_changed(
            "UPDATE writes SET state = 'waiting', not_before = 0, error = NULL, noted = NULL"
            " WHERE id = ? AND state IN ('refused', 'parked')",
            (number,),
        )

    def rewrite(self, number: int, given: dict[str, Any]) -> bool:
        """Its author wants something else sent in its place; False where it is on its way, or gone."""
        return self._is_changed(
            "UPDATE writes SET given = ?, not_before = 0, error = NULL,"
            " state = iif(state = 'refused', 'waiting', state)"
            " WHERE id = ? AND state IN ('waiting', 'collected', 'refused')",
            (_written(given), number),
        )

    def release(self, numbers: Collection[int], not_before: float) -> None:
        """Let what was collected go, all of it or nothing, not before then."""
        self._change(
            "UPDATE writes SET state = 'waiting', not_before = ?"
            " WHERE state = 'collected' AND id IN (SELECT value FROM json_each(?))",
            (not_before, json.dumps([*numbers])),
        )

    def landed(self, number: int, identity: str | None) -> None:
        """It is done; what waited for the id that it now has learns it in the same transaction."""
        with translate_sqlite_errors(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM writes WHERE id = ?", (number,))
            if identity:
                self._db.execute(
                    "UPDATE writes SET given = replace(given, ?, ?)", (f'"waiting:{number}"', json.dumps(identity))
                )

    def drop(self, number: int, *, unless_sending: bool = False) -> bool:
        """Take a write back; False where it is gone already (or on its way, where that matters)."""
        condition = " AND state NOT IN ('sending', 'now')" if unless_sending else ""
        return self._is_changed(f"DELETE FROM writes WHERE id = ?{condition}", (number,))  # noqa: S608


def _written(given: dict[str, Any]) -> str:
    return json.dumps(given, ensure_ascii=False)


def _row(found: Any) -> Row:
    number, name, given, scope, state, error, noted, *times = found
    ids = tuple(json.loads(noted)) if noted else None
    return Row(number, name, json.loads(given), scope, state, error, ids, *times)
