"""Run the hostile requests of the tests against the service, on both database engines: `python -m tests.attack`.

Runs the tests that are marked with `attack`, each against a new service on SQLite and on PostgreSQL, and prints how
many tests of each kind passed. The exit code is 1 if a test failed or could not run. Takes at most ten minutes.
"""

from __future__ import annotations

import os
import sys
from collections import Counter

import pytest
from tests.needs import find_initdb
from tests.root import ROOT
from tests.service.engines import BOTH

KINDS = (
    "authorization matrix",
    "other organizations",
    "scripts in content",
    "conditional content",
    "forbidden outgoing addresses",
    "deep and huge JSON and YAML",
    "deep and huge pages",
    "endless jobs",
    "references in specifications",
    "patterns that backtrack",
    "compressed bombs",
    "half-sent and slow requests",
    "bad hosts",
    "Unicode and escape sequences",
    "path traversal",
    "invented requests",
)
COLUMNS = ("SQLite", "PostgreSQL", "without a database")
PLACES = ("tests/service", "tests/documents/test_git_format.py")
LIMIT = 10 * 60
"""Maximum duration of the run, in seconds."""


class Results:
    """A pytest plugin that counts the marked tests by kind and engine."""

    def __init__(self) -> None:
        self.ran: Counter[tuple[str, str]] = Counter()
        self.held: Counter[tuple[str, str]] = Counter()
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test; errors in its set-up count as failures."""
        kind = dict(report.user_properties).get("attack")
        if kind is None or (report.when != "call" and report.passed):
            return
        place = (str(kind), column(report.nodeid))
        if report.when == "teardown":  # the call was counted already
            self.held[place] -= 1
        else:
            self.ran[place] += 1
            self.held[place] += report.passed
        if not report.passed:
            self.failures.append(f"{report.nodeid} ({report.outcome})")

    def table(self) -> str:
        """Return a table with the numbers of passed and of all tests, by kind and engine."""
        width = max(map(len, KINDS))
        lines = [f"{'':{width}}  " + "  ".join(f"{name:>18}" for name in COLUMNS)]
        for kind in (*KINDS, *sorted({kind for kind, _ in self.ran} - set(KINDS))):
            cells = [
                f"{self.held[kind, name]} of {self.ran[kind, name]} held" if self.ran[kind, name] else "-"
                for name in COLUMNS
            ]
            lines.append(f"{kind:{width}}  " + "  ".join(f"{cell:>18}" for cell in cells))
        return "\n".join(lines)


def column(nodeid: str) -> str:
    """Return the column of a test, whose id contains its database engine."""
    parameters = nodeid.partition("[")[2].removesuffix("]").split("-")
    return next((name for name in COLUMNS[:2] if name.lower() in parameters), COLUMNS[2])


def main() -> int:
    """Run the attacks. Returns the exit code."""
    if find_initdb() is None:
        sys.stdout.write("PostgreSQL is not installed, so only half of the attacks can run: see `make needs`\n")
    os.environ[BOTH] = "1"
    os.chdir(ROOT)
    results = Results()
    options = ["-m", "attack", "-n", "2", "--dist", "worksteal", "-q", "--no-header", f"--session-timeout={LIMIT}"]
    code = pytest.main([*options, *PLACES], plugins=[results])
    sys.stdout.write(f"\n{results.table()}\n")
    for failure in results.failures:
        sys.stdout.write(f"did not hold: {failure}\n")
    return int(bool(code or results.failures))


if __name__ == "__main__":
    sys.exit(main())
