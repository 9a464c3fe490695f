"""`presscheck api`: one command for each API operation, generated from its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, cast

import click
from typing_extensions import override

from presscheck.api.operation import Operation, every_operation
from presscheck.api.shell_command import flag, typed_name
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option, unique_options
from presscheck.cli.operations.any_request import METHODS, request_command
from presscheck.cli.operations.command_factory import (
    description_of,
    is_listing,
    operations_of,
    print_request,
    summary_of,
)
from presscheck.cli.operations.field_options import call_of, nullable, option_for
from presscheck.cli.output import print_json
from presscheck.cli.session import Session, confirm, load_profile, with_session


@cache
def operations() -> dict[str, type[Operation[Any]]]:
    """Return all operations by command name, such as ``get-space``."""
    return dict(sorted((typed_name(operation.__name__), operation) for operation in every_operation()))


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield each command below a group with its name, such as `site publish`. Imports the modules of all commands.

    `presscheck api` is left out.
    """
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group) and name != "api":
            yield from commands(found, (*path, name))
        elif found and name != "api":
            yield " ".join((*path, name)), found


def verbs(group: click.Group) -> dict[type[Operation[Any]], list[str]]:
    """Return the names of the commands that send each operation, in alphabetical order."""
    found: dict[type[Operation[Any]], list[str]] = {}
    for words, command in commands(group):
        for operation in operations_of(command):
            found.setdefault(operation, []).append(words)
    return found


class OperationGroup(click.Group):
    """A group whose commands are the API operations."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(operations())

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of an operation, given `get-space`, `getSpaceById`, `GetSpace` or `spaces.GetSpace`.

        The published id takes precedence: `updateChangeRequest` is not the class `UpdateChangeRequest`. For a method,
        return the command for any path.
        """
        if cmd_name.upper() in METHODS:
            return request_command(cmd_name.upper())
        published = {operation.operation_id: name for name, operation in operations().items()}
        name = published.get(cmd_name) or typed_name(cmd_name.rpartition(".")[2])
        operation = operations().get(name)
        return _command(name, operation) if operation else None

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write how to list the operations: they are too many for a help page."""
        formatter.write_paragraph()
        formatter.write_text(f"Run `presscheck api` to list all {len(operations())} operations.")
        formatter.write_text("Run `presscheck api OPERATION --help` to show the options of one.")
        formatter.write_text("Run `presscheck api GET /orgs` to request any path; see `presscheck api GET --help`.")


@click.command(
    "api", cls=OperationGroup, invoke_without_command=True, subcommand_metavar="[OPERATION] [--FIELD VALUE]..."
)
@json_option
@click.pass_context
def calls(context: click.Context, *, as_json: bool) -> None:
    """Call any API operation.

    Without an operation, lists all of them, each with the command for it. Prints the response as JSON.
    """
    if context.invoked_subcommand:
        return
    root = cast("click.Group", context.find_root().command)
    named = {operation: [f"presscheck {words}" for words in lines] for operation, lines in verbs(root).items()}
    if as_json:
        print_json([_described(name, operation, named[operation]) for name, operation in operations().items()])
        return
    for name, operation in operations().items():
        release = f"\trequires release {operation.release}" if operation.release else ""
        click.echo(f"{name}\t{operation.route}\t{named[operation][0]}{release}")


def _described(name: str, operation: type[Operation[Any]], commands: list[str]) -> dict[str, Any]:
    fields = operation.model_fields
    return {
        "name": name,
        "operation": operation.qualified_name(),
        "operation_id": operation.operation_id,
        "route": operation.route,
        "release": operation.release,
        "commands": commands,
        "fields": list(fields),
        "required": [field for field, info in fields.items() if info.is_required()],
    }


def _command(name: str, operation: type[Operation[Any]]) -> click.Command:
    run = with_session(_sender(operation))
    shared: list[click.Parameter] = list(getattr(run, "__click_params__", []))
    fields: list[click.Parameter] = [option_for(operation, field) for field in operation.model_fields]
    text = f"{description_of(operation)}\n\n\b\n{operation.route}"
    if operation.release:
        text += f"\nRequires release {operation.release} of the service."
    command = click.Command(
        name,
        params=unique_options([*fields, *_switches(operation), *reversed(shared)]),
        callback=run,
        help=text,
        short_help=summary_of(operation),
    )
    send = command.callback

    def send_or_print(*, dry_run: bool, null: tuple[str, ...] = (), **given: Any) -> None:
        nulls = tuple(name.replace("-", "_") for name in null)
        if dry_run:
            _print_request(operation, given, nulls)
        elif send:
            send(null=nulls, **given)

    command.callback = report_errors(send_or_print)
    return command


def _switches(operation: type[Operation[Any]]) -> list[click.Parameter]:
    options: list[click.Parameter] = [
        click.Option(["--dry-run"], is_flag=True, help="Print the request without sending it.")
    ]
    if is_listing(operation):
        options.append(
            click.Option(["--all", "all_pages"], is_flag=True, help="Fetch all pages of results as one list.")
        )
    if operation.method() == "DELETE":
        options.append(click.Option(["--yes", "-y"], is_flag=True, help="Skip the confirmation."))
    if nullable(operation) and not operation.is_read():
        names = click.Choice([flag(name).lstrip("-") for name in nullable(operation)])
        options.append(click.Option(["--null"], multiple=True, type=names, help="Set this field to null (repeatable)."))
    return options


def _sender(operation: type[Operation[Any]]) -> Any:
    async def send(
        session: Session, null: tuple[str, ...] = (), all_pages: bool = False, yes: bool = False, **given: Any
    ) -> None:
        call = call_of(operation, given, null)
        if operation.method() == "DELETE":
            confirm(f"{call}?", yes=yes)
        if all_pages:
            await session.show_all(call, json=True)
        elif operation.is_read():
            print_json(await session.read(call))
        else:
            print_json(await session.write(call, ""))

    return send


def _print_request(operation: type[Operation[Any]], given: dict[str, Any], null: tuple[str, ...]) -> None:
    """Print method, URL and body of the request, without the token."""
    given = {name: value for name, value in given.items() if name in operation.model_fields}
    print_request(call_of(operation, given, null), load_profile(click.get_current_context(), with_token=False))
