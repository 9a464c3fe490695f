"""The rules of the house: who may import whom, where a library is known, and how large a room may grow."""

import ast
import gc
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.root import ROOT

SOURCE = ROOT / "src" / "presscheck"
MODULES = sorted(SOURCE.rglob("*.py"))

ONLY_IN = {
    "httpx": {"client"},
    "sqlite3": {"store"},
    "textual": {"tui"},
    "starlette": {"service"},
    "uvicorn": {"service"},
    "sqlalchemy": {"service"},
    "alembic": {"service"},
    "httpcore": {"service"},
    "typst": {"service"},
    "click": {"cli", "__main__.py"},
    "merge3": {"documents"},
    "markdown_it": {"documents"},
    "nh3": {"service"},
    "jinja2": {"service"},
    "jwt": {"service"},
}

TOO_LONG: dict[str, str] = {
    "engine/engine.py": "the facade: most of its lines are the contract of its methods",
    "engine/engine.py:Desk": "the same class",
    "engine/engine.py:__init__": "builds the parts and joins them, a line for each",
    "engine/writes/write_queue.py:__init__": "takes the parts that a write passes through, a line for each",
    "tui/widgets/line_view.py:LineView": "the one widget that draws lines: every list, tree, page and difference is it",
    "documents/markdown/block_splitter.py:_BlockSplitter": "one pass over a page, with a method for each kind of block",
    "service/migrations/versions/step_0001.py": "the first tables, one list that was written by a machine",
    "service/migrations/versions/step_0001.py:upgrade": "the same list: a step is one function",
    "service/migrations/versions/step_0002.py:upgrade": "tables made anew on both engines: one list",
}
"""Modules, classes and functions that may be larger than the rule, each with the reason."""

NAMES_THAT_MEAN_NOTHING = {"utils", "helpers", "common", "base", "core", "manager", "misc"}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    """A module, parsed once: parsing all of them for each rule takes seconds."""
    gc.disable()  # what is collected amid it may parse something too, which Python 3.11 does not survive
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_imports_point_down_and_siblings_never_meet() -> None:
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=SOURCE.parents[1],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_known_in_one_room_only(library: str) -> None:
    strangers = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if room(path) not in ONLY_IN[library]
        and any(name == library or name.startswith(library + ".") for name in imported(path))
    ]
    assert not strangers


def test_widgets_never_see_the_desk() -> None:
    seen = [
        p.name for p in (SOURCE / "tui" / "widgets").glob("*.py") if any("presscheck.engine" in n for n in imported(p))
    ]
    assert not seen


def oversized(path: Path) -> list[str]:
    text, name = path.read_text("utf-8"), str(path.relative_to(SOURCE))
    limit = 400 if room(path) == "api" else 300
    found = [f"{name}: {text.count(chr(10))} lines"] if text.count("\n") > limit and name not in TOO_LONG else []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if isinstance(node, ast.ClassDef):
                most = 200
            else:
                length -= docstring_lines(node)
                most = 30
            if length > most and f"{name}:{node.name}" not in TOO_LONG:
                found.append(f"{name}:{node.name}: {length} lines, at most {most}")
    return found


def docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    is_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return (first.end_lineno or 0) - first.lineno + 1 if is_docstring else 0


def test_nothing_outgrows_its_room() -> None:
    assert not [line for path in MODULES for line in oversized(path)]


def test_style_sheets_stay_short() -> None:
    assert not [path.name for path in SOURCE.rglob("*.tcss") if path.read_text("utf-8").count("\n") > 120]


def test_every_module_says_what_it_is() -> None:
    assert not [str(p.relative_to(SOURCE)) for p in MODULES if not ast.get_docstring(tree_of(p))]


def test_names_mean_something() -> None:
    assert not [p.name for p in SOURCE.rglob("*") if p.stem.strip("_") in NAMES_THAT_MEAN_NOTHING]
