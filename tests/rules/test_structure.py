"""Rules for the structure: no import cycles, shallow class hierarchies, and nouns as names of modules."""

import ast
import re

from tests.root import ROOT
from tests.rules.sources import nodes_of, tree_of
from tests.rules.structure import PACKAGE, imports, module_paths
from tests.table import each_case

MOST_ABOVE = 2
"""Maximum number of ancestors of a class within the package."""
DEEPER = {"errors": 3, "api.operation": 3}
"""Modules with deeper class hierarchies: the exceptions, and the argument models of the API."""
MOST_ING = 5
MOST_PROTOCOLS = 12


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that import each other, found by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for target in sorted(edges[name]):
            if target not in index:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], index[target])
        if low[name] == index[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                groups.append(sorted(group))

    for name in sorted(edges):
        if name not in index:
            visit(name)
    return groups


def test_import_cycles_are_reported() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_no_import_cycles() -> None:
    assert not cycles(imports())


def class_depths() -> dict[tuple[str, str], int]:
    """Return the length of the longest chain of base classes within the package, by module and class."""
    classes: dict[tuple[str, str], ast.ClassDef] = {}
    names: dict[str, dict[str, tuple[str, str]]] = {}
    for name, path in module_paths().items():
        tree = tree_of(path)
        names[name] = {}
        for node in nodes_of(tree, ast.ImportFrom):
            if node.module and node.module.startswith(PACKAGE):
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


def test_class_hierarchies_are_shallow() -> None:
    assert not {
        f"{module}.{name}": depth
        for (module, name), depth in class_depths().items()
        if depth > DEEPER.get(module, MOST_ABOVE)
    }


def test_modules_are_named_by_nouns() -> None:
    names = [name for name in module_paths() if name.rpartition(".")[2].endswith("ing")]
    assert len(names) <= MOST_ING, names


def test_no_test_module_imports_another() -> None:
    """Shared helpers are in modules without tests, so that a test module can be moved or deleted on its own."""
    imports_of_tests = re.compile(r"^\s*(?:from|import) (?:tests(?:\.\w+)*)?\.test_\w+", re.MULTILINE)
    tests = (ROOT / "tests").rglob("*.py")
    assert not [str(path.relative_to(ROOT)) for path in tests if imports_of_tests.search(path.read_text("utf-8"))]


DEPTHS = (2, 3, 4)
"""Depths at which packages are compared: `tui.widgets`, `tui.screens.browse`, `tui.screens.sites.access`."""


@each_case("depth", DEPTHS)
def test_packages_of_the_app_form_layers(depth: int) -> None:
    rooms: dict[str, set[str]] = {}
    for name, targets in imports().items():
        if not name.startswith("tui."):
            continue
        room = room_of(name, depth)
        below = {room_of(target, depth) for target in targets if target.startswith("tui.")}
        rooms[room] = rooms.get(room, set()) | below - {room}
    assert not cycles(rooms)


def room_of(name: str, depth: int) -> str:
    """Return the package of a module at a depth; a module above that depth counts as a package."""
    return ".".join(name.split(".")[:depth])


def test_app_has_few_protocols() -> None:
    names = [
        f"{name}.{node.name}"
        for name, path in module_paths().items()
        if name.startswith("tui")
        for node in nodes_of(tree_of(path), ast.ClassDef)
        if any(ast.unparse(base) == "Protocol" for base in node.bases)
    ]
    assert len(names) <= MOST_PROTOCOLS, "a part takes the session of its screen, not a protocol: " + ", ".join(names)
