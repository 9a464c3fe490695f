"""Imports all modules of the API, so that all operations are registered."""

import pkgutil
from importlib import import_module

import presscheck.api

for module in pkgutil.iter_modules(presscheck.api.__path__):
    import_module(f"presscheck.api.{module.name}")
