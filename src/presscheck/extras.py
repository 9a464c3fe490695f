"""The extras of the package: the libraries that only some commands need, and the error if they are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

from presscheck.errors import MissingExtra


class Extra(NamedTuple):
    """An extra: what needs it, in words, and the modules that its packages provide."""

    use: str
    modules: tuple[str, ...]


EXTRAS: dict[str, Extra] = {
    "serve": Extra(
        "the local service needs",
        (
            "alembic",
            "anyio",
            "bs4",
            "itsdangerous",
            "jinja2",
            "jwt",
            "markdownify",
            "nh3",
            "openapi_spec_validator",
            "psycopg",
            "sqlalchemy",
            "starlette",
            "typst",
            "uvicorn",
        ),
    ),
    "images": Extra("pictures in the terminal need", ("PIL", "textual_image")),
    "integrations": Extra("the scripts of integrations need", ("_quickjs",)),
    "socks": Extra("SOCKS proxies need", ("socksio",)),
    "s3": Extra("files in a bucket need", ("boto3", "botocore", "urllib3")),
}
"""The extras by name; pyproject.toml has their packages."""


def missing_modules(extra: str) -> Iterator[str]:
    """The modules of an extra that are not installed; nothing is imported."""
    return (name for name in EXTRAS[extra].modules if find_spec(name) is None)


def require_extra(extra: str) -> None:
    """Check that the libraries of an extra are installed.

    Raises:
        MissingExtra: one is missing; the message names it and what to install.
    """
    if missing := next(missing_modules(extra), None):
        raise MissingExtra(
            f"{EXTRAS[extra].use} the extra {extra} ({missing} is not installed): pip install 'presscheck[{extra}]'"
        )
