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
NAMES_THAT_MEAN_NOTHING = {"utils", "helpers", "common", "base", "core", "manager", "misc"}


@cache
def imported(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return frozenset(found)


def test_imports_follow_the_layers() -> None:
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=SOURCE.parents[1],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@each_case("library", ONLY_IN)
def test_a_library_is_imported_in_one_package_only(library: str) -> None:
    strangers = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if room(path) not in ONLY_IN[library]
        and any(name == library or name.startswith(library + ".") for name in imported(path))
    ]
    assert not strangers


def test_widgets_do_not_import_the_engine() -> None:
    seen = [
        p.name for p in (SOURCE / "tui" / "widgets").glob("*.py") if any("presscheck.engine" in n for n in imported(p))
    ]
    assert not seen


def test_style_sheets_stay_short() -> None:
    assert not [path.name for path in SOURCE.rglob("*.tcss") if path.read_text("utf-8").count("\n") > 120]


def test_no_statement_numbers_its_values() -> None:
    """SQLite takes `?1` for a name: Python 3.12 warns of a sequence of values then, and 3.14 refuses it."""
    numbered = re.compile(r"\?\d")
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in MODULES
        if room(path) in {"store", "service"}
        for node in nodes_of(tree_of(path), ast.Constant)
        if isinstance(node.value, str) and numbered.search(node.value)
    ]
    assert found == []


def test_every_module_has_a_docstring() -> None:
    assert not [str(p.relative_to(SOURCE)) for p in MODULES if not ast.get_docstring(tree_of(p))]


def test_module_names_are_specific() -> None:
    assert not [p.name for p in SOURCE.rglob("*") if p.stem.strip("_") in NAMES_THAT_MEAN_NOTHING]


def test_private_names_of_libraries_stand_in_one_module_of_the_tests() -> None:
    """So that an upgrade of Textual or httpx breaks one module and not a hundred tests."""
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
