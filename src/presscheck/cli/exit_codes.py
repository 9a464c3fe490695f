"""Failures on the command line: one line on stderr, and an exit code that a script can rely on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import click

from presscheck import errors

Arguments = ParamSpec("Arguments")

EXIT_CODES: dict[int, str] = {
    0: "success; a change queued while offline counts too, with a note on stderr",
    1: "the service returned an error",
    2: "usage: invalid argument or setting, or a read-only profile",
    3: "offline, and the action cannot be queued",
    4: "not signed in",
    5: "conflict, or a requirement is not met",
    6: "checks failed",
}
"""What each exit code means."""

BY_ERROR: tuple[tuple[type[errors.PresscheckError], int], ...] = (
    (errors.NoToken, 4),
    (errors.InvalidArgument, 2),
    (errors.ConfigurationError, 2),
    (errors.ReadOnly, 2),
    (errors.NetworkError, 3),
    (errors.NotNow, 3),
    (errors.NotSignedIn, 4),
    (errors.Conflict, 5),
    (errors.PreconditionFailed, 5),
    (errors.ChecksFailed, 6),
)
"""The first kind that fits gives the code; any other error is 1."""


def says_what_failed(function: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Turn an error into one line on stderr and its exit code."""

    @wraps(function)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except errors.PresscheckError as error:
            from presscheck.text.sanitize import sanitize  # 5 ms, only for an error

            request = f" ({error.request})" if isinstance(error, errors.RequestError) else ""
            click.echo(f"presscheck: {sanitize(error.message)}{sanitize(request)}", err=True)
            sys.exit(exit_code(error))

    return guarded


def exit_code(error: errors.PresscheckError) -> int:
    """The exit code of an error."""
    return next((code for kind, code in BY_ERROR if isinstance(error, kind)), 1)
