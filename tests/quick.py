"""Run the tests of what changed since a branch: `python -m tests.quick [BRANCH]`, by default `main`.

A change of `src/presscheck/PACKAGE` or of `tests/PACKAGE` runs `tests/PACKAGE`, a change of a test module beside the
packages runs that module. What is read by several packages, such as `themes/` or `README.md`, runs the tests that read
it. The rules run always: they read the whole source.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import PurePath

from tests.root import ROOT

RULES = "tests/rules"
READERS = {
    "themes": ["tests/tui/test_themes.py"],
    "README.md": ["tests/docs"],
    "CONTRIBUTING.md": ["tests/docs"],
    "docs": ["tests/docs"],
    "properdocs.yml": ["tests/docs"],
    "benchmarks": ["tests/benchmarks"],
    "screenshots": [],
}
"""The tests that read what is neither source nor test."""
OPTIONS = ["-n", "auto", "--dist", "worksteal"]


def git(*words: str) -> list[str]:
    """The lines that a git command prints; none where it fails."""
    ran = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return ran.stdout.splitlines() if ran.returncode == 0 else []


def changed_files(branch: str) -> list[str]:
    """The files that differ from where this branch left another, committed or not."""
    base = git("merge-base", branch, "HEAD") or git("merge-base", f"origin/{branch}", "HEAD")
    if not base:
        raise SystemExit(f"there is no branch {branch} to compare with: python -m tests.quick BRANCH")
    options = ("-c", "core.quotePath=off")
    return [
        *git(*options, "diff", "--name-only", base[0]),
        *git(*options, "ls-files", "--others", "--exclude-standard"),
    ]


def tests_of(path: str) -> list[str]:
    """The tests to run for a changed file."""
    top, *inner = PurePath(path).parts
    if path.startswith("src/presscheck/"):
        return [f"tests/{inner[1]}" if len(inner) > 2 else f"tests/test_{PurePath(path).stem}.py"]
    if top == "tests" and len(inner) > 1:
        return [f"tests/{inner[0]}"]
    if top == "tests":
        return [path] if inner[0].startswith("test_") else []
    return READERS.get(top, [])


def tests_to_run(paths: Iterable[str]) -> list[str]:
    """The tests of some changed files that exist, each once, and the rules."""
    named = {test for path in paths for test in tests_of(path)} | {RULES}
    return sorted(test for test in named if (ROOT / test).exists())


def main(branch: str = "main") -> int:
    """Run the tests; the exit code of pytest."""
    tests = tests_to_run(changed_files(branch))
    sys.stdout.write(f"{' '.join(tests)}\n")
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "pytest", *OPTIONS, *tests], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
