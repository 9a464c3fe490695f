"""The libraries that modules import, and the extras that modules belong to."""

import ast
import sys
from functools import cache
from pathlib import Path

from tests.rules.sources import MODULES, SOURCE, nodes_of, room, tree_of

S3_MODULE = SOURCE / "service" / "blobs" / "s3_store.py"
"""The module that imports the libraries of the extra `s3`."""
IMAGES_MODULE = SOURCE / "tui" / "terminal" / "picture_decoder.py"
"""The module that imports the libraries of the extra `images`."""
MCP_MODULES = {SOURCE / "agents" / f"{name}.py" for name in ("mcp_server", "http_server")}
"""The modules that import the libraries of the extra `mcp`."""


@cache
def libraries(path: Path) -> frozenset[str]:
    """Return the third-party libraries that a module imports: at its top, in functions, or for type checking."""
    names: set[str] = set()
    for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names - {*sys.stdlib_module_names, SOURCE.name})


def place(path: Path) -> str | None:
    """Return the extra that a module belongs to; None if it is part of the light install."""
    if path in MCP_MODULES:
        return "mcp"
    if room(path) == "browser":
        return "web"
    if room(path) != "service":
        return "images" if path == IMAGES_MODULE else None
    return "s3" if path == S3_MODULE else "serve"


def imported(extra: str | None) -> set[str]:
    """Return the libraries that the modules of an extra import."""
    return set[str]().union(*(libraries(path) for path in MODULES if place(path) == extra))
