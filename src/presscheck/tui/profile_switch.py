"""The dialog for switching profiles, which lists service, user and number of waiting change requests."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from presscheck.config.profile import Profile, load_other
from presscheck.engine.profiles import ProfileSummary, list_profiles
from presscheck.text.phrases import long_ago
from presscheck.text.sanitize import sanitize
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.tui.app_context import AppContext
    from presscheck.tui.ui.screen import BaseScreen


async def choose_profile(app: AppContext, screen: BaseScreen) -> Profile | None:
    """Ask for another profile. Return it with its token, or None if the user cancels.

    Files, token programs and the system keyring are read in a thread.

    Raises:
        PresscheckError: the settings file has an error, or the profile has no token.
    """
    profiles = await asyncio.to_thread(list_profiles, app.where, app.begun_with)
    if not any(profile.name != app.profile.name for profile in profiles):
        screen.notify("there is no other profile: `presscheck config edit` adds one as [profiles.NAME]")
        return None
    columns = max(len(profile.name) for profile in profiles)
    choices = [
        Choice(profile.name, _label(profile, columns), _note(profile, is_current=profile.name == app.profile.name))
        for profile in profiles
    ]
    name = await choose(screen, "Profile", choices, ranked=True, current=app.profile.name)
    if name is None or name == app.profile.name:
        return None
    return await asyncio.to_thread(load_profile, app, name)


def _label(profile: ProfileSummary, columns: int) -> str:
    user = f"{sanitize(profile.user)} · " if profile.user else ""
    return f"{profile.name.ljust(columns)}   {user}{sanitize(profile.host)}"


def _note(profile: ProfileSummary, *, is_current: bool) -> str:
    parts = ["in use"] if is_current else []
    if not profile.has_token:
        parts.append("no token")
    elif profile.needs_me is not None:
        parts.append(f"{profile.needs_me} need you" if profile.needs_me != 1 else "1 needs you")
        parts += [] if is_current else [f"as of {long_ago(profile.age)}"]
    elif not is_current:
        parts.append("not opened yet")
    return " · ".join(parts)


def load_profile(app: AppContext, name: str) -> Profile:
    """Load a profile, and apply the command line options for the terminal and the connection.

    Blocks while it reads files, token programs and the system keyring.

    Raises:
        PresscheckError: the settings file has an error, or the profile has no token.
    """
    current, begun_with = app.profile, app.begun_with
    if name == begun_with.name:
        return replace(begun_with, project=current.project)  # with the answers to its questions
    profile = load_other(app.settings_file, name, project=current.project)
    is_slow = begun_with.low_bandwidth == "on"
    return replace(
        profile,
        offline=current.offline,
        theme=profile.theme or app.theme,
        low_bandwidth="on" if is_slow else profile.low_bandwidth,
    )
