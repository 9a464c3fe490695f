"""A click group that imports a command at its first use, so that all other commands start fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click
from typing_extensions import override


class LazyGroup(click.Group):
    """A group that imports commands when they are used.

    Args:
        lazy_commands: for each command name, its module in `presscheck.cli` and its name in the module.
        lazy_parts: for each module and function, the names of the commands that the function adds to the group.
    """

    def __init__(
        self,
        *args: Any,
        lazy_commands: Mapping[str, tuple[str, str]],
        lazy_parts: Mapping[tuple[str, str], Sequence[str]] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(*args, **extra)
        self._lazy_commands = lazy_commands
        self.lazy_parts = lazy_parts or {}

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            {
                *super().list_commands(ctx),
                *self._lazy_commands,
                *(name for names in self.lazy_parts.values() for name in names),
            }
        )

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for (module, function), names in self.lazy_parts.items():
            if cmd_name in names and cmd_name not in self.commands:
                getattr(import_module(f"presscheck.cli.{module}"), function)(self)
        if cmd_name not in self._lazy_commands:
            return super().get_command(ctx, cmd_name)
        module, name = self._lazy_commands[cmd_name]
        lazy_command: click.Command = getattr(import_module(f"presscheck.cli.{module}"), name)
        return lazy_command
