"""`presscheck config`: where the settings are, what is wrong with them, and what holds; a secret is never printed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from presscheck.cli.exit_codes import says_what_failed
from presscheck.cli.output import print_details, print_json, talk
from presscheck.cli.session import json_option, load_profile, profile_option
from presscheck.cli.text_input import edit_file
from presscheck.config.settings_schema import first_file, schema
from presscheck.config.tokens import is_stored, set_elsewhere
from presscheck.config.validation import SettingsError, errors_in, read
from presscheck.engine.inbox.views import validate_view
from presscheck.errors import ChecksFailed
from presscheck.paths import places, private_directory


@click.group()
def config() -> None:
    """Manage the settings: `path`, `edit`, `check`, `show`, `schema`."""


@config.command("path")
@says_what_failed
def path() -> None:
    """Print the path of the settings file."""
    click.echo(str(places().config_file))


@config.command("edit")
@says_what_failed
def edit() -> None:
    """Open the settings in your editor, then check them."""
    file = places().config_file
    if not file.exists():
        private_directory(file.parent)
        file.write_text(first_file(), "utf-8")
    edit_file(file)
    _check(file)


@config.command("check")
@json_option
@says_what_failed
def check(*, as_json: bool) -> None:
    """List errors with file, line and key; exit code 6 if there are any."""
    file = places().config_file
    if as_json:
        found = errors_in(file, validate_view)
        print_json([_as_values(one) for one in found])
        if found:
            raise ChecksFailed(f"{len(found)} {'error' if len(found) == 1 else 'errors'}")
        return
    _check(file)


@config.command("show")
@json_option
@profile_option
@click.pass_context
@says_what_failed
def show(context: click.Context, *, as_json: bool) -> None:
    """Print the effective settings of the profile, from the file and the environment."""
    profile = load_profile(context, with_token=False)
    file = places().config_file
    stored = "login" if is_stored(file.parent, profile.name, profile.base_url) else None
    found = {
        "file": str(file),
        "profile": profile.name,
        "base_url": _without_password(profile.base_url),
        "token": set_elsewhere(read(file, profile.name), os.environ) or stored or "none",
        "organization": profile.organization,
        "read_only": profile.read_only,
        "cache_size": profile.cache_size,
        "theme": profile.theme,
        "notify": profile.notify,
    }
    (print_json if as_json else print_details)(found)


@config.command("schema")
def print_schema() -> None:
    """Print the JSON schema of the settings, for an editor that checks TOML."""
    click.echo(json.dumps(schema(), indent=2))


def _as_values(mistake: SettingsError) -> dict[str, Any]:
    return {
        "file": str(mistake.file),
        "line": mistake.line,
        "key": ".".join(mistake.key),
        "says": mistake.message,
    }


def _check(file: Path) -> None:
    found = errors_in(file, validate_view)
    for mistake in found:
        click.echo(str(mistake))
    if found:
        raise ChecksFailed(f"{len(found)} {'error' if len(found) == 1 else 'errors'} in {file}")
    talk(f"No errors in {file}." if file.exists() else f"{file} does not exist; all settings have defaults.")


def _without_password(address: str) -> str:
    try:
        parts = urlsplit(address)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    except ValueError:
        return "unreadable"
