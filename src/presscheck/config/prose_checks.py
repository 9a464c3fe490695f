"""Prose checks: programs that check the text of pages, from ``[[checks]]`` of the settings file.

A check with an error is skipped as a whole. An error names the setting and the limit, never the value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from presscheck.config.settings_schema import CHECK_SETTINGS, MAX_CHECKS, TIMEOUT

SettingError = tuple[tuple[str, ...], str]
"""The key path of an invalid setting, and the message."""
OutputFormat = Literal["json", "sarif", "typos", "markdownlint", "vale"]
"""The output of a program: JSON as the manual describes it, SARIF, or the format of a known program."""
PAGES = "{pages}"
"""The word of a command that the paths of the pages replace; without it, the paths are appended."""
MAX_TIMEOUT = 3600
"""The maximum time limit of a check, in seconds."""

_is_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}").fullmatch


@dataclass(frozen=True)
class ProseCheck:
    """A program that checks the text of pages.

    Attributes:
        name: the name; the rules of its findings start with it.
        command: the words of the command, which runs without a shell.
        format: the format of its output.
        severity: the severity of all findings; None for the severities of the program.
        timeout: the time limit in seconds.
        directory: the working directory; None for the folder with the pages.
    """

    name: str
    command: tuple[str, ...]
    format: OutputFormat = "json"
    severity: Literal["error", "warning", "info"] | None = None
    timeout: int = TIMEOUT
    directory: str | None = None


KNOWN_PROGRAMS: dict[str, ProseCheck] = {
    check.name: check
    for check in (
        ProseCheck("typos", ("typos", "--format", "json"), "typos"),
        ProseCheck("markdownlint-cli2", ("markdownlint-cli2",), "markdownlint"),
        ProseCheck("vale", ("vale", "--output", "JSON"), "vale"),
    )
}
"""Checks that need no command in the settings file, by name."""


def check_prose_checks(entries: object) -> tuple[list[ProseCheck], list[SettingError]]:
    """Return the valid checks, and the errors of all others. `entries` is the value of ``checks`` in the file."""
    if not isinstance(entries, list):
        return [], [(("checks",), "must be written as [[checks]], once for each check")]
    checks: list[ProseCheck] = []
    errors: list[SettingError] = []
    for number, entry in enumerate(cast("list[Any]", entries), 1):
        place = ("checks", str(number))
        if number > MAX_CHECKS:
            errors.append((place, f"exceeds the limit of {MAX_CHECKS} checks"))
            break
        if not isinstance(entry, dict):
            errors.append((place, "must be a table, [[checks]]"))
            continue
        table = cast("dict[str, Any]", entry)
        entry_errors = [((*place, *key), message) for key, message in _errors_in(table, checks)]
        errors += entry_errors
        if not entry_errors:
            checks.append(_check(table))
    return checks, errors


def _check(table: dict[str, Any]) -> ProseCheck:
    known = KNOWN_PROGRAMS.get(table["name"])
    values: dict[str, Any] = {**vars(known), **table} if known else {**table}
    values["command"] = command_words(values["command"])
    return ProseCheck(**values)


def command_words(command: object) -> tuple[str, ...]:
    """Return the words of a command; empty if it is invalid."""
    try:
        words: object = shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        return ()
    if not isinstance(words, Sequence):
        return ()
    parts = cast("Sequence[object]", words)
    texts = tuple(word for word in parts if isinstance(word, str) and "\0" not in word)
    return texts if len(texts) == len(parts) and texts and texts[0] else ()


def _errors_in(table: dict[str, Any], others: list[ProseCheck]) -> Iterator[SettingError]:
    name = table.get("name")
    if not isinstance(name, str) or not _is_name(name):
        yield ("name",), "must be at most 40 letters, digits, dots, dashes and underscores, such as typos"
    elif any(check.name.casefold() == name.casefold() for check in others):
        yield ("name",), "is the name of another check"
    if "command" in table:
        if not command_words(table["command"]):
            yield ("command",), f"must be a command or a list of words, such as {CHECK_SETTINGS['command'].example}"
    elif name not in KNOWN_PROGRAMS:
        yield (), f"has no command: add it, such as command = {CHECK_SETTINGS['command'].example}"
    for key, value in table.items():
        setting = CHECK_SETTINGS.get(key)
        if setting is None:
            yield (key,), f"is not a known setting; known: {', '.join(CHECK_SETTINGS)}"
        elif setting.one_of and value not in setting.one_of:
            yield (key,), f"must be one of {', '.join(setting.one_of)}"
    timeout = table.get("timeout", TIMEOUT)
    if type(timeout) is not int or not 1 <= timeout <= MAX_TIMEOUT:
        yield ("timeout",), f"must be a whole number from 1 to {MAX_TIMEOUT}"
    directory = table.get("directory", "/")
    if not isinstance(directory, str) or not directory.isprintable() or not directory.startswith(("/", "~/")):
        yield ("directory",), 'must be a quoted path that begins with / or ~/, such as "~/docs"'
