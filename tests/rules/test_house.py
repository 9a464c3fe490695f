"""Rules for imports: the layers, and which package may import a library."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.root import ROOT
from tests.rules.sources import MODULES, SOURCE, nodes_of, room, tree_of
from tests.table import each_case

ONLY_IN = {
    "httpx": {"client"},
    "sqlite3": {"store"},
    "textual": {"tui"},
    "starlette": {"service", "agents"},
    "uvicorn": {"service", "agents"},
    "httptools": {"service"},
    "mcp": {"agents"},
    "aiohttp": {"browser"},
    "textual_serve": {"browser"},
    "boto3": {"service"},
    "botocore": {"service"},
    "sqlalchemy": {"service"},
    "alembic": {"service"},
    "httpcore": {"service", "client"},
    "typst": {"service"},
    "click": {"cli", "__main__.py"},
    "merge3": {"documents"},
    "markdown_it": {"documents"},
    "nh3": {"service"},
    "latex2mathml": {"service"},
    "jinja2": {"service"},
    "jwt": {"service"},
}

TESTS = ROOT / "tests"
UNSPECIFIC_NAMES = {"utils", "helpers", "common", "base", "core", "manager", "misc"}


@cache
def imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            names.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return frozenset(names)


def test_imports_follow_the_layers() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=SOURCE.parents[1],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr


@each_case("library", ONLY_IN)
def test_libraries_are_imported_only_in_their_packages(library: str) -> None:
    modules = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if room(path) not in ONLY_IN[library]
        and any(name == library or name.startswith(library + ".") for name in imported(path))
    ]
    assert not modules


def test_widgets_do_not_import_the_engine() -> None:
    importers = [
        p.name for p in (SOURCE / "tui" / "widgets").glob("*.py") if any("presscheck.engine" in n for n in imported(p))
    ]
    assert not importers


def test_style_sheets_stay_short() -> None:
    assert not [path.name for path in SOURCE.rglob("*.tcss") if path.read_text("utf-8").count("\n") > 120]


def test_sql_has_no_numbered_placeholders() -> None:
    """`sqlite3` treats `?1` as a named placeholder: with a sequence of values, Python 3.12 warns and 3.14 raises."""
    numbered = re.compile(r"\?\d")
    lines = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in MODULES
        if room(path) in {"store", "service"}
        for node in nodes_of(tree_of(path), ast.Constant)
        if isinstance(node.value, str) and numbered.search(node.value)
    ]
    assert lines == []


def test_every_module_has_a_docstring() -> None:
    assert not [str(p.relative_to(SOURCE)) for p in MODULES if not ast.get_docstring(tree_of(p))]


def test_module_names_are_specific() -> None:
    assert not [p.name for p in SOURCE.rglob("*") if p.stem.strip("_") in UNSPECIFIC_NAMES]


def test_private_names_of_libraries_are_used_in_one_test_module() -> None:
    """An upgrade of Textual or httpx then breaks one module instead of a hundred tests."""
    module = TESTS / "private_names.py"
    names = set(re.findall(r"""[."](_[a-z]\w*)""", module.read_text("utf-8")))
    private = re.compile(
        r"(?:import|from) (?:textual|httpx)[\w.]*\._"
        r"|from (?:textual|httpx)[\w.]* import (?:.*[ ,])?_"
        rf"|(?<!self)\.(?:{'|'.join(names)})\b"
        rf"|[\"'](?:{'|'.join(names)})[\"']"
    )
    assert {"_parse_rules", "_display", "_transports"} <= names
    others = (path for path in TESTS.rglob("*.py") if path not in (module, Path(__file__)))
    assert [
        f"{path.relative_to(TESTS)}: {match[0]}"
        for path in others
        for match in private.finditer(path.read_text("utf-8"))
    ] == []
