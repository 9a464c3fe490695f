"""Run the suite on all Python versions of this machine: `python -m tests.matrix [PYTEST ARGUMENT ...]`.

Interpreters are searched on PATH and in pyenv's folder. Each version gets an environment below `.matrix/`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.root import ROOT

OLDEST = (3, 11)
ENVIRONMENTS = ROOT / ".matrix"
NAME = re.compile(r"python3(\.\d+)?")
VERSION = "import sys; print(*sys.version_info[:3])"
ENVIRONMENT = "import ensurepip, venv"
NOT_RUN = "not run: it has no venv module"


def candidates() -> list[Path]:
    """Return the interpreters on PATH and of pyenv."""
    folders = [Path(folder) for folder in os.get_exec_path()]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    on_path = [path for folder in folders if folder.is_dir() for path in folder.iterdir() if NAME.fullmatch(path.name)]
    return [Path(sys.executable), *sorted(on_path), *sorted(pyenv.glob("*/bin/python"))]


def interpreters() -> dict[str, Path]:
    """Return an interpreter for each supported version, oldest first."""
    versions: dict[tuple[int, ...], Path] = {}
    for path in candidates():
        try:
            result = subprocess.run([path, "-c", VERSION], capture_output=True, text=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            continue
        # pyenv's shims for versions that are not selected fail
        if result.returncode == 0:
            version = tuple(int(number) for number in result.stdout.split())
            if version >= OLDEST and (version not in versions or not makes_environments(versions[version])):
                versions[version] = path
    return {".".join(map(str, version)): versions[version] for version in sorted(versions)}


def makes_environments(interpreter: Path) -> bool:
    """Return True if an interpreter has `venv`, which is a separate package in Debian."""
    return subprocess.run([interpreter, "-c", ENVIRONMENT], stderr=subprocess.DEVNULL).returncode == 0


def make_environment(version: str, interpreter: Path) -> Path | None:
    """Create or reuse an environment with the project. Returns its interpreter, or None if the installation fails."""
    folder = ENVIRONMENTS / version
    python = folder / "bin" / "python"
    made, pins = folder / ".made", [ROOT / "pyproject.toml", ROOT / "constraints.txt"]
    if made.exists() and all(made.stat().st_mtime > pin.stat().st_mtime for pin in pins):
        return python
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        [interpreter, "-m", "venv", "--clear", folder],
        [*install, "--constraint", "constraints.txt", "--editable", ".[dev]"],
    ):
        if subprocess.run(command, cwd=ROOT).returncode:
            return None
    made.touch()
    return python


def main(arguments: Sequence[str]) -> int:
    """Run pytest on each interpreter and print a table. Returns the exit code."""
    results: dict[str, str] = {}
    for version, interpreter in interpreters().items():
        sys.stdout.write(f"== Python {version}: {interpreter}\n")
        sys.stdout.flush()
        if not makes_environments(interpreter):
            results[version] = NOT_RUN
            continue
        python = make_environment(version, interpreter)
        if python is None:
            results[version] = "no environment"
            continue
        command = [python, "-m", "pytest", *(arguments or ["-n", "auto", "--dist", "worksteal"])]
        code = subprocess.run(command, cwd=ROOT).returncode
        results[version] = "passed" if code == 0 else f"FAILED ({code})"
    sys.stdout.write("\n".join(["", *(f"Python {version:8} {result}" for version, result in results.items()), ""]))
    return int(set(results.values()) - {NOT_RUN} != {"passed"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
