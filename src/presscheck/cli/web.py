"""`presscheck web`: shows the app in a web browser on this machine."""

from __future__ import annotations

import sys

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.main import Options, profile_named
from presscheck.errors import InvalidArgument
from presscheck.wiring import browser_server

NOTES = """\
The address works once: the browser that opens it first is signed in until it is closed. ctrl+c here ends all sessions.
Not available in the browser: your editor and shell, images other than blocks of color, notifications of the terminal.
The browser keeps ctrl+n, ctrl+t and ctrl+w.\
"""


@click.command()
@click.option(
    "--port",
    metavar="NUMBER",
    type=click.IntRange(0, 65535),
    default=8302,
    show_default=True,
    help="Port to listen on; 0 chooses a free port.",
)
@click.option("--sample", is_flag=True, help="Show the sample workspace; needs the extra `serve`, too.")
@click.option("--no-open", is_flag=True, help="Print the address without opening it.")
@click.pass_obj
@report_errors
def web(options: Options, *, port: int, sample: bool, no_open: bool) -> None:
    """Show the app in a web browser on this machine.

    Prints an address that works once. Other machines cannot connect. Each tab is a session of its own, as in a
    terminal: drafts are kept when it is closed. The options before the command, such as --profile, are those of the
    app. The extra `web` is required.
    """
    if options.linear:
        raise InvalidArgument("--linear", "is for a terminal, not for a web browser")
    if not sample:
        profile_named(options)  # reports invalid settings here rather than in each tab
    server = browser_server(app_command(options, sample=sample), port)
    click.echo(server.access.url_with_key)
    click.echo(NOTES, err=True)
    if not no_open:
        from presscheck.tui.external_programs import is_remote, open_in_browser  # 60 ms, only to open a browser

        if not is_remote():
            open_in_browser(server.access.url_with_key)
    server.run()


def app_command(options: Options, *, sample: bool) -> list[str]:
    """Return the command that opens the app with the same options: the program and its arguments."""
    # -P: not the module of this name that the current folder, such as a repository of others, may have
    command = [sys.executable, "-P", "-m", "presscheck"]
    command += [f"--profile={options.profile}"] if options.profile is not None else []
    command += [f"--theme={options.theme}"] if options.theme is not None else []
    command += ["--offline"] if options.offline else []
    command += ["--low-bandwidth"] if options.low_bandwidth else []
    command += ["--no-project"] if options.no_project else []
    return [*command, "demo"] if sample else command
