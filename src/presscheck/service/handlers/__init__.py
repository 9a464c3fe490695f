"""The handlers of all operations, in modules named as in `api`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from presscheck.api.operation import Operation, every_operation
from presscheck.service.http.operations import HANDLERS


def all_handlers() -> dict[type[Operation[Any]], Callable[[Any, Any], Any]]:
    """Return the handlers by operation. Importing a module of this package registers its handlers."""
    for module in iter_modules(__path__, __name__ + "."):
        import_module(module.name)
    return HANDLERS


def handler_lines() -> list[str]:
    """Return a text table of all operations with their handlers and routes."""
    handlers = all_handlers()
    lines: list[str] = []
    for operation in sorted(every_operation(), key=lambda item: (item.__module__, item.__name__)):
        handler = handlers.get(operation)
        place = handler.__module__.removeprefix(f"{__name__}.") + f".{handler.__name__}" if handler else "no handler"
        lines.append(f"{operation.__name__:38} {place:58} {operation.route}")
    return lines
