"""Arguments with which each command can be run, whatever the service answers."""

from __future__ import annotations

import inspect
import shlex

import click
from tests.api.families import filled

from presscheck.api.shell_command import typed
from presscheck.cli.operations.command_factory import CommandSpec

MORE: dict[str, tuple[str, ...]] = {
    "cr copy": ("--new", "x"),
    "cr edit": ("--subject", "x"),
    "cr move": ("--new", "x"),
    "cr review": ("--approve",),
    "cr reviewers": ("--add", "x"),
    "cr resolve": (),
    "site customization set": ("--settings", "{}", "--overwrite"),
    "site move": ("--before", "x"),
    "site set-schema": ("--json-schema", "{}", "--overwrite"),
}
"""Options that a command needs, but does not declare as required."""
POSITIONAL = {
    ("conversation ingest", "file"): "-",
    ("site redirects add", "source"): "/x",
    ("site redirects add", "destination"): "https://docs.example",
    ("site redirects import", "file"): "-",
    ("site config pull", "file"): "pulled.toml",
    ("site config diff", "file"): "site.toml",
    ("site config push", "file"): "site.toml",
}
"""Arguments that cannot be any text."""


def line_of(name: str, one: click.Command) -> list[str]:
    """The words of a command, with arguments made from its declaration."""
    return [*name.split(), *arguments(name, one)]


def spec_of(one: click.Command) -> CommandSpec | None:
    """The declaration that a command is made from; None for one that is a function."""
    assert one.callback
    return inspect.getclosurevars(inspect.unwrap(one.callback)).nonlocals.get("spec")


def arguments(name: str, one: click.Command) -> list[str]:
    words = [*MORE.get(name, ())]
    for parameter in one.params:
        if isinstance(parameter, click.Argument):
            words.append(POSITIONAL.get((name, parameter.name or ""), "x"))
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
