"""The outbox: unsent writes, the history of writes, and local state, in a file that is never deleted.

A write is on disk when `put` returns. A write leaves the outbox in the transaction that adds it to the history, so that
it is always in exactly one of them; the history is bounded. A row has the stored name and the arguments of a call; a
row that this version cannot read is parked and shown. Only the process with the file lock sends queued writes. Any
process may add, undo and edit writes, so a change that could race with the sender names the allowed former states of
the row.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from presscheck.errors import StoreError
from presscheck.store.sqlite_files import open_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

VERSION = 7
CALL_VERSION = 1
FAILED = ("refused", "parked")
"""The states of a failed write, which blocks later writes of its scope until the user decides."""
PART = " part"
"""Suffix of the scope of a write that is a part of a longer task, such as the push of a folder.

An interrupted task is compared with the service and continued, so the user never has to decide about such a write.
"""
HISTORY_ROWS = 500
"""Maximum number of writes in the history."""
SECRET_ARGUMENTS = {
    "publishIntegration": ("secrets",),
    "renderIntegrationUIWithPost": ("state", "action"),
    "updateIntegrationInstallation": ("configuration",),
}
"""Arguments that may contain secrets and are removed from the history, by stored name of the operation."""
HISTORY_SECONDS = 30 * 86400.0
"""Seconds that a write is kept in the history."""
NEW = "waiting:"
"""Prefix of the temporary id of an unsent new item; the number of the row follows."""
TREE = "tree"
"""The key in `Row.base` of a change of the page tree; the base of a page edit does not have this key."""
HISTORY = """
CREATE TABLE history (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, given TEXT NOT NULL, state TEXT NOT NULL, error TEXT,
    created_at REAL NOT NULL, ended_at REAL NOT NULL, author TEXT, former TEXT, result TEXT, undoes INTEGER
)
"""
"""The history table as of version 3; later steps add columns."""
SCHEMA = f"""
CREATE TABLE writes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, version INTEGER NOT NULL, given TEXT NOT NULL,
    scope TEXT NOT NULL, state TEXT NOT NULL, error TEXT, noted TEXT, created_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, not_before REAL NOT NULL DEFAULT 0, author TEXT, sent_at REAL, former TEXT,
    undoes INTEGER, base TEXT, agent TEXT, target TEXT
);
CREATE TABLE drafts (key TEXT PRIMARY KEY, text TEXT NOT NULL, changed_at REAL, about TEXT);
CREATE TABLE viewed (change_request TEXT, page TEXT, revision TEXT NOT NULL, PRIMARY KEY (change_request, page));
CREATE TABLE marks (key TEXT PRIMARY KEY, value TEXT NOT NULL);
{HISTORY};
ALTER TABLE history ADD COLUMN agent TEXT;
ALTER TABLE history ADD COLUMN target TEXT;
"""
STEPS = {
    1: "ALTER TABLE writes ADD COLUMN author TEXT; ALTER TABLE writes ADD COLUMN sent_at REAL",
    2: f"ALTER TABLE writes ADD COLUMN former TEXT; ALTER TABLE writes ADD COLUMN undoes INTEGER; {HISTORY}",
    3: "ALTER TABLE drafts ADD COLUMN changed_at REAL; ALTER TABLE drafts ADD COLUMN about TEXT",
    4: "ALTER TABLE writes ADD COLUMN base TEXT",
    5: "ALTER TABLE writes ADD COLUMN agent TEXT; ALTER TABLE history ADD COLUMN agent TEXT",
    6: "ALTER TABLE writes ADD COLUMN target TEXT; ALTER TABLE history ADD COLUMN target TEXT",
}
"""The statements that migrate each older version of the schema to the next; no row is lost."""
READ, WRITE, SAVE_TEXT = "Could not read the outbox", "Could not write the outbox", "Could not save your text"
"""What failed, in the messages about errors of SQLite."""
COLUMNS = (
    "id, name, given, scope, state, error, noted, created_at, attempts, not_before, author, sent_at, former, undoes,"
    " base, agent, target"
)
ENDED_COLUMNS = "id, name, given, state, error, created_at, ended_at, author, former, result, undoes, agent, target"


def read_marks(file: Path, keys: Collection[str]) -> dict[str, str]:
    """Return values that another profile stored with `remember`, by key; empty if the file is missing or unusable.

    The file is neither created nor changed.
    """
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            statement = "SELECT key, value FROM marks WHERE key IN (SELECT value FROM json_each(?))"
            return dict(connection.execute(statement, (json.dumps([*keys]),)).fetchall())
    except sqlite3.Error:
        return {}


class LocalState:
    """The local state in the outbox file, which is never sent.

    Attributes:
        open_texts: the directory of texts that are open in the user's editor; it need not exist.
    """

    open_texts: Path
    _db: sqlite3.Connection

    def save_draft(
        self,
        key: str,
        text: str,
        about: Mapping[str, str] | None = None,
        beside: Mapping[str, str] | None = None,
    ) -> None:
        """Store the text of a draft; an empty text deletes it.

        Args:
            key: the key of the draft.
            text: the text.
            about: ids and titles for the list of drafts; None keeps the stored values.
            beside: texts by key that are stored in the same transaction, such as the text before the edit: with another
                base than its own, a merge of the draft would revert edits of others.
        """
        if beside:
            with self._transaction(SAVE_TEXT):
                for name, other in beside.items():
                    if self.draft(name) != other:
                        self.save_draft(name, other)
                self.save_draft(key, text, about)
        elif text:
            self._execute(
                "INSERT INTO drafts (key, text, changed_at, about) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                " text = excluded.text, changed_at = iif(text = excluded.text, changed_at, excluded.changed_at),"
                " about = coalesce(excluded.about, about)",
                (key, text, time.time(), _to_json(dict(about)) if about else None),
                failure=SAVE_TEXT,
            )
        else:
            self._execute("DELETE FROM drafts WHERE key = ?", (key,))

    def forget_draft(self, key: str, text: str, *beside: str) -> None:
        """Delete a draft and the texts stored with the draft, unless another instance changed the text of the draft.

        Args:
            key: the key of the draft.
            text: the text that this instance stored or read last.
            beside: the keys of the texts stored with it, such as the text before the edit.
        """
        self._execute(
            "DELETE FROM drafts WHERE key IN (SELECT value FROM json_each(?))"
            " AND EXISTS (SELECT 1 FROM drafts WHERE key = ? AND text = ?)",
            (json.dumps([key, *beside]), key, text),
        )

    def draft_changed_at(self, key: str) -> float | None:
        """Return the time of the last change of a draft's text, in seconds since the epoch; None if unknown."""
        row = self._fetch_one("SELECT changed_at FROM drafts WHERE key = ?", key)
        return row[0] if row else None

    def drafts(self) -> tuple[StoredDraft, ...]:
        """Return all drafts, newest first. Drafts of an earlier version, whose age is unknown, come last."""
        with translate_sqlite_errors(READ):
            rows = self._db.execute(
                "SELECT key, text, changed_at, about FROM drafts ORDER BY changed_at DESC, key"
            ).fetchall()
        return tuple(
            StoredDraft(key, text, changed_at, json.loads(about) if about else {})
            for key, text, changed_at, about in rows
        )

    def draft_keys(self) -> tuple[str, ...]:
        """Return the keys of all drafts, without reading the texts."""
        with translate_sqlite_errors(READ):
            return tuple(key for (key,) in self._db.execute("SELECT key FROM drafts"))

    def move_drafts(self, keys: Mapping[str, str], about: Mapping[str, str]) -> None:
        """Change the keys and the details of drafts in a single transaction; drafts with the new keys are replaced."""
        with self._transaction():
            for key, new in keys.items():
                self._execute(
                    "UPDATE OR REPLACE drafts SET key = ?, about = ? WHERE key = ?", (new, _to_json(dict(about)), key)
                )

    def draft(self, key: str) -> str:
        """Return the text of a draft; empty without a draft."""
        row = self._fetch_one("SELECT text FROM drafts WHERE key = ?", key)
        return row[0] if row else ""

    def mark_viewed(self, change_request: str, page: str, revision: str | None) -> None:
        """Mark a page of a change request as viewed at a revision; None removes the mark."""
        if revision is None:
            self._execute("DELETE FROM viewed WHERE change_request = ? AND page = ?", (change_request, page))
        else:
            self._execute("INSERT OR REPLACE INTO viewed VALUES (?, ?, ?)", (change_request, page, revision))

    def viewed(self, change_request: str) -> dict[str, str]:
        """Return the revisions at which pages of a change request were viewed, by page id."""
        with translate_sqlite_errors(READ):
            rows = self._db.execute("SELECT page, revision FROM viewed WHERE change_request = ?", (change_request,))
            return dict(rows.fetchall())

    def remember(self, key: str, value: str | None) -> None:
        """Store a value; None deletes it."""
        if value is None:
            self._execute("DELETE FROM marks WHERE key = ?", (key,))
        else:
            self._execute("INSERT OR REPLACE INTO marks VALUES (?, ?)", (key, value))

    def remember_if_possible(self, key: str, value: str | None) -> None:
        """Store a value that the user did not ask to store, such as the last place; do nothing on a full disk."""
        with suppress(StoreError):
            self.remember(key, value)

    def swap(self, key: str, expected: str | None, values: Mapping[str, str | None]) -> bool:
        """Store all values in a single transaction if `key` has the expected value. Return whether they were stored."""
        with self._transaction():
            is_expected = self.recall(key) == expected
            for name, value in values.items() if is_expected else ():
                self.remember(name, value)
            return is_expected

    def recall(self, key: str) -> str | None:
        """Return a stored value, or None."""
        row = self._fetch_one("SELECT value FROM marks WHERE key = ?", key)
        return row[0] if row else None

    def recall_all(self, prefix: str) -> dict[str, str]:
        """Return the stored values whose keys start with a prefix, by the rest of the key."""
        size = len(prefix)
        with translate_sqlite_errors(READ):
            rows = self._db.execute("SELECT key, value FROM marks WHERE substr(key, 1, ?) = ?", (size, prefix))
            return {key[size:]: value for key, value in rows}

    def _fetch_one(self, statement: str, *values: Any) -> Any:
        with translate_sqlite_errors(READ):
            return self._db.execute(statement, values).fetchone()

    def _execute(self, statement: str, values: tuple[Any, ...], *, failure: str = WRITE) -> sqlite3.Cursor:
        with translate_sqlite_errors(failure):
            return self._db.execute(statement, values)

    def _execute_and_check(self, statement: str, values: tuple[Any, ...]) -> bool:
        return self._execute(statement, values).rowcount > 0

    @contextmanager
    def _transaction(self, failure: str = WRITE) -> Generator[None]:
        with translate_sqlite_errors(failure):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                # on a full disk, SQLite has already rolled back
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")


