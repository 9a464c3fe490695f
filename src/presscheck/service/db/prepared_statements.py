"""Statements that are compiled once, and executed without what SQLAlchemy does at each execution.

A statement that was built once, such as by a module, becomes the SQL of a database when it is first executed; from then
on an execution is a call of the driver. That takes a fifth of the time of `Connection.execute`. With `among`, ids make
one statement however many they are; a parameter that expands makes one for each power of two of its length.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import chain
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from pydantic_core import from_json, to_json
from sqlalchemy import (
    ARRAY,
    JSON,
    BindParameter,
    Boolean,
    ColumnElement,
    CompoundSelect,
    Connection,
    Dialect,
    Executable,
    Select,
    TableValuedAlias,
    Text,
    TypeDecorator,
    bindparam,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.sql.visitors import iterate
from sqlalchemy.types import TypeEngine
from typing_extensions import override

MOST_PREPARED = 1024
"""The most statements that are kept compiled, of all databases and numbers of values."""
MOST_OF_CONNECTION = 200
"""The most statements that PostgreSQL keeps for a connection; it parses and plans others each time."""
_PREPARED = "presscheck_prepared"
"""Key in the `info` of a connection: the names of the statements that PostgreSQL keeps, by their SQL."""
_WAITING = "presscheck_waiting"
"""Key in the `info` of a connection: what is to be sent together; not there outside of a block of `together`."""
_SINGLE = "presscheck_single"
"""Option of a compilation: the names of the parameters of `among` that have one id, which SQLite compares."""
_LOST = "the connection was lost while statements were sent"
_DONE, _HAS_ROWS = 1, 2
"""PGRES_COMMAND_OK and PGRES_TUPLES_OK of a result, as libpq numbers them."""
_IDLE, _IN_TRANSACTION = 0, 2
"""PQTRANS_IDLE and PQTRANS_INTRANS of a connection, as libpq numbers them."""

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


class _Direct(NamedTuple):
    """A statement as PostgreSQL takes it, with the numbers of its parameters among those of the plan."""

    sql: bytes
    order: Sequence[int]


class _Plan(NamedTuple):
    """A statement as the driver executes it; a parameter is a marker, a run, or a constant of the statement.

    `encoders` make of the parameters what the driver takes, `conversions` of the columns what they mean. `take` does
    it for many rows of values, if nothing else has to be done than to take them. `direct` is for `_read_directly`.
    """

    sql: str
    names: Sequence[str]
    parameters: Sequence[Any]
    encoders: Mapping[str, Callable[[Any], Any]]
    conversions: Sequence[tuple[int, Callable[[Any], Any]]]
    row: Callable[[Sequence[Any]], Any]
    context: SimpleNamespace
    take: Callable[[Values], Any] | None
    direct: _Direct | None


class _Waiting(NamedTuple):
    """A statement that waits to be sent with others."""

    plan: _Plan
    direct: _Direct
    values: Values


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
        return [*(value or ())] if dialect.name == "postgresql" else _json_of_ids(value)


def _json_of_ids(ids: Sequence[str] | None) -> str:
    return to_json([*(ids or ())]).decode()


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
    if _name_of(element) in options.get(_SINGLE, ()):
        return f"{column} = {ids}"  # a third of the time
    return f"{column} IN (SELECT value FROM json_each({ids}))"  # noqa: S608  # compiled expressions, no values


@compiles(_Among, "postgresql")
def _among_in_postgresql(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(one, **options) for one in element.clauses)
    return f"{column} = ANY({ids})"


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


def execute(connection: Connection, statement: Executable, *rows: Values) -> None:
    """Executes a statement that changes the database, once for each of `rows`; see `together`.

    Args:
        connection: a connection in a transaction that writes.
        statement: an insertion, an update or a text. It was built once, see `named_rows`; of an insertion without
            values, all columns of its table are parameters.
        rows: the parameters by name; not all Python's defaults of columns, which only a session adds.
    """
    if not rows:
        return
    plan = _plan(connection.dialect, statement, ())
    first, *others = rows
    if plan.direct and not others:
        waiting: list[_Waiting] | None = connection.info.get(_WAITING)
        if waiting is not None:
            waiting.append(_Waiting(plan, plan.direct, first))
            return
        if _executed_directly(connection, plan, plan.direct, first) is not None:
            return
    given = [*map(plan.take, rows)] if plan.take else [_bound(connection.dialect, plan, row) for row in rows]
    _driven(connection, plan, given if others else given[0], is_many=bool(others))


@contextmanager
def together(connection: Connection) -> Generator[None]:
    """On PostgreSQL, what `execute` changes in this block takes one round trip, at the end or with the next read.

    So what the database refuses is raised there, not where it was executed.
    """
    info = connection.info  # not to be asked for after the connection was lost
    if connection.dialect.name != "postgresql" or _WAITING in info:
        yield
        return
    info[_WAITING] = []
    try:
        yield
        send_waiting(connection)
    finally:
        info.pop(_WAITING, None)


def send_waiting(connection: Connection) -> None:
    """Sends what waits in a block of `together`; to be called before anything else is executed there."""
    waiting: list[_Waiting] = connection.info.get(_WAITING) or []
    if not waiting:
        return
    connection.info[_WAITING] = []
    postgresql: Any = cast("Any", connection.connection.dbapi_connection).pgconn
    if postgresql.transaction_status == _IN_TRANSACTION:
        _sent_together(connection, waiting)
        return
    for plan, _, values in waiting:  # the driver starts it
        _driven(connection, plan, _bound(connection.dialect, plan, values))


def _sent_together(connection: Connection, waiting: Sequence[_Waiting]) -> Any:
    """Sends statements in one round trip of a transaction; the result of the last of them.

    Raises:
        DBAPIError: the database refused one of them.
    """
    postgresql: Any = cast("Any", connection.connection.dbapi_connection).pgconn
    failed: tuple[str, Any] | None = None
    last: Any = None
    try:
        prepared = [_prepared(connection, *one) for one in waiting]
        postgresql.enter_pipeline_mode()
        try:
            for sql, name, sent in prepared:
                if name:
                    postgresql.send_query_prepared(name, sent)
                else:
                    postgresql.send_query_params(sql, sent)
            postgresql.pipeline_sync()
            for plan, _, _ in waiting:
                result = last = postgresql.get_result()
                if failed is None and (result is None or result.status not in (_DONE, _HAS_ROWS)):
                    failed = plan.sql, result
                while result is not None:
                    result = postgresql.get_result()
            postgresql.get_result()  # that all was sent
        finally:
            postgresql.exit_pipeline_mode()
        if failed:
            error_of = _driver_parts()[2]
            raise error_of(failed[1]) if failed[1] else connection.dialect.loaded_dbapi.OperationalError(_LOST)
    except connection.dialect.loaded_dbapi.Error as error:
        raise database_error(connection, failed[0] if failed else waiting[0].plan.sql, error) from error
    return last


def _executed(connection: Connection, statement: Executable, values: Values) -> tuple[_Plan, list[Sequence[Any]]]:
    lists: list[tuple[str, Any]] = [item for item in values.items() if isinstance(item[1], (list, tuple))]
    single: tuple[str, ...] = ()
    if lists:
        whole = _whole(statement)
        if connection.dialect.name == "sqlite":
            single = tuple([name for name, value in lists if name in whole.sets and len(value) == 1])
        lists = [item for item in lists if item[0] not in whole.names]
    plan = _plan(connection.dialect, statement, tuple([_shape(name, value) for name, value in lists]), single)
    rows = _executed_directly(connection, plan, plan.direct, values) if plan.direct else None
    if rows is None:
        rows = _driven(connection, plan, plan.take(values) if plan.take else _bound(connection.dialect, plan, values))
    return plan, [*_converted(rows, plan.conversions)] if plan.conversions else rows


def _bound(dialect: Dialect, plan: _Plan, values: Values) -> Any:
    """The parameters of an execution, as the driver takes them."""
    given = _encoded(plan, values)
    return tuple(given) if dialect.positional else dict(zip(plan.names, given, strict=True))


def _encoded(plan: _Plan, values: Values) -> list[Any]:
    """The parameters of an execution, in the order of the plan."""
    if plan.encoders:
        values = {**values, **{name: encode(values[name]) for name, encode in plan.encoders.items()}}
    return _given(values, plan.parameters)


def _executed_directly(
    connection: Connection, plan: _Plan, direct: _Direct, values: Values
) -> list[Sequence[Any]] | None:
    """The rows of a statement by PostgreSQL's own library, in half of the time of a cursor of the driver.

    The values are converted by the driver, as those of a cursor. None if a cursor has to do it: before a transaction is
    started, and after an error.
    """
    driver: Any = connection.connection.dbapi_connection
    postgresql = driver.pgconn
    if postgresql.transaction_status != (_IDLE if driver.autocommit else _IN_TRANSACTION):
        return None
    change, error_of = _driver_parts()[0](driver), _driver_parts()[2]
    waiting: list[_Waiting] = connection.info.get(_WAITING) or []
    try:
        if waiting:  # what this reads may depend on them
            connection.info[_WAITING] = []
            result = _sent_together(connection, [*waiting, _Waiting(plan, direct, values)])
            change.set_pgresult(result)
            return change.load_rows(0, result.ntuples, tuple)
        sql, name, sent = _prepared(connection, plan, direct, values, change)
        result = postgresql.exec_prepared(name, sent) if name else postgresql.exec_params(sql, sent)
        if result.status == _DONE:
            return []
        if result.status != _HAS_ROWS:
            raise error_of(result)
        change.set_pgresult(result)
        return change.load_rows(0, result.ntuples, tuple)
    except connection.dialect.loaded_dbapi.Error as error:
        raise database_error(connection, plan.sql, error) from error


def _prepared(
    connection: Connection, plan: _Plan, direct: _Direct, values: Values, change: Any = None
) -> tuple[bytes, bytes | None, Sequence[Any]]:
    """A statement with the name under which PostgreSQL keeps it, if it does, and its parameters as they are sent.

    Args:
        connection: the connection.
        plan: the statement.
        direct: the same as PostgreSQL takes it.
        values: its parameters.
        change: what converts them; None for one of its own.

    Raises:
        Error: of the driver.
    """
    driver: Any = connection.connection.dbapi_connection
    transformer, as_text, error_of = _driver_parts()
    given, sql = _encoded(plan, values), direct.sql
    heard = connection.dispatch.before_cursor_execute
    if heard:
        heard(connection, None, plan.sql, dict(zip(plan.names, given, strict=True)), plan.context, False)
    convert = change or transformer(driver)
    sent = convert.dump_sequence([given[number] for number in direct.order], [as_text] * len(direct.order))
    kept: dict[bytes, bytes] = connection.info.setdefault(_PREPARED, {})
    name = kept.get(sql)
    if name is None and len(kept) < MOST_OF_CONNECTION:
        name = b"presscheck_%d" % len(kept)
        result = driver.pgconn.prepare(name, sql)
        if result.status != _DONE:
            raise error_of(result)
        kept[sql] = name
    return sql, name, sent


def execute_plainly(connection: Connection, sql: str) -> None:
    """Executes a command without parameters and rows by PostgreSQL's own library, such as one about transactions."""
    _, _, error_of = _driver_parts()
    driver: Any = connection.connection.dbapi_connection
    try:
        result = driver.pgconn.exec_(sql.encode())
        if result.status != _DONE:
            raise error_of(result)
    except connection.dialect.loaded_dbapi.Error as error:
        raise database_error(connection, sql, error) from error


