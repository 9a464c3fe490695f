"""Settings: profiles in one TOML file, each a service and a person; the environment wins over the file.

A token is read from the environment, from what a command prints, from a file of its own or from where `login` put it,
never from the configuration itself, and never shown.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from presscheck.config.settings_schema import CACHE_SIZE
from presscheck.config.tokens import Token, find_token
from presscheck.config.validation import HOSTED, read, refuse_open_way
from presscheck.errors import ConfigurationError

__all__ = ["HOSTED", "Profile", "Token", "chosen_name", "load"]

_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)


@dataclass(frozen=True)
class Profile:
    """A service, its token, and the settings of a profile."""

    name: str = "default"
    base_url: str = HOSTED
    """Without the ``/v1``; ``unix:/path`` for a socket."""
    token: str | None = field(default=None, repr=False)
    read_only: bool = False
    theme: str | None = None
    organization: str | None = None
    """The organization to begin with, by id or title."""
    token_from: str | None = field(default=None, compare=False)
    """Where the token was found, in words."""
    allow_http: bool = False
    """Send the token over http to another machine too."""
    cache_size: int = CACHE_SIZE
    """MB that the cache may hold."""
    sync: bool = True
    """Whether the app downloads changes while it is idle."""
    offline: bool = False
    """Ask the service for nothing; for this run, not from the file."""
    notify: str | None = None
    """How to notify of events: bell, osc9, osc777; None for off."""


def load(
    path: Path, name: str | None = None, environment: dict[str, str] | None = None, *, with_token: bool = True
) -> Profile:
    """The profile of this name (else `PRESSCHECK_PROFILE`, else ``default``) from the file, under the environment.

    Args:
        path: the file; it need not be there.
        name: the profile; one that is named must be in the file.
        environment: instead of that of this process.
        with_token: also find the token, for which a command or the system keyring may be asked.

    Raises:
        ConfigurationError: names the file, the line, the key and what to do.
    """
    env = dict(os.environ) if environment is None else environment
    chosen = chosen_name(name, env)
    table = read(path, chosen, required=bool(name))
    base_url = (env.get("PRESSCHECK_BASE_URL") or table.get("base_url") or HOSTED).rstrip("/")
    refuse_open_way(base_url, path, chosen, allow_http=table.get("allow_http", False))
    token = find_token(path.parent, chosen, base_url, table, env) if with_token else Token()
    return Profile(
        name=chosen,
        base_url=base_url,
        token=token.text,
        read_only=table.get("read_only", False),
        theme=env.get("PRESSCHECK_THEME") or table.get("theme"),
        organization=table.get("organization"),
        token_from=token.origin,
        allow_http=table.get("allow_http", False),
        cache_size=table.get("cache_size", CACHE_SIZE),
        notify=table.get("notify"),
        sync=table.get("sync", True),
    )


def chosen_name(name: str | None, environment: dict[str, str]) -> str:
    """The name of the profile to use.

    Raises:
        ConfigurationError: no profile can be called that.
    """
    chosen = name or environment.get("PRESSCHECK_PROFILE") or "default"
    if not _NAME.fullmatch(chosen):
        raise ConfigurationError(f"profile {chosen!r}: use up to 40 letters, digits, dots and dashes")
    return chosen
