"""The command `presscheck`; a version is answered before anything is imported."""

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from presscheck import __version__

        sys.stdout.write(f"presscheck {__version__}\n")
        return
    from presscheck.cli.main import command

    command(prog_name="presscheck")


if __name__ == "__main__":
    main()
