"""The pytest plugin of the suite: the clone guard, the markers `needs` and `attack`, and faster collection."""

import re
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.clone_guard import CloneGuard, allowed_paths
from tests.needs import require
from tests.root import ROOT

GUARD = CloneGuard(ROOT, allowed_paths(), Path.home(), Path(tempfile.gettempdir()))
sys.addaudithook(GUARD.hook)
HOLDS = {
    "slow": re.compile(r"\b(slow|engines|snap_compare)\b"),  # PostgreSQL and pictures are slow wherever they are tested
    "documentation": re.compile(r"\bdocumentation\b"),
}
"""Patterns that match each file with tests of a marker. With `-m MARKER`, other files are not collected."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(name): a program of tests/needs.py, without which the test is skipped")
    config.addinivalue_line(
        "markers", "attack(kind): a hostile request; `make attack` runs these and counts them by kind"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    worker: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is not None and not sys.dont_write_bytecode:
        from tests.private_names import rewrite_asserts  # imports Textual, which a single test may not need

        modules = sorted(path for argument in session.config.args for path in _test_modules(argument))
        number = int(worker["workerid"].removeprefix("gw"))
        rewrite_asserts(session.config, modules[number :: worker["workercount"]])


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without tests of the selected marker, which saves a third to a half of the collection time."""
    holds = HOLDS.get(config.option.markexpr)
    if holds is None or collection_path.suffix != ".py" or holds.search(collection_path.read_text("utf-8")):
        return None
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, holds in HOLDS.items():
        paths = {item.path for item in items if item.get_closest_marker(marker)}
        if missed := [str(path) for path in paths if not holds.search(path.read_text("utf-8"))]:
            raise pytest.UsageError(f"-m {marker} would not collect {', '.join(missed)}: see HOLDS in {__file__}")


def _test_modules(argument: str) -> Iterator[Path]:
    path = ROOT / argument.partition("::")[0]
    return path.rglob("test_*.py") if path.is_dir() else iter([path] if path.is_file() else [])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    for marker in item.iter_markers("attack"):
        item.user_properties.append(("attack", marker.args[0]))
    for marker in item.iter_markers("needs"):
        require(marker.args[0])
    try:
        return (yield)
    finally:
        GUARD.check()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    try:
        return (yield)
    finally:
        GUARD.check()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Generator[None]:
    try:
        return (yield)
    finally:
        GUARD.check()


def pytest_sessionfinish(session: pytest.Session) -> None:
    # files that were opened outside of tests by code that ignored the error
    if GUARD.violations and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for violation in GUARD.violations:
        terminalreporter.write_line(f"OUTSIDE THE CLONE: {violation}", red=True)
