"""The arguments and the address of an own command, filled with values that others may have written.

A value fills a part of one argument, and is never split, expanded or read by a shell. A value cannot become an option:
an argument that would begin with ``-`` or ``+`` because of a value is refused, unless the command has ``--`` before it.
Ids and numbers must look like ids and numbers. Texts lose line ends and control characters; a path or an address that
has any is refused, because it would name another thing without them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from presscheck.config.own_commands import FIELDS, IDS, OwnCommand, fields_in, filled
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import JOINER, NON_JOINER, sanitize

SHELL = "/bin/sh"
"""The shell of scripts: every system has it, and it knows ``"$1"``, which not every user's shell does."""
LONGEST_VALUE = 30_000
"""Maximum number of characters of a value: Linux accepts arguments of 128 KiB, and a character may have four bytes."""
_NAMES = ("path", "url", "folder")
"""Fields whose values name something, so that no character of them may be removed."""
_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{,199}")
_NUMBER = re.compile(r"\d{1,18}", re.ASCII)
_FIRST_ADDRESS = re.compile(r"https?://[^\s<>\"']+")


def clean_values(command: OwnCommand, values: Mapping[str, str]) -> dict[str, str]:
    """Return the values of the fields of a command, without line ends and control characters.

    Raises:
        PresscheckError: a value may not be passed to a program.
    """
    return {name: _clean(command.name, name, values[name]) for name in command.fields}


def _clean(command: str, name: str, value: str) -> str:
    if len(value) > LONGEST_VALUE:
        raise PresscheckError(f"{command}: {{{name}}} is longer than {LONGEST_VALUE:,} characters: not run")
    if name in IDS:
        pattern = _ID if name in ("space", "page") else _NUMBER
        if not pattern.fullmatch(value):
            raise PresscheckError(f"{command}: {{{name}}} is not {FIELDS[name].partition(' of')[0]}: not run")
        return value
    text = _printable(value)
    if name in _NAMES and text != value:
        raise PresscheckError(f"{command}: {{{name}}} has characters that are not visible: not run")
    text = text if name in _NAMES else " ".join(text.split())
    if name == "path" and (text.startswith("/") or ".." in text.split("/")):
        raise PresscheckError(f"{command}: {{path}} points outside its folder: not run")
    if not text:
        raise PresscheckError(f"{command}: {{{name}}} is empty here: not run")
    return text


def _printable(text: str) -> str:
    """Remove control and format characters from a text, except joiners, which are parts of words and emoji."""
    characters = (" " if character.isspace() else character for character in text)
    return "".join(
        character for character in characters if character.isprintable() or character in (JOINER, NON_JOINER)
    )


def argument_list(command: OwnCommand, values: dict[str, str]) -> list[str]:
    """Return the program of a command, followed by its arguments.

    Args:
        command: the command.
        values: the values of its fields, from `clean_values`.

    Raises:
        PresscheckError: a value would become an option.
    """
    script = [SHELL, "-c", command.words[0], command.name] if command.is_script else []
    words: list[str] = []
    is_after_options = False
    for template in command.words[1:] if script else command.words:
        word = filled(template, values)
        if word[:1] in ("-", "+") and template[:1] != word[:1] and not is_after_options:
            field = fields_in(template)[0]
            raise PresscheckError(
                f"{command.name}: {{{field}}} begins with {word[0]}, so it could be an option: not run "
                "(write -- before it, if the program knows that)"
            )
        # a ~ is expanded only if it is in the command itself, not in a value
        words.append(str(Path(word).expanduser()) if template.startswith("~/") else word)
        is_after_options = is_after_options or (template == "--" and not script)
    return [*script, *words]


def address_of(command: OwnCommand, values: dict[str, str]) -> str:
    """Return the web address of a command, with its values percent-encoded."""
    encoded = {name: quote(value, safe="/" if name == "path" else "") for name, value in values.items()}
    return filled(command.words[0], encoded)


def printed_address(command: OwnCommand, output: str) -> str:
    """Return the first web address in the output of a program.

    Raises:
        PresscheckError: the output has no web address.
    """
    match = _FIRST_ADDRESS.search(output)
    if match is None:
        raise PresscheckError(f"{command.name}: printed no web address, such as https://example.org/7")
    return match[0].rstrip(".,;:!?")


def directory_of(command: OwnCommand, values: dict[str, str]) -> Path:
    """Return the working directory of a command.

    Raises:
        PresscheckError: there is no such directory.
    """
    directory = Path(filled(command.directory or "", values)).expanduser()
    if not directory.is_dir():
        raise PresscheckError(f"{command.name}: {sanitize(str(directory))} is not a folder: not run")
    return directory
