"""Signing in and out, and who one is; the token is asked for without an echo and printed nowhere."""

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

from presscheck.api.users import GetCurrentUser, User
from presscheck.cli.exit_codes import says_what_failed
from presscheck.cli.output import print_json, print_rows, talk
from presscheck.cli.session import Session, asking, chosen_profile, json_option, load_profile, profile_option
from presscheck.config.profile import Profile, chosen_name
from presscheck.config.settings_schema import first_file
from presscheck.config.tokens import IN_KEYRING, forget_token, is_stored, set_elsewhere, store_token
from presscheck.config.validation import HOSTED, read, read_all, refuse_open_way
from presscheck.errors import ConfigurationError, InvalidArgument
from presscheck.paths import places, private_directory
from presscheck.wiring import connect


@click.command()
@click.option("--base-url", metavar="URL", help="Address of the service, for a new profile.")
@profile_option
@click.pass_context
@says_what_failed
def login(context: click.Context, base_url: str | None) -> None:
    """Sign in: asks for the token, checks it and stores it in the system keyring.

    Without a terminal the token is read from standard input. Where there is no keyring, a file that only you can read
    keeps it.
    """
    file = places().config_file
    name = chosen_name(chosen_profile(context), dict(os.environ))
    settings = read(file, name)
    if settings and base_url and base_url.rstrip("/") != settings.get("base_url", HOSTED).rstrip("/"):
        raise ConfigurationError(f"{file}: profiles.{name} already has another base_url; change it in the file")
    elsewhere = set_elsewhere(settings, os.environ)
    if elsewhere:
        raise ConfigurationError(f"the token of {name} comes from {elsewhere}; remove that first")
    address = base_url or os.environ.get("PRESSCHECK_BASE_URL") or settings.get("base_url") or HOSTED
    allow_http = settings.get("allow_http", False)
    refuse_open_way(address, file, name, allow_http=allow_http)
    token = _asked_for_token(address)
    profile = Profile(name=name, base_url=address.rstrip("/"), token=token, allow_http=allow_http)
    user = asyncio.run(_verified(profile))
    if not settings:
        _add_profile(file, name, base_url)
    where = store_token(file.parent, name, profile.base_url, profile.token or "")
    talk(f"Signed in to {profile.base_url} as {user.display_name or user.id}; the token is in {where}.")
    if where != IN_KEYRING:
        talk("No system keyring was found, so the token is stored in that file; only you can read it.")


@click.command()
@profile_option
@click.pass_context
@says_what_failed
def logout(context: click.Context) -> None:
    """Sign out: delete the stored token."""
    profile = load_profile(context, with_token=False)
    file = places().config_file
    had = forget_token(file.parent, profile.name, profile.base_url)
    talk(f"Signed out of {profile.base_url}." if had else f"`login` stored no token for {profile.base_url}.")
    elsewhere = set_elsewhere(read(file, profile.name), os.environ)
    if elsewhere:
        talk(f"{elsewhere} still provides a token.")


@click.command()
@asking
async def whoami(session: Session) -> None:
    """Print the signed-in user and where the token comes from."""
    user, profile = await session.read(GetCurrentUser()), session.profile
    found = {
        "id": user.id,
        "displayName": user.display_name,
        "email": user.email,
        "profile": profile.name,
        "baseUrl": profile.base_url,
        "tokenFrom": profile.token_from,
        "readOnly": profile.read_only,
    }
    session.show(found)


@click.command()
@json_option
@profile_option
@click.pass_context
@says_what_failed
def profiles(context: click.Context, *, as_json: bool) -> None:
    """List the profiles and mark the active one."""
    file = places().config_file
    chosen = chosen_name(chosen_profile(context), dict(os.environ))
    tables = read_all(file)
    tables.setdefault(chosen, {})
    rows = [_described(file.parent, name, table, chosen=name == chosen) for name, table in sorted(tables.items())]
    if as_json:
        print_json(rows)
    else:
        print_rows(rows, ("inUse", "name", "baseUrl", "token", "readOnly"))


def _described(directory: Path, name: str, table: dict[str, Any], *, chosen: bool) -> dict[str, Any]:
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


def _asked_for_token(address: str) -> str:
    if sys.stdin.isatty():
        token: str = click.prompt(f"Token for {address}", hide_input=True, err=True)
    else:
        token = sys.stdin.readline()
    if not token.strip():
        raise InvalidArgument("token", "no token was entered")
    return token.strip()


async def _verified(profile: Profile) -> User:
    async with connect(profile) as client:
        return await client.send(GetCurrentUser())


def _add_profile(file: Path, name: str, base_url: str | None) -> None:
    """Add a profile to the end of the file, which begins with every setting explained."""
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
        raise ConfigurationError(f"{file}: could not add the profile; add {header} by hand and try again") from None
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
