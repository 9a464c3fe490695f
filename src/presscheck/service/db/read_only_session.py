"""A session that reads one snapshot of the database, and whose rows are plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, NoReturn, cast

from sqlalchemy import Connection, Executable, Select, Table, bindparam, select
from sqlalchemy.engine.result import IteratorResult, ScalarResult, SimpleResultMetaData
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session

from presscheck.service.db.prepared_statements import MOST_PREPARED, plain_rows

_ONE_VALUE = SimpleResultMetaData(["value"])


class ReadOnlySession(Session):
    """A session of one transaction that only reads.

    Rows of one mapped class, by `get`, `scalar` and `scalars`, are instances that no session knows: they are what was
    read, are never expired or read again, and setting an attribute of theirs is an error. Their class is a subclass of
    the mapped one. As in any session, a row that is read twice is one object. Statements of several classes are read as
    in any other session.

    A statement that is given parameters must have been built once, see `named_rows`.

    Args:
        connection: the connection; its transaction has started.
        info: what is to be in `info`.
    """

    def __init__(self, connection: Connection, info: dict[Any, Any]) -> None:
        super().__init__(connection, autoflush=False, expire_on_commit=False, info=info)
        self._connection = connection
        self._rows: dict[tuple[type[Any], Any], Any] = {}

    def connection(self, *_given: Any, **_options: Any) -> Connection:
        """The connection of the snapshot."""
        return self._connection

    def close(self) -> None:
        """Closes it, if it read anything as any other session does; else there is nothing to close."""
        if self.in_transaction():
            super().close()

    def flush(self, objects: Any = None) -> None:
        """Does nothing: nothing is written."""

    def add(self, instance: object, *_given: Any, **_options: Any) -> NoReturn:
        """Refuses a new row.

        Raises:
            TypeError: always.
        """
        raise TypeError("This session only reads: write in Database.write, or from Context.afterwards.")

    def get(self, entity: Any, ident: Any, **options: Any) -> Any:
        """A row by its primary key; None if it does not exist."""
        if options:
            return super().get(entity, ident, **options)
        key = (entity, ident)
        if key not in self._rows:
            statement, names = _by_key(entity)
            parts = cast("tuple[Any, ...]", ident) if isinstance(ident, tuple) else (ident,)
            values = dict(zip(names, parts, strict=True))
            found = plain_rows(self._connection, statement, values)
            if not found:
                return None
            self._rows[key] = _instance(entity, found[0])
        return self._rows[key]

    def get_one(self, entity: Any, ident: Any, **options: Any) -> Any:
        """A row by its primary key.

        Raises:
            NoResultFound: it does not exist.
        """
        found = self.get(entity, ident, **options)
        if found is None:
            raise NoResultFound(f"No {entity.__name__} has the key {ident!r}.")
        return found

    def scalars(self, statement: Any, params: Any = None, **options: Any) -> ScalarResult[Any]:
        """The first column of each row, or the instances."""
        if options or not isinstance(statement, Select):
            return super().scalars(statement, params, **options)
        values = self._values(cast("Select[Any]", statement), params)
        if values is None:
            return super().scalars(cast("Executable", statement), params)
        result: IteratorResult[Any] = IteratorResult(_ONE_VALUE, iter([(value,) for value in values]))
        return result.scalars()

    def scalar(self, statement: Any, params: Any = None, **options: Any) -> Any:
        """The first column of the first row, or its instance; None if there is no row."""
        if options or not isinstance(statement, Select):
            return super().scalar(statement, params, **options)
        values = self._values(cast("Select[Any]", statement), params)
        if values is None:
            return super().scalar(cast("Executable", statement), params)
        return next(iter(values), None)

    def _values(self, statement: Select[Any], params: Mapping[str, Any] | None) -> list[Any] | None:
        """The first column of all rows, or the instances; None if the statement is of several classes."""
        if params is None:
            is_several, entity = _selected(statement)
            found = () if is_several else self._connection.execute(statement).all()
        else:
            is_several, entity = _kept_selected(statement)
            found = () if is_several else plain_rows(self._connection, statement, params)
        if is_several:
            return None
        if entity is None:
            return [row[0] for row in found]
        key_of = _key_of(entity)
        return [self._rows.setdefault((entity, key_of(row)), _instance(entity, row)) for row in found]


def _selected(statement: Select[Any]) -> tuple[bool, Any]:
    """Whether a statement is of mapped classes besides another or a column; and the class, if it is of one."""
    described = statement.column_descriptions
    classes = [each["expr"] for each in described if each["expr"] is each.get("entity")]  # None of statements of tables
    is_several = len(classes) > 1 or (bool(classes) and (len(described) > 1 or described[0].get("aliased", False)))
    return is_several, classes[0] if classes else None


_kept_selected = lru_cache(maxsize=MOST_PREPARED)(_selected)


@cache
def _by_key(entity: type[Any]) -> tuple[Select[Any], tuple[str, ...]]:
    """The statement that selects a row by its primary key, and the parameters of that."""
    table: Table = entity.__table__
    keys = [*table.primary_key.columns]
    conditions = [column == bindparam(column.key) for column in keys]
    return select(*table.columns).where(*conditions), tuple(column.key for column in keys)


@cache
def _key_of(entity: type[Any]) -> Callable[[Sequence[Any]], Any]:
    """Takes the primary key out of the columns of a row."""
    columns = _attributes(entity)
    return itemgetter(*(columns.index(column.key) for column in entity.__table__.primary_key.columns))


@cache
def _attributes(entity: type[Any]) -> tuple[str, ...]:
    """The attributes of a mapped class, which have the names of its columns, in their order."""
    return tuple(column.key for column in entity.__table__.columns)


@cache
def _plain(entity: type[Any]) -> type[Any]:
    """A subclass without mapping, so that reading an attribute is not a call of SQLAlchemy."""

    def refuse(_self: object, name: str, _value: object) -> NoReturn:
        raise TypeError(f"{entity.__name__}.{name} was read in a session that only reads.")

    attributes = dict.fromkeys(_attributes(entity))
    return type(entity.__name__, (entity,), {"__abstract__": True, "__setattr__": refuse, **attributes})


def _instance(entity: type[Any], row: Sequence[Any]) -> Any:
    instance = object.__new__(_plain(entity))
    instance.__dict__.update(zip(_attributes(entity), row, strict=True))
    return instance
