"""Own commands: programs that a key or the palette runs in the app, from ``[[commands]]`` of a settings file.

The words of a command may contain fields, such as ``{number}``. A command with an error is skipped as a whole. An error
names the setting and the limit, never the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from presscheck.config.prose_checks import MAX_TIMEOUT, SettingError, command_words
from presscheck.config.saved_views import same_name
from presscheck.config.settings_schema import COMMAND_SETTINGS, COMMAND_TIMEOUT, MAX_COMMANDS, PLACES

Mode = Literal["run", "suspend", "capture", "open"]
"""How a command runs: in the background, in the terminal instead of the app, with its output on a screen, or in the
background until the web address that it prints is opened."""
FIELDS: dict[str, str] = {
    "space": "the id of the space",
    "number": "the number of the change request",
    "page": "the id of the page",
    "path": "the path of the page in its space, such as `guides/start`",
    "line": "the number of the line under the cursor in the Markdown of the page",
    "title": "the title of the page, change request, space or site",
    "url": "the web address that `y` copies",
    "selection": "the text that is selected with the mouse",
    "folder": "the folder of the space in `[folders]`",
}
"""The fields of commands, with their meanings."""
IDS = ("space", "number", "page", "line")
"""The fields that are ids or numbers; all others are texts."""
_FIELD = re.compile(r"\{\{[a-z_]+\}\}|(?<!\$)\{([a-z_]+)\}")
_WEB_ADDRESS = re.compile(r"https?://[^/?#{}\s]+([/?#]|$)", re.IGNORECASE)
_WEB_SCHEME = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True)
class OwnCommand:
    """A program that the user runs from the app.

    Attributes:
        name: the name, which is the title in the app.
        words: the words of the command, with fields. With `is_script`, the first word is a shell script, and the other
            words are its parameters.
        keys: the keys, as written in the file; empty for a command of the palette only.
        places: the kinds of places that offer the command; empty for all places.
        mode: how the command runs.
        asks_first: whether the user confirms each run.
        is_script: whether a shell runs the first word.
        timeout: the time limit in seconds; programs that get the terminal have none.
        directory: the working directory, or the field `{folder}`; None for the directory of presscheck.
        number: the number of the table in the file, counted from 1.
    """

    name: str
    words: tuple[str, ...]
    keys: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    mode: Mode = "run"
    asks_first: bool = False
    is_script: bool = False
    timeout: int = COMMAND_TIMEOUT
    directory: str | None = None
    number: int = 1

    @property
    def is_address(self) -> bool:
        """Whether the command is a web address to open, without a program."""
        return _WEB_SCHEME.match(self.words[0]) is not None

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields that the command needs, in the order of `FIELDS`."""
        names = {name for text in (*self.words, self.directory or "") for name in fields_in(text)}
        return tuple(name for name in FIELDS if name in names)


def fields_in(text: str) -> list[str]:
    """Return the names of the fields in a word of a command."""
    return [match[1] for match in _FIELD.finditer(text) if match[1]]


def filled(text: str, values: dict[str, str]) -> str:
    """Return a word of a command with the values of its fields. ``{{title}}`` becomes the text ``{title}``."""

    def value_of(match: re.Match[str]) -> str:
        if match[1]:
            return values[match[1]]
        return match[0][1:-1] if match[0][2:-2] in FIELDS else match[0]

    return _FIELD.sub(value_of, text)


def check_own_commands(entries: object) -> tuple[list[OwnCommand], list[SettingError]]:
    """Return the valid commands, and the errors of all others. `entries` is the value of ``commands`` in a file."""
    if not isinstance(entries, list):
        return [], [(("commands",), "must be written as [[commands]], once for each command")]
    commands: list[OwnCommand] = []
    errors: list[SettingError] = []
    for number, entry in enumerate(cast("list[Any]", entries), 1):
        place = ("commands", str(number))
        if number > MAX_COMMANDS:
            errors.append((place, f"exceeds the limit of {MAX_COMMANDS} commands"))
            break
        if not isinstance(entry, dict):
            errors.append((place, "must be a table, [[commands]]"))
            continue
        table = cast("dict[str, Any]", entry)
        entry_errors = [((*place, *key), message) for key, message in _errors_in(table, commands)]
        errors += entry_errors
        if not entry_errors:
            commands.append(_command(table, number))
    return commands, errors


