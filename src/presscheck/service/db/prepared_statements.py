"""Statements that are compiled once, and executed without what SQLAlchemy does at each execution.

A statement that was built once, such as by a module, becomes the SQL of a database when it is first executed; from then
on an execution is a call of the driver. That takes a fifth of the time of `Connection.execute`.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Dialect, Executable, Select
from sqlalchemy.exc import DBAPIError

MOST_PREPARED = 1024
"""The most statements that are kept compiled, of all databases and numbers of values."""

Values = Mapping[str, Any]
Shape = tuple[tuple[str, int, int], ...]
"""The parameters that are lists: name, how many values, and how many parts each has (0: it has no parts)."""


class _Marker(NamedTuple):
    """Stands for a parameter while a statement is compiled, or for a place in a list of values."""

    name: str
    place: int | None = None
    part: int | None = None


class _Run(NamedTuple):
    """Stands for all values of a list, where they follow one another: so many, each of so many parts."""

    name: str
    size: int
    parts: int


class _Plan(NamedTuple):
    """A statement as the driver executes it; a parameter is a marker, a run, or a constant of the statement."""

    sql: str
    names: Sequence[str]
    parameters: Sequence[Any]
    conversions: Sequence[tuple[int, Callable[[Any], Any]]]
    row: Callable[[Sequence[Any]], Any]
    context: SimpleNamespace


def named_rows(connection: Connection, statement: Executable, values: Values) -> list[Any]:
    """The rows of a statement as named tuples of plain values.

    Args:
        connection: a connection in a transaction.
        statement: a selection of columns, or of one mapped class, whose columns it then has. It was built once: it is
            kept, and two that are equal are two statements.
        values: its parameters by name; of a parameter that expands, the values or tuples of values.
    """
    plan, rows = _executed(connection, statement, values)
    return [*map(plan.row, rows)]


def plain_rows(connection: Connection, statement: Executable, values: Values) -> list[Sequence[Any]]:
    """The rows of a statement as tuples, see `named_rows`."""
    return _executed(connection, statement, values)[1]


def _executed(connection: Connection, statement: Executable, values: Values) -> tuple[_Plan, list[Sequence[Any]]]:
    dialect = connection.dialect
    lists = [item for item in values.items() if isinstance(item[1], list | tuple)]
    shape = tuple([_shape(name, value) for name, value in lists])
    plan = _plan(dialect, statement, shape)
    given: Any = _given(values, plan.parameters)
    given = tuple(given) if dialect.positional else dict(zip(plan.names, given, strict=True))
    cursor: Any = cast("Any", connection.connection.dbapi_connection).cursor()
    try:
        heard = connection.dispatch.before_cursor_execute
        if heard:
            heard(connection, cursor, plan.sql, given, plan.context, False)
        cursor.execute(plan.sql, given)
        rows: list[Sequence[Any]] = cursor.fetchall()
    except dialect.loaded_dbapi.Error as error:
        raise database_error(connection, plan.sql, error) from error
    finally:
        cursor.close()
    return plan, [*_converted(rows, plan.conversions)] if plan.conversions else rows


def database_error(connection: Connection, sql: str, error: Exception) -> BaseException:
    """An error of the driver as SQLAlchemy raises it; a connection that was lost is not lent again."""
    dialect = connection.dialect
    is_lost = dialect.is_disconnect(cast("Any", error), connection.connection, None)
    if is_lost:
        connection.invalidate(error)
    base: Any = dialect.loaded_dbapi.Error
    return DBAPIError.instance(sql, None, error, base, connection_invalidated=is_lost, dialect=dialect)


def _shape(name: str, value: Sequence[Any]) -> tuple[str, int, int]:
    """The shape of a list, whose number of values is the next power of two: few statements fit lists of any length."""
    size = 1 << (len(value) - 1).bit_length() if value else 0
    first = value[0] if value else None
    return name, size, len(cast("tuple[Any, ...]", first)) if isinstance(first, tuple) else 0


def _given(values: Values, parameters: Sequence[Any]) -> list[Any]:
    """The parameters of an execution, in the order of the statement."""
    given: list[Any] = []
    for parameter in parameters:
        if isinstance(parameter, _Run):
            value = values[parameter.name]
            given += chain.from_iterable(value) if parameter.parts else value
            for _ in range(parameter.size - len(value)):  # the last one again, up to the length of the statement
                given += value[-1] if parameter.parts else value[-1:]
        elif isinstance(parameter, _Marker):
            value = values[parameter.name]
            if parameter.place is not None:
                value = value[min(parameter.place, len(value) - 1)]
            given.append(value if parameter.part is None else value[parameter.part])
        else:
            given.append(parameter)
    return given


def _with_runs(parameters: Sequence[Any], shape: Shape) -> list[Any]:
    """The parameters, with a run for all those of a list that follow one another."""
    runs = {name: _Run(name, size, parts) for name, size, parts in shape}
    found: list[Any] = []
    start = 0
    while start < len(parameters):
        one = parameters[start]
        if isinstance(one, _Marker) and one.name in runs:
            run = runs[one.name]
            whole = _markers(run)
            if [*parameters[start : start + len(whole)]] == whole:
                found.append(run)
                start += len(whole)
                continue
        found.append(one)
        start += 1
    return found


def _markers(run: _Run) -> list[_Marker]:
    if not run.parts:
        return [_Marker(run.name, place) for place in range(run.size)]
    return [_Marker(run.name, place, part) for place in range(run.size) for part in range(run.parts)]


def _converted(
    rows: list[Sequence[Any]], conversions: Sequence[tuple[int, Callable[[Any], Any]]]
) -> list[Sequence[Any]]:
    converted: list[Sequence[Any]] = []
    for row in rows:
        for index, convert in conversions:
            if row[index] is not None:  # null is null in every type
                row = (*row[:index], convert(row[index]), *row[index + 1 :])
        converted.append(row)
    return converted


@lru_cache(maxsize=MOST_PREPARED)
def _plan(dialect: Dialect, statement: Select[Any], shape: Shape) -> _Plan:
    markers: dict[str, Any] = {}
    for name, size, parts in shape:
        each = range(size)
        markers[name] = (
            [tuple(_Marker(name, index, part) for part in range(parts)) for index in each]
            if parts
            else [_Marker(name, index) for index in each]
        )
    compiled: Any = statement.compile(dialect=dialect)
    for name, bind in compiled.binds.items():
        if bind.required and name not in markers:
            markers[name] = _Marker(name)
    state = compiled.construct_expanded_state(markers)
    names: Sequence[str] = state.positiontup if dialect.positional else [*state.parameters]
    columns = [*statement.selected_columns]
    conversions: list[tuple[int, Callable[[Any], Any]]] = []
    for index, column in enumerate(columns):
        convert = column.type.dialect_impl(dialect).result_processor(dialect, None)
        if convert is not None:
            conversions.append((index, convert))
    context = SimpleNamespace(execution_options=statement.get_execution_options())  # what listeners ask it for
    keys = [str(column.key) for column in columns]
    row = namedtuple("Row", keys, rename=True)  # pyright: ignore[reportUntypedNamedTuple]  # made of a statement
    parameters = _with_runs([state.parameters[name] for name in names], shape)
    return _Plan(state.statement, names, parameters, conversions, row._make, context)
