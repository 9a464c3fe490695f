"""`presscheck config`: path, editing, checking and effective values of the settings. Secrets are never printed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import print_details, print_json, print_message
from presscheck.cli.session import load_profile, profile_option
from presscheck.cli.text_input import edit_file
from presscheck.config.checks_file import ChecksFile
from presscheck.config.file_replacement import replace_file
from presscheck.config.owners_file import OwnersFile, owners_errors
from presscheck.config.settings_schema import first_file, schema
from presscheck.config.tokens import is_stored, set_elsewhere
from presscheck.config.validation import SettingsError, errors_in, read, read_all
from presscheck.engine.inbox.views import validate_view
from presscheck.errors import ChecksFailed, ConfigurationError
from presscheck.paths import PRIVATE_FILE, places, private_directory
from presscheck.text.phrases import count


@click.group()
def config() -> None:
    """Manage the settings."""


@config.command("path")
@report_errors
def path() -> None:
    """Print the path of the settings file."""
    click.echo(str(places().config_file))


@config.command("edit")
@report_errors
def edit() -> None:
    """Open the settings file in your editor, then check it."""
    file = places().config_file
    if not file.exists():
        private_directory(file.parent)
        replace_file(file, first_file(), PRIVATE_FILE)
    edit_file(file)
    _check(file)


@config.command("check")
@json_option
@report_errors
def check(*, as_json: bool) -> None:
    """Check the settings file, the owners and the checks files.

    Prints each error with file, line and key. The exit code is 6 if there are errors.
    """
    file = places().config_file
    if as_json:
        errors = _errors(file)
        print_json([_as_values(error) for error in errors])
        if errors:
            raise ChecksFailed(count(len(errors), "error"))
        return
    _check(file)


@config.command("show")
@json_option
@profile_option
@click.pass_context
@report_errors
def show(context: click.Context, *, as_json: bool) -> None:
    """Show the effective settings of the profile.

    Combines the settings file, the environment and the defaults.
    """
    profile = load_profile(context, with_token=False)
    file = places().config_file
    stored = "login" if is_stored(file.parent, profile.name, profile.base_url) else None
    values = {
        "file": str(file),
        "profile": profile.name,
        "base_url": _without_credentials(profile.base_url),
        "token": set_elsewhere(read(file, profile.name), os.environ) or stored or "none",
        "organization": profile.organization,
        "read_only": profile.read_only,
        "cache_size": profile.cache_size,
        "owners": str(OwnersFile(file, profile.owners).path),
        "checks": str(ChecksFile(file, profile.checks).path),
        "theme": profile.theme,
        "notify": profile.notify,
    }
    (print_json if as_json else print_details)(values)


@config.command("schema")
def print_schema() -> None:
    """Print the JSON schema of the settings file.

    Editors with TOML support use it for completion and validation.
    """
    click.echo(json.dumps(schema(), indent=2))


def _as_values(error: SettingsError) -> dict[str, Any]:
    return {
        "file": str(error.file),
        "line": error.line,
        "key": ".".join(error.key),
        "message": error.message,
    }


def _errors(file: Path) -> tuple[SettingsError, ...]:
    """Return the errors in the settings file, the owners files and the checks files."""
    errors = errors_in(file, validate_view) + _key_errors(file)
    try:
        return errors + owners_errors(file) + _checks_errors(file)
    except ConfigurationError:
        return errors  # includes the error that was raised


def _key_errors(file: Path) -> tuple[SettingsError, ...]:
    from presscheck.tui.key_settings import load_keymap  # 2 ms, only to check the file

    return tuple(error for error in load_keymap(file)[1] if len(error.key) > 1)


def _checks_errors(file: Path) -> tuple[SettingsError, ...]:
    from presscheck.documents.sites.checks import CHECK_NAMES  # 60 ms, only to check the files

    named = {table.get("checks") for table in read_all(file).values()} | {None}
    files = [ChecksFile(file, name) for name in sorted(named, key=lambda name: name or "")]
    return tuple(error for one in files for error in one.check(CHECK_NAMES)[1])


def _check(file: Path) -> None:
    errors = _errors(file)
    for error in errors:
        click.echo(str(error))
    if errors:
        raise ChecksFailed(f"{count(len(errors), 'error')} in {' and '.join({str(error.file): 0 for error in errors})}")
    print_message(f"No errors in {file}." if file.exists() else f"{file} does not exist; all settings have defaults.")


def _without_credentials(address: str) -> str:
    try:
        parts = urlsplit(address)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    except ValueError:
        return "invalid URL"