@contextmanager
def translate_sqlite_errors(failure: str) -> Generator[None]:
    """Convert SQLite errors to StoreError. The message for the user begins with `failure`."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL:
            raise StoreError(f"{failure}: the disk is full. Free some space and try again") from None
        raise StoreError(f"{failure}: {error}") from None


@dataclass(frozen=True)
class StoredDraft:
    """A stored draft.

    Attributes:
        key: the key.
        text: the text.
        changed_at: the time of the last change of the text, in seconds since the epoch; None if unknown.
        about: ids and titles for the list of drafts.
    """

    key: str
    text: str
    changed_at: float | None
    about: dict[str, str]


@dataclass(frozen=True)
class Row:
    """An unsent write. Times are in seconds since the epoch.

    Attributes:
        name: the stored name of the operation.
        given: the arguments.
        scope: the scope, within which writes are sent in order.
        state: `waiting`; `collected` (held until the user submits a review); `sending` (also for unknown delivery);
            `refused` (failed permanently); `parked` (this version cannot read it); `now` (not queued: the instance that
            added it is sending it).
        existing_ids: the ids of the items that existed before the write was first sent; None if not determined.
        not_before: the earliest time to send the write.
        author: the id of the author, if known.
        sent_at: the time of the last attempt.
        former: the replaced values, as JSON values; None if not determined.
        undoes: the number of the write in the history that this write undoes.
        base: the values before the change, as JSON values, for a page edit or tree change that is merged with changes
            of other users before it is sent; else None.
        agent: the name of the agent that wrote it; None if the user wrote it.
        target: the names of what it changes, as they were; None if unknown. See `target_names.target_names`.
    """

    id: int
    name: str
    given: dict[str, Any]
    scope: str
    state: str
    error: str | None
    existing_ids: tuple[str, ...] | None
    created_at: float
    attempts: int
    not_before: float
    author: str | None = None
    sent_at: float | None = None
    former: dict[str, Any] | None = None
    undoes: int | None = None
    base: dict[str, Any] | None = None
    agent: str | None = None
    target: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether the write is a part of a longer task; see `PART`."""
        return self.scope.endswith(PART)

    @property
    def is_tree_change(self) -> bool:
        """Whether the write changes the page tree; it is compared with the current tree before it is sent."""
        return self.base is not None and TREE in self.base

    @property
    def is_edit(self) -> bool:
        """Whether the write edits a page; it is merged with edits of other users before it is sent."""
        return self.base is not None and TREE not in self.base


