"""`presscheck alias`: names of the user for command lines."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_json, print_message, print_rows
from presscheck.cli.session import json_option, limit_option
from presscheck.config.settings_file import save_alias
from presscheck.config.validation import SettingsError, alias_error, errors_of_aliases, located, read_aliases
from presscheck.errors import InvalidArgument
from presscheck.paths import places


def alias_errors(file: Path, context: click.Context) -> tuple[SettingsError, ...]:
    """Return the errors in the aliases of a settings file, also of aliases that no command line can use."""
    root = context.find_root()
    commands = root.command.list_commands(root) if isinstance(root.command, click.Group) else ()
    problems: list[tuple[tuple[str, ...], str]] = []
    for name, line in read_aliases(file).items():
        if name in commands:
            problems.append((("aliases", name), "is the name of a command: choose another name"))
        elif shlex.split(line)[0] not in commands:
            problems.append((("aliases", name), 'must begin with a command of presscheck, such as "cr list"'))
    return (*errors_of_aliases(file), *located(file, problems))


def _complete_name(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in read_aliases(places().config_file) if name.startswith(incomplete)]


@click.group()
def alias() -> None:
    """Manage your own names for commands.

    They are in the table [aliases] of config.toml.
    """


@alias.command("set")
@click.argument("name")
@click.argument("line", metavar="COMMAND")
@click.pass_context
@report_errors
def set_alias(context: click.Context, name: str, line: str) -> None:
    """Set an alias for a command and its arguments.

    Example: `presscheck alias set mine 'inbox --view mine'`. Further arguments are added at the end. A command cannot
    be replaced by an alias.
    """
    if error := alias_error(name, line):
        raise InvalidArgument("alias", error)
    root = context.find_root()
    if isinstance(root.command, click.Group):
        if root.command.get_command(root, name):
            raise InvalidArgument("NAME", f"{name} is a command: choose another name")
        first = shlex.split(line)[0]
        if root.command.get_command(root, first) is None:
            raise InvalidArgument("COMMAND", f"{first} is not a command of presscheck")
    save_alias(places().config_file, name, line)
    print_message(f"`presscheck {name}` runs `presscheck {line}`.")


@alias.command("list")
@limit_option
@json_option
@click.pass_context
@report_errors
def list_aliases(context: click.Context, limit: int, *, as_json: bool) -> None:
    """List your aliases."""
    aliases = sorted(read_aliases(places().config_file).items())
    rows = [{"name": name, "command": line} for name, line in aliases[: limit or None]]
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, ("name", "command"))
    for error in alias_errors(places().config_file, context):
        print_message(f"Not used: {error}")


@alias.command("delete")
@click.argument("name", shell_complete=_complete_name)
@report_errors
def delete(name: str) -> None:
    """Delete an alias."""
    names = read_aliases(places().config_file)
    if name not in names:
        raise InvalidArgument("NAME", f"{name} not found. Available: {', '.join(names) or 'none'}")
    save_alias(places().config_file, name, None)
    print_message(f"Deleted the alias {name}.")
