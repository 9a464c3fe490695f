"""The extras of the package, which are libraries that only some commands need, and whether they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import NamedTuple

from presscheck.errors import MissingExtra


class Extra(NamedTuple):
    """An extra: the start of an error message, such as "the local service needs", and the modules of its packages."""

    use: str
    modules: tuple[str, ...]


EXTRAS: dict[str, Extra] = {
    "serve": Extra(
        "the local service needs",
        (
            "alembic",
            "anyio",
            "authlib",
            "bs4",
            "httpcore",
            "httptools",
            "itsdangerous",
            "jinja2",
            "jwt",
            "latex2mathml",
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
    "mcp": Extra("the server for agents needs", ("anyio", "mcp", "starlette", "uvicorn")),
    "images": Extra("pictures in the terminal need", ("PIL", "textual_image")),
    "integrations": Extra("the scripts of integrations need", ("_quickjs",)),
    "jq": Extra("the option --jq needs", ("jq",)),
    "socks": Extra("SOCKS proxies need", ("socksio",)),
    "web": Extra("the app in the browser needs", ("aiohttp", "textual_serve")),
    "s3": Extra("files in a bucket need", ("boto3", "botocore", "urllib3")),
}
"""The extras by name. Their packages are listed in pyproject.toml."""


def missing_modules(extra: str) -> Iterator[str]:
    """Return the missing modules of an extra, without importing any."""
    return (name for name in EXTRAS[extra].modules if find_spec(name) is None)


def require_extra(extra: str) -> None:
    """Check that the libraries of an extra are installed.

    Raises:
        MissingExtra: a library is missing; the message names it and the command to install it.
    """
    if missing := next(missing_modules(extra), None):
        raise MissingExtra(
            f"{EXTRAS[extra].use} the extra {extra} ({missing} is not installed): pip install 'presscheck[{extra}]'"
        )
