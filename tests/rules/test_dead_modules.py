"""Every module is imported by another one, or is loaded by its name."""

import ast
from pathlib import Path

from tests.root import ROOT
from tests.rules.dead_modules import dotted
from tests.rules.sources import MODULES, SOURCE, nodes_of, room, tree_of

LOADED_BY_ALEMBIC = ("service/db/migrations/versions/", "service/db/migrations/env.py")
LOADED_WHOLE = {
    path.parent for path in MODULES if path.name == "__init__.py" and "iter_modules(__path__" in path.read_text("utf-8")
}
"""Packages that import every module in them."""


def references(path: Path) -> set[str]:
    """Modules that a module names: by an import, or in a string (with its package, or without in the same package)."""
    named: set[str] = set()
    package = room(path) if path.is_relative_to(SOURCE) else ""
    for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom, ast.Constant):
        if isinstance(node, ast.Import):
            named.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            named.add(node.module)
            named.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            named |= {name, f"presscheck.{package}.{name}"}
    return named - {dotted(path)} if package else named


def test_no_module_is_dead() -> None:
    named = set[str]().union(*map(references, MODULES))
    dead = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if path.name not in ("__init__.py", "__main__.py")
        and path.parent not in LOADED_WHOLE
        and not str(path.relative_to(SOURCE)).startswith(LOADED_BY_ALEMBIC)
        and dotted(path) not in named
    ]
    assert not dead


def test_each_module_of_the_engine_has_tests_of_its_own() -> None:
    """A fault in it is seen by tests of the engine, and not only by those of the app."""
    named = set[str]().union(*map(references, (ROOT / "tests" / "engine").glob("*.py")))
    engine = [path for path in MODULES if path.is_relative_to(SOURCE / "engine") and path.name != "__init__.py"]
    untested = [dotted(path) for path in engine if dotted(path) not in named]
    assert untested == ["presscheck.engine.protocols"], "types alone"
