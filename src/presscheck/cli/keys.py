"""`presscheck keys`: the keys of all commands of the app, and the check of the keys in the settings file."""

from __future__ import annotations

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import print_json, print_message, print_rows
from presscheck.cli.project import project_of
from presscheck.errors import ChecksFailed
from presscheck.paths import places
from presscheck.text.phrases import count
from presscheck.tui.commands import Keymap, shown
from presscheck.tui.key_settings import PRESETS, key_rows, load_keymap


@click.command()
@click.option("--check", "only_check", is_flag=True, help="Check [keys] and [[commands]] of the settings file instead.")
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Show the keys of a preset instead of your keys.")
@json_option
@click.pass_context
@report_errors
def keys(context: click.Context, *, only_check: bool, preset: str | None, as_json: bool) -> None:
    """List the keys of the app.

    Change them in the table [keys] of config.toml, or in the app: `?`, then ctrl+e on a command. Your own commands,
    from [[commands]], and the trusted ones of the project come last. `--check` prints each error with file, line and
    command; its exit code is 6 if there are errors.
    """
    file = places().config_file
    keymap, errors = load_keymap(file, project_of(context))
    if only_check:
        for error in sorted(errors, key=lambda error: (str(error.file), error.line or 0)):
            click.echo(str(error))
        if errors:
            raise ChecksFailed(f"{count(len(errors), 'error')} in the keys of {file}")
        print_message(f"No errors in the keys of {file}.")
        return
    rows = list(key_rows(Keymap(PRESETS[preset]) if preset else keymap))
    if as_json:
        print_json([row._asdict() for row in rows])
        return
    print_rows(
        [
            {
                "command": row.command,
                "keys": "  ".join(map(shown, row.keys)),
                "changed": "yes" if row.changed else "",
                "title": row.title,
            }
            for row in rows
        ],
        ("command", "keys", "changed", "title"),
    )
    if errors:
        print_message(f"{count(len(errors), 'key setting')} not used: see `presscheck keys --check`.")
