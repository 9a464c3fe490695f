"""Finds all regular expressions of the project and the methods that are called on them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

from tests.root import ROOT
from tests.rules.sources import MODULES, nodes_of, tree_of

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
"""Example values of the local variables in patterns that are built at run time, by module."""


class Expression(NamedTuple):
    """A regular expression: its module and line, the pattern, and the names of the methods that are called on it."""

    place: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


@cache
def expressions() -> list[Expression]:
    """Return all regular expressions: arguments of calls like ``re.compile(…)``, and patterns in module variables."""
    trees = {path: tree_of(path) for path in MODULES}
    public = _methods_by_name(trees.values())
    results: list[Expression] = []
    for path, tree in trees.items():
        if "import re\n" not in path.read_text("utf-8"):
            continue
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        own = _methods_by_name([tree])
        results += [_of_call(name, module, call, targets, {**public, **own}) for call, targets in _calls(tree)]
        results += _held(name, module, {expression.pattern for expression in results})
    return results


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, list[str]]]:
    """Yield each call like ``re.compile(…)`` with the variables, or the ``.method``, that its result is used with."""
    methods = {id(node.value): [f".{node.attr}"] for node in nodes_of(tree, ast.Attribute)}
    names = {
        id(node.value): [target.id for target in node.targets if isinstance(target, ast.Name)]
        for node in nodes_of(tree, ast.Assign)
    }
    for node in nodes_of(tree, ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=function)) if function != "escape":
                yield node, methods.get(id(node)) or names.get(id(node), [])
            case _:
                pass


def _methods_by_name(trees: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Return the pattern methods that are called on each name."""
    used: dict[str, set[str]] = {}
    for tree in trees:
        for node in nodes_of(tree, ast.Attribute):
            if node.attr in METHODS:
                match node.value:
                    case ast.Name(id=name) | ast.Attribute(attr=name):
                        used.setdefault(name, set()).add(node.attr)
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
    names = {**vars(module), **LOCAL_VALUES.get(name, {})}
    pattern = re.compile(*(eval(compile(ast.Expression(argument), place, "eval"), names) for argument in arguments))
    if function != "compile":
        return Expression(place, pattern, (function,))
    methods = {target[1:] for target in targets if target[0] == "."}
    methods = methods.union(*(used.get(target, set()) for target in targets))
    return Expression(place, pattern, tuple(sorted(methods)) or METHODS[:3])


def _held(name: str, module: ModuleType, known_patterns: set[re.Pattern[Any]]) -> Iterator[Expression]:
    """Yield the patterns in a module's variables that are not in `known_patterns` because a function created them."""
    for attribute, value in vars(module).items():
        pattern: Any = getattr(value, "__self__", value)
        if isinstance(pattern, re.Pattern) and pattern not in known_patterns:
            method = getattr(value, "__name__", None)
            yield Expression(f"{name}.{attribute}", pattern, (method,) if method else METHODS[:3])
