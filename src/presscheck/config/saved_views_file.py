"""Writing the user's own views into the file of settings: all else in it stays as it was written, to the byte.

A file is replaced whole or not at all, and is readable by whom it was readable before.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from presscheck.config.saved_views import SavedView, same_name
from presscheck.config.settings_schema import VIEW_SETTINGS
from presscheck.errors import ConfigurationError

if TYPE_CHECKING:
    from tomlkit.items import Table

_HEADER = re.compile(r"\s*\[\[?[^\[\]]+\]\]?\s*(#.*)?$")
_VIEW = re.compile(r"\s*\[\[\s*(views|\"views\"|'views')\s*\]\]\s*(#.*)?$")


def add_view(path: Path, view: SavedView) -> None:
    """Write a view behind the others, into a file that need not be there.

    Raises:
        ConfigurationError: the file cannot be read, or not be written.
    """
    _rewrite(path, lambda text: _added(path, text, view))


def change_view(path: Path, name: str, view: SavedView) -> None:
    """Write a view where the one of that name stands.

    Raises:
        ConfigurationError: the file cannot be read or written, or has no such view any more.
    """
    _rewrite(path, lambda text: _changed(path, text, name, view))


def remove_view(path: Path, name: str) -> None:
    """Take the view of that name out.

    Raises:
        ConfigurationError: the file cannot be read or written, or has no such view any more.
    """
    _rewrite(path, lambda text: _removed(path, text, name))


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
    for key in VIEW_SETTINGS:
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
    """The text of a view up to its last setting, and the comments and empty lines between that and what follows."""
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
    """Where each view stands in the text, with what follows until the next header."""
    found: list[tuple[int, int]] = []
    at, start = 0, -1
    for line in _lines(text):
        if _HEADER.match(line.rstrip("\r\n")):
            found += [(start, at)] if start >= 0 else []
            start = at if _VIEW.match(line.rstrip("\r\n")) else -1
        at += len(line)
    found += [(start, at)] if start >= 0 else []
    # a text of many lines may hold what looks like a header: then nothing is touched
    if [_view_in(text[begin:end]) for begin, end in found] != _entries(path, text):
        raise ConfigurationError(f"{path.name}: could not edit the views: write each as [[views]]")
    return found


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
    """Replace the file by what became of its text; where it is a link, the file that it leads to."""
    file = path.resolve()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
        text = file.read_bytes().decode() if file.exists() else ""
        edited = edit(text)
        _entries(path, edited)
        _replace(file, edited, mode)
    except OSError as error:
        raise ConfigurationError(f"Could not write {path.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path.name} is not UTF-8 text") from None


def _replace(file: Path, text: str, mode: int) -> None:
    new = file.with_name(f".{file.name}.{os.getpid()}.new")
    new.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            opened.write(text.encode())
            opened.flush()
            os.fchmod(opened.fileno(), mode)
            os.fsync(opened.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
