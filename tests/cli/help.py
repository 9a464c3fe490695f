"""The commands of the program, and the golden text of their help."""

from collections.abc import Iterator

import click
from tests.root import ROOT

from presscheck.cli.main import command

GOLDEN = ROOT / "tests" / "cli" / "help.txt"
COLUMNS = 80


def commands(group: click.Group = command, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Yield a context for a group and for each command below it."""
    name = group.name if parent else "presscheck"
    context = click.Context(group, parent, info_name=name, terminal_width=COLUMNS, **group.context_settings)
    yield context
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found, name
        if isinstance(found, click.Group):
            yield from commands(found, context)
        else:
            yield click.Context(found, context, info_name=name)


def is_api(context: click.Context) -> bool:
    """Return True for the commands of `presscheck api`."""
    return context.command_path.startswith("presscheck api ")


def summary(context: click.Context) -> str:
    """Return the line of a command in the list of its group."""
    return context.command.get_short_help_str(limit=1000)


def help_pages() -> Iterator[str]:
    """Yield the help page of each command; for the commands of `presscheck api`, only the summary."""
    for context in commands():
        if is_api(context):
            yield f"$ {context.command_path} --help\n{summary(context)}\n"
        else:
            yield f"$ {context.command_path} --help\n{context.get_help()}\n"
