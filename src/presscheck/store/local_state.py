"""What a person left beside the writes that wait: drafts, pages that were viewed, and small things to be remembered."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from presscheck.errors import StoreError


class Drafts:
    """The part of the outbox's file that waits for nobody but its author."""

    _db: sqlite3.Connection

    def save_draft(self, key: str, text: str) -> None:
        """Keep what is being typed; an empty text forgets it."""
        if text:
            self._change("INSERT OR REPLACE INTO drafts VALUES (?, ?)", (key, text))
        else:
            self._change("DELETE FROM drafts WHERE key = ?", (key,))

    def draft(self, key: str) -> str:
        """What was being typed."""
        found = self._one("SELECT text FROM drafts WHERE key = ?", key)
        return found[0] if found else ""

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision, or no longer."""
        if revision is None:
            self._change("DELETE FROM viewed WHERE change_request = ? AND page = ?", (change_request, page))
        else:
            self._change("INSERT OR REPLACE INTO viewed VALUES (?, ?, ?)", (change_request, page, revision))

    def viewed(self, change_request: str) -> dict[str, str]:
        """The pages that were viewed, and at which revision each."""
        with translate_sqlite_errors():
            found = self._db.execute("SELECT page, revision FROM viewed WHERE change_request = ?", (change_request,))
            return dict(found.fetchall())

    def remember(self, key: str, value: str | None) -> None:
        """Keep a small thing for the next start; None forgets it."""
        if value is None:
            self._change("DELETE FROM marks WHERE key = ?", (key,))
        else:
            self._change("INSERT OR REPLACE INTO marks VALUES (?, ?)", (key, value))

    def swap(self, key: str, expected: str | None, values: Mapping[str, str | None]) -> bool:
        """Remember all of this, or nothing where `key` holds something else than was expected; whether it was done."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            is_so = self.recall(key) == expected
            for name, value in values.items() if is_so else ():
                self.remember(name, value)
            self._db.execute("COMMIT")
        finally:
            # a full disk rolls back by itself
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        return is_so

    def recall(self, key: str) -> str | None:
        """What was remembered."""
        found = self._one("SELECT value FROM marks WHERE key = ?", key)
        return found[0] if found else None

    def recall_all(self, prefix: str) -> dict[str, str]:
        """Everything that was remembered under keys that begin so, by the rest of the key."""
        size = len(prefix)
        with translate_sqlite_errors():
            found = self._db.execute("SELECT key, value FROM marks WHERE substr(key, 1, ?) = ?", (size, prefix))
            return {key[size:]: value for key, value in found}

    def _one(self, statement: str, *values: Any) -> Any:
        with translate_sqlite_errors():
            return self._db.execute(statement, values).fetchone()

    def _change(self, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        with translate_sqlite_errors():
            return self._db.execute(statement, values)

    def _is_changed(self, statement: str, values: tuple[Any, ...]) -> bool:
        return self._change(statement, values).rowcount > 0


@contextmanager
def translate_sqlite_errors() -> Generator[None]:
    """What goes wrong with the file, as an error that a person can act on."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise StoreError("Could not save your text: the disk is full. Free some space and try again") from None
        raise StoreError(f"Could not save your text: {error}") from None
