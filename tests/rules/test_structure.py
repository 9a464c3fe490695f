"""Rules for the structure: no import circles, no deep class chains, modules named by nouns."""

import ast
from functools import cache
from pathlib import Path

from tests.rules.test_house import MODULES, SOURCE, tree_of

PACKAGE = SOURCE.name
MOST_ABOVE = 2
"""Classes of our own above a class of our own."""
DEEPER = {"errors": 3, "api.operation": 3}
"""Modules whose classes may be deeper: the exception tree, and the argument models of the API."""
MOST_ING = 5


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
        for node in ast.walk(tree_of(path)):
            targets: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [target if target.removeprefix(f"{PACKAGE}.") in known else node.module for target in targets]
            elif isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            edges[name] |= {target.removeprefix(f"{PACKAGE}.") for target in targets if target.startswith(PACKAGE)}
        edges[name] = {target for target in edges[name] if target in known} - {name}
    return edges


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that import each other, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for target in sorted(edges[name]):
            if target not in index:
                visit(target)
                lowest[name] = min(lowest[name], lowest[target])
            elif target in stack:
                lowest[name] = min(lowest[name], index[target])
        if lowest[name] == index[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                groups.append(sorted(group))

    for name in sorted(edges):
        if name not in index:
            visit(name)
    return groups


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert not circles(imports())


def class_depths() -> dict[tuple[str, str], int]:
    """How many classes of ours stand above each class of ours, on the longest way up."""
    classes: dict[tuple[str, str], ast.ClassDef] = {}
    names: dict[str, dict[str, tuple[str, str]]] = {}
    for name, path in module_paths().items():
        tree = tree_of(path)
        names[name] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
                for alias in node.names:
                    names[name][alias.asname or alias.name] = (node.module.removeprefix(f"{PACKAGE}."), alias.name)
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[name, node.name] = node

    def depth(key: tuple[str, str]) -> int:
        above = 0
        for base in classes[key].bases:
            plain = base.value if isinstance(base, ast.Subscript) else base
            if not isinstance(plain, ast.Name):
                continue
            parent = (key[0], plain.id) if (key[0], plain.id) in classes else names[key[0]].get(plain.id)
            if parent in classes:
                above = max(above, depth(parent) + 1)
        return above

    return {key: depth(key) for key in classes}


def test_no_class_has_more_than_two_of_our_own_above_it() -> None:
    assert not {
        f"{module}.{name}": depth
        for (module, name), depth in class_depths().items()
        if depth > DEEPER.get(module, MOST_ABOVE)
    }


def test_modules_are_named_by_nouns() -> None:
    named = [name for name in module_paths() if name.rpartition(".")[2].endswith("ing")]
    assert len(named) <= MOST_ING, named
