"""Editing of the settings file: profiles, saved views, aliases, folders and keys; all other bytes stay unchanged.

The file is replaced atomically and keeps its permissions.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from presscheck.config.file_replacement import replace_file
from presscheck.config.saved_views import SavedView, same_name
from presscheck.config.settings_schema import FORMER_SORT, VIEW_SETTINGS
from presscheck.errors import ConfigurationError

if TYPE_CHECKING:
    from tomlkit.items import Table

_HEADER = re.compile(r"\s*\[\[?[^\[\]]+\]\]?\s*(#.*)?$")
_VIEW = re.compile(r"\s*\[\[\s*(views|\"views\"|'views')\s*\]\]\s*(#.*)?$")


def save_setting(path: Path, profile: str, name: str, value: str) -> None:
    """Set a setting of a profile, and add the profile if it is missing.

    Args:
        path: the settings file; it need not exist.
        profile: the name of the profile.
        name: the name of the setting.
        value: the value.

    Raises:
        ConfigurationError: the file cannot be written or has an unusual form; the message has the line to add.
    """
    _rewrite(path, lambda text: _with_setting(path, text, profile, name, value))


def add_view(path: Path, view: SavedView) -> None:
    """Add a view after the other views, and create the file if it is missing.

    Raises:
        ConfigurationError: the file cannot be read or written.
    """
    _rewrite(path, lambda text: _added(path, text, view))


def change_view(path: Path, name: str, view: SavedView) -> None:
    """Replace the view with the name `name`.

    Raises:
        ConfigurationError: the file cannot be read or written, or the view no longer exists.
    """
    _rewrite(path, lambda text: _changed(path, text, name, view))


def remove_view(path: Path, name: str) -> None:
    """Remove the view with the name `name`.

    Raises:
        ConfigurationError: the file cannot be read or written, or the view no longer exists.
    """
    _rewrite(path, lambda text: _removed(path, text, name))


def save_alias(path: Path, name: str, line: str | None) -> None:
    """Set an alias to a command line; None removes the alias.

    Raises:
        ConfigurationError: the file cannot be read or written.
    """
    _rewrite(path, lambda text: _with_entry(path, text, "aliases", name, line))


def save_folder(path: Path, space: str, folder: str) -> None:
    """Set the folder of a space.

    Raises:
        ConfigurationError: the file cannot be read or written.
    """
    _rewrite(path, lambda text: _with_entry(path, text, "folders", space, folder))


def save_keys(path: Path, command: str, keys: Sequence[str] | None) -> None:
    """Set the keys of a command; None removes the setting.

    Raises:
        ConfigurationError: the file cannot be read or written.
    """
    value = keys[0] if keys and len(keys) == 1 else keys
    _rewrite(path, lambda text: _with_entry(path, text, "keys", command, value))


def _with_entry(path: Path, text: str, table_name: str, name: str, value: str | Sequence[str] | None) -> str:
    import tomlkit  # 6 ms, only when an alias, a folder or a key is saved

    _entries(path, text)
    document = tomlkit.parse(text)
    table = cast("Any", document.setdefault(table_name, tomlkit.table()))
    if value is None:
        table.pop(name, None)
    else:
        table[name] = value
    return tomlkit.dumps(document)


def _with_setting(path: Path, text: str, profile: str, name: str, value: str) -> str:
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


def _added(path: Path, text: str, view: SavedView) -> str:
    import tomlkit  # 6 ms, only when a view is saved

    block = "[[views]]\n" + tomlkit.dumps(_entry(view))
    spans = _spans(path, text)
    if not spans:
        before = text if not text or text.endswith("\n") else text + "\n"
        return before + ("\n" if before else "") + block
    start, end = spans[-1]
    table, rest = _parts(text[start:end])
    table = table if table.endswith("\n") else table + "\n"
    return f"{text[:start]}{table}\n{block}{rest}{text[end:]}"


def _changed(path: Path, text: str, name: str, view: SavedView) -> str:
    import tomlkit  # 6 ms, only when a view is edited

    start, end = _span_of(path, text, name)
    own, rest = _parts(text[start:end])
    document = tomlkit.parse(own)
    table = cast("Table", cast("Any", document)["views"][0])
    entry = _entry(view)
    for key in (*VIEW_SETTINGS, FORMER_SORT.name):
        if key in entry and (key not in table or table[key] != entry[key]):
            table[key] = entry[key]
        elif key not in entry and key in table:
            table.remove(key)
    written = tomlkit.dumps(document)
    return text[:start] + (written if written.endswith("\n") else written + "\n") + rest + text[end:]


def _removed(path: Path, text: str, name: str) -> str:
    start, end = _span_of(path, text, name)
    _, rest = _parts(text[start:end])
    before, after = text[:start], rest + text[end:]
    if before.endswith("\n\n") or not before:
        after = after.removeprefix("\n")
    return before if not after else before + after


def _entry(view: SavedView) -> dict[str, str]:
    return {key: value for key in VIEW_SETTINGS if (value := getattr(view, key)) or key == "name"}


def _parts(own: str) -> tuple[str, str]:
    """Return the text of a view up to its last setting, and the comments and empty lines after this setting."""
    lines = _lines(own)
    last = len(lines)
    while last > 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1
    return "".join(lines[:last]), "".join(lines[last:])


def _span_of(path: Path, text: str, name: str) -> tuple[int, int]:
    for entry, span in zip(_entries(path, text), _spans(path, text), strict=True):
        if same_name(str(entry.get("name", "")), name):
            return span
    raise ConfigurationError(f"{path.name}: the view no longer exists")


def _spans(path: Path, text: str) -> list[tuple[int, int]]:
    """Return the start and end of each view in the text, up to the next header."""
    spans: list[tuple[int, int]] = []
    at, start = 0, -1
    for line in _lines(text):
        if _HEADER.match(line.rstrip("\r\n")):
            spans += [(start, at)] if start >= 0 else []
            start = at if _VIEW.match(line.rstrip("\r\n")) else -1
        at += len(line)
    spans += [(start, at)] if start >= 0 else []
    # a multi-line string may contain a line like a header; then the file stays unchanged
    if [_view_in(text[begin:end]) for begin, end in spans] != _entries(path, text):
        raise ConfigurationError(f"{path.name}: could not edit the views: write each as [[views]]")
    return spans


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _view_in(own: str) -> object:
    with suppress(tomllib.TOMLDecodeError, LookupError, TypeError):
        return tomllib.loads(own)["views"][0]
    return None


def _entries(path: Path, text: str) -> list[dict[str, Any]]:
    try:
        return cast("list[dict[str, Any]]", tomllib.loads(text).get("views", []))
    except tomllib.TOMLDecodeError:
        raise ConfigurationError(f"{path.name} is not valid TOML: run `presscheck config check` for details") from None


def _rewrite(path: Path, edit: Callable[[str], str]) -> None:
    """Replace the text of a file by the result of `edit`. If the file is a link, its target is edited."""
    try:
        with suppress(FileNotFoundError):
            path.stat()  # fails for a loop of links, which `resolve` reports in another way in each version of Python
        file = path.resolve()
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
        text = file.read_bytes().decode("utf-8-sig") if file.exists() else ""
        edited = edit(text)
        _entries(path, edited)
        replace_file(file, edited, mode)
    except OSError as error:
        raise ConfigurationError(f"Could not write {path.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path.name} is not UTF-8 text") from None
