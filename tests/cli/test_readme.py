"""The tables of commands and exit codes in the README match the program."""

import re

import click
from tests.root import ROOT

from presscheck.cli.exit_codes import EXIT_CODES
from presscheck.cli.main import command

README = ROOT / "README.md"


def commands_table() -> str:
    """The table of commands: one row each, with the sub-commands."""
    context = click.Context(command)
    rows = ["| command | does |", "|---|---|"]
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found
        says = (found.help or "").split("\n\n")[0].replace("\n", " ")
        inner = found.list_commands(context) if isinstance(found, click.Group) and name != "api" else []
        words = f"`{name}` " + " · ".join(f"`{one}`" for one in inner)
        rows.append(f"| {words.strip()} | {says} |")
    return "\n".join(rows)


def exit_codes_table() -> str:
    """The table of exit codes."""
    return "\n".join(["| code | means |", "|---|---|", *(f"| {code} | {says} |" for code, says in EXIT_CODES.items())])


def within(marks: str) -> str:
    found = re.search(rf"<!-- {marks}: begin [^\n]*-->\n(.*?)\n<!-- {marks}: end -->", README.read_text(), re.DOTALL)
    assert found, f"README.md has no table between the marks of {marks}"
    return found[1]


def test_the_commands_in_the_readme_are_current() -> None:
    assert within("commands") == commands_table()


def test_the_exit_codes_in_the_readme_are_current() -> None:
    assert within("exit codes") == exit_codes_table()


def test_every_command_has_help() -> None:
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found
        assert found.help, name
        for inner in found.list_commands(context) if isinstance(found, click.Group) else []:
            one = found.get_command(context, inner)  # type: ignore[union-attr]
            assert one, (name, inner)
            assert one.help, (name, inner)