@dataclass(frozen=True)
class EndedRow:
    """A write in the history. Times are in seconds since the epoch; see `Row` for the common fields.

    Attributes:
        state: `sent`; `undone` (sent, and undone by a later write); `refused` (failed permanently, or discarded after a
            failure or an unknown delivery); `unsent` (undone or discarded before it was sent).
        ended_at: the time when the write left the outbox.
        result: the fields of the response to remember, as JSON values; None without a result.
        target: the names of what it changed; see `Row`.
    """

    id: int
    name: str
    given: dict[str, Any]
    state: str
    error: str | None
    created_at: float
    ended_at: float
    author: str | None
    former: dict[str, Any] | None
    result: dict[str, Any] | None
    undoes: int | None
    agent: str | None = None
    target: str | None = None


class Outbox(LocalState):
    """The outbox of a profile for a service.

    Attributes:
        notice: a message to the user if a damaged file was moved aside, else None.

    Raises:
        StoreError: the file cannot be opened, read or written.
    """

    def __init__(self, path: Path) -> None:
        self.notice: str | None = None
        self._parsed: dict[Any, Row] = {}
        """The parsed unsent writes of the last read, by the values of their columns."""
        self._db, aside = open_file(path, SCHEMA, VERSION, durable=True, steps=STEPS)
        if aside:
            self.notice = f"Could not read the outbox: the file was moved to {aside}; its changes are not sent"
        self.open_texts = path.with_suffix(".editor")
        self._lock_file, self._lock = Path(f"{path}.lock"), cast("BaseFileLock | None", None)
        try:
            self._data_version = self._fetch_one("PRAGMA data_version")[0]
        except BaseException:
            self._db.close()
            raise

    def close(self) -> None:
        """Close the file and let another instance send."""
        if self._lock:
            self._lock.release()
        self._db.close()

    def may_send(self) -> bool:
        """Return whether this instance may send: it already holds the file lock, or can acquire it now."""
        from filelock import FileLock, Timeout  # 10 ms and 0.6 MB, only if there is something to send

        if self._lock is None:
            self._lock = FileLock(self._lock_file, mode=0o600)
        if self._lock.is_locked:
            return True
        try:
            self._lock.acquire(timeout=0)
        except (Timeout, OSError):  # also if no lock file can be created: two senders would be worse than none
            return False
        return True

    def changed_elsewhere(self) -> bool:
        """Return whether another instance changed the file since the last call."""
        before, self._data_version = self._data_version, self._fetch_one("PRAGMA data_version")[0]
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
        base: dict[str, Any] | None = None,
        agent: str | None = None,
        target: str | None = None,
    ) -> int:
        """Add a write, which is on disk when this method returns.

        Args:
            name: the stored name of the operation.
            given: the arguments.
            scope: the scope, within which writes are sent in order.
            now: the current time, in seconds since the epoch.
            hold: seconds before the write is sent.
            author: the id of the author.
            state: `waiting`, `collected` or `now`; see `Row`.
            base: the values before the change, for a page edit or tree change; see `Row`.
            agent: the name of the agent that wrote it.
            target: the names of what it changes; see `Row`.

        Returns:
            The number of the row.
        """
        return self._insert(name, given, scope, now, now + hold, author, state, None, base, agent, target)

    def put_undo(
        self,
        undoes: int,
        writes: Sequence[tuple[str, dict[str, Any], str, str]],
        now: float,
        author: str | None,
        targets: Sequence[str | None] = (),
    ) -> list[int]:
        """Add the writes that undo a sent write, all or none.

        Args:
            undoes: the number of the sent write.
            writes: name, arguments, scope and state of each write; see `put`.
            now: the current time, in seconds since the epoch.
            author: the id of the user.
            targets: the target of each write; see `Row`.

        Returns:
            The numbers of the rows; empty if the write is already undone or being undone.
        """
        with self._transaction():
            row = self._fetch_one("SELECT state FROM history WHERE id = ?", undoes)
            if row is None or row[0] != "sent" or self._fetch_one("SELECT 1 FROM writes WHERE undoes = ?", undoes):
                return []
            return [
                self._insert(name, given, scope, now, now, author, state, undoes, target=target)
                for (name, given, scope, state), target in zip_longest(writes, targets)
            ]

    def _insert(
        self,
        name: str,
        given: dict[str, Any],
        scope: str,
        now: float,
        not_before: float,
        author: str | None,
        state: str,
        undoes: int | None,
        base: dict[str, Any] | None = None,
        agent: str | None = None,
        target: str | None = None,
    ) -> int:
        sent_at, text = now if state == "now" else None, _to_json(base) if base else None
        values = (
            name,
            CALL_VERSION,
            _to_json(given),
            scope,
            state,
            now,
            not_before,
            author,
            sent_at,
            undoes,
            text,
            agent,
            target,
        )
        cursor = self._execute(
            "INSERT INTO writes (name, version, given, scope, state, created_at, not_before, author, sent_at, undoes,"
            " base, agent, target) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            values,
            failure=SAVE_TEXT,
        )
        return cursor.lastrowid or 0

    def rows(self) -> tuple[Row, ...]:
        """Return all unsent writes, oldest first."""
        with translate_sqlite_errors(READ):
            rows = self._db.execute(f"SELECT {COLUMNS} FROM writes ORDER BY id").fetchall()  # noqa: S608
        # with a thousand waiting writes, parsing all after each change of a write would take most of the time
        self._parsed = {columns: self._parsed.get(columns) or _row(columns) for columns in rows}
        return tuple(self._parsed.values())

    def row(self, number: int) -> Row | None:
        """Return an unsent write, or None if it was sent or discarded."""
        columns = self._fetch_one(f"SELECT {COLUMNS} FROM writes WHERE id = ?", number)  # noqa: S608
        return _row(columns) if columns else None

    def ahead(self) -> dict[int, Row]:
        """Return the write that each unsent write waits for, by the number of the waiting write.

        This is the oldest write of the scope by the same or an unknown author. Collected writes and writes that are
        sent immediately neither wait nor block.
        """
        oldest: dict[str, list[Row]] = {}
        ahead: dict[int, Row] = {}
        for row in self.rows():
            if row.state in ("collected", "now"):
                continue
            firsts = oldest.setdefault(row.scope, [])
            # the writes of another user are not sent, and block nothing
            first = next(
                (earlier for earlier in firsts if None in (earlier.author, row.author) or earlier.author == row.author),
                None,
            )
            if first:
                ahead[row.id] = first
            else:
                firsts.append(row)
        return ahead

    def held_up(self) -> dict[int, Row]:
        """Return the failed write that each blocked write waits for, by number of the blocked write."""
        # called after each change of a write: reading a thousand waiting writes takes 10 ms
        if self._fetch_one("SELECT 1 FROM writes WHERE state IN ('refused', 'parked') LIMIT 1") is None:
            return {}
        return {number: row for number, row in self.ahead().items() if row.state in FAILED}

    def send_now(self, number: int) -> bool:
        """Send a write without its pause, and ahead of the failed writes that block it.

        The failed writes, and writes that refer to their results, move to a separate scope.

        Returns:
            False if the write itself refers to the result of a failed write.
        """
        with self._transaction():
            row = self.row(number)
            scope = [other for other in self.rows() if row and other.scope == row.scope]
            aside = {other.id for other in scope if other.id < number and other.state in FAILED}
            for other in scope:
                if any(f'"waiting:{failed}"' in _to_json(other.given) for failed in aside):
                    aside.add(other.id)
            if number in aside:
                return False
            if row and aside:
                self._execute(
                    "UPDATE writes SET scope = ? WHERE id IN (SELECT value FROM json_each(?))",
                    (f"{row.scope} {min(aside)}", json.dumps([*aside])),
                )
            self._execute(
                "UPDATE writes SET not_before = 0, error = NULL WHERE id = ? AND state IN ('waiting', 'sending')",
                (number,),
            )
            return True

    def added_page(self, page: str) -> str:
        """Return the id of a page on the service, from its temporary id `waiting:N`; return any other id unchanged."""
        number = page.removeprefix(NEW)
        ended = self.ended(int(number)) if number != page and number.isdecimal() and len(number) < 19 else None
        pages = (ended.result or {}).get("pages") if ended else None
        return (pages[0] if pages else None) or page

    def history(self) -> tuple[EndedRow, ...]:
        """Return the writes that left the outbox, the newest first."""
        with translate_sqlite_errors(READ):
            rows = self._db.execute(
                f"SELECT {ENDED_COLUMNS} FROM history ORDER BY ended_at DESC, id DESC"  # noqa: S608
            ).fetchall()
        return tuple(_ended_row(columns) for columns in rows)

    def ended(self, number: int) -> EndedRow | None:
        """Return a write of the history, or None."""
        columns = self._fetch_one(f"SELECT {ENDED_COLUMNS} FROM history WHERE id = ?", number)  # noqa: S608
        return _ended_row(columns) if columns else None

    def note_former(self, number: int, former: dict[str, Any]) -> None:
        """Store the values that a write will replace."""
        self._execute("UPDATE writes SET former = ? WHERE id = ?", (_to_json(former), number))

    def note_existing(self, number: int, ids: tuple[str, ...]) -> None:
        """Store the ids of the items that existed before a write."""
        self._execute("UPDATE writes SET noted = ? WHERE id = ?", (json.dumps(ids), number))

    def sending(self, number: int, now: float) -> bool:
        """Mark a write as being sent. Return False if the write was undone in the meantime."""
        return self._execute_and_check(
            "UPDATE writes SET state = 'sending', attempts = attempts + 1, sent_at = ?"
            " WHERE id = ? AND state IN ('waiting', 'sending')",
            (now, number),
        )

    def reschedule(self, number: int, not_before: float, error: str | None, *, state: str = "waiting") -> None:
        """Send a write again at or after a time; pass the state `sending` if the delivery is unknown."""
        self._execute(
            "UPDATE writes SET state = ?, not_before = ?, error = ? WHERE id = ?", (state, not_before, error, number)
        )

    def refuse(self, number: int, error: str, *, state: str = "refused") -> None:
        """Mark a write as failed (`refused`) or unreadable (`parked`), until the user retries it."""
        self._execute("UPDATE writes SET state = ?, error = ? WHERE id = ?", (state, error, number))

    def retry(self, number: int) -> bool:
        """Send a failed write again. Return False if the write has not failed."""
        return self._execute_and_check(
            "UPDATE writes SET state = 'waiting', not_before = 0, error = NULL, noted = NULL"
            " WHERE id = ? AND state IN ('refused', 'parked')",
            (number,),
        )

    def rewrite(self, number: int, given: dict[str, Any]) -> bool:
        """Replace the arguments of a write. Return False if the write is being sent, parked, or not in the outbox.

        An edit of a page with a base is not replaced: see `rebase`.
        """
        return self._execute_and_check(
            "UPDATE writes SET given = ?, not_before = 0, error = NULL,"
            " state = iif(state = 'refused', 'waiting', state)"
            " WHERE id = ? AND state IN ('waiting', 'collected', 'refused')"
            " AND (base IS NULL OR json_extract(base, '$.tree') IS NOT NULL)",
            (_to_json(given), number),
        )

    def rebase(self, row: Row, given: dict[str, Any], base: dict[str, Any]) -> bool:
        """Replace an edit and its base, and send it again if it failed. Return False if `row` is outdated.

        Without the comparison with `row`, a text that lacks an edit of another user could get a base with that edit.
        Sending the text would then remove the edit.
        """
        return self._execute_and_check(
            "UPDATE writes SET given = ?, base = ?, not_before = 0, error = NULL,"
            " state = iif(state = 'refused', 'waiting', state) WHERE id = ? AND given = ? AND state = ?",
            (_to_json(given), _to_json(base), row.id, _to_json(row.given), row.state),
        )

    def move_to_drafts(self, numbers: Collection[int], texts: Mapping[str, str], about: Mapping[str, str]) -> bool:
        """Move edits to a draft in a single transaction. Return False if one of the edits is being sent or is gone.

        Args:
            numbers: the rows.
            texts: the texts to store by draft key: of the draft, and of the text before the edit.
            about: the details of the draft; see `save_draft`.
        """
        with self._transaction():
            rows = [self.row(number) for number in numbers]
            if any(row is None or row.state in ("sending", "now") for row in rows):
                return False
            for key, text in texts.items():
                self.save_draft(key, text, about)
            for number in numbers:
                self._end(number, "unsent", now=None)
            return True

    def release(self, numbers: Collection[int], not_before: float) -> None:
        """Queue collected writes in a single transaction, to be sent at or after a time."""
        self._execute(
            "UPDATE writes SET state = 'waiting', not_before = ?"
            " WHERE state = 'collected' AND id IN (SELECT value FROM json_each(?))",
            (not_before, json.dumps([*numbers])),
        )

    def delivered(
        self, number: int, identity: str | None, *, result: dict[str, Any] | None = None, now: float | None = None
    ) -> None:
        """Move a sent write to the history, and insert the id of its result into writes that refer to it.

        The last write of an undo also marks the undone write in the history.

        Args:
            number: the row.
            identity: the id of the result, if any.
            result: the fields of the response for the history.
            now: the current time, in seconds since the epoch.
        """
        with self._transaction():
            row = self.row(number)
            self._end(number, "sent", now=now, result=result)
            if identity:
                self._execute(
                    "UPDATE writes SET given = replace(given, ?, ?), base = replace(base, ?, ?)",
                    (f'"waiting:{number}"', json.dumps(identity)) * 2,
                )
                # the keys of drafts end with the id of the page; if the page has a draft already, both stay
                self._execute(
                    "UPDATE OR IGNORE drafts SET key = substr(key, 1, length(key) - length(?)) || ? WHERE key LIKE ?",
                    (f"waiting:{number}", identity, f"% waiting:{number}"),
                )
            if row and row.undoes is not None:
                self._execute(
                    "UPDATE history SET state = 'undone' WHERE id = ? AND state = 'sent'"
                    " AND NOT EXISTS (SELECT 1 FROM writes WHERE undoes = ?)",
                    (row.undoes, row.undoes),
                )

    def drop(
        self,
        number: int,
        *,
        unless_sending: bool = False,
        only_held: bool = False,
        error: str | None = None,
        now: float | None = None,
    ) -> bool:
        """Move an unsent write to the history. Return False if it no longer exists or must not be discarded.

        Args:
            number: the row.
            unless_sending: do not discard a write that is being sent.
            only_held: discard only a collected write.
            error: the error, if the write just failed.
            now: the current time, in seconds since the epoch.
        """
        with self._transaction():
            row = self.row(number)
            if row is None or (unless_sending and row.state in ("sending", "now")):
                return False
            if only_held and row.state != "collected":
                return False
            has_failed = error is not None or row.state in ("refused", "parked")
            self._end(number, "refused" if has_failed else "unsent", now=now, error=error)
            return True

    def _end(
        self,
        number: int,
        state: str,
        *,
        now: float | None,
        error: str | None = None,
        result: dict[str, Any] | None = None,
    ) -> None:
        """Move a row to the history, and delete old rows of the history. Call this only inside a transaction."""
        self._forget_file_contents(number)
        self._forget_secrets(number)
        now = time.time() if now is None else now
        values = (state, error, None if state == "sent" else 1, now, _to_json(result) if result else None, number)
        self._execute(
            f"INSERT OR REPLACE INTO history ({ENDED_COLUMNS})"  # noqa: S608
            " SELECT id, name, given, ?, coalesce(?, iif(?, error, NULL)), created_at, ?, author, former, ?,"
            " undoes, agent, target FROM writes WHERE id = ?",
            values,
        )
        self._execute("DELETE FROM writes WHERE id = ?", (number,))
        self._execute(
            "DELETE FROM history WHERE ended_at < ? OR id NOT IN"
            " (SELECT id FROM history ORDER BY ended_at DESC, id DESC LIMIT ?)",
            (now - HISTORY_SECONDS, HISTORY_ROWS),
        )

    def _forget_file_contents(self, number: int) -> None:
        """Remove the bytes of uploaded files from a row, because the history is read as a whole."""
        row = self._fetch_one("SELECT given FROM writes WHERE id = ? AND given LIKE ?", number, '%"base64"%')
        if row:
            given = _without_key("base64", json.loads(row[0]))
            self._execute("UPDATE writes SET given = ? WHERE id = ?", (_to_json(given), number))

    def _forget_secrets(self, number: int) -> None:
        """Remove arguments that may contain secrets from a row, because the history keeps rows for weeks."""
        row = self._fetch_one("SELECT name, given FROM writes WHERE id = ?", number)
        names = SECRET_ARGUMENTS.get(row[0], ()) if row else ()
        if names:
            given = {name: value for name, value in json.loads(row[1]).items() if name not in names}
            self._execute("UPDATE writes SET given = ? WHERE id = ?", (_to_json(given), number))


