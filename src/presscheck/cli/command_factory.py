"""Commands made from the declarations of calls: what is in the path is an argument, everything else an option.

Ids of organizations, spaces, sites and change requests may be given as `addressing` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from presscheck.api.operation import Operation, Paged
from presscheck.cli import lookup
from presscheck.cli.option_types import call_of, flag, nullable, option_for
from presscheck.cli.session import Session, asking, confirm

Resolved = dict[str, Any]
PAGING = frozenset(("page", "limit"))
UNSAID = frozenset(("metadata", "computed", "format", "share_key"))
"""Fields that a person has no use for here; `presscheck api` has them."""


@dataclass(frozen=True)
class Verb:
    """A command that says one call.

    Attributes:
        name: what is typed.
        operation: the call.
        columns: for a listing: what of each item is printed, by names on the wire.
        done: what is said when it is done.
        asks: what is asked before, for what cannot be undone.
        fixed: fields that this command gives itself.
        help: instead of what the call says of itself.
    """

    name: str
    operation: type[Operation[Any]]
    columns: tuple[str, ...] = ()
    done: str = ""
    asks: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    help: str = ""


VERBS: list[Verb] = []
"""Every command that was made so; complete once its family is imported."""


def add(group: click.Group, *verbs: Verb) -> None:
    """Add commands to a group."""
    VERBS.extend(verbs)
    for verb in verbs:
        group.add_command(command_of(verb))


def command_of(verb: Verb) -> click.Command:
    """The command of a verb."""
    operation = verb.operation
    run = asking(_runner(verb))
    shared: list[click.Parameter] = list(getattr(run, "__click_params__", []))
    text = verb.help or (operation.__doc__ or "").strip().partition("\n\n")[0]
    more = _more_options(verb)
    parameters = [*_addressed(operation), *_options(verb), *more, *reversed(shared)]
    return click.Command(verb.name, params=parameters, callback=run, help=text, short_help=text.partition(".")[0])


def is_listing(operation: type[Operation[Any]]) -> bool:
    """Whether the call answers with pages."""
    return issubclass(operation, Paged)


async def resolved(session: Session, operation: type[Operation[Any]], given: dict[str, Any]) -> Resolved:
    """The fields of the path, from what a person typed; what was typed is taken out of `given`."""
    path, found = operation.path_fields(), Resolved()
    org = given.pop("org", None)
    if "change_request_id" in path:
        request = await lookup.change_request(session, given.pop("change_request_id"))
        found |= {"space_id": request.space, "change_request_id": request.id}
    elif "space_id" in path:
        named = given.pop("space_id")
        is_gone = operation.__name__ == "RestoreSpace"  # in no listing any more
        found["space_id"] = named if is_gone else (await lookup.space(session, named)).id
    if "site_id" in path:
        owner, site = await lookup.site(session, given.pop("site_id"), org)
        found |= {"organization_id": owner.id, "site_id": site.id}
    elif "organization_id" in path:
        found["organization_id"] = (await lookup.organization(session, given.pop("organization_id", org))).id
    return found


async def say(session: Session, verb: Verb, call: Operation[Any], most: int) -> None:
    """Say a call and print what comes."""
    if is_listing(verb.operation):
        session.show(await session.all(call, most), verb.columns or ("id", "title"))
        return
    if verb.operation.is_read():
        answer = await session.read(call)
        items = getattr(answer, "items", None)
        session.show(list(items) if verb.columns and items is not None else answer, verb.columns)
        return
    session.show_new(await session.write(call, verb.done or f"{verb.operation.__name__}: done."))


def _runner(verb: Verb) -> Callable[..., Any]:
    async def run(session: Session, limit: int = 0, yes: bool = False, null: Sequence[str] = (), **given: Any) -> None:
        operation = verb.operation
        found = await resolved(session, operation, given)
        call = call_of(operation, {**given, **found, **verb.fixed}, tuple(name.replace("-", "_") for name in null))
        if verb.asks:
            confirm(f"{verb.asks}?", yes=yes)
        await say(session, verb, call, limit)

    return run


def _addressed(operation: type[Operation[Any]]) -> list[click.Parameter]:
    path = operation.path_fields()
    hidden = {"organization_id", "space_id"} if "change_request_id" in path else {"organization_id"}
    found: list[click.Parameter] = [
        click.Argument([name], metavar=name.removesuffix("_id").upper()) for name in path if name not in hidden
    ]
    if path == ("organization_id",) and operation.route.count("/") == 2:
        return [*found, click.Argument(["organization_id"], metavar="[ORG]", required=False)]
    if "organization_id" in path:
        found.append(click.Option(["--org"], metavar="ORG", help="The organization, by title or id."))
    return found


def _options(verb: Verb) -> list[click.Parameter]:
    operation = verb.operation
    left_out = {*operation.path_fields(), *verb.fixed, *UNSAID, *(PAGING if is_listing(operation) else ())}
    wanted = {name: info for name, info in operation.model_fields.items() if name not in left_out}
    return [option_for(name, info) for name, info in wanted.items() if name not in operation.always_sent]


def _more_options(verb: Verb) -> list[click.Parameter]:
    found: list[click.Parameter] = []
    if is_listing(verb.operation):
        found.append(
            click.Option(["--limit"], type=click.IntRange(0), default=0, help="Maximum number of results; 0 for all.")
        )
    if verb.asks:
        found.append(click.Option(["--yes", "-y"], is_flag=True, help="Skip the confirmation."))
    may_be_null = [name for name in nullable(verb.operation) if name not in verb.fixed]
    if may_be_null and not verb.operation.is_read():
        names = click.Choice([flag(name).lstrip("-") for name in may_be_null])
        found.append(click.Option(["--null"], multiple=True, type=names, help="Clear this field; repeatable."))
    return found
