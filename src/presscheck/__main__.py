"""The entry point of the command `presscheck`; `--version` imports nothing else."""

import gc
import os
import sys
from errno import EPIPE
from io import TextIOWrapper
from typing import TextIO, cast

from presscheck import __version__
from presscheck.errors import PresscheckError


def main() -> None:
    """Run the command line; what it printed is written, or the exit code says that it is not."""
    _prepare_streams()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()  # the interpreter would do it too late: it prints a traceback and exits with 120
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left in the buffer
        if error.errno != EPIPE:  # otherwise the reader has what it wants
            sys.stderr.write(f"presscheck: {error.filename or 'standard output'}: {error.strerror}\n")
        sys.exit(1)


def _run() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"presscheck {__version__}\n")
        return
    if not sys.argv[1:] and sys.stdin.isatty() and sys.stdout.isatty():
        _open_app()
    from presscheck.cli.main import command  # 51 ms, not needed for --version or to open the app

    command(prog_name="presscheck")


def _prepare_streams() -> None:
    """Make the standard streams usable: any may be closed, and an encoding may not have every character."""
    # a file that is opened later, such as a database, must not get the number of a closed stream
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # the lowest free number; output is refused, which `main` reports
    # None if closed, which typeshed does not say; they stay open until the end
    sys.stdin = cast("TextIO | None", sys.stdin) or open(0, closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stdout = cast("TextIO | None", sys.stdout) or open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    sys.stderr = cast("TextIO | None", sys.stderr) or open(2, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
    _reconfigure(sys.stdout, errors="backslashreplace")
    if not sys.stdin.isatty():
        _reconfigure(sys.stdin, encoding="utf-8", errors="strict")


def _reconfigure(stream: TextIO, *, errors: str, encoding: str | None = None) -> None:
    if isinstance(stream, TextIOWrapper):
        cast("TextIOWrapper", stream).reconfigure(encoding=encoding, errors=errors)


def _open_app() -> None:
    """Open the app without importing click, which takes a tenth of the start-up time.

    Returns only if the app cannot be opened; the command line then opens its first screen, or prints the error.
    """
    gc.disable()  # until the inbox is shown, see `open_app`
    try:
        # 36 ms, not needed for --version
        from presscheck.config.profile import load
        from presscheck.paths import places
        from presscheck.wiring import open_app

        profile = load(places().config_file)
        code = open_app(profile)
    except (PresscheckError, OSError):
        gc.enable()
        return
    # everything is closed by now; the normal shutdown of the interpreter would take as long as the start
    os._exit(code)


if __name__ == "__main__":
    main()
