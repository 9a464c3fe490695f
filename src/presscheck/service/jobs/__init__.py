"""Background jobs, one module per kind; importing a module registers its runner."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from presscheck.service.jobs.queue import RUNNERS, Runner


def all_runners() -> dict[str, Runner]:
    """Import all jobs and return the runners by kind."""
    for module in iter_modules(__path__, __name__ + "."):
        import_module(module.name)
    return RUNNERS
