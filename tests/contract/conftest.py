"""Every family is imported, so that every operation is known."""

import pkgutil
from importlib import import_module

import presscheck.api

for module in pkgutil.iter_modules(presscheck.api.__path__):
    import_module(f"presscheck.api.{module.name}")
