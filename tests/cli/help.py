"""The commands of the program, and the golden text of their help."""

from collections.abc import Iterator

import click
from tests.root import ROOT

from presscheck.cli.main import command

GOLDEN = ROOT / "tests" / "cli" / "help.txt"
COLUMNS = 80


def commands(group: click.Group = command, parent: click.Context | None = None) -> Iterator[click.Context]:
    """A context for each command below a group, the group itself first."""
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
