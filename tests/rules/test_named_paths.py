"""Paths and modules of this repository that the Makefile and the documentation name exist."""

import re
from pathlib import Path

from tests.root import ROOT
from tests.table import each_case

NAMING = (
    "Makefile",
    "README.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "docs/architecture.md",
    "docs/hosting/jobs.md",
    "pyproject.toml",
    "properdocs.yml",
)
PATH = re.compile(r"(?<![\w/.*-])(?:tests|benchmarks|screenshots|themes|docs|src)/[\w/.-]*\w")
MODULE = re.compile(r"(?<=-m )(?:tests|benchmarks)\.[\w.]*\w")


def named_paths(text: str) -> list[Path]:
    """Return the paths that a text names, and the paths of the modules that it runs with `-m`."""
    modules = [ROOT / module.replace(".", "/") for module in MODULE.findall(text)]
    return [*(ROOT / path for path in PATH.findall(text)), *modules]


@each_case("file", NAMING)
def test_every_named_path_exists(file: str) -> None:
    missing = [
        str(path)
        for path in named_paths((ROOT / file).read_text())
        if not (path.exists() or path.with_suffix(".py").exists())
    ]
    assert not missing


def test_paths_and_modules_are_found_in_a_text() -> None:
    paths = named_paths("$(BIN)/python -m tests.gone -n 2 tests/none/test_it.py, `benchmarks/x.py`")
    assert [str(path.relative_to(ROOT)) for path in paths] == ["tests/none/test_it.py", "benchmarks/x.py", "tests/gone"]
