"""Run the tests of all changes since a branch: `python -m tests.quick [BRANCH]`, by default `main`.

A change in `src/presscheck/PACKAGE` or in `tests/PACKAGE` runs `tests/PACKAGE`. A change in a test module directly in
`tests` runs that module. Other files, such as `themes/` or `README.md`, run the tests that read them. The rules always
run: they read the whole source.
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
"""The tests that read files outside `src` and `tests`."""
OPTIONS = ["-n", "auto", "--dist", "worksteal"]


def git(*arguments: str) -> list[str]:
    """Return the output lines of a git command; empty if it fails."""
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return result.stdout.splitlines() if result.returncode == 0 else []


def changed_files(branch: str) -> list[str]:
    """Return the files that differ from the merge base with a branch, including uncommitted changes."""
    base = git("merge-base", branch, "HEAD") or git("merge-base", f"origin/{branch}", "HEAD")
    if not base:
        raise SystemExit(f"there is no branch {branch} to compare with: python -m tests.quick BRANCH")
    options = ("-c", "core.quotePath=off")
    return [
        *git(*options, "diff", "--name-only", base[0]),
        *git(*options, "ls-files", "--others", "--exclude-standard"),
    ]


def tests_of(path: str) -> list[str]:
    """Return the tests to run for a changed file."""
    top, *inner = PurePath(path).parts
    if path.startswith("src/presscheck/"):
        return [f"tests/{inner[1]}" if len(inner) > 2 else f"tests/test_{PurePath(path).stem}.py"]
    if top == "tests" and len(inner) > 1:
        return [f"tests/{inner[0]}"]
    if top == "tests":
        return [path] if inner[0].startswith("test_") else []
    return READERS.get(top, [])


def tests_to_run(paths: Iterable[str]) -> list[str]:
    """Return the existing tests of changed files, and the rules, without duplicates."""
    tests = {test for path in paths for test in tests_of(path)} | {RULES}
    return sorted(test for test in tests if (ROOT / test).exists())


def main(branch: str = "main") -> int:
    """Run the tests. Returns the exit code of pytest."""
    tests = tests_to_run(changed_files(branch))
    sys.stdout.write(f"{' '.join(tests)}\n")
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "pytest", *OPTIONS, *tests], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
