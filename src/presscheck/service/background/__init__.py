"""What is done in the background, a module for each kind of job; importing one enters its runner."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from presscheck.service.jobs import RUNNERS, Runner


def all_runners() -> dict[str, Runner]:
    """Every runner, by the kind of job."""
    for module in iter_modules(__path__, __name__ + "."):
        import_module(module.name)
    return RUNNERS
