"""Settings: profiles in one TOML file, each a service and a person; the environment wins over the file.

A token is read from the environment or from a file of its own, never from the configuration, and never shown.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from presscheck.errors import ConfigurationError

HOSTED = "https://api.gitbook.com"
"""Where the hosted service answers."""

KNOWN = {"base_url", "token_file", "read_only", "theme", "organization", "allow_http"}
_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)


@dataclass(frozen=True)
class Profile:
    """A service and a person: whom to ask, and as whom."""

    name: str = "default"
    base_url: str = HOSTED
    """Without the ``/v1``; ``unix:/path`` for a socket."""
    token: str | None = field(default=None, repr=False)
    read_only: bool = False
    theme: str | None = None
    organization: str | None = None
    """The organization to begin with, by id or title."""


def load(path: Path, name: str | None = None, environment: dict[str, str] | None = None) -> Profile:
    """The profile of this name (else `PRESSCHECK_PROFILE`, else ``default``) from the file, under the environment.

    Raises:
        ConfigurationError: names the file, the key and what to do.
    """
    env = dict(os.environ) if environment is None else environment
    chosen = name or env.get("PRESSCHECK_PROFILE") or "default"
    if not _NAME.fullmatch(chosen):
        raise ConfigurationError(f"profile {chosen!r}: use up to 40 letters, digits, dots and dashes")
    table = _table(path, chosen, required=bool(name))
    base_url = (env.get("PRESSCHECK_BASE_URL") or _text(table, "base_url", path, chosen) or HOSTED).rstrip("/")
    if not (table.get("allow_http") or _is_private(base_url)):
        raise ConfigurationError(
            f"{base_url}: over http anybody on the way may read the token; "
            f"use https, or set allow_http = true in [profiles.{chosen}] of {path}"
        )
    return Profile(
        name=chosen,
        base_url=base_url,
        token=env.get("PRESSCHECK_TOKEN") or _token(_text(table, "token_file", path, chosen)),
        read_only=bool(table.get("read_only", False)),
        theme=env.get("PRESSCHECK_THEME") or _text(table, "theme", path, chosen),
        organization=_text(table, "organization", path, chosen),
    )


def _is_private(base_url: str) -> bool:
    """Whether nobody on the way can read what is sent: over TLS, a socket on this machine, or its loopback."""
    parts = urlsplit(base_url)
    if parts.scheme != "http":
        return True
    host = parts.hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _table(path: Path, name: str, *, required: bool) -> dict[str, Any]:
    try:
        whole = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        whole = {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from None
    found = whole.get("profiles", {}).get(name)
    if found is None:
        if required:
            raise ConfigurationError(f"{path}: there is no [profiles.{name}]; add it, or leave --profile out")
        return {}
    if not isinstance(found, dict):
        raise ConfigurationError(f"{path}: profiles.{name} must be a table, [profiles.{name}]")
    table = cast("dict[str, Any]", found)
    for key in table:
        if key not in KNOWN:
            raise ConfigurationError(
                f"{path}: profiles.{name}.{key} is not a setting; known: {', '.join(sorted(KNOWN))}"
            )
    return table


def _text(table: dict[str, Any], key: str, path: Path, name: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigurationError(f"{path}: profiles.{name}.{key} must be a text in quotes")
    return value


def _token(file: str | None) -> str | None:
    if file is None:
        return None
    path = Path(file).expanduser()
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigurationError(f"token_file {file}: others may read it; run `chmod 600 {file}`")
        return path.read_text("utf-8").strip() or None
    except OSError as error:
        raise ConfigurationError(
            f"token_file {file}: {error.strerror}; write the token into it, with mode 0600"
        ) from None
