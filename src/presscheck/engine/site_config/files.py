"""Reads and writes files with configuration documents: TOML or YAML, by file ending."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from presscheck.config.file_replacement import replace_file
from presscheck.config.validation import read_toml_error
from presscheck.documents.yaml_mapping import InvalidYaml, load_yaml_value
from presscheck.engine.site_config.document import Place, SiteConfig
from presscheck.engine.site_config.toml_text import changed_toml, toml_lines, write_toml
from presscheck.engine.site_config.validation import Problem, parse
from presscheck.engine.site_config.yaml_text import write_yaml, yaml_lines
from presscheck.errors import ConfigurationError, InvalidArgument

ENDINGS = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}
MAX_BYTES = 4 << 20
"""Maximum size of a file in bytes; 10,000 redirects take about a third of it."""
HEADING = "# The configuration of a site: presscheck site config diff|push SITE FILE\n\n"
SHARED = 0o644
"""Permissions of a new file, which contains no secrets and is meant to be shared."""
_COMMENT = re.compile(r"(?m)(?:^|\s)#")
"""The start of a comment in TOML and YAML. A color such as "#346ddb" does not match because a quote precedes it."""


@dataclass(frozen=True)
class ConfigFile:
    """A configuration file that was read.

    Attributes:
        path: the path of the file.
        text: the text of the file.
        config: the document; incomplete if there are problems.
        problems: the mistakes in the file.
    """

    path: Path
    text: str
    config: SiteConfig
    problems: tuple[Problem, ...] = ()

    def described(self, problems: Sequence[Problem]) -> list[str]:
        """Format problems as `FILE:LINE: message`, sorted by line."""
        form = ENDINGS.get(self.path.suffix.lower())  # a snapshot has no lines
        lines = toml_lines(self.text) if form == "toml" else yaml_lines(self.text) if form == "yaml" else {}
        placed = sorted(((_line(lines, problem.place), str(problem)) for problem in problems), key=lambda one: one[0])
        return [f"{self.path}:{line}: {message}" if line else f"{self.path}: {message}" for line, message in placed]


def form_of(path: Path) -> str:
    """Return the format of a file by its ending: `toml` or `yaml`.

    Raises:
        InvalidArgument: the ending is unknown.
    """
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        raise InvalidArgument("FILE", f"{path.name} must end with .toml, .yaml or .yml")
    return form


def read_file(path: Path) -> ConfigFile:
    """Read a configuration file.

    Raises:
        ConfigurationError: the file is missing, too large, not UTF-8, or not valid TOML or YAML.
        InvalidArgument: the ending is unknown.
    """
    form = form_of(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
        reason = getattr(error, "strerror", None) or "invalid path"
        raise ConfigurationError(f"{path}: cannot be read: {reason}") from None
    if len(content) > MAX_BYTES:
        raise ConfigurationError(f"{path}: is larger than {MAX_BYTES >> 20} MB")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigurationError(f"{path}:{line}: is not UTF-8 text: save the file as UTF-8") from None
    config, problems = parse(_loaded(path, form, text))
    return ConfigFile(path, text, config, tuple(problems))


def _loaded(path: Path, form: str, text: str) -> Mapping[str, Any]:
    try:
        value = tomllib.loads(text) if form == "toml" else load_yaml_value(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(str(read_toml_error(path, error))) from None
    except InvalidYaml as error:
        raise ConfigurationError(f"{path}:{error.line}: is not valid YAML: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: is nested too deep") from None
    if value is not None and not isinstance(value, dict):
        raise ConfigurationError(f"{path}: must have keys at its top level, such as structure or redirects")
    return cast("dict[str, Any]", value or {})


def text_of(plain: Mapping[str, Any], path: Path, before: str | None = None) -> tuple[str, bool]:
    """Write a document as text.

    Args:
        plain: the document.
        path: the file.
        before: the old text of the file, whose comments are kept if it is TOML.

    Returns:
        The text, and whether it has all comments of the old text.

    Raises:
        ConfigurationError: the format cannot express a value of the document.
    """
    form = form_of(path)
    changed = changed_toml(before, plain) if before is not None and form == "toml" else None
    text = changed or HEADING + (write_toml(plain) if form == "toml" else write_yaml(plain))
    try:
        text.encode()
        is_same = (tomllib.loads(text) if form == "toml" else load_yaml_value(text)) == plain
    except (UnicodeEncodeError, tomllib.TOMLDecodeError, InvalidYaml):
        is_same = False
    if not is_same:
        raise ConfigurationError(
            f"{path}: the configuration of this site has values that {form.upper()} cannot express"
        )
    return text, changed is not None or before is None or not _COMMENT.search(before.removeprefix(HEADING))


def write_file(path: Path, text: str, mode: int = SHARED) -> None:
    """Replace a file atomically, keeping its permissions. Follows symbolic links.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    try:
        file = path.resolve()
        replace_file(file, text, file.stat().st_mode & 0o777 if file.exists() else mode)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "invalid path"
        raise ConfigurationError(f"{path}: cannot be written: {reason}") from None


def _line(lines: Mapping[Place, int], place: Place) -> int:
    """Return the line of a place, else the first line inside it, else the line of the nearest place around it.

    Returns 0 if no line is found.
    """
    while place:
        if place in lines:
            return lines[place]
        deeper = [line for found, line in lines.items() if found[: len(place)] == place]
        if deeper:
            return min(deeper)
        place = place[:-1]
    return 0
