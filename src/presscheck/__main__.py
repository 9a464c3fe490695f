"""The entry point of the command `presscheck`; `--version` imports nothing else."""

import gc
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
    except PresscheckError:
        gc.enable()
        return
    # everything is closed by now; the normal shutdown of the interpreter would take as long as the start
    os._exit(code)


if __name__ == "__main__":
    main()
