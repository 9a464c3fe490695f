"""Reads and validates the settings file: every error has its line and its key, but never the value.

A value can be a secret in the wrong place, so an error describes the expected value only.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from presscheck.config.saved_views import Judge, SavedView, checked
from presscheck.config.settings_schema import SETTINGS
from presscheck.errors import ConfigurationError

HOSTED = "https://api.gitbook.com"
"""Where the hosted service answers."""

Key = tuple[str, ...]
_POSITION = re.compile(r"\(at line (\d+), column \d+\)")
_QUOTED = re.compile("['\"].*")
_KINDS = {str: "a quoted string", bool: "true or false", int: "a whole number of at least 1"}
_SECRETS = frozenset(("token", "password", "secret", "api_key", "access_token"))


@dataclass(frozen=True)
class Mistake:
    """Something wrong in the file; `key` is empty where it cannot be read at all, `line` None where it is not found."""

    file: Path
    line: int | None
    key: Key
    says: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {'.'.join(self.key)}{' ' if self.key else ''}{self.says}"


def read(path: Path, profile: str, *, required: bool = False) -> dict[str, Any]:
    """The settings of a profile; none where the file or the profile is missing, unless it is required.

    Raises:
        ConfigurationError: a mistake that concerns this profile; one in another, or in a view, is no hindrance.
    """
    whole, mistakes = _read(path)
    for mistake in _beside_views(mistakes):
        if mistake.key[:1] != ("profiles",) or mistake.key[1:2] in ((), (profile,)):
            raise ConfigurationError(str(mistake))
    found = profiles_of(whole).get(profile)
    if found is None and required:
        raise ConfigurationError(f"{path}: profile [profiles.{profile}] not found; add it, or omit --profile")
    return found or {}


def read_all(path: Path) -> dict[str, dict[str, Any]]:
    """Every profile that the file has.

    Raises:
        ConfigurationError: the first mistake, wherever it is but in a view.
    """
    whole, mistakes = _read(path)
    for mistake in _beside_views(mistakes):
        raise ConfigurationError(str(mistake))
    return profiles_of(whole)


def read_views(path: Path, judge: Judge | None = None) -> tuple[tuple[SavedView, ...], tuple[Mistake, ...]]:
    """The views of the file that are right, and what hinders the others; of a file that cannot be read, why."""
    whole, mistakes = _read(path, judge)
    hindering = tuple(mistake for mistake in mistakes if mistake.key[:1] in ((), ("views",)))
    return tuple(checked(whole.get("views", []), judge)[0]), hindering


def mistakes_in(path: Path, judge: Judge | None = None) -> tuple[Mistake, ...]:
    """Everything that is wrong with the file, in the order of its lines; nothing is wrong with a missing one."""
    return tuple(sorted(_read(path, judge)[1], key=lambda mistake: mistake.line or 0))


def refuse_open_way(base_url: str, file: Path, profile: str, *, allow_http: bool) -> None:
    """Require an encrypted or local connection for the token, unless the profile has `allow_http`.

    Raises:
        ConfigurationError: the token would be sent over plain http to another machine.
    """
    if not (allow_http or _is_private(base_url)):
        raise ConfigurationError(
            f"{base_url}: http sends the token unencrypted; "
            f"use https, or set allow_http = true in [profiles.{profile}] of {file}"
        )


def profiles_of(whole: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables of the profiles, of a file without mistakes."""
    return cast("dict[str, dict[str, Any]]", whole.get("profiles", {}))


def _is_private(base_url: str) -> bool:
    """Whether the connection is encrypted or stays on this machine: TLS, a Unix socket or loopback."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        return parts.scheme != "http" or host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _beside_views(mistakes: list[Mistake]) -> list[Mistake]:
    return [mistake for mistake in mistakes if mistake.key[:1] != ("views",)]


def _read(path: Path, judge: Judge | None = None) -> tuple[dict[str, Any], list[Mistake]]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        return {}, [Mistake(path, None, (), f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError:
        return {}, [Mistake(path, None, (), "is not UTF-8 text")]
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [_unreadable(path, error)]
    lines = _lines_of(text)
    return whole, [Mistake(path, _line(lines, key), key, says) for key, says in _wrong(whole, judge)]


def _unreadable(path: Path, error: tomllib.TOMLDecodeError) -> Mistake:
    found = _POSITION.search(str(error))
    says = _POSITION.sub("", str(error)).strip()
    # what stands in quotes here may be a piece of a value
    return Mistake(path, int(found[1]) if found else None, (), f"is not valid TOML: {_QUOTED.sub('…', says)}")


def _wrong(whole: dict[str, Any], judge: Judge | None) -> list[tuple[Key, str]]:
    found: list[tuple[Key, str]] = [
        ((key,), "is not a known setting; settings belong in [profiles.NAME], views in [[views]]")
        for key in whole
        if key not in ("profiles", "views")
    ]
    found += checked(whole.get("views", []), judge)[1]
    profiles = whole.get("profiles", {})
    if not isinstance(profiles, dict):
        return [*found, (("profiles",), "must be a table, such as [profiles.default]")]
    for name, table in cast("dict[str, Any]", profiles).items():
        if isinstance(table, dict):
            found += _wrong_in(("profiles", name), cast("dict[str, Any]", table))
        else:
            found.append((("profiles", name), f"must be a table, [profiles.{name}]"))
    return found


def _wrong_in(profile: Key, table: dict[str, Any]) -> list[tuple[Key, str]]:
    found: list[tuple[Key, str]] = []
    for key, value in table.items():
        setting = SETTINGS.get(key)
        if setting is None:
            found.append(((*profile, key), _unknown(key)))
        elif not isinstance(value, setting.kind) or (setting.kind is int and not _is_size(value)):
            found.append(((*profile, key), f"must be {_KINDS[setting.kind]}, such as {setting.example}"))
        elif value == "":
            found.append(((*profile, key), f"is empty: remove it, or write it as {setting.example}"))
        elif setting.one_of and value not in setting.one_of:
            found.append(((*profile, key), f"must be one of {', '.join(setting.one_of)}"))
    return found


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _unknown(key: str) -> str:
    if key.lower() in _SECRETS:
        return "must not be in this file: remove it and use `presscheck login` or token_file"
    return f"is not a known setting; known: {', '.join(sorted(SETTINGS))}"


def _lines_of(text: str) -> dict[Key, int]:
    """The line on which each table and each key begins, as far as one can tell without parsing values."""
    found: dict[Key, int] = {}
    table: Key = ()
    entries: Counter[Key] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _path_of(stripped)
            if stripped.startswith("[["):
                entries[table] += 1
                table = (*table, str(entries[table]))
            found.setdefault(table, number)
        elif "=" in stripped and not stripped.startswith("#"):
            found.setdefault((*table, *_path_of(stripped.partition("=")[0] + "= 0")), number)
    return found


def _path_of(line: str) -> Key:
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()  # the middle of a value of many lines
    path: list[str] = []
    while isinstance(value, dict) and value:
        key, value = next(iter(cast("dict[str, Any]", value).items()))
        path.append(key)
    return tuple(path)


def _line(lines: dict[Key, int], key: Key) -> int | None:
    """The line of a key, else of the nearest table around it."""
    while key:
        if key in lines:
            return lines[key]
        deeper = [line for found, line in lines.items() if found[: len(key)] == key]
        if deeper:
            return min(deeper)
        key = key[:-1]
    return None
