"""`presscheck api`: every call of the service as a command, made from the declarations alone."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from urllib.parse import urlencode

import click

from presscheck.api.operation import Operation, every_operation
from presscheck.api.shell_command import flag, typed_name
from presscheck.cli.command_factory import is_listing
from presscheck.cli.exit_codes import says_what_failed
from presscheck.cli.option_types import call_of, nullable, option_for
from presscheck.cli.output import print_json
from presscheck.cli.session import Session, asking, confirm, load_profile


@cache
def operations() -> dict[str, type[Operation[Any]]]:
    """Every call by its name as it is typed, such as ``get-space``."""
    return dict(sorted((typed_name(one.__name__), one) for one in every_operation()))


class Calls(click.Group):
    """A group whose commands are the operations of the service."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every call."""
        return list(operations())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of an operation; `getSpaceById`, `GetSpace` and `spaces.GetSpace` are read too.

        The published name goes first: `updateChangeRequest` is not our `UpdateChangeRequest`.
        """
        published = {operation.operation_id: name for name, operation in operations().items()}
        name = published.get(cmd_name) or typed_name(cmd_name.rpartition(".")[2])
        operation = operations().get(name)
        return _command(name, operation) if operation else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the list is: it is too long for a help page."""
        formatter.write_paragraph()
        formatter.write_text(f"Run `presscheck api` to list all {len(operations())} operations.")


@click.command("api", cls=Calls, invoke_without_command=True, subcommand_metavar="[OPERATION] [--field value]…")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def calls(context: click.Context, *, as_json: bool) -> None:
    """Call any API operation; without a name, list them all."""
    if context.invoked_subcommand:
        return
    if as_json:
        print_json([_described(name, one) for name, one in operations().items()])
        return
    for name, one in operations().items():
        click.echo(f"{name}\t{one.route}" + (f"\tonly {one.release}" if one.release else ""))


def _described(name: str, operation: type[Operation[Any]]) -> dict[str, Any]:
    fields = operation.model_fields
    return {
        "name": name,
        "operation": operation.qualified_name(),
        "operation_id": operation.operation_id,
        "route": operation.route,
        "release": operation.release,
        "fields": list(fields),
        "required": [field for field, info in fields.items() if info.is_required()],
    }


def _command(name: str, operation: type[Operation[Any]]) -> click.Command:
    run = asking(_sender(operation))
    shared: list[click.Parameter] = list(getattr(run, "__click_params__", []))
    fields: list[click.Parameter] = [option_for(field, info) for field, info in operation.model_fields.items()]
    text = f"{(operation.__doc__ or '').strip()}\n\n\b\n{operation.route}"
    if operation.release:
        text += f"\nRequires release {operation.release} of the service"
    short = (operation.__doc__ or "").strip().partition("\n")[0]
    command = click.Command(
        name, params=[*fields, *_switches(operation), *reversed(shared)], callback=run, help=text, short_help=short
    )
    run_dry = command.callback

    def dry_or_real(*, dry_run: bool, null: tuple[str, ...] = (), **given: Any) -> None:
        nulls = tuple(one.replace("-", "_") for one in null)
        if dry_run:
            _print_request(operation, given, nulls)
        elif run_dry:
            run_dry(null=nulls, **given)

    command.callback = says(dry_or_real)
    return command


def says(function: Any) -> Any:
    """Say what failed."""
    return says_what_failed(function)


def _switches(operation: type[Operation[Any]]) -> list[click.Parameter]:
    found: list[click.Parameter] = [
        click.Option(["--dry-run"], is_flag=True, help="Print the request without sending it.")
    ]
    if is_listing(operation):
        found.append(
            click.Option(["--all", "all_pages"], is_flag=True, help="Fetch all pages of the result as one list.")
        )
    if operation.method() == "DELETE":
        found.append(click.Option(["--yes", "-y"], is_flag=True, help="Skip the confirmation."))
    if nullable(operation) and not operation.is_read():
        names = click.Choice([flag(name).lstrip("-") for name in nullable(operation)])
        found.append(click.Option(["--null"], multiple=True, type=names, help="Set this field to null; repeatable."))
    return found


def _sender(operation: type[Operation[Any]]) -> Any:
    async def send(
        session: Session, null: tuple[str, ...] = (), all_pages: bool = False, yes: bool = False, **given: Any
    ) -> None:
        call = call_of(operation, given, null)
        if operation.method() == "DELETE":
            confirm(f"{call}?", yes=yes)
        if all_pages:
            print_json(await session.all(call))
        elif operation.is_read():
            print_json(await session.read(call))
        else:
            print_json(await session.write(call, ""))

    return send


def _print_request(operation: type[Operation[Any]], given: dict[str, Any], null: tuple[str, ...]) -> None:
    """Print method, address and body; the token is no part of it."""
    given = {name: value for name, value in given.items() if name in operation.model_fields}
    call = call_of(operation, given, null)
    profile = load_profile(click.get_current_context(), with_token=False)
    query = urlencode(call.wire_query())
    base = profile.base_url.removesuffix("/v1")
    click.echo(f"{call.method()} {base}/v1{call.wire_path()}{'?' + query if query else ''}")
    body = call.wire_body()
    if body is not None:
        click.echo(json.dumps(body, indent=2))
