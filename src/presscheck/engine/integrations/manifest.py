"""The manifest of an integration: `gitbook-manifest.yaml` in a folder with the script and the pictures."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from presscheck.api.integrations import PublishIntegration
from presscheck.config.inner_path import inner_path
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.engine.site_config.yaml_text import yaml_lines
from presscheck.errors import InvalidArgument

MANIFEST = "gitbook-manifest.yaml"
"""The name of the manifest file."""
LARGEST = 1 << 20
"""Maximum size of a manifest or a script in bytes."""
LARGEST_PICTURE = 4 << 20
"""Maximum size of a picture in bytes."""
TYPESCRIPT = (".ts", ".tsx", ".jsx")
BUILD = "esbuild {} --bundle --format=esm --outfile=dist/index.js"
"""The command that builds a script into one module; the placeholder is the path of the script."""
MOST_PROBLEMS = 8
"""Maximum number of problems in an error message."""

_ENVIRONMENT = re.compile(r"\$\{\{\s*env\.(\w+)\s*\}\}")
_FIELDS = {PublishIntegration.on_wire(name): name for name in PublishIntegration.model_fields}
_KEYS = {"name": "integration_name", **{key: name for key, name in _FIELDS.items() if name != "integration_name"}}
_REQUIRED = ("name", "title", "description", "scopes", "script")


FileStates = tuple[tuple[str, int, int], ...]
"""The path, the modification time in nanoseconds and the size in bytes of each file."""


@dataclass(frozen=True)
class Manifest:
    """An integration as described by a manifest.

    Attributes:
        file: the path of the manifest.
        name: the name of the integration.
        organization: the id or title of the publishing organization; empty if the manifest has none.
        values: all other fields of `PublishIntegration`, by name.
        files: all files that were read.
        seen: the states of the files before they were read.
    """

    file: Path
    name: str
    organization: str
    values: Mapping[str, Any]
    files: tuple[Path, ...]
    seen: FileStates


def read_manifest(path: Path, environment: Mapping[str, str] = os.environ) -> Manifest:
    """Read a manifest, its script and its pictures. Reads the disk, so call it in a thread.

    Args:
        path: the path of the manifest or of its folder.
        environment: the variables for placeholders in secrets, such as `${{ env.NAME }}`.

    Raises:
        InvalidArgument: the manifest cannot be read or is invalid; the reason names the line of each problem.
    """
    file = path.expanduser()
    file = file / MANIFEST if file.is_dir() else file
    text = _text(file)
    try:
        read: Any = load_yaml_value(text)
    except InvalidYaml as error:
        raise _invalid(file, [(error.line, str(error))]) from None
    if not isinstance(read, dict):
        raise _invalid(file, [(1, "has no keys such as name, title and script")])
    return _Reader(file, cast("dict[Any, Any]", read), yaml_lines(text), environment).manifest()


class _Reader:
    """A reader of the files that a manifest names, which collects problems with their lines."""

    def __init__(
        self,
        file: Path,
        keys: Mapping[Any, Any],
        lines: Mapping[tuple[str | int, ...], int],
        environment: Mapping[str, str],
    ) -> None:
        self._file, self._keys, self._lines, self._environment = file, keys, lines, environment
        self._files, self._seen = [file], [_state(file)]
        self._problems: list[tuple[int, str]] = []

    def manifest(self) -> Manifest:
        """Return the manifest.

        Raises:
            InvalidArgument: the manifest is invalid.
        """
        values: dict[str, Any] = {}
        for key in map(str, self._keys):
            if key not in _KEYS:
                close = get_close_matches(key, _KEYS, 1)
                self._problem((key,), f"unknown key{f': did you mean {close[0]}?' if close else ''}")
            elif self._keys.get(key) is not None:
                values[_KEYS[key]] = self._keys[key]
        for key in _REQUIRED:
            if _KEYS[key] not in values:
                self._problem((key,), "is required")
        self._read_files(values)
        if isinstance(values.get("secrets"), dict):
            values["secrets"] = self._secrets(cast("dict[Any, Any]", values["secrets"]))
        self._check(values)
        if self._problems:
            raise _invalid(self._file, self._problems)
        name, organization = values.pop("integration_name"), values.pop("organization", "")
        return Manifest(self._file, name, organization, values, tuple(self._files), tuple(self._seen))

    def _problem(self, place: tuple[str | int, ...], reason: str) -> None:
        line = next((self._lines[place[:end]] for end in range(len(place), 0, -1) if place[:end] in self._lines), 1)
        self._problems.append((line, f"{'.'.join(map(str, place))}: {reason}"))

    def _read_files(self, values: dict[str, Any]) -> None:
        """Replace the paths of the script and the pictures by the contents of the files."""
        script = values.get("script")
        if isinstance(script, str):
            if script.endswith(TYPESCRIPT):
                self._problem(("script",), f"has to be built first: {BUILD.format(script)}")
            elif (content := self._content(("script",), script, LARGEST)) is not None:
                try:
                    text = content.decode("utf-8-sig")
                    # in commands, a leading @ means a file
                    values["script"] = f"\n{text}" if text.startswith("@") else text
                except UnicodeDecodeError:
                    self._problem(("script",), f"{script} is not text in UTF-8")
        if isinstance(values.get("icon"), str):
            values["icon"] = self._picture(("icon",), values["icon"])
        pictures = values.get("preview_images")
        if isinstance(pictures, list):
            values["preview_images"] = [
                self._picture(("previewImages", at), one) if isinstance(one, str) else one
                for at, one in enumerate(cast("list[Any]", pictures))
            ]

    def _picture(self, place: tuple[str | int, ...], path: str) -> str:
        content = self._content(place, path, LARGEST_PICTURE)
        return base64.b64encode(content).decode() if content is not None else ""

    def _content(self, place: tuple[str | int, ...], path: str, largest: int) -> bytes | None:
        """Read a file in the folder. Return None and add a problem if it cannot be read."""
        file = inner_path(self._file.parent, path)
        if file is None:  # the manifest may be untrusted
            self._problem(place, f"{path} is not a path in the folder of the manifest")
            return None
        try:
            self._files.append(file)
            self._seen.append(_state(file))
            return _content(file, largest)
        except InvalidArgument as error:
            self._problem(place, f"{path} {error.reason}")
        return None

    def _secrets(self, secrets: Mapping[Any, Any]) -> dict[str, Any]:
        """Replace the placeholders in secrets by the values of environment variables.

        Add a problem for each variable that is not set.
        """
        found: dict[str, Any] = {}
        for name, value in secrets.items():
            text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
            if isinstance(text, str):
                for variable in _ENVIRONMENT.findall(text):
                    if variable not in self._environment:
                        self._problem(("secrets", str(name)), f"the environment variable {variable} is not set")
                text = _ENVIRONMENT.sub(lambda match: self._environment.get(match[1], ""), text)
            found[str(name)] = text
        return found

    def _check(self, values: Mapping[str, Any]) -> None:
        """Add a problem for each value that the API would reject."""
        stand_ins: dict[str, Any] = {
            _KEYS[key]: () if key == "scopes" else "xx" for key in (*_REQUIRED, "organization")
        }
        try:
            PublishIntegration(**(stand_ins | {**values}))
        except InvalidArgument as error:
            for one in (error, *error.others):
                first, *inner = one.wire.split(".")
                key = "name" if first == PublishIntegration.on_wire("integration_name") else first
                self._problem((key, *(int(part) if part.isdecimal() else part for part in inner)), one.reason)


def file_states(files: Iterable[Path]) -> FileStates:
    """Return the state of each file, which differs after a change or deletion of the file.

    Reads the disk, so call it in a thread.
    """
    return tuple(map(_state, files))


def _invalid(file: Path, problems: Iterable[tuple[int, str]]) -> InvalidArgument:
    ordered = sorted(problems, key=lambda one: one[0])
    words = [f"line {line}: {reason}" for line, reason in ordered[:MOST_PROBLEMS]]
    more = [f"and {len(ordered) - MOST_PROBLEMS} more"] if len(ordered) > MOST_PROBLEMS else []
    return InvalidArgument("manifest", f"{file.name}, {'; '.join([*words, *more])}")


def _content(file: Path, largest: int) -> bytes:
    """Read a file.

    Raises:
        InvalidArgument: the file cannot be read or is too large.
    """
    try:
        if file.exists() and not file.is_file():  # reading a pipe could block forever
            raise InvalidArgument("manifest", "is not a file")
        with file.open("rb") as stream:
            content = stream.read(largest + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise InvalidArgument("manifest", f"could not be read: {reason or error}") from None
    if len(content) > largest:
        raise InvalidArgument("manifest", f"is too large: at most {largest >> 20} MB")
    return content


def _text(file: Path) -> str:
    try:
        return _content(file, LARGEST).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidArgument("manifest", f"{file.name} is not text in UTF-8") from None
    except InvalidArgument as error:
        raise InvalidArgument("manifest", f"{file.name} {error.reason}") from None


def _state(file: Path) -> tuple[str, int, int]:
    try:
        stat = file.stat()
    except OSError:
        return str(file), 0, 0
    return str(file), stat.st_mtime_ns, stat.st_size