@cache
def _driver_parts() -> tuple[Any, Any, Any]:
    """What converts values, the format of parameters, and what makes an error of a result."""
    from psycopg.adapt import PyFormat, Transformer  # 60 ms, on PostgreSQL only
    from psycopg.errors import error_from_result

    return Transformer, PyFormat.TEXT, error_from_result


def _driven(connection: Connection, plan: _Plan, given: Any, *, is_many: bool = False) -> list[Sequence[Any]]:
    """Has the driver execute it; the rows, if there are any."""
    cursor: Any = cast("Any", connection.connection.dbapi_connection).cursor()
    try:
        heard = connection.dispatch.before_cursor_execute
        if heard:
            heard(connection, cursor, plan.sql, given, plan.context, is_many)
        (cursor.executemany if is_many else cursor.execute)(plan.sql, given)
        return cursor.fetchall() if cursor.description else []
    except connection.dialect.loaded_dbapi.Error as error:
        raise database_error(connection, plan.sql, error) from error
    finally:
        cursor.close()


class _Whole(NamedTuple):
    """The names of the parameters that are one value, though it is a list, and those of them that only `among` has."""

    names: frozenset[str]
    sets: frozenset[str]


@lru_cache(maxsize=MOST_PREPARED)
def _whole(statement: Executable) -> _Whole:
    parts = [*iterate(cast("Any", statement))]
    names = frozenset(one.key for one in parts if isinstance(one, BindParameter) and not one.expanding)
    sets = {_name_of(one) for one in parts if isinstance(one, _Among)}
    return _Whole(names, frozenset(sets - {_name_of(one) for one in parts if isinstance(one, _Each)}))


