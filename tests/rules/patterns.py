"""Finds every regular expression of the project, with the methods that the code calls on it."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

from tests.root import ROOT

METHODS = ("match", "search", "sub", "fullmatch", "findall", "finditer", "split", "subn")
LOCAL_VALUES: Mapping[str, Mapping[str, Any]] = {
    "presscheck.documents.diff.segments": {"block": SimpleNamespace(kind="hint")},
    "presscheck.documents.git_format.files": {"name": "width"},
    "presscheck.documents.markdown.code_ranges": {"mark": "```"},
    "presscheck.documents.markdown.plain_text": {"phrase": "a b"},
    "presscheck.documents.terminal.code": {"comment": "#[^\n]*", "string": '"[^"]*"'},
    "presscheck.service.content.relevance": {"parts": ["((?<![^\\W_])a[^\\W_]*)", "(b[\\W_]*c)"]},
    "presscheck.engine.replacement.pattern_process": {"source": "a", "flags": 0},
    "presscheck.tui.screens.command_palette": {"words": ["a", "b"]},
}
"""Examples of the local variables that expressions are put together from, by module."""


class Expression(NamedTuple):
    """A regular expression: where it is, the pattern, and the methods that are called on it."""

    place: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


@cache
def expressions() -> list[Expression]:
    """All regular expressions of the project: calls of the library, and what modules hold."""
    paths = sorted((ROOT / "src").rglob("*.py"))
    trees = {path: ast.parse(path.read_text("utf-8")) for path in paths}
    public = _methods_by_name(trees.values())
    found: list[Expression] = []
    for path, tree in trees.items():
        if "import re\n" not in path.read_text("utf-8"):
            continue
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        own = _methods_by_name([tree])
        found += [_of_call(name, module, call, targets, {**public, **own}) for call, targets in _calls(tree)]
        found += _held(name, module, {expression.pattern for expression in found})
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, list[str]]]:
    """Each call such as ``re.compile(…)``, with the names or ``.method`` that take its result."""
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=function)) if function != "escape":
                match above[node]:
                    case ast.Attribute(attr=method):
                        yield node, [f".{method}"]
                    case ast.Assign(targets=targets):
                        yield node, [target.id for target in targets if isinstance(target, ast.Name)]
                    case _:
                        yield node, []
            case _:
                pass


def _methods_by_name(trees: Iterable[ast.AST]) -> dict[str, set[str]]:
    """The methods of expressions that are called on each name."""
    used: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method):
                    if method in METHODS:
                        used.setdefault(name, set()).add(method)
                case _:
                    pass
    return used


def _of_call(
    name: str, module: ModuleType, call: ast.Call, targets: list[str], used: Mapping[str, set[str]]
) -> Expression:
    place = f"{name}:{call.lineno}"
    function = cast("ast.Attribute", call.func).attr
    flags = call.args[1:] if function == "compile" else []
    arguments = [call.args[0], *flags, *(word.value for word in call.keywords if word.arg == "flags")]
    known = {**vars(module), **LOCAL_VALUES.get(name, {})}
    pattern = re.compile(*(eval(compile(ast.Expression(one), place, "eval"), known) for one in arguments))
    if function != "compile":
        return Expression(place, pattern, (function,))
    methods = {target[1:] for target in targets if target[0] == "."}
    methods = methods.union(*(used.get(target, set()) for target in targets))
    return Expression(place, pattern, tuple(sorted(methods)) or METHODS[:3])


def _held(name: str, module: ModuleType, known: set[re.Pattern[Any]]) -> Iterator[Expression]:
    """The expressions of a module that a function made, so that no call shows them."""
    for attribute, value in vars(module).items():
        pattern: Any = getattr(value, "__self__", value)
        if isinstance(pattern, re.Pattern) and pattern not in known:
            method = getattr(value, "__name__", None)
            yield Expression(f"{name}.{attribute}", pattern, (method,) if method else METHODS[:3])
