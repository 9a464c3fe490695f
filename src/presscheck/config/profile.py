"""Profiles: the settings of a service and a user, from a TOML file; environment variables override the file.

The token comes from the environment, the output of a command, a token file or `presscheck login`. The token is never in
the settings file, and never shown.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from presscheck.config.settings_schema import CACHE_SIZE, LOW_BANDWIDTH, NARROWEST_TEXT, TEXT_WIDTH
from presscheck.config.tokens import Token, find_token
from presscheck.config.validation import HOSTED, PROFILE_NAME, read, require_encryption
from presscheck.errors import ConfigurationError, NoToken

if TYPE_CHECKING:
    from presscheck.config.browser_session import StoredSession
    from presscheck.config.project import Project

__all__ = ["HOSTED", "Profile", "Token", "load", "load_other", "profile_name"]

OF_THE_FIRST_PROFILE = ("PRESSCHECK_TOKEN", "PRESSCHECK_BASE_URL")
"""Environment variables for the profile with which the process began. Another service must not get its token."""


@dataclass(frozen=True)
class Profile:
    """The settings for a service and a user."""

    name: str = "default"
    base_url: str = HOSTED
    """The URL without ``/v1``; ``unix:/path`` for a socket."""
    token: str | None = field(default=None, repr=False)
    read_only: bool = False
    theme: str | None = None
    organization: str | None = None
    """The organization to show first, by id or title."""
    user: str | None = None
    """The id, e-mail address or name of the user, for services that do not report the user."""
    token_from: str | None = field(default=None, compare=False)
    """The source of the token, in words."""
    browser: StoredSession | None = field(default=None, repr=False, compare=False)
    """The sign-in by browser that the token belongs to, if any."""
    allow_http: bool = False
    """Whether the token may be sent over plain HTTP to another machine."""
    cache_size: int = CACHE_SIZE
    """The size limit of the cache in MB."""
    sync: bool = True
    """Whether the app downloads changes while the user is idle."""
    uses_ascii: bool = False
    reduces_motion: bool = False
    offline: bool = False
    """Whether no requests are sent; an option of the command line, not a setting of the file."""
    is_sample: bool = False
    """Whether the service is the sample workspace; not a setting of the file."""
    owners: str | None = None
    """The path of the file with the owners of pages; None for `owners` next to the settings file."""
    checks: str | None = None
    """The path of the file with the severities of checks; None for `checks.toml` next to the settings file."""
    notify: str | None = None
    """How to notify of events: `bell`, `osc9` or `osc777`; None for no notifications."""
    notify_command: str | None = None
    """The command line of a program that gets each notification."""
    quiet_hours: str | None = None
    """The local time without notifications, such as `22:00-07:00`."""
    editor: str | None = None
    """The editor of pages: `built-in` or `external`; None to decide by `VISUAL` and `EDITOR`."""
    images: str | None = None
    """How pictures are drawn: `auto`, `blocks`, `kitty`, `sixel` or `off`; None for `auto`."""
    low_bandwidth: str | None = None
    """Whether few bytes are sent to the terminal: `auto`, `on` or `off`; None for `auto`."""
    text_width: int = TEXT_WIDTH
    """The maximum width of the text of a page next to the tree, in cells."""
    first_screen: str = "inbox"
    """The screen at the start: a mode of the app, or `last`."""
    first_view: str | None = None
    """The title or id of the inbox view at the start; None for the view that was shown last."""
    preview_side: str | None = None
    """The side of the inbox preview, `below` or `right`; None for the default."""
    preview_size: int | None = None
    """The size of the inbox preview in percent of lines or columns; None for the default."""
    tree_width: int | None = None
    """The width of the tree in Browse, in cells; None for the default."""
    pages_width: int | None = None
    """The width of the list of pages in a review, in cells; None for the default."""
    outline_width: int | None = None
    """The width of the headings next to a page, in cells; None for the default."""
    agents: str = "read"
    """What agents may do: `read`, `draft` or `send`."""
    project: Project | None = field(default=None, repr=False, compare=False)
    """The settings of the project in the working directory, if any."""


def load(
    path: Path,
    name: str | None = None,
    environment: dict[str, str] | None = None,
    *,
    with_token: bool = True,
    project: Project | None = None,
) -> Profile:
    """Load a profile from the settings file, the environment and a project.

    Args:
        path: the settings file; it need not exist.
        name: the name of a profile in the file; by default `PRESSCHECK_PROFILE` or ``default``, which may be missing.
        environment: the environment variables; by default of this process.
        with_token: also find the token, which may run a command or open the system keyring.
        project: the project; its organization overrides the file. It never selects the service or the token.

    Raises:
        ConfigurationError: a setting is invalid; the message names file, line, key and a remedy.
    """
    env = dict(os.environ) if environment is None else environment
    selected = profile_name(name, env)
    table = read(path, selected, required=bool(name))
    base_url = (env.get("PRESSCHECK_BASE_URL") or table.get("base_url") or HOSTED).rstrip("/")
    require_encryption(base_url, path, selected, allow_http=table.get("allow_http", False))
    token, browser = find_token(path.parent, selected, base_url, table, env) if with_token else Token(), None
    if (token.text or "").startswith("{"):
        from presscheck.config.browser_session import stored_session  # 1 ms, only for sign-ins by browser

        browser = stored_session(path.parent, selected, base_url, token)
        origin = f"a sign-in by browser with the scope {browser.session.scope}, in {token.origin}"
        token = Token(browser.session.access, origin)
    return Profile(
        name=selected,
        base_url=base_url,
        token=token.text,
        read_only=table.get("read_only", False),
        theme=env.get("PRESSCHECK_THEME") or table.get("theme"),
        organization=(project.organization if project else None) or table.get("organization"),
        user=table.get("user"),
        token_from=token.origin,
        browser=browser,
        allow_http=table.get("allow_http", False),
        cache_size=table.get("cache_size", CACHE_SIZE),
        owners=table.get("owners"),
        checks=table.get("checks"),
        notify=table.get("notify"),
        notify_command=table.get("notify_command"),
        quiet_hours=table.get("quiet_hours"),
        editor=table.get("editor"),
        images=table.get("images"),
        low_bandwidth=low_bandwidth(env) or table.get("low_bandwidth"),
        text_width=max(NARROWEST_TEXT, table.get("text_width", TEXT_WIDTH)),
        sync=table.get("sync", True),
        first_screen=table.get("first_screen", "inbox"),
        first_view=table.get("first_view"),
        preview_side=table.get("preview_side"),
        preview_size=table.get("preview_size"),
        tree_width=table.get("tree_width"),
        pages_width=table.get("pages_width"),
        outline_width=table.get("outline_width"),
        uses_ascii=table.get("ascii", not has_utf8(env)),
        reduces_motion=table.get("reduce_motion", False),
        agents=table.get("agents", "read"),
        project=project,
    )


def load_other(path: Path, name: str, *, project: Project | None = None) -> Profile:
    """Load a profile other than the one with which the process began, with its token.

    Raises:
        ConfigurationError: a setting is invalid, or there is no such profile.
        NoToken: no token is set.
    """
    environment = {key: value for key, value in os.environ.items() if key not in OF_THE_FIRST_PROFILE}
    profile = load(path, name, environment, project=project)
    if not profile.token:
        raise NoToken(f"no token for {profile.base_url}: run `presscheck login --profile {name}`")
    return profile


def has_utf8(environment: Mapping[str, str]) -> bool:
    """Return whether the terminal shows UTF-8: the locale is UTF-8, or no locale is set.

    Python itself sets `LC_CTYPE` to C.UTF-8 if the locale is C, so this value is ignored.
    """
    names = ("LC_ALL", "LANG") if environment.get("LC_CTYPE") == "C.UTF-8" else ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((environment[name] for name in names if environment.get(name)), "")
    return not locale or "utf8" in locale.replace("-", "").lower()


def low_bandwidth(environment: Mapping[str, str]) -> str | None:
    """Return the value of `PRESSCHECK_LOW_BANDWIDTH`, or None.

    Raises:
        ConfigurationError: the value is unknown.
    """
    value = environment.get("PRESSCHECK_LOW_BANDWIDTH") or None
    if value and value not in LOW_BANDWIDTH:
        raise ConfigurationError(f"PRESSCHECK_LOW_BANDWIDTH must be one of {', '.join(LOW_BANDWIDTH)}")
    return value


def _require_text(environment: dict[str, str]) -> None:
    for name in ("PRESSCHECK_BASE_URL", "PRESSCHECK_TOKEN", "PRESSCHECK_THEME", "PRESSCHECK_PROFILE"):
        try:
            environment.get(name, "").encode()
        except UnicodeEncodeError:
            raise ConfigurationError(f"{name}: is not UTF-8 text") from None


def is_profile_name(name: str) -> bool:
    """Return whether a text is a valid name of a profile."""
    return PROFILE_NAME.fullmatch(name) is not None


def profile_name(name: str | None, environment: dict[str, str]) -> str:
    """Return the name of the profile to use: `name`, else `PRESSCHECK_PROFILE`, else ``default``.

    Raises:
        ConfigurationError: the name is invalid, or a variable is not text.
    """
    _require_text(environment)
    selected = name or environment.get("PRESSCHECK_PROFILE") or "default"
    if not is_profile_name(selected):
        raise ConfigurationError(f"profile {selected!r}: use up to 40 letters, digits, dots and dashes")
    return selected