def _name_of(ids: FunctionElement[Any]) -> str:
    return str([*ids.clauses][-1].key)


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
        values = [*row]
        for index, convert in conversions:
            if values[index] is not None:  # null is null in every type
                values[index] = convert(values[index])
        converted.append(tuple(values))
    return converted


@lru_cache(maxsize=MOST_PREPARED)
def _plan(dialect: Dialect, statement: Executable, shape: Shape, single: tuple[str, ...] = ()) -> _Plan:
    markers: dict[str, Any] = {}
    for name, size, parts in shape:
        each = range(size)
        markers[name] = (
            [tuple(_Marker(name, index, part) for part in range(parts)) for index in each]
            if parts
            else [_Marker(name, index) for index in each]
        )
    compiled: Any = cast("Any", statement).compile(dialect=dialect, compile_kwargs={_SINGLE: single})
    encoders: dict[str, Callable[[Any], Any]] = {}
    for name, bind in compiled.binds.items():
        if bind.required and name not in markers:
            markers[name] = _Marker(name)
            if isinstance(bind.type, _Ids) and dialect.name == "sqlite":
                encode = itemgetter(0) if name in single else _json_of_ids
            else:
                encode = bind.type.dialect_impl(dialect).bind_processor(dialect)
            if encode is not None:
                encoders[name] = encode
    state = compiled.construct_expanded_state(markers)
    names: Sequence[str] = state.positiontup if dialect.positional else [*state.parameters]
    columns = [*statement.selected_columns] if isinstance(statement, (Select, CompoundSelect)) else []
    conversions: list[tuple[int, Callable[[Any], Any]]] = []
    for index, column in enumerate(columns):
        convert = _conversion(column.type, dialect)
        if convert is not None:
            conversions.append((index, convert))
    context = SimpleNamespace(execution_options=statement.get_execution_options())  # what listeners ask it for
    keys = [str(column.key) for column in columns]
    row = namedtuple("Row", keys, rename=True)  # pyrefly: ignore[bad-class-definition, name-mismatch]  # made of a statement
    parameters = _with_runs([state.parameters[name] for name in names], shape)
    is_plain = dialect.positional and len(names) > 0 and not encoders and not shape
    take = _taker(names) if is_plain and parameters == [_Marker(name) for name in names] else None
    is_direct = dialect.name == "postgresql"
    direct = _direct(dialect, cast("Any", statement), markers, names) if is_direct else None
    return _Plan(state.statement, names, parameters, encoders, conversions, row._make, context, take, direct)


