"""Which modules import each other."""

import ast
from functools import cache
from pathlib import Path

from tests.rules.sources import MODULES, SOURCE, nodes_of, tree_of

PACKAGE = SOURCE.name


@cache
def module_paths() -> dict[str, Path]:
    """Every module of the package by its dotted name, without the name of the package."""
    found: dict[str, Path] = {}
    for path in MODULES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports() -> dict[str, set[str]]:
    """The modules of ours that each module imports: at its top, for types alone, or inside a function."""
    known = module_paths()
    edges: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom):
            targets: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [target if target.removeprefix(f"{PACKAGE}.") in known else node.module for target in targets]
            elif isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            edges[name] |= {target.removeprefix(f"{PACKAGE}.") for target in targets if target.startswith(PACKAGE)}
        edges[name] = {target for target in edges[name] if target in known} - {name}
    return edges
