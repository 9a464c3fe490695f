"""Local state of the user in the outbox file: drafts, viewed pages, and key-value pairs."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from presscheck.errors import StoreError


class LocalState:
    """The local state in the outbox file, which is never sent."""

    _db: sqlite3.Connection

    def save_draft(self, key: str, text: str) -> None:
        """Store the text of a draft; an empty text deletes it."""
        if text:
            self._execute("INSERT OR REPLACE INTO drafts VALUES (?, ?)", (key, text))
        else:
            self._execute("DELETE FROM drafts WHERE key = ?", (key,))

    def draft(self, key: str) -> str:
        """The text of a draft; empty if there is none."""
        found = self._fetch_one("SELECT text FROM drafts WHERE key = ?", key)
        return found[0] if found else ""

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision; None removes the mark."""
        if revision is None:
            self._execute("DELETE FROM viewed WHERE change_request = ? AND page = ?", (change_request, page))
        else:
            self._execute("INSERT OR REPLACE INTO viewed VALUES (?, ?, ?)", (change_request, page, revision))

    def viewed(self, change_request: str) -> dict[str, str]:
        """The revision at which each page of a change request was viewed, by page id."""
        with translate_sqlite_errors():
            found = self._db.execute("SELECT page, revision FROM viewed WHERE change_request = ?", (change_request,))
            return dict(found.fetchall())

    def remember(self, key: str, value: str | None) -> None:
        """Store a value; None deletes it."""
        if value is None:
            self._execute("DELETE FROM marks WHERE key = ?", (key,))
        else:
            self._execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (key, value))

    def swap(self, key: str, expected: str | None, values: Mapping[str, str | None]) -> bool:
        """Store all values in one transaction if `key` has the expected value; returns whether it had."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            is_expected = self.recall(key) == expected
            for name, value in values.items() if is_expected else ():
                self.remember(name, value)
            self._db.execute("COMMIT")
        finally:
            # on a full disk, SQLite has already rolled back
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        return is_expected

    def recall(self, key: str) -> str | None:
        """A stored value; None if there is none."""
        found = self._fetch_one("SELECT value FROM marks WHERE key = ?", key)
        return found[0] if found else None

    def recall_all(self, prefix: str) -> dict[str, str]:
        """The stored values whose keys start with a prefix, by the rest of the key."""
        size = len(prefix)
        with translate_sqlite_errors():
            found = self._db.execute("SELECT key, value FROM marks WHERE substr(key, 1, ?) = ?", (size, prefix))
            return {key[size:]: value for key, value in found}

    def _fetch_one(self, statement: str, *values: Any) -> Any:
        with translate_sqlite_errors():
            return self._db.execute(statement, values).fetchone()

    def _execute(self, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        with translate_sqlite_errors():
            return self._db.execute(statement, values)

    def _execute_and_check(self, statement: str, values: tuple[Any, ...]) -> bool:
        return self._execute(statement, values).rowcount > 0


@contextmanager
def translate_sqlite_errors() -> Generator[None]:
    """Raise SQLite errors as StoreError, with a message for the user."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise StoreError("Could not save your text: the disk is full. Free some space and try again") from None
        raise StoreError(f"Could not save your text: {error}") from None
