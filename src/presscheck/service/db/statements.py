"""Statements that are built once: any number of ids as one parameter, plain rows instead of instances.

SQLAlchemy compiles a statement at its first execution. A plain row costs a fraction of an instance of a session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json
from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    Row,
    TableValuedAlias,
    Text,
    TypeDecorator,
    bindparam,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from typing_extensions import override

Values = Mapping[str, Any]


class _Ids(TypeDecorator[Sequence[str]]):
    """Any number of ids as one value: an array of PostgreSQL, or a text of JSON for SQLite, which has no arrays."""

    impl = Text
    cache_ok = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> Any:
        chosen: Any = ARRAY(Text()) if dialect.name == "postgresql" else Text()
        return dialect.type_descriptor(chosen)

    @override
    def process_bind_param(self, value: Sequence[str] | None, dialect: Dialect) -> Any:
        ids = [*(value or ())]
        return ids if dialect.name == "postgresql" else to_json(ids).decode()


class _Among(FunctionElement[bool]):
    name = "among"
    type = Boolean()
    inherit_cache = True

    @override
    def self_group(self, against: Any = None) -> Any:
        """Itself: SQLAlchemy would compare it with 1 on SQLite, which then reads the whole table, not its index."""
        return self


def among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Whether a column of text is one of the ids of a parameter, which may be as many as memory holds, or none.

    Args:
        column: the column, of which there is an index.
        name: the name of the parameter; its value is a sequence of texts.
    """
    return _Among(column, bindparam(name, type_=_Ids()))


class _Each(FunctionElement[str]):
    name = "each"
    inherit_cache = True


def each(name: str) -> TableValuedAlias:
    """The ids of a parameter as rows with a column `value`, in their order: a join of many takes less than `among`.

    A table whose rows were written in this order is read in it, too; `among` sorts the ids, which are hashes.

    Args:
        name: the name of the parameter; its value is a sequence of texts, none of them twice.
    """
    # PostgreSQL names the column like the rows
    return _Each(bindparam(name, type_=_Ids())).table_valued("value", name="value")


@compiles(_Each, "sqlite")
def _each_in_sqlite(element: _Each, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each{compiler.process(element.clause_expr, **options)}"


@compiles(_Each, "postgresql")
def _each_in_postgresql(element: _Each, compiler: SQLCompiler, **options: Any) -> str:
    return f"unnest{compiler.process(element.clause_expr, **options)}"


@compiles(_Among, "sqlite")
def _among_in_sqlite(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(one, **options) for one in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({ids}))"  # noqa: S608  # compiled expressions, no values


@compiles(_Among, "postgresql")
def _among_in_postgresql(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(one, **options) for one in element.clauses)
    return f"{column} = ANY({ids})"


def read_rows(connection: Connection, statement: Executable, values: Values) -> Sequence[Row[Any]]:
    """The rows of a statement as named tuples.

    Args:
        connection: a connection in a transaction.
        statement: a selection of columns, or of one mapped class, whose columns it then has.
        values: its parameters by name.
    """
    return connection.execute(statement, values).all()


def execute(connection: Connection, statement: Executable, *rows: Values) -> None:
    """Executes a statement that changes the database, once for each of `rows`.

    Args:
        connection: a connection in a transaction that writes.
        statement: an insertion, an update or a text.
        rows: the parameters by name.
    """
    if rows:
        connection.execute(statement, rows if len(rows) > 1 else rows[0])
