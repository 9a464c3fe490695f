"""Reading and validation of the settings file; an error has the line and key, but never the value.

A value may be a misplaced secret, so an error describes the expected value instead.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from presscheck.config.own_commands import OwnCommand, check_own_commands
from presscheck.config.prose_checks import ProseCheck, check_prose_checks, command_words
from presscheck.config.saved_views import SavedView, Validator, check_views
from presscheck.config.settings_schema import SETTINGS, Setting
from presscheck.errors import ConfigurationError

HOSTED = "https://api.gitbook.com"
"""The URL of the hosted service."""
INBOX_PROFILES = "inbox_profiles"
"""The setting at the top of the file with the profiles whose inboxes are shown together."""

Key = tuple[str, ...]
_POSITION = re.compile(r"\(at line (\d+), column \d+\)")
_AT_END = " (at end of document)"
_QUOTED = re.compile("['\"].*")
_TOML_HINTS = {
    "Cannot declare": "this table exists already: write its settings below the first one",
    "Cannot overwrite a value": "this name exists already in its table: keep one of the two",
    "Invalid value": "after = comes a text in quotation marks, a number, true, false or a list in [ ]",
    "Illegal character '\\n'": "a quotation mark without its end on this line",
    "Unescaped '\\'": r"a backslash in a text: write \\, or put the text in single quotation marks",
    "Expected '=' after a key": "expected = after the name of a setting",
    "Expected ']' at the end of a table": "a [ without its ]",
    "Expected ']]' at the end of an array": "a [[ without its ]]",
}
"""What to do about errors of the TOML parser, by the beginning of its message."""
_KINDS = {str: "a quoted string", bool: "true or false", int: "a whole number of at least 1"}
PROFILE_NAME = re.compile(r"[\w.-]{1,40}", re.ASCII)
_ALIAS = re.compile(r"[A-Za-z0-9][\w-]{0,39}", re.ASCII)
SECRETS = frozenset(("token", "password", "secret", "api_key", "access_token"))
"""Keys that would contain a secret, which does not belong in the file."""


@dataclass(frozen=True)
class SettingsError:
    """An error in the settings file; `key` is empty if the whole file is affected, `line` is None if it is unknown."""

    file: Path
    line: int | None
    key: Key
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {'.'.join(self.key)}{' ' if self.key else ''}{self.message}"


def read(path: Path, profile: str, *, required: bool = False) -> dict[str, Any]:
    """Return the settings of a profile; empty if the profile is missing and not `required`.

    Raises:
        ConfigurationError: an error affects the profile; errors in other profiles, in views, checks, commands and
            tables are ignored.
    """
    document, errors = _read(path)
    for error in _of_profiles(errors):
        if error.key[:1] != ("profiles",) or error.key[1:2] in ((), (profile,)):
            raise ConfigurationError(str(error))
    settings = profiles_of(document).get(profile)
    if settings is None and required:
        raise ConfigurationError(f"{path}: profile [profiles.{profile}] not found; add it, or omit --profile")
    return settings or {}


def read_all(path: Path) -> dict[str, dict[str, Any]]:
    """Return the settings of all profiles, by name.

    Raises:
        ConfigurationError: the file has an error, outside of views and tables such as aliases.
    """
    document, errors = _read(path)
    for error in _of_profiles(errors):
        raise ConfigurationError(str(error))
    return profiles_of(document)


def read_inbox_profiles(path: Path) -> tuple[str, ...] | None:
    """Return the names of the profiles whose inboxes are shown together, or None if the setting is missing.

    Raises:
        ConfigurationError: the file or the setting has an error; errors in profiles are ignored.
    """
    document, errors = _read(path)
    for error in errors:
        if error.key[:1] in ((), (INBOX_PROFILES,)):
            raise ConfigurationError(str(error))
    return tuple(document[INBOX_PROFILES]) if INBOX_PROFILES in document else None


def profile_names(path: Path) -> tuple[str, ...]:
    """Return the names of all profiles of the file, also of profiles with errors; empty if it cannot be read."""
    profiles = _read(path)[0].get("profiles")
    return tuple(cast("dict[str, Any]", profiles)) if isinstance(profiles, dict) else ()


def read_views(
    path: Path, validator: Validator | None = None
) -> tuple[tuple[SavedView, ...], tuple[SettingsError, ...]]:
    """Return the valid views of the file, and the errors of invalid views or of the whole file."""
    document, errors = _read(path, validator)
    of_views = tuple(error for error in errors if error.key[:1] in ((), ("views",)))
    return tuple(check_views(document.get("views", []), validator)[0]), of_views


def read_checks(path: Path) -> tuple[tuple[ProseCheck, ...], tuple[SettingsError, ...]]:
    """Return the valid prose checks of the file, and the errors of invalid checks or of the whole file."""
    document, errors = _read(path)
    of_checks = tuple(error for error in errors if error.key[:1] in ((), ("checks",)))
    return tuple(check_prose_checks(document.get("checks", []))[0]), of_checks


def read_commands(path: Path) -> tuple[tuple[OwnCommand, ...], tuple[SettingsError, ...]]:
    """Return the valid own commands of a file, and the errors of invalid commands or of the whole file."""
    document, errors = _read(path)
    of_commands = tuple(error for error in errors if error.key[:1] in ((), ("commands",)))
    return tuple(check_own_commands(document.get("commands", []))[0]), of_commands


def read_aliases(path: Path) -> dict[str, str]:
    """Return the valid aliases of the file: command lines by name. Errors are reported by `presscheck config check`."""
    return _read_table(path, "aliases")


def errors_of_aliases(path: Path) -> tuple[SettingsError, ...]:
    """Return the errors in the table `aliases`, and errors for which the whole file is not read."""
    return tuple(error for error in _read(path)[1] if error.key[:1] in ((), ("aliases",)))


def read_folders(path: Path) -> dict[str, str]:
    """Return the valid folders of the file by space. Errors are reported by `presscheck config check`."""
    return _read_table(path, "folders")


def read_review_programs(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the words of the valid commands that review change requests, by name."""
    return {name: command_words(line) for name, line in _read_table(path, "review_programs").items()}


