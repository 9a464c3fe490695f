"""Builds commands from operations: fields in the path become arguments, other fields options.

Organizations, spaces, sites and change requests can be given in the ways that `lookup` supports.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from presscheck.api.operation import Operation, Paged
from presscheck.cli import lookup
from presscheck.cli.field_options import call_of, flag, nullable, option_for
from presscheck.cli.session import Session, confirm, with_session

PAGING_FIELDS = frozenset(("page", "limit"))
METAVARS = {
    "change_request_id": "SPACE#NUMBER",
    "import_run_id": "IMPORT",
    "integration_name": "INTEGRATION",
    "spec_slug": "SPEC",
}
"""The metavars of arguments that are not named like their field."""
HIDDEN_FIELDS = frozenset(("metadata", "computed", "format", "share_key"))
"""Fields without an option; `presscheck api` has options for them."""


@dataclass(frozen=True)
class CommandSpec:
    """A command that sends one operation.

    Attributes:
        name: the name of the command in its group.
        operation: the operation.
        columns: the columns of a list, as field names of the API.
        done: the message after success.
        confirm: the confirmation prompt without its question mark; empty if there is none.
        fixed: values of fields; such a command has no options for other fields.
        help: the help text, instead of the docstring of the operation.
    """

    name: str
    operation: type[Operation[Any]]
    columns: tuple[str, ...] = ()
    done: str = ""
    confirm: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    help: str = ""


COMMAND_SPECS: list[CommandSpec] = []
"""The specs of all commands in the modules that are imported so far."""


def add(group: click.Group, *specs: CommandSpec) -> None:
    """Add commands to a group."""
    COMMAND_SPECS.extend(specs)
    for spec in specs:
        group.add_command(build_command(spec))


def build_command(spec: CommandSpec) -> click.Command:
    """Build a command from its spec."""
    operation = spec.operation
    run = with_session(_runner(spec))
    shared: list[click.Parameter] = list(getattr(run, "__click_params__", []))
    text = spec.help or description_of(operation)
    parameters = [*_arguments(operation), *_field_options(spec), *_other_options(spec), *reversed(shared)]
    return click.Command(spec.name, params=parameters, callback=run, help=text, short_help=text.partition("\n")[0])


def description_of(operation: type[Operation[Any]]) -> str:
    """The description of an operation: a summary, and for some a paragraph of details.

    Names of fields are replaced by those of their options.
    """
    text = inspect.getdoc(operation) or ""
    return re.sub(r"`(\w+)`", lambda match: flag(match[1]) if match[1] in operation.model_fields else match[0], text)


def summary_of(operation: type[Operation[Any]]) -> str:
    """The description of an operation in one line."""
    return description_of(operation).partition("\n")[0]


def is_listing(operation: type[Operation[Any]]) -> bool:
    """Whether the operation returns a paginated list."""
    return issubclass(operation, Paged)


async def path_values(session: Session, operation: type[Operation[Any]], given: dict[str, Any]) -> dict[str, Any]:
    """The values of the fields in the path; their arguments and options are removed from `given`."""
    path, values = operation.path_fields(), dict[str, Any]()
    org = given.pop("org", None)
    if "change_request_id" in path:
        request = await lookup.change_request(session, given.pop("change_request_id"))
        values |= {"space_id": request.space, "change_request_id": request.id}
    elif "space_id" in path:
        named = given.pop("space_id")
        is_deleted = operation.__name__ == "RestoreSpace"  # deleted spaces are in no list
        values["space_id"] = named if is_deleted else (await lookup.space(session, named)).id
    if "site_id" in path:
        owner, site = await lookup.site(session, given.pop("site_id"), org)
        values |= {"organization_id": owner.id, "site_id": site.id}
    elif "organization_id" in path:
        values["organization_id"] = (await lookup.organization(session, given.pop("organization_id", org))).id
    return values


async def send(session: Session, spec: CommandSpec, call: Operation[Any], limit: int) -> None:
    """Send an operation and print its answer."""
    if is_listing(spec.operation):
        await session.show_all(call, spec.columns or ("id", "title"), limit)
        return
    if spec.operation.is_read():
        answer = await session.read(call)
        items = getattr(answer, "items", None)
        session.show(list(items) if spec.columns and items is not None else answer, spec.columns)
        return
    session.show_id(await session.write(call, spec.done or f"{spec.operation.__name__}: done."))


def _runner(spec: CommandSpec) -> Callable[..., Any]:
    async def run(session: Session, limit: int = 0, yes: bool = False, null: Sequence[str] = (), **given: Any) -> None:
        operation = spec.operation
        path = await path_values(session, operation, given)
        call = call_of(operation, {**given, **path, **spec.fixed}, tuple(name.replace("-", "_") for name in null))
        if spec.confirm:
            confirm(f"{spec.confirm}?", yes=yes)
        await send(session, spec, call, limit)

    return run


def _arguments(operation: type[Operation[Any]]) -> list[click.Parameter]:
    path = operation.path_fields()
    hidden = {"organization_id", "space_id"} if "change_request_id" in path else {"organization_id"}
    parameters: list[click.Parameter] = [
        click.Argument([name], metavar=METAVARS.get(name, name.removesuffix("_id").upper()))
        for name in path
        if name not in hidden
    ]
    if path == ("organization_id",) and operation.route.count("/") == 2:
        return [*parameters, click.Argument(["organization_id"], metavar="[ORG]", required=False)]
    if "organization_id" in path:
        parameters.append(click.Option(["--org"], metavar="ORG", help="Organization, by title or id."))
    return parameters


def _field_options(spec: CommandSpec) -> list[click.Parameter]:
    if spec.fixed:
        return []
    operation = spec.operation
    left_out = {*operation.path_fields(), *operation.always_sent, *HIDDEN_FIELDS}
    left_out |= PAGING_FIELDS if is_listing(operation) else set()
    return [option_for(operation, name) for name in operation.model_fields if name not in left_out]


def _other_options(spec: CommandSpec) -> list[click.Parameter]:
    options: list[click.Parameter] = []
    if is_listing(spec.operation):
        options.append(
            click.Option(
                ["--limit"],
                type=click.IntRange(0),
                metavar="NUMBER",
                default=0,
                help="Maximum number of results; 0 for all.",
            )
        )
    if spec.confirm:
        options.append(click.Option(["--yes", "-y"], is_flag=True, help="Skip the confirmation."))
    clearable = [] if spec.fixed else nullable(spec.operation)
    if clearable and not spec.operation.is_read():
        names = click.Choice([flag(name).lstrip("-") for name in clearable])
        options.append(click.Option(["--null"], multiple=True, type=names, help="Clear this field (repeatable)."))
    return options
