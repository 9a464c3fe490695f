"""A pytest plugin for `make mutants` that records the lines that each test executes, or runs selected tests in order.

`PRESSCHECK_LINES=FILE` records. The JSON file has the duration of each test, whether it is slow, and its lines by
source file. Lines that are executed outside of tests, such as imports, are not in it. `PRESSCHECK_CHOSEN=FILE` selects
tests: the file has the id of a test on each line.
"""

from __future__ import annotations

import json
import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest
from coverage import Coverage


class Recorder:
    """Records the lines of the sources that each test executes, in all threads of this process."""

    def __init__(self, path: Path, sources: list[str]) -> None:
        self._path, self._sources = path, sources
        self._coverage = Coverage(data_file=None, include=sources, config_file=False)
        self._seconds: dict[str, float] = {}
        self._slow: set[str] = set()
        self._failed: set[str] = set()
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._coverage.switch_context(item.nodeid)
        if item.get_closest_marker("slow"):
            self._slow.add(item.nodeid)
        start = time.monotonic()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.monotonic() - start

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: defaultdict[str, dict[str, list[int]]] = defaultdict(dict)
        for source in sorted(data.measured_files()):
            by_test: defaultdict[str, list[int]] = defaultdict(list)
            for line, tests in data.contexts_by_lineno(source).items():
                for test in tests:
                    by_test[test].append(line)
            for test, ran in by_test.items():
                lines[test][source] = ran
        passed = {
            test: {"seconds": seconds, "is_slow": test in self._slow, "lines": lines[test]}
            for test, seconds in self._seconds.items()
            if test not in self._failed
        }
        self._path.write_text(json.dumps(passed), "utf-8")


class Choice:
    """Runs only the given tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self._place = {test: place for place, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self._place), key=self._at)

    def _at(self, item: pytest.Item) -> int:
        return self._place[item.nodeid]


def pytest_configure(config: pytest.Config) -> None:
    if path := os.environ.get("PRESSCHECK_LINES"):
        config.pluginmanager.register(Recorder(Path(path), os.environ["PRESSCHECK_SOURCES"].split(os.pathsep)))
    if path := os.environ.get("PRESSCHECK_CHOSEN"):
        config.pluginmanager.register(Choice(Path(path).read_text("utf-8").splitlines()))
