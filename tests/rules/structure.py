"""The import graph of the program."""

import ast
from functools import cache
from pathlib import Path

from tests.rules.sources import MODULES, SOURCE, nodes_of, tree_of

PACKAGE = SOURCE.name


@cache
def module_paths() -> dict[str, Path]:
    """Return the paths of all modules by dotted name, without the name of the package."""
    paths: dict[str, Path] = {}
    for path in MODULES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        paths[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return paths


@cache
def imports() -> dict[str, set[str]]:
    """Return the modules of the package that each module imports: at its top, in functions, or for type checking."""
    paths = module_paths()
    edges: dict[str, set[str]] = {name: set() for name in paths}
    for name, path in paths.items():
        for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom):
            targets: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [target if target.removeprefix(f"{PACKAGE}.") in paths else node.module for target in targets]
            elif isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            edges[name] |= {target.removeprefix(f"{PACKAGE}.") for target in targets if target.startswith(PACKAGE)}
        edges[name] = {target for target in edges[name] if target in paths} - {name}
    return edges
