"""The command `presscheck`; a version is answered before anything is imported."""

import os
import sys

from presscheck import __version__
from presscheck.errors import PresscheckError


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.stdout.write(f"presscheck {__version__}\n")
        return
    if not sys.argv[1:] and sys.stdin.isatty() and sys.stdout.isatty():
        _open_app()
    from presscheck.cli.main import command  # 51 ms, not needed for --version or to open the app

    command(prog_name="presscheck")


def _open_app() -> None:
    """Open the app without the library that reads commands, which takes a tenth of a start.

    Returns only where it cannot be opened; the command line then says why.
    """
    try:
        # 36 ms, not needed for --version
        from presscheck.config.profile import load
        from presscheck.paths import places
        from presscheck.wiring import open_app

        profile = load(places().config_file)
        code = open_app(profile)
    except PresscheckError:
        return
    # all is closed by now: to take the interpreter apart would take as long again as all that came before
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
