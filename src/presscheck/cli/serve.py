"""`presscheck serve`: runs the local service, manages its tokens, exports and imports its data."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_text
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.phrases import count
from presscheck.wiring import check_service, run_service, service_database, service_files

DATABASE = click.option(
    "--database",
    metavar="URL",
    envvar="PRESSCHECK_DATABASE_URL",
    show_envvar=True,
    help="postgresql://… or sqlite:///…; by default SQLite in the data directory.",
)
DATA = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="PRESSCHECK_DATA",
    show_envvar=True,
    help="Data directory, for the database and files.",
)
FILES = click.option(
    "--files",
    metavar="LOCATION",
    envvar="PRESSCHECK_FILES",
    show_envvar=True,
    help="Location of uploaded files: disk or s3://bucket/prefix; by default disk, or where they were moved to.",
)


def port_option(default: int) -> Callable[[Any], Any]:
    """Return the option `--port` of a command that starts a server."""
    return click.option(
        "--port",
        type=click.IntRange(0, 65535),
        metavar="NUMBER",
        default=default,
        show_default=True,
        help="Port to listen on; 0 chooses a free port.",
    )


class Where(NamedTuple):
    """The options of the group that locate the data of the service."""

    database: str | None
    data: Path | None
    files: str | None


@click.group(invoke_without_command=True)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@port_option(8300)
@click.option("--socket", "--uds", "uds", type=click.Path(path_type=Path), help="Listen on this Unix socket instead.")
@click.option("--fd", type=int, hidden=True, help="Inherited listening socket.")
@click.option("--web-fd", type=int, hidden=True, help="Inherited listening TCP socket, for browsers.")
@click.option("--until-closed", is_flag=True, hidden=True, help="Exit when standard input is closed.")
@DATABASE
@DATA
@FILES
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the token of the owner to this file at the first start, and do not print it.",
)
@click.option(
    "--docs",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    multiple=True,
    help="Import this documentation repository as a space (repeatable).",
)
@click.option("--sample", is_flag=True, help="Start with the sample workspace.")
@click.option(
    "--workers",
    "processes",
    type=click.IntRange(1, 64),
    metavar="NUMBER",
    default=1,
    show_default=True,
    help="Number of worker processes.",
)
@click.option(
    "--cache",
    type=click.IntRange(8, 65536),
    metavar="MB",
    help="Maximum memory of each worker for cached responses, pages and revisions; 200 by default.",
)
@click.option(
    "--rate-limit",
    type=click.IntRange(1),
    metavar="NUMBER",
    help="Maximum number of requests per minute, of a token or an address.",
)
@click.option(
    "--public-url",
    metavar="URL",
    envvar="PRESSCHECK_PUBLIC_URL",
    show_envvar=True,
    help="URL at which users reach the service, such as https://docs.example.org.",
)
@click.option("--log-requests", is_flag=True, help="Log each request to standard error.")
@click.option(
    "--allow-network",
    "allowed",
    multiple=True,
    metavar="CIDR",
    help="Private network that imports, specifications and tunnels may reach, such as 10.0.0.0/8 (repeatable).",
)
@click.option(
    "--integration-fetch",
    "script_hosts",
    multiple=True,
    metavar="HOST",
    help="Host that scripts of integrations may request: a name, *.example.org, or * for all (repeatable).",
)
@click.option(
    "--git-root",
    type=click.Path(path_type=Path, file_okay=False, exists=True, resolve_path=True),
    envvar="PRESSCHECK_GIT_ROOT",
    show_envvar=True,
    help="Folder with Git repositories that spaces may be imported from and exported to.",
)
@click.option(
    "--mermaid",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, resolve_path=True),
    envvar="PRESSCHECK_MERMAID",
    show_envvar=True,
    help="File dist/mermaid.min.js of the npm package mermaid, which draws the diagrams of published pages.",
)
@click.option(
    "--translator", metavar="COMMAND", help="Command that translates a page from standard input to standard output."
)
@click.option(
    "--release",
    type=click.Choice(["document", "0.146.0", "0.202.0"]),
    help="Serve only the operations of this API release; document: only those of the published document.",
)
@click.option("--check", "is_check", is_flag=True, help="Check whether the service can start, and exit.")
@click.option("--list", "is_list", is_flag=True, help="List the operations with their handlers and exit.")
@click.pass_context
@report_errors
def serve(
    context: click.Context,
    *,
    database: str | None,
    data: Path | None,
    files: str | None,
    is_list: bool,
    is_check: bool,
    translator: str | None,
    **how: Any,
) -> None:
    """Run the local service.

    It implements the same API and stores its data on this machine; it needs the extra `serve`. Prints its URL, and on
    the first start the token of the owner.
    """
    context.obj = Where(database, data, files)
    if context.invoked_subcommand is not None:
        return
    if is_list:
        from presscheck.service.handlers import handler_lines  # 350 ms, only for --list

        click.echo("\n".join(handler_lines()))
        return
    run = _print_check if is_check else run_service
    run(database=database, data=data, files=files, translator=_words(translator or ""), **how)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise InvalidArgument("--translator", f"{error}: a quote has to be closed, as in a shell") from None


def _print_check(**options: Any) -> None:
    findings = check_service(**options)
    for finding in findings:
        print_text(f"{finding.part}: {finding.text}")
    problems = [finding.part for finding in findings if finding.is_problem]
    if problems:
        raise ChecksFailed(f"problems: {', '.join(problems)}")


@serve.group()
def token() -> None:
    """Manage the API tokens of users.

    The service stores only a hash of each token. --database and --data of the service stand before `token`.
    """


@token.command()
@click.argument("user")
@click.option("--name", help="Name of the token in the list.")
@click.option(
    "--days", type=click.IntRange(1, 3650), metavar="NUMBER", help="Days until the token expires; unlimited if omitted."
)
@click.pass_obj
@report_errors
def create(where: Where, user: str, name: str | None, days: int | None) -> None:
    """Create and print a token for a user.

    USER is an email address or a user id. The token is printed only once.
    """
    # 264 ms, only for this command
    from presscheck.service.db.ids import system_clock
    from presscheck.service.server.api_tokens import create_token

    with service_database(where.database, where.data) as (database, _):
        click.echo(database.write(lambda session: create_token(session, system_clock, user, name, days)))


@token.command(name="list")
@click.pass_obj
@report_errors
def list_all(where: Where) -> None:
    """List all tokens.

    Columns: id, user, name, creation date, expiration date.
    """
    # 264 ms, only for this command
    from presscheck.service.server.api_tokens import list_tokens
    from presscheck.text.sanitize import sanitize

    with service_database(where.database, where.data) as (database, _), database.snapshot() as session:
        for row in list_tokens(session):
            click.echo("  ".join(sanitize(part) for part in row).rstrip())


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_obj
@report_errors
def revoke(where: Where, token_id: str) -> None:
    """Revoke a token.

    ID is the id of the token in the list.
    """
    from presscheck.service.server.api_tokens import revoke_token  # 264 ms, only for this command

    with service_database(where.database, where.data) as (database, _):
        database.write(lambda session: revoke_token(session, token_id))


@serve.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
@report_errors
def export(where: Where, file: Path) -> None:
    """Export all data of the service to a file.

    Uploaded files are included, also those in a bucket. The service can run during the export.
    """
    from presscheck.service.server.backup import export_all  # 264 ms, only for this command

    with service_files(*where) as (database, files):
        exported = export_all(database, files, file)
    click.echo(f"{count(exported.rows, 'row')} and {count(exported.files, 'file')} exported to {file}", err=True)
    if exported.missing:
        click.echo(
            f"presscheck: not exported, because missing in {files.location}: {count(len(exported.missing), 'file')}"
            f" such as {exported.missing[0]}",
            err=True,
        )


@serve.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
@report_errors
def import_data(where: Where, file: Path) -> None:
    """Import exported data into an empty database.

    The database can be SQLite or PostgreSQL, and the files on disk or in a bucket, whatever the data was exported from.
    """
    from presscheck.service.server.backup import import_all  # 264 ms, only for this command

    with service_files(*where, may_be_new=True) as (database, files):
        click.echo(f"{count(import_all(database, files, file), 'row')} imported", err=True)


@serve.group(name="files")
def uploaded_files() -> None:
    """Manage the uploaded files of the service."""


@uploaded_files.command()
@click.option("--to", "location", metavar="LOCATION", required=True, help="disk, or a URL such as s3://bucket/prefix.")
@click.option("--delete-source", is_flag=True, help="Delete the files from the former location afterwards.")
@click.pass_obj
@report_errors
def move(where: Where, location: str, *, delete_source: bool) -> None:
    """Move all files to another location.

    Copies and verifies them, then switches the database to the new location; repeat the command if it was interrupted.
    Restart the processes of the service afterwards: until then they refuse new files. The files in the former location
    are only deleted with --delete-source, also by a later command.
    """
    from presscheck.service.server.file_move import move_files  # 264 ms, only for this command

    with service_database(where.database, where.data) as (database, data):
        moved = move_files(database, data, location, delete_source=delete_source)
    if moved.source is None:
        click.echo(f"Nothing to move: the location of the files is already {location}.", err=True)
        return
    verified = count(len(moved.verified), "file")
    click.echo(f"{verified} verified at {location}, {moved.copied} of them copied now.", err=True)
    if delete_source:
        click.echo(f"{count(moved.deleted, 'file')} deleted from {moved.source}.", err=True)
    else:
        click.echo(
            f"Restart the processes of the service. The files at {moved.source} were not deleted; when all is well,"
            " repeat the command with --delete-source.",
            err=True,
        )
