"""What a result was read with: the statements of a transaction, each with a digest of its rows.

Whoever keeps a result keeps them beside it: while each statement still has the same rows, the result is what it would
be if it were made again, whatever else was committed in the meantime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import event
from sqlalchemy.orm import Session, sessionmaker

from presscheck.service.db.engine import Database

Value = TypeVar("Value")

NEVER_CHANGES = "presscheck_never_changes"
"""Execution option of a statement whose rows never change; it is not recorded."""
_RECORDER = "presscheck_recorder"


class Statement(NamedTuple):
    """A statement as the driver gets it, with its parameters as text, so that it can be a key."""

    text: str
    parameters: str


class Read(NamedTuple):
    """A statement, its parameters, and a digest of its rows."""

    statement: Statement
    parameters: Any
    digest: bytes


def recorded_sessions(database: Database) -> sessionmaker[Session]:
    """Sessions like those of `Database.reading`, whose statements a `ReadRecorder` can note."""
    options = {**database.reading.kw, "bind": database.reading.kw["bind"].execution_options()}
    event.listen(options["bind"], "before_cursor_execute", _note)
    return sessionmaker(**options)


class ReadRecorder:
    """Notes the statements of a session of `recorded_sessions` from now on.

    Args:
        session: the session, before its first statement.
    """

    def __init__(self, session: Session) -> None:
        self._connection = session.connection(execution_options={_RECORDER: self})
        self._noted: dict[Statement, Any] = {}
        self._reads: dict[Statement, Read] = {}

    def note(self, text: str, parameters: Any) -> None:
        """Notes a statement."""
        self._noted[Statement(text, repr(parameters))] = parameters

    def add(self, reads: Iterable[Read]) -> None:
        """Adds the reads of a result that was kept and is used now."""
        self._reads.update((read.statement, read) for read in reads)

    def part(self, make: Callable[[], Value]) -> tuple[Value, tuple[Read, ...]]:
        """Makes a part of the result; returns it with its own reads, which are also those of the whole."""
        before, self._noted = self._noted, {}
        try:
            value = make()
            reads = tuple(self._read(*noted) for noted in self._noted.items())
        finally:
            self._noted = before | self._noted
        return value, reads

    def reads(self) -> tuple[Read, ...]:
        """All statements so far, with digests of the rows that they have in this transaction."""
        for noted in self._noted.items():
            self._read(*noted)
        return tuple(self._reads.values())

    def _read(self, statement: Statement, parameters: Any) -> Read:
        if statement not in self._reads:
            self._reads[statement] = Read(statement, parameters, self.digest(statement, parameters))
        return self._reads[statement]

    def digest(self, statement: Statement, parameters: Any) -> bytes:
        """The digest of the rows of a statement in this transaction."""
        rows = self._connection.exec_driver_sql(statement.text, parameters, {NEVER_CHANGES: True}).all()
        return digest_of(rows)


def digest_of(value: object) -> bytes:
    """The digest of plain values, by how Python writes them."""
    return blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _note(connection: Any, _cursor: Any, text: str, parameters: Any, context: Any, _many: bool) -> None:
    recorder: ReadRecorder | None = connection.get_execution_options().get(_RECORDER)
    if recorder is not None and text != "BEGIN" and not context.execution_options.get(NEVER_CHANGES):
        recorder.note(text, parameters)
