"""The modules of the program and their syntax trees, parsed once for all rules."""

import ast
import gc
from functools import cache
from pathlib import Path

from tests.root import ROOT

SOURCE = ROOT / "src" / "presscheck"
MODULES = sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a module, cached: parsing all modules for each rule takes seconds."""
    gc.disable()  # a finalizer that parses during a parse crashes Python 3.11
    try:
        return ast.parse(path.read_text("utf-8"))
    finally:
        gc.enable()
