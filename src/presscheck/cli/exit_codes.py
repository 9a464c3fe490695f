"""Exit codes of the command line, and how errors are printed: one line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import ParamSpec, cast

import click

from presscheck import errors

Arguments = ParamSpec("Arguments")

EXIT_CODES: dict[int, str] = {
    0: "success, also if a change was queued: offline, or behind a failed one (with a note on stderr)",
    1: "the service returned an error, or a list is incomplete",
    2: "usage error: invalid argument or setting, or a read-only profile",
    3: "offline or behind a failed change, and the action cannot be queued",
    4: "not signed in",
    5: "conflict, changed by others since, or a precondition failed (merge rule, paid plan)",
    6: "a check found problems",
    7: "this service does not have the operation",
}
"""The meaning of each exit code."""

BY_ERROR: tuple[tuple[type[errors.PresscheckError], int], ...] = (
    (errors.NoToken, 4),
    (errors.InvalidArgument, 2),
    (errors.ConfigurationError, 2),
    (errors.ReadOnly, 2),
    (errors.NetworkError, 3),
    (errors.NotNow, 3),
    (errors.NotSignedIn, 4),
    (errors.ChangedSince, 5),
    (errors.Conflict, 5),
    (errors.PreconditionFailed, 5),
    (errors.ChecksFailed, 6),
    (errors.NotSupported, 7),
)
"""The exit codes by error class; the first match counts, and other errors have the code 1."""


def report_errors(function: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Decorate a command: a PresscheckError or an OSError about a file becomes one line on stderr and an exit code."""

    @wraps(function)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            _require_text(kwargs)
            function(*args, **kwargs)
        except OSError as error:
            if error.filename is None:
                raise  # standard output failed: `main` reports this, also for --help and other output outside commands
            from presscheck.text.sanitize import sanitize  # 5 ms, only for an error

            click.echo(f"presscheck: {sanitize(f'{error.filename}: {error.strerror}')}", err=True)
            sys.exit(1)
        except errors.PresscheckError as error:
            from presscheck.text.sanitize import sanitize  # 5 ms, only for an error

            request = f" ({error.request})" if isinstance(error, errors.RequestError) else ""
            click.echo(f"presscheck: {sanitize(error.message)}{sanitize(request)}", err=True)
            sys.exit(exit_code(error))

    return wrapper


def _require_text(arguments: Mapping[str, object]) -> None:
    """Check that string arguments are UTF-8; names of files are `Path` objects and may have any bytes.

    Raises:
        InvalidArgument: an argument has bytes that are not UTF-8.
    """
    for name, value in arguments.items():
        values = cast("Iterable[object]", value if isinstance(value, (tuple, list)) else (value,))
        if any(isinstance(text, str) and not is_text(text) for text in values):
            context = click.get_current_context(silent=True)
            params = context.command.params if context else []
            shown = next((_shown_name(param) for param in params if param.name == name), name)
            raise errors.InvalidArgument(shown, "is not UTF-8 text")


def _shown_name(param: click.Parameter) -> str:
    """Return the name of a parameter as shown in help and errors, such as --body or SPACE."""
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


def is_text(text: str) -> bool:
    """Return whether a string can be encoded as UTF-8. Arguments with invalid bytes cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def exit_code(error: errors.PresscheckError) -> int:
    """Return the exit code for an error."""
    return next((code for kind, code in BY_ERROR if isinstance(error, kind)), 1)
