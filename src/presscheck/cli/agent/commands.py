"""`presscheck mcp` and `presscheck agent`: the verbs over the Model Context Protocol, and one at a time."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast, get_origin

import click

from presscheck.agents.verbs import PERMISSIONS, Permission, allowed, run_verb
from presscheck.cli.agent.caller import Caller
from presscheck.cli.agent.read_verbs import all_spaces
from presscheck.cli.agent.verb_table import RESOURCES, VERBS
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_json, print_message
from presscheck.cli.session import Session, profile_option, run_with_session, with_session
from presscheck.engine.review.agent_drafts import agent_name
from presscheck.errors import InvalidArgument
from presscheck.extras import require_extra

if TYPE_CHECKING:
    from presscheck.agents.mcp_server import AgentServer

PAGE = 50
"""Number of resources in one answer."""
allow_option: Callable[[Any], Any] = click.option(
    "--allow",
    type=click.Choice(PERMISSIONS),
    help="What agents may do: read, write drafts, or send their drafts; by default the setting `agents`, or read.",
)
name_option: Callable[[Any], Any] = click.option(
    "--name", metavar="NAME", help="Name of the agent, which marks its drafts."
)


@click.command()
@click.option(
    "--http",
    "port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    is_flag=False,
    flag_value=0,
    help="Serve over HTTP on this machine, on this port or a free one, and print a key.",
)
@allow_option
@name_option
@profile_option
@report_errors
def mcp(port: int | None, allow: Permission | None, name: str | None) -> None:
    """Serve the Model Context Protocol for agents.

    It serves one agent over stdin and stdout, or many over HTTP. An agent reads with the rights of your profile. Drafts
    that it writes with --allow draft are held on this machine until you send or drop them. Requires the extra `mcp`.
    """
    require_extra("mcp")
    run_with_session(_serve)(as_json=False, port=port, allow=allow, name=name)


async def _serve(session: Session, port: int | None, allow: Permission | None, name: str | None) -> None:
    from presscheck.agents.http_server import serve_http  # 700 ms, only for this command

    permission = _permission(session, allow)
    server = agent_server(session, permission, name)
    if port is None:
        print_message(f"Serving on stdin and stdout (--allow {permission}).")
        # the thread that waits for stdin cannot be cancelled; drafts are stored as they are written
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        await server.serve_stdio()
        return

    def ready(url: str, key: str) -> None:
        print_message(f"Serving on {url} (--allow {permission}). Send this header with each request:")
        print_message(f"Authorization: Bearer {key}")

    await serve_http(server.server, port, ready)


def agent_server(session: Session, permission: Permission, name: str | None) -> AgentServer[Caller]:
    """Return an MCP server that lets agents read content and draft changes with the profile of a session."""
    from presscheck.agents.mcp_server import AgentServer  # 700 ms, only for `presscheck mcp`

    return AgentServer(
        VERBS,
        RESOURCES,
        permission,
        lambda agent: Caller(session, agent),
        lambda offset: _listed(session, offset),
        name,
    )


def _permission(session: Session, allow: Permission | None) -> Permission:
    return allow or cast("Permission", session.profile.agents)


async def _listed(session: Session, offset: int) -> tuple[list[tuple[str, str]], int | None]:
    """Return a page of resources as URI and title, and the offset of the next page (None on the last)."""
    from presscheck.agents.mcp_server import resource_uri  # 1 ms, only with the extra

    fixed = [(resource.template, resource.title) for resource in RESOURCES if "{" not in resource.template]
    spaces = await all_spaces(Caller(session, ""))
    pages = "presscheck://spaces/{space}/pages"
    resources = [*fixed, *((resource_uri(pages, space=space.id), f"Pages of space {space.id}") for space in spaces)]
    end = offset + PAGE
    return resources[offset:end], end if end < len(resources) else None


@click.command()
@click.argument("verb", required=False)
@click.argument("given", metavar="[NAME=VALUE]...", nargs=-1)
@allow_option
@name_option
@with_session
async def agent(
    session: Session, verb: str | None, given: tuple[str, ...], allow: Permission | None, name: str | None
) -> None:
    """Run a verb of agents and print its answer as JSON.

    Without VERB, lists the verbs with the schemas of their arguments. The verbs are those of `presscheck mcp`.
    """
    permission = _permission(session, allow)
    if verb is None:
        print_json([_description(name) for name in allowed(VERBS, permission)])
        return
    print_json(await run_verb(VERBS, permission, Caller(session, agent_name(name)), verb, _arguments(verb, given)))


def _description(name: str) -> dict[str, Any]:
    verb = next(verb for verb in VERBS if verb.name == name)
    return {
        "name": verb.name,
        "description": verb.description,
        "permission": verb.permission,
        "arguments": verb.schema(),
        "command": f"presscheck {verb.command}" if verb.command else None,
    }


def _arguments(verb: str, given: tuple[str, ...]) -> dict[str, Any]:
    """Parse `NAME=VALUE` arguments of a verb. Only values of lists are JSON; other values stay text.

    Raises:
        InvalidArgument: an argument has no name, or a list is not JSON.
    """
    models = [known.arguments.model_fields for known in VERBS if known.name == verb]
    lists = {name for fields in models for name, field in fields.items() if get_origin(field.annotation) is tuple}
    arguments: dict[str, Any] = {}
    for word in given:
        name, mark, value = word.partition("=")
        if not mark:
            raise InvalidArgument("NAME=VALUE", f"{word} has no name")
        try:
            arguments[name] = json.loads(value) if name in lists else value
        except (ValueError, RecursionError):
            raise InvalidArgument(name, "must be a list as JSON") from None
    return arguments
