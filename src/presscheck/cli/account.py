"""`presscheck login`, `logout`, `whoami` and `profiles`; a token is never printed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from presscheck.api.organizations import ListOrganizations
from presscheck.api.scopes import SCOPES
from presscheck.api.users import GetCurrentUser
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.operations.command_factory import sends
from presscheck.cli.output import print_json, print_message, print_rows
from presscheck.cli.session import Session, chosen_profile, load_profile, profile_option, with_session
from presscheck.config.profile import Profile, profile_name
from presscheck.config.tokens import IN_KEYRING, forget_token, is_stored, lock_token, set_elsewhere, stored_token
from presscheck.config.validation import HOSTED, read, read_all
from presscheck.errors import ConfigurationError, InvalidArgument, NotSupported, RequestError
from presscheck.paths import places
from presscheck.sign_in import SignIn, revoke

if TYPE_CHECKING:
    from presscheck.client.oauth import DeviceCode


@click.command()
@click.option("--base-url", metavar="URL", help="URL of the service, for a new profile.")
@click.option("--web", "by_device", is_flag=True, help="Sign in by browser, with a code; works over SSH.")
@click.option("--browser", "by_redirect", is_flag=True, help="Sign in by a browser on this machine.")
@click.option(
    "--scope",
    type=click.Choice([*SCOPES]),
    default="write",
    show_default=True,
    help="Scope of a sign-in by browser: read, write content, or everything that you may do.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="NUMBER",
    default=0,
    help="Port of this machine that --browser returns to; 0 for any.",
)
@profile_option
@click.pass_context
@report_errors
def login(
    context: click.Context, base_url: str | None, *, by_device: bool, by_redirect: bool, scope: str, port: int
) -> None:
    """Sign in: check a token and store it.

    Prompts for the token; without a terminal, reads it from standard input. With --web or --browser, the service issues
    a token after you sign in there. The token is stored in the system keyring, or, if there is none, in a file that
    only you can read.
    """
    if by_device and by_redirect:
        raise InvalidArgument("browser", "cannot be combined with --web")
    name = profile_name(chosen_profile(context), dict(os.environ))
    sign_in = SignIn(places().config_file, name, os.environ)
    address = sign_in.check(base_url)
    if by_device:
        session = asyncio.run(sign_in.by_device(address, scope, _show_code, print_message))
        token, access = session, session.access
    elif by_redirect:
        session = asyncio.run(sign_in.by_redirect(address, scope, port, _open_page, print_message))
        token, access = session, session.access
    else:
        token = access = _prompt_for_token(address)
    user = asyncio.run(sign_in.verify(address, access))
    done = sign_in.store(base_url, token, user)
    who = f" as {user.display_name or user.id}" if user else ""
    if done.profile.browser:
        granted = done.profile.browser.session.scope
        who += f"; presscheck {SCOPES.get(granted, f'has the scope {granted}')}"
    print_message(f"Signed in to {address}{who}; the token is in {done.place}.")
    try:
        asyncio.run(revoke(done.profile, done.replaced))
    except RequestError as error:
        print_message(f"The earlier sign-in could not be revoked at the service: {error.message}.")
    if user is None:
        print_message(f"This service does not tell who you are: set `user` in profiles.{name} of {sign_in.file}.")
    if done.place != IN_KEYRING:
        print_message("No system keyring could be used, so the token is stored in that file; only you can read it.")


@click.command()
@profile_option
@click.pass_context
@report_errors
def logout(context: click.Context) -> None:
    """Sign out: delete the stored token. A sign-in by browser also ends at the service."""
    profile = load_profile(context, with_token=False)
    file = places().config_file
    stored = (file.parent, profile.name, profile.base_url)
    with lock_token(*stored) if is_stored(*stored) else nullcontext():
        with suppress(ConfigurationError):  # the keyring may not provide the token
            profile = _with_session(file.parent, profile)
        was_stored = forget_token(*stored)
    print_message(f"Signed out of {profile.base_url}." if was_stored else f"No stored token for {profile.base_url}.")
    try:
        asyncio.run(revoke(profile, profile.browser.session if profile.browser else None))
    except RequestError as error:
        print_message(f"The sign-in could not be revoked at the service, where it expires later: {error.message}.")
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


def _with_session(directory: Path, profile: Profile) -> Profile:
    token = stored_token(directory, profile.name, profile.base_url)
    if not (token.text or "").startswith("{"):
        return profile
    from presscheck.config.browser_session import stored_session  # 1 ms, only for sign-ins by browser

    return replace(profile, browser=stored_session(directory, profile.name, profile.base_url, token))


def _show_code(device: DeviceCode) -> None:
    print_message(f"Open {device.url} in any browser, and enter the code {device.user_code}")
    if device.complete_url != device.url:
        print_message(f"or open {device.complete_url} and compare the code.")
    if sys.stderr.isatty():
        from presscheck.tui.terminal.clipboard import clipboard_sequence  # 1 ms, only to copy a code

        sys.stderr.write(clipboard_sequence(device.user_code, os.environ))
        print_message("The code is also in your clipboard, if the terminal permits it.")
    print_message(f"Waiting for your approval, for up to {device.seconds / 60:.0f} minutes …")


def _open_page(url: str) -> None:
    from presscheck.tui.external_programs import is_remote, open_in_browser  # 60 ms, only to sign in by browser

    print_message(f"Sign in in your browser: {url}")
    if is_remote():
        print_message("This machine seems to have no browser: forward the port (see --port), or use --web.")
    else:
        open_in_browser(url)


def _prompt_for_token(address: str) -> str:
    if sys.stdin.isatty():
        token: str = click.prompt(f"Token for {address}", hide_input=True, err=True)
    else:
        token = sys.stdin.readline()
    if not token.strip():
        raise InvalidArgument("token", "is empty. Create a token in the developer settings of the service")
    return token.strip()