def _taker(names: Sequence[str]) -> Callable[[Values], Any]:
    if len(names) > 1:
        return itemgetter(*names)
    (name,) = names
    return lambda values: (values[name],)


def _conversion(kind: TypeEngine[Any], dialect: Dialect) -> Callable[[Any], Any] | None:
    """What makes of a value of the driver what it means."""
    if isinstance(kind, JSON) and dialect.name == "sqlite":
        return read_json  # objects and arrays, which are text; SQLAlchemy's takes three times as long for small ones
    return kind.dialect_impl(dialect).result_processor(dialect, None)


def read_json(text: str | bytes) -> Any:
    """The value of a JSON column, in two thirds of the time that Python's module takes."""
    try:
        return from_json(text)
    except ValueError:  # half of a surrogate pair, or very deep
        return json.loads(text)


def _direct(dialect: Dialect, statement: Executable, markers: Mapping[str, Any], names: Sequence[str]) -> _Direct:
    compiled: Any = cast("Any", statement).compile(dialect=_numbering(dialect))
    state = compiled.construct_expanded_state(markers)
    return _Direct(state.statement.encode(), [names.index(name) for name in state.positiontup])


@lru_cache(maxsize=8)
def _numbering(dialect: Dialect) -> Dialect:
    """The same dialect, with parameters by number, as PostgreSQL itself has them."""
    numbering: Any = type(dialect)(paramstyle="numeric_dollar")  # pyrefly: ignore[unexpected-keyword]  # see DefaultDialect
    numbering.server_version_info = dialect.server_version_info
    return numbering
