"""Which libraries a module imports, and where they are declared."""

import ast
import sys
from functools import cache
from pathlib import Path

from tests.rules.sources import MODULES, SOURCE, nodes_of, room, tree_of

IN_BUCKETS = SOURCE / "service" / "blobs" / "s3_store.py"
"""The module that only the extra `s3` needs."""
OF_PICTURES = SOURCE / "tui" / "terminal" / "picture_decoder.py"
"""The module that only the extra `images` needs."""
OF_AGENTS = {SOURCE / "agents" / f"{name}.py" for name in ("mcp_server", "http_server", "stdio_transport")}
"""The modules that only the extra `mcp` needs."""


@cache
def libraries(path: Path) -> frozenset[str]:
    """The libraries that a module imports anywhere: at its top, in a function, or for types alone."""
    found: set[str] = set()
    for node in nodes_of(tree_of(path), ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found - {*sys.stdlib_module_names, SOURCE.name})


def place(path: Path) -> str | None:
    """The extra that a module belongs to; None for a light install."""
    if path in OF_AGENTS:
        return "mcp"
    if room(path) == "browser":
        return "web"
    if room(path) != "service":
        return "images" if path == OF_PICTURES else None
    return "s3" if path == IN_BUCKETS else "serve"


def imported(extra: str | None) -> set[str]:
    """The libraries that the modules of an extra import."""
    return set[str]().union(*(libraries(path) for path in MODULES if place(path) == extra))
