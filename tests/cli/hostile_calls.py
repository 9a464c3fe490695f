"""Arguments with which every command can run, whatever the service responds."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

import click
from tests.api.families import filled

from presscheck.api.operation import Paged
from presscheck.api.shell_command import typed
from presscheck.cli.operations.api_commands import operations
from presscheck.cli.operations.command_factory import CommandSpec

MORE: dict[str, tuple[str, ...]] = {
    "cr check": ("--with", "typos"),
    "cr copy": ("--new", "x"),
    "cr edit": ("--subject", "x"),
    "cr move": ("--new", "x"),
    "cr review": ("--approve",),
    "cr reviewers": ("--add", "x"),
    "cr resolve": (),
    "integration dev": ("--tunnel", "https://x.example", "--port", "0"),
    "site customization set": ("--settings", "{}", "--overwrite"),
    "serve": ("--public-url", "x"),  # an error after the data folder was created; without it, the service would run
    "site move": ("--before", "x"),
    "web": ("--port", "x"),  # an error; without it, the command would run until it is stopped
    "site set-schema": ("--json-schema", "{}", "--overwrite"),
}
"""Options that a command needs but does not declare as required."""
POSITIONAL = {
    ("agent", "verb"): "list_pages",
    ("agent", "given"): "space=x",
    ("checkout", "directory"): "checked-out",
    ("site build", "folder"): "built",
    **{(name, "directory"): "" for name in ("check", "diff", "pull", "push", "status")},
    ("completion", "shell"): "bash",
    ("outbox accept", "numbers"): "7",
    ("outbox drop", "number"): "7",
    ("outbox edit", "number"): "7",
    ("outbox retry", "number"): "7",
    ("outbox send", "number"): "",  # all of them
    ("outbox undo", "number"): "7",
    ("conversation ingest", "file"): "-",
    ("site events", "range"): "lastYear",
    ("site redirects add", "source"): "/x",
    ("site redirects add", "destination"): "https://docs.example",
    ("site redirects import", "file"): "-",
    ("site config pull", "file"): "pulled.toml",
    ("site config diff", "file"): "site.toml",
    ("site config push", "file"): "site.toml",
}
"""Values of arguments that do not accept every text."""
LOCAL = frozenset(
    (
        *(
            "alias delete",
            "alias list",
            "alias set",
            "cache clear",
            "cache path",
            "cache size",
            "check",
            "completion",
            "config check",
            "config edit",
            "config path",
        ),
        *(
            "config schema",
            "config show",
            "config trust",
            "config untrust",
            "demo",
            "keys",
            "log",
            "logout",
            "mcp",
            "preview",
            "skill",
            "web",
        ),
        *("diff", "pull", "push", "status"),  # these read the folder of a checkout first
        *(
            "outbox accept",
            "outbox drop",
            "outbox edit",
            "outbox history",
            "outbox list",
            "outbox retry",
            "outbox undo",
        ),
        *(
            "profiles",
            "serve export",
            "serve files move",
            "serve import",
            "serve token create",
            "serve token list",
            "serve token revoke",
            "site restore",  # there is no snapshot to restore
            "tour",
        ),
    )
)
"""Commands that do not use the service of the profile."""
ENDLESS = frozenset(("integration dev",))
"""Commands that run until they are stopped."""
MANY_SO_NAMED = frozenset(("site move",))
"""Commands that end with a usage error, because all ids are `x` and their argument is ambiguous."""


def line_of(name: str, one: click.Command, own: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return the words of a command with generated arguments; `own` contains values for some arguments by name."""
    return [*name.split(), *arguments(name, one, own)]


def spec_of(one: click.Command) -> CommandSpec | None:
    """Return the declaration that a command is generated from, or None if the command is a function."""
    assert one.callback
    return inspect.getclosurevars(inspect.unwrap(one.callback)).nonlocals.get("spec")


def arguments(name: str, one: click.Command, own: Mapping[str, str]) -> list[str]:
    words = [*MORE.get(name, ())]
    for parameter in one.params:
        if isinstance(parameter, click.Argument):
            value = own.get(parameter.name or "") or POSITIONAL.get((name, parameter.name or ""), "x")
            words += [value] if value else []
        elif parameter.name == "yes":
            words.append("--yes")
        elif parameter.required or parameter.name == "body":
            words += [parameter.opts[0], "x"]
    spec = spec_of(one)
    if spec and not spec.fixed:
        known = {option for parameter in one.params for option in parameter.opts}
        given = shlex.split(typed(filled(spec.operation)))[3:]
        pairs = zip(given[::2], given[1::2], strict=True)
        words += [word for flag, value in pairs if flag in known for word in (flag, value)]
    return words


@cache
def api_lines() -> list[list[str]]:
    """Return the words of every `presscheck api` command; listings fetch all their pages."""
    found: list[list[str]] = []
    for operation in operations().values():
        words = shlex.split(typed(filled(operation)))[1:]
        words += ["--all"] if issubclass(operation, Paged) else []
        words += ["--yes"] if operation.method() == "DELETE" else []
        found.append(words)
    return found