def _to_json(given: dict[str, Any]) -> str:
    return json.dumps(given, ensure_ascii=False)


def _row(columns: Any) -> Row:
    number, name, given, scope, state, error, noted, *times, former, undoes, base, agent, target = columns
    ids = tuple(json.loads(noted)) if noted else None
    return Row(
        number,
        name,
        json.loads(given),
        scope,
        state,
        error,
        ids,
        *times,
        former=_from_json(former),
        undoes=undoes,
        base=_from_json(base),
        agent=agent,
        target=target,
    )


def _ended_row(columns: Any) -> EndedRow:
    number, name, given, state, error, created_at, ended_at, author, former, result, undoes, agent, target = columns
    return EndedRow(
        number,
        name,
        json.loads(given),
        state,
        error,
        created_at,
        ended_at,
        author,
        _from_json(former),
        _from_json(result),
        undoes,
        agent,
        target,
    )


def _from_json(text: str | None) -> dict[str, Any] | None:
    return json.loads(text) if text else None


def _without_key(name: str, value: Any) -> Any:
    """Return a JSON value without the fields called `name`, at any depth."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _without_key(name, field) for key, field in fields.items() if key != name}
    if isinstance(value, list):
        return [_without_key(name, item) for item in cast("list[Any]", value)]
    return value
