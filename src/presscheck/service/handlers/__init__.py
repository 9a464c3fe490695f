"""One small handler for each operation, grouped as the api is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from presscheck.api.operation import Operation
from presscheck.service.handling import HANDLERS


def all_handlers() -> dict[type[Operation[Any]], Callable[[Any, Any], Any]]:
    """Every handler, by the operation that it answers; the modules of this package enter them."""
    for module in iter_modules(__path__, __name__ + "."):
        import_module(module.name)
    return HANDLERS
