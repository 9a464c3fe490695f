"""Tables of cases, such as all operations, that one test checks row by row.

A parametrized case costs each worker about a millisecond before it runs, and again around it: more than checking a row
of data takes.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each_row(rows: Iterable[tuple[Any, ...]]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a test with every row of a table, and report all rows that fail, by name.

    Args:
        rows: the name of a row, and the arguments of the test.
    """
    table = list(rows)

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            assert table, "a table without rows tests nothing"
            failures: list[tuple[str, BaseException]] = []
            for name, *arguments in table:
                try:
                    check(*arguments)
                except (Exception, pytest.fail.Exception) as error:
                    failures.append((name, error))
            if failures:
                lines = [f"{name}: {type(error).__name__}: {error}" for name, error in failures]
                count = f"{len(failures)} of {len(table)} rows failed"
                # the traceback of the first failure is shown above the list
                raise AssertionError("\n".join([count, *lines])) from failures[0][1]

        # without `functools.wraps`: pytest would ask for the arguments of the wrapped function
        test.__name__, test.__qualname__, test.__module__ = check.__name__, check.__qualname__, check.__module__
        test.__doc__ = check.__doc__
        return test

    return decorate
