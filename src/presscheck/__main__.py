"""The entry point of the `presscheck` command. Imports are lazy, because `--version` needs none of the modules."""

import gc
import os
import sys
from errno import EPIPE
from io import TextIOWrapper
from typing import TextIO, cast

from presscheck import __version__
from presscheck.errors import PresscheckError


def main() -> None:
    """Run the command line. Exits with code 1 if its output cannot be written completely."""
    _prepare_streams()
    try:
        try:
            _run()
        finally:
            gc.freeze()  # at exit the interpreter would search everything for garbage, which takes 40 ms
            sys.stdout.flush()  # at exit the interpreter would print a traceback and return 120
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # discards the text left in the buffer
        if error.errno != EPIPE:  # EPIPE is not reported: a reader such as `head` closed the pipe
            # without a number, it was raised by Python itself, and has a text only
            reason = f"{error.filename or 'standard output'}: {error.strerror}" if error.errno else str(error)
            sys.stderr.write(f"presscheck: {reason}\n")
        sys.exit(1)


def _run() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"presscheck {__version__}\n")
        return
    # the app is drawn on stderr, so `2>file` would hide it
    has_terminal = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if not sys.argv[1:] and has_terminal and os.environ.get("TERM") != "dumb":
        _open_app()
    gc.set_threshold(100_000)  # a command makes few reference cycles, and the search for them takes 25 ms of its start
    from presscheck.cli.main import command  # 51 ms, not needed for --version or to open the app

    if "_PRESSCHECK_COMPLETE" in os.environ:
        import presscheck.cli.completion  # noqa: F401  # 3 ms, only for a completion script; registers PowerShell

    command(prog_name="presscheck")


def _prepare_streams() -> None:
    """Reopen standard streams that are closed.

    Characters that the encoding of stdout lacks are escaped, and piped input is read as UTF-8.
    """
    # otherwise a file opened later, such as a database, would get the number of the closed stream
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # gets the lowest free number; writing to it fails, which `main` reports
    # a closed stream is None, which typeshed does not declare; the new streams stay open until the end
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

    Returns only if the app cannot be opened. The command line then opens the first screen or prints the error.
    """
    gc.disable()  # `open_app` turns it on after the inbox is shown
    try:
        # 36 ms, not needed for --version
        from presscheck.config.profile import load
        from presscheck.config.project_search import find_here
        from presscheck.paths import places
        from presscheck.wiring import open_app

        file, project = find_here(os.environ), None
        if file:
            from presscheck.config.project import load_project  # 6 ms, only with a project file

            project = load_project(file, places().trust_file)
        profile = load(places().config_file, project=project)
        code = open_app(profile)
    except (PresscheckError, OSError):
        gc.enable()
        return
    # everything is closed; the normal shutdown of the interpreter would take as long as the start
    os._exit(code)


if __name__ == "__main__":
    main()