def _command(table: dict[str, Any], number: int) -> OwnCommand:
    return OwnCommand(
        table["name"].strip(),
        _words(table["command"], is_script=table.get("shell", False)),
        _texts(table.get("key", ())),
        _texts(table.get("place", ())),
        table.get("mode", "run"),
        table.get("confirm", False),
        table.get("shell", False),
        table.get("timeout", COMMAND_TIMEOUT),
        table.get("directory"),
        number,
    )


def _words(command: object, *, is_script: bool) -> tuple[str, ...]:
    """Return the words of a command; empty if it is invalid. A script on one line is a single word."""
    return command_words([command] if is_script and isinstance(command, str) else command)


def _texts(value: object) -> tuple[str, ...]:
    """Return a text or a list of texts as a tuple; empty if an item is blank or not a text."""
    texts = (value,) if isinstance(value, str) else value if isinstance(value, Sequence) else ()
    is_valid = all(isinstance(text, str) and text.strip() for text in cast("Sequence[object]", texts))
    return tuple(cast("Sequence[str]", texts)) if is_valid else ()


def _errors_in(table: dict[str, Any], others: list[OwnCommand]) -> Iterator[SettingError]:
    name, limit = table.get("name"), COMMAND_SETTINGS["name"].max_length or 0
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > limit:
        yield ("name",), f"must be a quoted text of at most {limit} characters, such as {_example('name')}"
    elif any(same_name(command.name, name) for command in others):
        yield ("name",), "is the name of another command"
    for key, value in table.items():
        if key not in COMMAND_SETTINGS:
            yield (key,), f"is not a known setting; known: {', '.join(COMMAND_SETTINGS)}"
        elif COMMAND_SETTINGS[key].kind is bool and not isinstance(value, bool):
            yield (key,), "must be true or false"
    if "key" in table and not _texts(table["key"]):
        yield ("key",), 'must be a key such as "g T", or a list of keys such as ["g T", "f9"]'
    if "place" in table and not set(_texts(table["place"]) or [""]).issubset(PLACES):
        yield ("place",), f"must be one of {', '.join(PLACES)}, or a list of them"
    modes = COMMAND_SETTINGS["mode"].one_of
    if table.get("mode", "run") not in modes:
        yield ("mode",), f"must be one of {', '.join(modes)}"
    timeout = table.get("timeout", COMMAND_TIMEOUT)
    if type(timeout) is not int or not 1 <= timeout <= MAX_TIMEOUT:
        yield ("timeout",), f"must be a whole number from 1 to {MAX_TIMEOUT}"
    if not _is_directory(table.get("directory", "/")):
        yield ("directory",), 'must be a quoted path that begins with / or ~/, such as "~/docs", or "{folder}"'
    if error := _command_error(table):
        yield error


def _is_directory(directory: object) -> bool:
    if not isinstance(directory, str) or not directory.isprintable():
        return False
    return directory == "{folder}" or (directory.startswith(("/", "~/")) and not fields_in(directory))


def _command_error(table: dict[str, Any]) -> SettingError | None:
    """Return why the command is missing or invalid, or None."""
    if "command" not in table:
        return (), f"has no command: add it, such as command = {_example('command')}"
    is_script = table.get("shell") is True
    words = _words(table["command"], is_script=is_script)
    if not words or not words[0].strip():
        return ("command",), f"must be a command or a list of words, such as {_example('command')}"
    templates = words[1:] if is_script else words  # a brace in a script belongs to the language of the shell
    if not all(name in FIELDS for word in templates for name in fields_in(word)):
        return ("command",), f"has a field that is not known; known: {', '.join(f'{{{name}}}' for name in FIELDS)}"
    if is_script and any(name in FIELDS for name in fields_in(words[0])):
        return ("command",), 'has a field in a script: write a list, such as ["echo \\"$1\\"", "{title}"]'
    if _WEB_SCHEME.match(words[0]) and not is_script:
        if table.get("mode") != "open":
            return ("command",), 'is a web address, which needs mode = "open"'
        if len(words) > 1 or not _WEB_ADDRESS.match(words[0]):
            return ("command",), "must be a single web address without a field in its host"
    elif fields_in(words[0]) and not is_script:
        return ("command",), "must not begin with a field: write the program"
    return None


def _example(name: str) -> str:
    return COMMAND_SETTINGS[name].example
