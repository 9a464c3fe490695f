"""Writes one setting of a profile to the settings file; everything else in the file stays as it is.

The file is replaced atomically and keeps its permissions.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from presscheck.config.saved_views_file import rewrite
from presscheck.errors import ConfigurationError

_HEADER = re.compile(r"^\s*\[.*\]\s*(#.*)?$")


def save_setting(path: Path, profile: str, name: str, value: str) -> None:
    """Set a setting of a profile, which is added if it is missing.

    Args:
        path: the settings file; it need not exist.
        profile: the name of the profile.
        name: the name of the setting.
        value: its value.

    Raises:
        ConfigurationError: the file cannot be written, or has an unusual form; the message has the line to add.
    """
    rewrite(path, lambda text: _changed(path, text, profile, name, value))


def _changed(path: Path, text: str, profile: str, name: str, value: str) -> str:
    line, header = f"{name} = {json.dumps(value)}\n", _header(profile)
    lines = text.splitlines(keepends=True)
    start = next((at for at, own in enumerate(lines) if own.partition("#")[0].strip() == header), None)
    if start is None:
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        written = f"{text}{gap}{header}\n{line}"
    else:
        end = next((at for at in range(start + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
        own = next(
            (at for at in range(start + 1, end) if lines[at].partition("=")[0].strip() == name and "=" in lines[at]),
            None,
        )
        if not lines[start].endswith("\n"):
            lines[start] += "\n"
        lines[start + 1 : start + 1] = [line] if own is None else []
        if own is not None:
            lines[own] = line
        written = "".join(lines)
    try:
        expected: dict[str, Any] = tomllib.loads(text)
        expected.setdefault("profiles", {}).setdefault(profile, {})[name] = value
        is_right = tomllib.loads(written) == expected
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        is_right = False
    if not is_right:
        raise ConfigurationError(f"{path.name}: could not edit the profile: write {line.strip()} below {header}")
    return written


def _header(profile: str) -> str:
    return f'[profiles."{profile}"]' if "." in profile else f"[profiles.{profile}]"
