"""Times the first start of the demo from this folder: seconds from the command to the inbox.

    python -m benchmarks.first_demo

Runs `make demo` in copies of this folder, with pip and with uv, and a wheel with `uvx`. Packages come from the indexes
that pip and uv are configured for. If uv is missing, it is installed temporarily.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.root import ROOT
from tests.terminal import Terminal

LONGEST = 600
"""Time-out in seconds, which allows for a busy machine with a slow connection."""
MADE_HERE = shutil.ignore_patterns(".git", ".venv", ".matrix", "dist", "site", "__pycache__", ".*_cache")


@contextmanager
def copied(name: str) -> Iterator[Path]:
    """Create a copy of this folder and, beside it, an empty folder `home`."""
    with tempfile.TemporaryDirectory(prefix="presscheck-") as folder:
        shutil.copytree(ROOT, Path(folder) / name, ignore=MADE_HERE)
        (Path(folder) / "home").mkdir()
        yield Path(folder) / name


def seconds_to_inbox(command: list[str], home: Path, **environment: str) -> float:
    """Run a command in a terminal until it shows the inbox of the sample. Returns the seconds that this took."""
    start = time.monotonic()
    # the command must not use this process's environment
    variables = {"PRESSCHECK_HOME": str(home), "PYTHONPATH": "", "VIRTUAL_ENV": ""}
    terminal = Terminal(command, env=variables | environment)
    try:
        terminal.wait("Rewrite the auth guide", timeout=LONGEST)
        seconds = time.monotonic() - start
        terminal.press("q")
        if code := terminal.end():
            raise AssertionError(f"{' '.join(command)} ended with exit code {code}")
    finally:
        terminal.close()
    return seconds


def installer(name: str, folder: Path) -> str | None:
    """Return the path of uv or pipx. A program that is not on PATH is installed in `folder`; None if that fails."""
    if path := shutil.which(name):
        return path
    venv.create(folder, with_pip=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", name]
    return None if subprocess.run(pip).returncode else str(folder / "bin" / name)


def make_demo(uv: str) -> tuple[float, float]:
    """Return the seconds of the first and the second `make demo` in a folder; `uv` is its path, or empty for pip."""
    with copied("a copy") as folder:
        command = ["make", "--no-print-directory", "-C", str(folder), f"UV={uv}", f"PYTHON={sys.executable}", "demo"]
        first = seconds_to_inbox(command, folder.parent / "home")
        (packages,) = folder.glob(".venv/lib/python3.*/site-packages")
        if (packages / "pytest").exists():
            raise AssertionError("the demo needs no packages of the tests")
        return first, seconds_to_inbox(command, folder.parent / "home")


def wheel_demo(uv: str) -> float:
    """Return the seconds of the demo of a wheel that is installed for a single run."""
    with copied("source") as folder:
        subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", folder.parent, folder], check=True)
        (wheel,) = folder.parent.glob("*.whl")
        run = [uv, "tool", "run", "--no-cache", "--constraints", str(folder / "constraints.txt")]
        return seconds_to_inbox([*run, "--from", f"{wheel}[serve]", "presscheck", "demo"], folder.parent / "home")


def main() -> None:
    """Print the results."""
    with tempfile.TemporaryDirectory() as folder:
        print("make demo with pip: {:.1f} s, then {:.1f} s".format(*make_demo("")), flush=True)
        uv = installer("uv", Path(folder))
        if uv is None:
            print("make demo with uv: not tried, because uv is neither on PATH nor can it be installed")
            return
        print("make demo with uv: {:.1f} s, then {:.1f} s".format(*make_demo(uv)), flush=True)
        print(f"uvx with a wheel: {wheel_demo(uv):.1f} s", flush=True)


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # bytecode is written, as it is for users
    main()
