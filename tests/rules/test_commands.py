"""Rules for the table of commands: every row has a handler and a short help text."""

import ast
from functools import cache

from tests.rules.sources import MODULES, SOURCE, tree_of

from presscheck.tui.commands import COMMANDS
from presscheck.tui.widgets.composer import KEYS

HELP = 60
"""Characters that a help text may have."""


@cache
def handlers() -> set[str]:
    """All methods of the terminal interface that handle a command."""
    return {
        name
        for path in MODULES
        if path.is_relative_to(SOURCE / "tui")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        for name in (
            [statement.name]
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)
            else [target.id for target in getattr(statement, "targets", ()) if isinstance(target, ast.Name)]
        )
        if name.startswith("command_")
    }


def test_a_command_has_a_handler() -> None:
    assert not [
        command.name for command in COMMANDS if f"command_{command.name}" not in handlers() and command not in KEYS
    ]


def test_a_handler_has_a_command() -> None:
    assert handlers() - {f"command_{command.name}" for command in COMMANDS} <= {"command_handlers", "command_table"}


def test_help_is_short() -> None:
    assert not [command.help for command in COMMANDS if len(command.help) > HELP]
    assert not [command.help for command in COMMANDS if command.help.endswith(".")]
