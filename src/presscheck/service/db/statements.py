"""Lists of ids as single SQL parameters, so that SQLAlchemy compiles a statement only once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_core import to_json
from sqlalchemy import (
    ARRAY,
    Boolean,
    ColumnElement,
    Dialect,
    TableValuedAlias,
    Text,
    TypeDecorator,
    bindparam,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from typing_extensions import override


class _Ids(TypeDecorator[Sequence[str]]):
    """A parameter type for a list of ids: an array on PostgreSQL, JSON text on SQLite, which has no arrays."""

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
        """Return the element itself. SQLAlchemy would append ``= 1``, and then SQLite would not use the index."""
        return self


def among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return the condition that the value of a column is in a list of ids of any length.

    Args:
        column: an indexed text column.
        name: the name of the parameter, whose value is a sequence of ids.
    """
    return _Among(column, bindparam(name, type_=_Ids()))


class _Each(FunctionElement[str]):
    name = "each"
    inherit_cache = True


def each(name: str) -> TableValuedAlias:
    """Return a list of ids as rows with the column `value`, in the order of the list.

    For many ids, a join with these rows is faster than `among`. The join reads rows in the order of the list, which is
    often the order in which they were written. `among` sorts the ids, and rows sorted by hash are in random places.

    Args:
        name: the name of the parameter, whose value is a sequence of distinct ids.
    """
    # PostgreSQL names the column after the table
    return _Each(bindparam(name, type_=_Ids())).table_valued("value", name="value")


@compiles(_Each, "sqlite")
def _each_in_sqlite(element: _Each, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each{compiler.process(element.clause_expr, **options)}"


@compiles(_Each, "postgresql")
def _each_in_postgresql(element: _Each, compiler: SQLCompiler, **options: Any) -> str:
    return f"unnest{compiler.process(element.clause_expr, **options)}"


@compiles(_Among, "sqlite")
def _among_in_sqlite(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({ids}))"  # noqa: S608  # compiled expressions, no values


@compiles(_Among, "postgresql")
def _among_in_postgresql(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY({ids})"
