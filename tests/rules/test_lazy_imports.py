"""Imports are at the top of a module; imports in functions need a comment with the milliseconds that they save."""

import ast
import re
from collections.abc import Iterator

from tests.root import ROOT
from tests.rules.sources import MODULES, nodes_of, tree_of
from tests.table import each_case

MEASURED = re.compile(r"#.*\b\d+ ms\b\W+\w+")
"""A comment with the measured milliseconds and a reason, such as `# 12 ms, only for a PDF`."""


def import_blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of consecutive import statements inside functions."""
    imports = list(nodes_of(tree, ast.Import, ast.ImportFrom))
    functions = [
        function
        for function in nodes_of(tree, ast.FunctionDef, ast.AsyncFunctionDef)
        if any(function.lineno < node.lineno <= (function.end_lineno or 0) for node in imports)
    ]
    nested = {id(inner): inner for function in functions for inner in ast.walk(function)}
    for node in nested.values():
        for field in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] = []
            statements = getattr(node, field, None)
            for statement in statements if isinstance(statements, list) else ():
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    block.append(statement)
                elif block:
                    yield block
                    block = []
            if block:
                yield block


def unmeasured_imports(source: str, tree: ast.Module) -> list[int]:
    """Return the lines of imports in functions that have no measured time beside or directly above them."""
    lines = source.splitlines()
    numbers: list[int] = []
    for block in import_blocks(tree):
        first, last = block[0].lineno, block[-1].end_lineno or block[-1].lineno
        above = lines[first - 2].strip() if first > 1 else ""
        comments = [above] if above.startswith("#") else []
        if not any(MEASURED.search(line) for line in (*comments, *lines[first - 1 : last])):
            numbers.append(first)
    return sorted(numbers)


def test_imports_inside_functions_are_measured() -> None:
    assert not [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        for line in unmeasured_imports(path.read_text("utf-8"), tree_of(path))
    ]


PLANTED = """
import os

def at_top() -> None:
    {above}
    import json{beside}
    from shlex import quote
    print(json, quote)
    if os.name:
        import re  # 3 ms, only here
"""


@each_case(
    ("above", "beside", "lines"),
    [
        ("pass", "", [6]),
        ("# loaded late", "  # rarely needed", [6]),
        ("# 12 ms", "", [6]),
        ("x = 12  # 12 ms, another line", "", [6]),
        ("# 12 ms, only for JSON", "", []),
        ("pass", "  # 12 ms, only for JSON", []),
    ],
)
def test_unmeasured_imports_are_reported(above: str, beside: str, lines: list[int]) -> None:
    source = PLANTED.format(above=above, beside=beside)
    assert unmeasured_imports(source, ast.parse(source)) == lines


def test_imports_in_every_kind_of_block_are_found() -> None:
    source = """
class Example:
    async def method(self):
        try:
            import a
        except ValueError:
            import b
        else:
            import c
        finally:
            import d
        match self:
            case 1:
                import e
        def inner():
            import f
"""
    assert unmeasured_imports(source, ast.parse(source)) == [5, 7, 9, 11, 14, 16]
