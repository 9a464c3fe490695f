"""`presscheck login`, `logout`, `whoami` and `profiles`; a token is never printed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from presscheck.api.organizations import ListOrganizations
from presscheck.api.users import GetCurrentUser, User
from presscheck.cli.command_factory import sends
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_json, print_message, print_rows
from presscheck.cli.session import Session, chosen_profile, json_option, load_profile, profile_option, with_session
from presscheck.config.profile import Profile, profile_name
from presscheck.config.settings_schema import first_file
from presscheck.config.tokens import IN_KEYRING, forget_token, is_stored, set_elsewhere, store_token
from presscheck.config.validation import HOSTED, read, read_all, require_encryption
from presscheck.errors import ConfigurationError, InvalidArgument, NotSupported
from presscheck.paths import places, private_directory
from presscheck.wiring import connect


@click.command()
@click.option("--base-url", metavar="URL", help="URL of the service, for a new profile.")
@profile_option
@click.pass_context
@report_errors
def login(context: click.Context, base_url: str | None) -> None:
    """Sign in: check a token and store it.

    Prompts for the token; without a terminal, reads it from standard input. The token is stored in the system keyring,
    or, if there is none, in a file that only you can read.
    """
    file = places().config_file
    name = profile_name(chosen_profile(context), dict(os.environ))
    settings = read(file, name)
    if settings and base_url and base_url.rstrip("/") != settings.get("base_url", HOSTED).rstrip("/"):
        raise ConfigurationError(
            f"{file}: profiles.{name} already has another base_url. Change it in the file, or use --profile"
        )
    elsewhere = set_elsewhere(settings, os.environ)
    if elsewhere:
        raise ConfigurationError(
            f"the token of profile {name} comes from {elsewhere}. Remove it there, then sign in again"
        )
    address = base_url or os.environ.get("PRESSCHECK_BASE_URL") or settings.get("base_url") or HOSTED
    allow_http = settings.get("allow_http", False)
    require_encryption(address, file, name, allow_http=allow_http)
    token = _prompt_for_token(address)
    profile = Profile(name=name, base_url=address.rstrip("/"), token=token, allow_http=allow_http)
    user = asyncio.run(_verify(profile))
    if not settings:
        _add_profile(file, name, base_url)
    where = store_token(file.parent, name, profile.base_url, profile.token or "")
    who = f" as {user.display_name or user.id}" if user else ""
    print_message(f"Signed in to {profile.base_url}{who}; the token is in {where}.")
    if user is None:
        print_message(f"This service does not tell who you are: set `user` in profiles.{name} of {file}.")
    if where != IN_KEYRING:
        print_message("No system keyring was found, so the token is stored in that file; only you can read it.")


@click.command()
@profile_option
@click.pass_context
@report_errors
def logout(context: click.Context) -> None:
    """Sign out: delete the stored token."""
    profile = load_profile(context, with_token=False)
    file = places().config_file
    was_stored = forget_token(file.parent, profile.name, profile.base_url)
    print_message(f"Signed out of {profile.base_url}." if was_stored else f"No stored token for {profile.base_url}.")
    elsewhere = set_elsewhere(read(file, profile.name), os.environ)
    if elsewhere:
        print_message(f"A token is still set in {elsewhere}.")


@click.command()
@with_session
@sends(GetCurrentUser)
async def whoami(session: Session) -> None:
    """Show the signed-in user and the source of the token."""
    profile = session.profile
    try:
        user = await session.read(GetCurrentUser())
    except NotSupported as error:
        await session.read(ListOrganizations())  # fails if the token is not valid
        print_message(error.message)
        user = None
    details = {
        "id": user.id if user else None,
        "displayName": user.display_name if user else None,
        "email": user.email if user else None,
        "profile": profile.name,
        "baseUrl": profile.base_url,
        "tokenFrom": profile.token_from,
        "readOnly": profile.read_only,
    }
    session.show(details)


@click.command()
@json_option
@profile_option
@click.pass_context
@report_errors
def profiles(context: click.Context, *, as_json: bool) -> None:
    """List the profiles of the settings file."""
    file = places().config_file
    chosen = profile_name(chosen_profile(context), dict(os.environ))
    tables = read_all(file)
    tables.setdefault(chosen, {})
    rows = [_profile_row(file.parent, name, table, chosen=name == chosen) for name, table in sorted(tables.items())]
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, ("inUse", "name", "baseUrl", "token", "readOnly"))


def _profile_row(directory: Path, name: str, table: dict[str, Any], *, chosen: bool) -> dict[str, Any]:
    base_url = ((chosen and os.environ.get("PRESSCHECK_BASE_URL")) or table.get("base_url") or HOSTED).rstrip("/")
    environment: Mapping[str, str] = os.environ if chosen else {}
    stored = "login" if is_stored(directory, name, base_url) else None
    return {
        "name": name,
        "inUse": chosen,
        "baseUrl": base_url,
        "token": set_elsewhere(table, environment) or stored,
        "readOnly": table.get("read_only", False),
    }


def _prompt_for_token(address: str) -> str:
    if sys.stdin.isatty():
        token: str = click.prompt(f"Token for {address}", hide_input=True, err=True)
    else:
        token = sys.stdin.readline()
    if not token.strip():
        raise InvalidArgument("token", "is empty. Create a token in the developer settings of the service")
    return token.strip()


async def _verify(profile: Profile) -> User | None:
    """Check the token; returns its user, or None if the service does not tell."""
    async with connect(profile) as client:
        try:
            return await client.send(GetCurrentUser())
        except NotSupported:
            await client.send(ListOrganizations(limit=1))
            return None


def _add_profile(file: Path, name: str, base_url: str | None) -> None:
    """Add a profile to the end of the settings file; a new file starts with a description of every setting."""
    private_directory(file.parent)
    text = file.read_text("utf-8") if file.exists() else first_file() if name == "default" else ""
    header = f'[profiles."{name}"]' if "." in name else f"[profiles.{name}]"
    if header not in text:
        text += ("\n" if text else "") + header + "\n"
    if base_url:
        text = text.replace(header + "\n", f"{header}\nbase_url = {json.dumps(base_url.rstrip('/'))}\n", 1)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise ConfigurationError(f"{file}: could not add the profile. Add {header} to the file and try again") from None
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
