"""`presscheck login`, `logout`, `whoami` and `profiles`; a token is never printed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from presscheck.api.organizations import ListOrganizations
from presscheck.api.users import GetCurrentUser
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.output import print_json, print_message, print_rows
from presscheck.cli.session import Session, chosen_profile, load_profile, profile_option, with_session
from presscheck.config.profile import profile_name
from presscheck.config.tokens import IN_KEYRING, forget_token, is_stored, set_elsewhere
from presscheck.config.validation import HOSTED, read, read_all
from presscheck.errors import InvalidArgument, NotSupported
from presscheck.paths import places
from presscheck.sign_in import SignIn


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
    name = profile_name(chosen_profile(context), dict(os.environ))
    sign_in = SignIn(places().config_file, name, os.environ)
    address = sign_in.check(base_url)
    token = _prompt_for_token(address)
    user = asyncio.run(sign_in.verify(address, token))
    done = sign_in.store(base_url, token, user)
    who = f" as {user.display_name or user.id}" if user else ""
    print_message(f"Signed in to {address}{who}; the token is in {done.place}.")
    if user is None:
        print_message(f"This service does not tell who you are: set `user` in profiles.{name} of {sign_in.file}.")
    if done.place != IN_KEYRING:
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
