"""Programs that tests need besides the Python environment, and the packages that contain them.

    python -m tests.needs            print the missing programs, with the names of packages
    python -m tests.needs --debian   print only the missing Debian packages

This module imports only the standard library, so that it can run before the environment exists.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

REQUIRE_ALL = "PRESSCHECK_REQUIRE_ALL"
"""The environment variable that turns skips for missing programs into failures."""


def first_of(commands: Sequence[str], *folders: str) -> Path | None:
    """Return the first command that is on PATH, or the last match of the patterns of absolute paths."""
    for command in commands:
        if path := shutil.which(command):
            return Path(path)
    matches = [path for pattern in folders for path in sorted(Path("/").glob(pattern)) if os.access(path, os.X_OK)]
    return matches[-1] if matches else None


def find_initdb() -> Path | None:
    """Find PostgreSQL's `initdb`, which is not on PATH with Debian and Homebrew."""
    return first_of(
        ["initdb"],
        "usr/local/opt/postgresql@*/bin/initdb",
        "opt/homebrew/opt/postgresql@*/bin/initdb",
        "usr/pgsql-*/bin/initdb",
        "usr/lib/postgresql/*/bin/initdb",
    )


def find_chromium() -> Path | None:
    return first_of(
        ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
        "Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "Applications/Chromium.app/Contents/MacOS/Chromium",
    )


def find_git() -> Path | None:
    return first_of(["git"])


@dataclass(frozen=True)
class Program:
    """A program that tests start."""

    name: str
    find: Callable[[], Path | None]
    needed_by: str
    debian: str
    fedora: str
    macos: str

    def missing(self) -> str:
        """Return a line that names the missing program and how to install it."""
        packages = f"Debian: {self.debian}; Fedora: {self.fedora}; macOS: {self.macos}"
        return f"{self.name} is not on this machine: {self.needed_by} ({packages})"


PROGRAMS = {
    program.name: program
    for program in (
        Program(
            name="postgresql",
            find=find_initdb,
            needed_by="tests of the service on PostgreSQL",
            debian="postgresql",
            fedora="postgresql-server",
            macos="brew install postgresql@17",
        ),
        Program(
            name="chromium",
            find=find_chromium,
            needed_by="tests of published sites in a browser",
            debian="chromium",
            fedora="chromium",
            macos="brew install --cask chromium",
        ),
        Program(
            name="npm",
            find=lambda: first_of(["npm"]),
            needed_by="tests of diagrams, which are drawn by a package of npm",
            debian="npm",
            fedora="nodejs-npm",
            macos="brew install node",
        ),
        Program(
            name="git",
            find=find_git,
            needed_by="tests of the import of repositories, and of tests/quick.py",
            debian="git",
            fedora="git",
            macos="xcode-select --install",
        ),
        Program(
            name="tmux",
            find=lambda: first_of(["tmux"]),
            needed_by="a test of the app in tmux",
            debian="tmux",
            fedora="tmux",
            macos="brew install tmux",
        ),
        Program(
            name="groff",
            find=lambda: first_of(["groff"]),
            needed_by="a test of the man page",
            debian="groff-base",
            fedora="groff-base",
            macos="brew install groff",
        ),
        Program(
            name="systemd-analyze",
            find=lambda: first_of(["systemd-analyze"]),
            needed_by="a test of the unit for systemd",
            debian="systemd",
            fedora="systemd",
            macos="not for macOS",
        ),
        Program(
            name="gnome-keyring",
            find=lambda: first_of(["dbus-daemon"]) and first_of(["gnome-keyring-daemon"]),
            needed_by="tests of tokens in the system keyring",
            debian="gnome-keyring dbus",
            fedora="gnome-keyring dbus-daemon",
            macos="not for macOS",
        ),
        Program(
            name="screen",
            find=lambda: first_of(["screen"]),
            needed_by="a test of the app in screen",
            debian="screen",
            fedora="screen",
            macos="brew install screen",
        ),
    )
}


def missing() -> list[Program]:
    """Return the programs that are not on this machine."""
    return [program for program in PROGRAMS.values() if program.find() is None]


def all_required() -> bool:
    """Return True if missing programs fail the tests that need them."""
    return os.environ.get(REQUIRE_ALL, "0") not in ("", "0")


def require(name: str) -> Path:
    """Return the path of a program. If it is missing, skip the test, or fail it if all programs are required."""
    program = PROGRAMS[name]
    return program.find() or give_up(program.missing())


def give_up(reason: str) -> NoReturn:
    """Skip the test, or fail it if all programs are required."""
    # imported here: `python -m tests.needs` runs without an environment
    import pytest

    if all_required():
        pytest.fail(f"{reason}, and {REQUIRE_ALL} is set", pytrace=False)
    pytest.skip(reason)


def main(arguments: Sequence[str]) -> None:
    """Print the missing programs or packages."""
    programs = missing()
    if "--debian" in arguments:
        sys.stdout.write(" ".join(program.debian for program in programs))
    elif programs:
        lines = [*(program.missing() for program in programs), "The tests that need them are skipped."]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
