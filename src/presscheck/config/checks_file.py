"""The severities of the checks of sites, from a TOML file that can be kept in a repository.

``[checks]`` applies to every site, ``[sites."TITLE OR ID"]`` to a single site; each line is the name of a check and its
severity: ``no-description = "off"``. The default file is `checks.toml` next to the settings file; the setting `checks`
or the option --checks names another file. A file with errors is rejected as a whole: users would not notice a check
that is off by mistake.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from presscheck.config.validation import Key, SettingsError, line_of_key, lines_of_keys, read_toml_error
from presscheck.errors import ConfigurationError

CHECKS_NAME = "checks.toml"
"""The default name of the file, which is next to the settings file."""
MAX_BYTES = 256 * 1024
"""The maximum size of the file."""
LEVELS = ("error", "warning", "info", "off")
"""The allowed severities of a check."""


@dataclass(frozen=True)
class CheckLevels:
    """The severities of a file: for every site, and for single sites by title or id."""

    general: Mapping[str, str] = field(default_factory=dict[str, str])
    by_site: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def of(self, *names: str) -> dict[str, str]:
        """Return the severities for a site, by check.

        Args:
            names: the id and the title of the site; case is ignored.
        """
        folded = {name.casefold() for name in names}
        levels = dict(self.general)
        for name, own in self.by_site.items():
            if name.casefold() in folded:
                levels |= own
        return levels


class ChecksFile:
    """The file with the severities of checks.

    Args:
        settings: the settings file, whose directory contains the file by default.
        named: the path from the settings of the profile, relative to the settings file; the file must then exist.
        given: the path from an option, relative to the working directory; the file must then exist.
    """

    def __init__(self, settings: Path, named: str | None = None, given: Path | None = None) -> None:
        self.path = given or settings.parent / (Path(named).expanduser() if named else CHECKS_NAME)
        self._is_required = given is not None or named is not None

    def read(self, known: Collection[str]) -> CheckLevels:
        """Return the severities of the file; empty if an optional file is missing.

        Args:
            known: the names of all checks.

        Raises:
            ConfigurationError: the file cannot be read, or has errors; the message has file, line and allowed names.
        """
        levels, errors = self.check(known)
        if errors:
            raise ConfigurationError("\n".join(str(error) for error in errors))
        return levels

    def check(self, known: Collection[str]) -> tuple[CheckLevels, tuple[SettingsError, ...]]:
        """Return the severities of the file, and all its errors; see `read` for the arguments."""
        path = self.path
        try:
            with path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                return CheckLevels(), (_whole(path, f"is larger than {MAX_BYTES // 1024} KB: shorten it"),)
            text = content.decode("utf-8-sig")
            document = tomllib.loads(text)
        except FileNotFoundError:
            if not self._is_required:
                return CheckLevels(), ()
            return CheckLevels(), (_whole(path, "not found: create it, or name another file"),)
        except UnicodeDecodeError:
            return CheckLevels(), (_whole(path, "is not UTF-8 text: save the file as UTF-8"),)
        except tomllib.TOMLDecodeError as error:
            return CheckLevels(), (read_toml_error(path, error),)
        except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
            reason = getattr(error, "strerror", None) or "invalid path"
            return CheckLevels(), (_whole(path, f"cannot be read: {reason}"),)
        messages: list[tuple[Key, str]] = []
        levels = _levels(document, known, messages)
        lines = lines_of_keys(text)
        errors = [SettingsError(path, line_of_key(lines, key), key, message) for key, message in messages]
        return levels, tuple(sorted(errors, key=lambda error: error.line or 0))


def _whole(path: Path, message: str) -> SettingsError:
    return SettingsError(path, None, (), message)


def _levels(document: dict[str, Any], known: Collection[str], errors: list[tuple[Key, str]]) -> CheckLevels:
    errors += [
        ((key,), 'is not a known table; known: [checks], [sites."TITLE OR ID"]')
        for key in document
        if key not in ("checks", "sites")
    ]
    general = _table(("checks",), document.get("checks", {}), known, errors)
    sites = document.get("sites", {})
    if not isinstance(sites, dict):
        errors.append((("sites",), 'must be tables, such as [sites."Docs"]'))
        sites = {}
    tables = cast("dict[str, Any]", sites)
    return CheckLevels(general, {name: _table(("sites", name), table, known, errors) for name, table in tables.items()})


def _table(key: Key, table: Any, known: Collection[str], errors: list[tuple[Key, str]]) -> dict[str, str]:
    if not isinstance(table, dict):
        errors.append((key, "must be a table with checks and their severities"))
        return {}
    levels: dict[str, str] = {}
    for name, level in cast("dict[str, Any]", table).items():
        if name not in known:
            errors.append(((*key, name), f"is not a known check; known: {', '.join(sorted(known))}"))
        elif level not in LEVELS:
            errors.append(((*key, name), f"must be one of {', '.join(LEVELS)}"))
        else:
            levels[name] = level
    return levels
