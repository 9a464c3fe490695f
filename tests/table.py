"""Decorators for tests that check many cases, such as all operations, within one test.

A parametrized case costs each worker about a millisecond at collection and another one when it runs. That is more than
the check of a row of data takes.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest


class _Failures:
    """The rows of a table that failed, each with its error."""

    def __init__(self) -> None:
        self.errors: list[tuple[str, BaseException]] = []
        self.count = 0

    @contextmanager
    def row(self, name: str) -> Iterator[None]:
        self.count += 1
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            self.errors.append((name, error))

    def report(self) -> None:
        assert self.count, "a table without rows tests nothing"
        if self.errors:
            lines = [f"{name}: {type(error).__name__}: {error}" for name, error in self.errors]
            count = f"{len(self.errors)} of {self.count} rows failed"
            # the traceback of the first failure is shown above the list
            raise AssertionError("\n".join([count, *lines])) from self.errors[0][1]


def each_row(rows: Iterable[tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a test with each row of a table, and report all failing rows by name.

    Args:
        rows: tuples of a name and the arguments of the test.
    """
    table = list(rows)

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            failures = _Failures()
            for name, *arguments in table:
                with failures.row(name):
                    check(*arguments)
            failures.report()

        # not `functools.wraps`: pytest would request the arguments of the wrapped function as fixtures
        _name_after(test, check)
        return test

    return decorate


def each_case(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Call a test with each row of a table, as `pytest.mark.parametrize` does, but within one test.

    Fixtures are created once for all rows, except `tmp_path`: each row has its own folder. Failing rows are reported
    with their values.

    Args:
        names: the names of the arguments in a row, as a sequence or separated by commas.
        rows: tuples of the values of these arguments, or single values if there is only one argument.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [
        dict(zip(arguments, (row,) if len(arguments) == 1 and isinstance(names, str) else row, strict=True))
        for row in rows
    ]

    def decorate(check: Callable[..., Any]) -> Callable[..., Any]:
        def test(*instance: Any, **fixtures: Any) -> None:
            failures = _Failures()
            for row in table:
                with failures.row(_shown(row)):
                    check(*instance, **_with_own_folder(fixtures, failures.count), **row)
            failures.report()

        async def async_test(*instance: Any, **fixtures: Any) -> None:
            failures = _Failures()
            for row in table:
                with failures.row(_shown(row)):
                    await check(*instance, **_with_own_folder(fixtures, failures.count), **row)
            failures.report()

        decorated: Any = async_test if inspect.iscoroutinefunction(check) else test
        _name_after(decorated, check)
        signature = inspect.signature(check)
        remaining = [value for name, value in signature.parameters.items() if name not in arguments]
        decorated.__signature__ = signature.replace(parameters=remaining)
        return decorated

    return decorate


def _with_own_folder(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    if "tmp_path" not in fixtures:
        return fixtures
    folder = fixtures["tmp_path"] / str(number)
    folder.mkdir()
    return {**fixtures, "tmp_path": folder}


def _name_after(test: Any, check: Any) -> None:
    test.__name__, test.__qualname__, test.__module__ = check.__name__, check.__qualname__, check.__module__
    test.__doc__ = check.__doc__
    test.pytestmark = list(getattr(check, "pytestmark", []))


def _shown(row: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r:.80}" for name, value in row.items())
