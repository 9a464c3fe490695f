"""Every function, class and constant of a module is used by the program, not only by tests."""

import ast
import re
from collections.abc import Iterator

from tests.root import ROOT
from tests.rules.sources import MODULES, SOURCE, nodes_of, tree_of

USED_ELSEWHERE = {
    "EXIT_CODES": "the man page and the manual",
    "key_table": "the manual",
    "render_page": "tests and benchmarks; the app renders only visible lines",
}
"""Names that only tests, benchmarks or the manual use, with their users or the reason."""
TEMPLATES = [path for path in SOURCE.rglob("*") if path.suffix in {".html", ".js", ".tcss", ".toml", ".xml"}]
_words = re.compile(r"\w+").findall


def definitions(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module defines. Decorated names are left out: a decorator may register them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.decorator_list:
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else (node.target,):
                if isinstance(target, ast.Name):
                    yield target.id


def uses(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module reads, imports under another name, or has in a string."""
    docstrings = {id(node.value) for node in nodes_of(tree, ast.Expr)}
    for name in nodes_of(tree, ast.Name):
        if isinstance(name.ctx, ast.Load):
            yield name.id
    for attribute in nodes_of(tree, ast.Attribute):
        yield attribute.attr
    for alias in nodes_of(tree, ast.alias):
        if alias.asname:
            yield alias.name
    for constant in nodes_of(tree, ast.Constant):
        if isinstance(constant.value, str) and id(constant) not in docstrings:
            yield from _words(constant.value)


def test_every_name_is_used_by_the_program() -> None:
    used = {name for path in TEMPLATES for name in _words(path.read_text("utf-8"))}
    used |= set(_words((ROOT / "pyproject.toml").read_text("utf-8")))
    for path in MODULES:
        used |= set(uses(tree_of(path)))
    unused = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path in MODULES
        if "migrations" not in path.parts
        for name in definitions(tree_of(path))
        if name not in used | USED_ELSEWHERE.keys() and not name.startswith("__")
    ]
    assert unused == []


def test_unused_names_are_reported() -> None:
    tree = ast.parse('A = 1\nB: int = A\ndef f() -> "C": "D"\nclass D: pass\n@register\ndef g(): pass')
    assert set(definitions(tree)) - set(uses(tree)) == {"B", "f", "D"}
