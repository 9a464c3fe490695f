"""The modules of the program and their syntax trees, which all rules share."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from tests.root import ROOT

SOURCE = ROOT / "src" / "presscheck"
MODULES = sorted(SOURCE.rglob("*.py"))

Node = TypeVar("Node", bound=ast.AST)


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax tree of a module. Trees are cached: parsing all modules takes seconds."""
    gc.disable()  # a finalizer that parses during a parse crashes Python 3.11
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()


def nodes_of(tree: ast.AST, *kinds: type[Node]) -> Iterator[Node]:
    """Yield the nodes of a tree with these types, type by type. Nodes are cached by type."""
    for kind in kinds:
        yield from _nodes_by_type(tree).get(kind, ())  # pyright: ignore[reportReturnType]


@cache
def _nodes_by_type(tree: ast.AST) -> dict[type[ast.AST], list[ast.AST]]:
    nodes: dict[type[ast.AST], list[ast.AST]] = {}
    stack = [tree]
    while stack:
        node = stack.pop()
        nodes.setdefault(type(node), []).append(node)
        for value in vars(node).values():
            if isinstance(value, list):
                stack += [inner for inner in value if isinstance(inner, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                stack.append(value)
    return nodes


def forget_trees() -> None:
    """Clear the caches of trees and nodes, which hold a million objects."""
    _nodes_by_type.cache_clear()
    tree_of.cache_clear()
