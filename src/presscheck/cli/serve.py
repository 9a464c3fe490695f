"""`presscheck serve`: the local service as a process, and what whoever runs it does to it: tokens, backups."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from presscheck.cli.exit_codes import says_what_failed

DATABASE = click.option(
    "--database", metavar="URL", help="postgresql://… or sqlite:///…; SQLite in the data directory when not given."
)
DATA = click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), help="Directory of the database and files."
)


@click.group(invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8300, show_default=True, help="The port; 0 picks a free one.")
@click.option("--socket", "--uds", "uds", type=click.Path(path_type=Path), help="Listen on this Unix socket instead.")
@click.option("--fd", type=int, hidden=True, help="A listening socket that was handed down.")
@click.option("--until-closed", is_flag=True, hidden=True, help="End when standard input does.")
@DATABASE
@DATA
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for the owner's token, at the first start.",
)
@click.option(
    "--docs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    multiple=True,
    help="Import this documentation repository as a space; repeatable.",
)
@click.option("--sample", is_flag=True, help="Start with the sample workspace.")
@click.option("--workers", "processes", type=click.IntRange(1, 64), default=1, help="Number of worker processes.")
@click.option("--rate-limit", type=click.IntRange(1), help="Maximum requests per minute: of a token, or of an address.")
@click.option(
    "--public-url", metavar="URL", help="Address that users reach the service at, such as https://docs.example.org."
)
@click.option("--log-requests", is_flag=True, help="Log each request to standard error.")
@click.option(
    "--allow-network",
    "allowed",
    multiple=True,
    metavar="CIDR",
    help="Private network that imports, specifications and tunnels may reach, such as 10.0.0.0/8; repeatable.",
)
@click.option(
    "--translator", metavar="COMMAND", help="Command that translates a page from standard input to standard output."
)
@click.option("--list", "is_list", is_flag=True, help="List the operations with their handlers and exit.")
@click.pass_context
@says_what_failed
def serve(
    context: click.Context,
    *,
    database: str | None,
    data: Path | None,
    is_list: bool,
    translator: str | None,
    **how: Any,
) -> None:
    """Run the local service: the same API, with real state, on this machine.

    Prints its address first, and at its first start the owner's token.
    """
    context.obj = (database, data)
    if context.invoked_subcommand is not None:
        return
    if is_list:
        from presscheck.service.handlers import handler_lines

        click.echo("\n".join(handler_lines()))
        return
    from presscheck.wiring import run_service

    run_service(database=database, data=data, translator=shlex.split(translator or ""), **how)


@serve.group()
def token() -> None:
    """Tokens of people: only a hash of each is kept."""


@token.command()
@click.argument("person")
@click.option("--name", help="Label of the token.")
@click.option("--days", type=click.IntRange(1, 3650), help="Lifetime of the token; unlimited if omitted.")
@click.pass_obj
@says_what_failed
def create(where: tuple[str | None, Path | None], person: str, name: str | None, days: int | None) -> None:
    """Make a token for PERSON, by email or id, and print it: it is never shown again."""
    from presscheck.service.db.ids import system_clock
    from presscheck.service.server.api_tokens import create_token
    from presscheck.wiring import service_database

    with service_database(*where) as (database, _):
        click.echo(database.write(lambda session: create_token(session, system_clock, person, name, days)))


@token.command(name="list")
@click.pass_obj
@says_what_failed
def list_all(where: tuple[str | None, Path | None]) -> None:
    """List them: id, person, name, made, good until."""
    from presscheck.service.server.api_tokens import list_tokens
    from presscheck.text.sanitize import sanitize
    from presscheck.wiring import service_database

    with service_database(*where) as (database, _), database.reading.begin() as session:
        for one in list_tokens(session):
            click.echo("  ".join(sanitize(part) for part in one).rstrip())


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_obj
@says_what_failed
def revoke(where: tuple[str | None, Path | None], token_id: str) -> None:
    """Let a token be good no more, by its id in the list."""
    from presscheck.service.server.api_tokens import revoke_token
    from presscheck.wiring import service_database

    with service_database(*where) as (database, _):
        database.write(lambda session: revoke_token(session, token_id))


@serve.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
@says_what_failed
def export(where: tuple[str | None, Path | None], file: Path) -> None:
    """Write all that the service keeps to FILE; it may run meanwhile."""
    from presscheck.service.server.backup import export_all
    from presscheck.wiring import service_database

    with service_database(*where) as (database, data):
        click.echo(f"{export_all(database, data, file)} rows are in {file}", err=True)


@serve.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
@says_what_failed
def bring(where: tuple[str | None, Path | None], file: Path) -> None:
    """Bring everything from FILE into an empty database, of either engine."""
    from presscheck.service.server.backup import import_all
    from presscheck.wiring import service_database

    with service_database(*where) as (database, data):
        click.echo(f"{import_all(database, data, file)} rows imported", err=True)
