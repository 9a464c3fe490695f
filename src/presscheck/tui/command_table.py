"""The commands of one screen: built once from its command handlers, read on every key press."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from presscheck.tui.commands import COMMANDS, Command


class CommandTable:
    """Command handlers and disabled reasons, by the name of the command.

    Args:
        owners: objects with methods `command_<name>`, which run a command, and `reason_<name>`, which return why it
            is disabled now or None. The first object that has a method owns it.
    """

    def __init__(self, owners: Iterable[object]) -> None:
        objects = tuple(owners)
        self._handlers = _methods("command_", objects)
        self._reasons = _methods("reason_", objects)
        self.commands = tuple(command for command in COMMANDS if command.name in self._handlers)
        """The commands that have a handler, in the order of the table of all commands."""
        self._by_name = {command.name: command for command in self.commands}

    def handler(self, name: str) -> Callable[[], Any] | None:
        """The method that runs a command; None if no object handles it."""
        return self._handlers.get(name)

    def disabled_reason(self, name: str) -> str | None:
        """Why a command cannot run now; None if it can."""
        reason = self._reasons.get(name)
        return reason() if reason else None

    def command(self, name: str) -> Command | None:
        """The command of this name, if it has a handler."""
        return self._by_name.get(name)


def _methods(prefix: str, owners: Iterable[object]) -> dict[str, Callable[[], Any]]:
    methods: dict[str, Callable[[], Any]] = {}
    for owner in owners:
        for command in COMMANDS:
            method = getattr(owner, prefix + command.name, None)
            if method is not None:
                methods.setdefault(command.name, method)
    return methods
