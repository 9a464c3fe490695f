"""Rules for the structure: no import circles, no deep class chains, modules named by nouns."""

import ast
import re

from tests.root import ROOT
from tests.rules.sources import nodes_of, tree_of
from tests.rules.structure import PACKAGE, imports, module_paths
from tests.table import each_case

MOST_ABOVE = 2
"""Classes of our own above a class of our own."""
DEEPER = {"errors": 3, "api.operation": 3}
"""Modules whose classes may be deeper: the exception tree, and the argument models of the API."""
MOST_ING = 5
MOST_PROTOCOLS = 12


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


def test_no_class_has_more_than_two_of_our_own_above_it() -> None:
    assert not {
        f"{module}.{name}": depth
        for (module, name), depth in class_depths().items()
        if depth > DEEPER.get(module, MOST_ABOVE)
    }


def test_modules_are_named_by_nouns() -> None:
    named = [name for name in module_paths() if name.rpartition(".")[2].endswith("ing")]
    assert len(named) <= MOST_ING, named


def test_no_test_module_imports_another() -> None:
    """What several tests use stands in a module without tests, so that a test can be moved or deleted alone."""
    imports_of_tests = re.compile(r"^\s*(?:from|import) (?:tests(?:\.\w+)*)?\.test_\w+", re.MULTILINE)
    tests = (ROOT / "tests").rglob("*.py")
    assert not [str(path.relative_to(ROOT)) for path in tests if imports_of_tests.search(path.read_text("utf-8"))]


DEPTHS = (2, 3, 4)
"""`tui.ui` and `tui.widgets`, `tui.screens.browse`, `tui.screens.sites.access`: each beside its neighbors."""


@each_case("depth", DEPTHS)
def test_packages_of_the_app_form_layers(depth: int) -> None:
    rooms: dict[str, set[str]] = {}
    for name, targets in imports().items():
        if not name.startswith("tui."):
            continue
        room = room_of(name, depth)
        below = {room_of(target, depth) for target in targets if target.startswith("tui.")}
        rooms[room] = rooms.get(room, set()) | below - {room}
    assert not circles(rooms)


def room_of(name: str, depth: int) -> str:
    """The package of a module at a depth; a module that is not so deep is a room of its own."""
    return ".".join(name.split(".")[:depth])


def test_the_app_has_few_protocols() -> None:
    names = [
        f"{name}.{node.name}"
        for name, path in module_paths().items()
        if name.startswith("tui")
        for node in nodes_of(tree_of(path), ast.ClassDef)
        if any(ast.unparse(base) == "Protocol" for base in node.bases)
    ]
    assert len(names) <= MOST_PROTOCOLS, "a part takes the session of its screen, not a protocol: " + ", ".join(names)