def read_keys(path: Path) -> tuple[dict[str, Any], tuple[SettingsError, ...]]:
    """Return the ``[keys]`` of the file, which only the app can check, and the error if there is no valid table."""
    document, errors = _read(path)
    key_errors = tuple(error for error in errors if error.key[:1] in ((), ("keys",)))
    return ({} if key_errors else cast("dict[str, Any]", document.get("keys", {}))), key_errors


def located(path: Path, problems: Iterable[tuple[Key, str]]) -> tuple[SettingsError, ...]:
    """Return problems as errors with the lines of their keys in the file."""
    try:
        lines = lines_of_keys(path.read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError):
        lines = {}
    return tuple(SettingsError(path, line_of_key(lines, key), key, message) for key, message in problems)


def _read_table(path: Path, name: str) -> dict[str, str]:
    document, errors = _read(path)
    invalid = {error.key for error in errors}
    if invalid & {(), (name,)}:
        return {}
    entries = cast("dict[str, str]", document.get(name, {}))
    return {key: value for key, value in entries.items() if (name, key) not in invalid}


def folder_error(_space: str, folder: object) -> str | None:
    """Return why the folder of a space is invalid, or None."""
    is_path = isinstance(folder, str) and folder.isprintable() and folder.startswith(("/", "~/"))
    return None if is_path else 'must be a quoted path that begins with / or ~/, such as "~/docs/guides"'


def alias_error(name: str, line: object) -> str | None:
    """Return why an alias is invalid, or None."""
    return _line_error(name, line, "cr list --status draft")


def program_error(name: str, line: object) -> str | None:
    """Return why a review program is invalid, or None."""
    return _line_error(name, line, "my-reviewer --json")


def _line_error(name: str, line: object, example: str) -> str | None:
    if not _ALIAS.fullmatch(name):
        return "must have a name of at most 40 letters, digits, dashes and underscores"
    if not isinstance(line, str) or not line.isprintable():
        return f'must be a quoted string on one line, such as "{example}"'
    try:
        return None if shlex.split(line) else "is empty: remove it"
    except ValueError:
        return "has a quotation mark without its end"


_TABLES: dict[str, Callable[[str, object], str | None]] = {
    "aliases": alias_error,
    "folders": folder_error,
    "keys": lambda _name, _keys: None,  # checked by the app, which knows its commands
    "review_programs": program_error,
}
"""The tables of names and values, with the function that returns the error of an entry."""


