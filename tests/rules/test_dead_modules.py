"""Every module is imported by another module or loaded by its name."""

import ast
from pathlib import Path

from tests.root import ROOT
from tests.rules.dead_modules import dotted
from tests.rules.sources import MODULES, SOURCE, nodes_of, room, tree_of

LOADED_BY_ALEMBIC = ("service/db/migrations/versions/", "service/db/migrations/env.py")
LOADED_WHOLE = {
    path.parent for path in MODULES if path.name == "__init__.py" and "iter_modules(__path__" in path.read_text("utf-8")
}
"""Packages that import all of their modules."""


def references(path: Path) -> set[str]:
    """Return the modules that a module refers to: in imports, or in strings with or without the name of its package."""
    names: set[str] = set()
    package = room(path) if path.is_relative_to(SOURCE) else ""
    for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom, ast.Constant):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            names |= {name, f"presscheck.{package}.{name}"}
    return names - {dotted(path)} if package else names


def test_every_module_is_referenced() -> None:
    referenced = set[str]().union(*map(references, MODULES))
    dead = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if path.name not in ("__init__.py", "__main__.py")
        and path.parent not in LOADED_WHOLE
        and not str(path.relative_to(SOURCE)).startswith(LOADED_BY_ALEMBIC)
        and dotted(path) not in referenced
    ]
    assert not dead


def test_every_engine_module_is_imported_by_engine_tests() -> None:
    """Errors in the engine must fail tests of the engine, not only tests of the app."""
    referenced = set[str]().union(*map(references, (ROOT / "tests" / "engine").glob("*.py")))
    engine = [path for path in MODULES if path.is_relative_to(SOURCE / "engine") and path.name != "__init__.py"]
    untested = [dotted(path) for path in engine if dotted(path) not in referenced]
    assert untested == ["presscheck.engine.protocols"], "that module holds only types"
