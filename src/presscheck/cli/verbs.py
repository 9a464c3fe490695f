"""The command of each API operation, derived from what the commands declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from presscheck.api.operation import Operation
from presscheck.cli.command_factory import operations_of


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands below a group by their words, those of `presscheck api` excluded; imports their modules."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group) and name != "api":
            yield from commands(found, (*path, name))
        elif found and name != "api":
            yield " ".join((*path, name)), found


def verbs(group: click.Group) -> dict[type[Operation[Any]], list[str]]:
    """The words of the commands of each operation, the first declared first."""
    found: dict[type[Operation[Any]], list[str]] = {}
    for words, command in commands(group):
        for operation in operations_of(command):
            found.setdefault(operation, []).append(words)
    return found