def errors_in(path: Path, validator: Validator | None = None) -> tuple[SettingsError, ...]:
    """Return all errors in the file, by line; empty if the file is missing."""
    return tuple(sorted(_read(path, validator)[1], key=lambda error: error.line or 0))


def require_encryption(base_url: str, file: Path, profile: str, *, allow_http: bool) -> None:
    """Check that the token is not sent unencrypted to another machine, unless the profile allows it.

    Raises:
        ConfigurationError: the token would be sent unencrypted; the message has a remedy.
    """
    if not (allow_http or _is_secure(base_url)):
        raise ConfigurationError(
            f"{base_url}: http sends the token unencrypted; "
            f"use https, or set allow_http = true in [profiles.{profile}] of {file}"
        )


def profiles_of(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the tables of the profiles in a valid file, by name."""
    return cast("dict[str, dict[str, Any]]", document.get("profiles", {}))


def _is_secure(base_url: str) -> bool:
    """Return whether requests are encrypted or stay on this machine: TLS, a Unix socket, or loopback."""
    try:
        parts = urlsplit(base_url)
        host = parts.hostname or ""
        return parts.scheme != "http" or host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _of_profiles(errors: list[SettingsError]) -> list[SettingsError]:
    others = {INBOX_PROFILES, "views", "checks", "commands", *_TABLES}
    return [error for error in errors if not others.intersection(error.key[:1]) and not _is_of_unused_profile(error)]


def _is_of_unused_profile(error: SettingsError) -> bool:
    """Return whether an error is in a profile whose name no command takes, so that it stops no command."""
    return error.key[:1] == ("profiles",) and len(error.key) > 1 and not PROFILE_NAME.fullmatch(error.key[1])


def _read(path: Path, validator: Validator | None = None) -> tuple[dict[str, Any], list[SettingsError]]:
    try:
        if problem := _refusal(path):
            return {}, [SettingsError(path, None, (), problem)]
        text = path.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        return {}, [SettingsError(path, None, (), f"cannot be read: {error.strerror}")]
    except UnicodeDecodeError:
        return {}, [SettingsError(path, None, (), "is not UTF-8 text: save it as UTF-8")]
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return {}, [read_toml_error(path, error)]
    lines = lines_of_keys(text)
    return document, [
        SettingsError(path, line_of_key(lines, key), key, message) for key, message in _all_errors(document, validator)
    ]


def _refusal(path: Path) -> str | None:
    """Return why the file is not read, or None: it is a pipe, which could block, or others can write it.

    Whoever can write the file controls the programs that `token_command` and `editor` run. Files of root are trusted,
    because root can run any program anyway.
    """
    status = path.stat()
    if stat.S_ISFIFO(status.st_mode):
        return "is a pipe: write the settings into a regular file"
    if os.name != "posix":
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return "belongs to another user, who could run programs with it; make it yours"
    if status.st_mode & 0o022:
        return f"can be written by other users, who could run programs with it; run `chmod go-w {path}`"
    return None


def read_toml_error(path: Path, error: tomllib.TOMLDecodeError) -> SettingsError:
    """Return the error of a file that is not TOML, without quoting the file."""
    position = _POSITION.search(str(error))
    message = _POSITION.sub("", str(error)).strip()
    hint = next((hint for start, hint in _TOML_HINTS.items() if message.startswith(start)), None)
    # quoted text in the message may be a part of a value
    shown = f"{hint}{_AT_END if message.endswith(_AT_END) else ''}" if hint else _QUOTED.sub("…", message)
    return SettingsError(path, int(position[1]) if position else None, (), f"is not valid TOML: {shown}")


def _all_errors(document: dict[str, Any], validator: Validator | None) -> list[tuple[Key, str]]:
    errors: list[tuple[Key, str]] = [
        ((key,), "is not a known setting; settings belong in [profiles.NAME], views in [[views]]")
        for key in document
        if key not in (INBOX_PROFILES, "profiles", "views", "checks", "commands", *_TABLES)
    ]
    for table, error_of in _TABLES.items():
        entries = document.get(table, {})
        if isinstance(entries, dict):
            values = cast("dict[str, Any]", entries)
            errors += [((table, key), error) for key, value in values.items() if (error := error_of(key, value))]
        else:
            errors.append(((table,), f"must be a table, [{table}]"))
    errors += check_views(document.get("views", []), validator)[1]
    errors += check_prose_checks(document.get("checks", []))[1]
    errors += check_own_commands(document.get("commands", []))[1]
    profiles = document.get("profiles", {})
    if error := _inbox_profiles_error(document.get(INBOX_PROFILES), profiles):
        errors.append(((INBOX_PROFILES,), error))
    if not isinstance(profiles, dict):
        return [*errors, (("profiles",), "must be a table, such as [profiles.default]")]
    for name, table in cast("dict[str, Any]", profiles).items():
        if not PROFILE_NAME.fullmatch(name):
            errors.append((("profiles", name), "must have a name of at most 40 letters, digits, dots and dashes"))
        if isinstance(table, dict):
            errors += _profile_errors(("profiles", name), cast("dict[str, Any]", table))
        else:
            errors.append((("profiles", name), f"must be a table, [profiles.{name}]"))
    return errors


def _inbox_profiles_error(names: object, profiles: object) -> str | None:
    """Return why the list of profiles is invalid, or None; None for a file without the list."""
    if names is None:
        return None
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return 'must be a list of profiles, such as ["work", "client"]'
    listed = cast("list[str]", names)
    for number, name in enumerate(listed):
        if not isinstance(profiles, dict) or name not in profiles:
            return f"has no profile [profiles.{name}]: add it, or remove {name!r} from the list"
        if name in listed[:number]:
            return f"has {name!r} twice"
    return None


def _profile_errors(profile: Key, table: dict[str, Any]) -> list[tuple[Key, str]]:
    errors: list[tuple[Key, str]] = []
    for key, value in table.items():
        setting = SETTINGS.get(key)
        if setting is None:
            errors.append(((*profile, key), _unknown_key(key)))
        elif not isinstance(value, setting.kind) or (setting.kind is int and not _is_in_range(value, setting)):
            errors.append(((*profile, key), f"must be {_kind_words(setting)}, such as {setting.example}"))
        elif value == "":
            errors.append(((*profile, key), f"is empty: remove it, or write it as {setting.example}"))
        elif setting.one_of and value not in setting.one_of:
            errors.append(((*profile, key), f"must be one of {', '.join(setting.one_of)}"))
        elif setting.max_length and len(str(value)) > setting.max_length:
            errors.append(((*profile, key), f"is too long: at most {setting.max_length} characters"))
        elif setting.pattern and not setting.pattern.fullmatch(str(value)):
            errors.append(((*profile, key), f"must be written as {setting.example}"))
        elif key.endswith("_command") and not command_words(value):
            errors.append(((*profile, key), f"must be a command line, such as {setting.example}"))
    return errors


def _is_in_range(value: object, setting: Setting) -> bool:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and setting.smallest <= value and (setting.largest is None or value <= setting.largest)


def _kind_words(setting: Setting) -> str:
    is_limited = setting.kind is int and setting.largest is not None
    return f"a whole number from {setting.smallest} to {setting.largest}" if is_limited else _KINDS[setting.kind]


def _unknown_key(key: str) -> str:
    if key.lower() in SECRETS:
        return "must not be in this file: remove it and use `presscheck login` or token_file"
    return f"is not a known setting; known: {', '.join(sorted(SETTINGS))}"


def lines_of_keys(text: str) -> dict[Key, int]:
    """Return the line of each table and key. Keys inside of values, such as inline tables, are missing."""
    lines: dict[Key, int] = {}
    table: Key = ()
    entries: Counter[Key] = Counter()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("["):
            table = _path_of(stripped)
            if stripped.startswith("[["):
                entries[table] += 1
                table = (*table, str(entries[table]))
            lines.setdefault(table, number)
        elif "=" in stripped and not stripped.startswith("#"):
            lines.setdefault((*table, *_path_of(stripped.partition("=")[0] + "= 0")), number)
    return lines


def _path_of(line: str) -> Key:
    try:
        value: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()  # inside a multi-line value
    path: list[str] = []
    while isinstance(value, dict) and value:
        key, value = next(iter(cast("dict[str, Any]", value).items()))
        path.append(key)
    return tuple(path)


def line_of_key(lines: dict[Key, int], key: Key) -> int | None:
    """Return the line of a key, or else the first line inside it, or else the line of the nearest table around it.

    Return None if all of these lines are unknown.
    """
    while key:
        if key in lines:
            return lines[key]
        deeper = [line for other, line in lines.items() if other[: len(key)] == key]
        if deeper:
            return min(deeper)
        key = key[:-1]
    return None
