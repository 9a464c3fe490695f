"""The owners of pages, from a file in the syntax of CODEOWNERS: a pattern, then its owners; the last match counts.

``/api/authentication/ ana@example.org "Mia Okonkwo" writers  # a comment``

Patterns match paths of pages, such as ``authentication/tokens``. A pattern with a leading ``/`` begins with a space, by
its id or title; any other pattern may begin with a space, or match a path in any space. ``*`` and ``?`` match within a
segment of a path, ``**`` across segments. A pattern without ``/`` before its end matches at any depth. A pattern also
matches the pages below, unless it ends with ``/*``. Case is ignored.

An invalid line is skipped. An error names file and line, and never quotes the file, which may belong to another user.
Patterns are matched in a bounded number of steps, which regular expressions would not ensure.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from presscheck.config.validation import SettingsError, read_all

OWNERS_NAME = "owners"
"""The default name of the file, which is next to the settings file."""
MAX_BYTES = 256 * 1024
"""The maximum size of the file."""
MAX_RULES = 2000
"""The maximum number of lines with a pattern."""
MAX_LINE = 1000
"""The maximum number of characters of a line."""
MAX_PATH = 1000
"""The maximum number of characters of a path that are compared."""
_WORD = re.compile(r'\s*(?:"([^"]*)"|([^\s"]+))')
_BLANK = "\ufdd0"
"""Placeholder of an escaped blank while a line is split: a noncharacter that texts do not contain."""
_ANY, _ONE = "*", "?"
_ACROSS = ("**",)

P = TypeVar("P")
N = TypeVar("N")
Segment = str | tuple[str | None, ...]
"""A segment of a pattern: a literal name, `_ACROSS`, or tokens: a character, None for `*`, or empty for `?`."""


@dataclass(frozen=True)
class OwnerRule:
    """A rule: a line of the owners file.

    Attributes:
        line: the line number, from 1.
        pattern: the pattern as written.
        owners: ids, e-mail addresses, names or teams; empty for pages without owners.
    """

    line: int
    pattern: str
    owners: tuple[str, ...]
    segments: tuple[Segment, ...] = ()
    needs_space: bool = False
    """Whether the pattern begins with a space."""

    def matches(self, space_names: Sequence[str], path: str) -> bool:
        """Return whether the rule matches a page.

        Args:
            space_names: the id and the title of the space.
            path: the path of the page in the space; empty without a path.
        """
        parts = [part for part in path[:MAX_PATH].casefold().split("/") if part]
        paths = [[name.casefold(), *parts] for name in space_names]
        if not self.needs_space and parts:
            paths.append(parts)
        return any(_match(self.segments, names, _ACROSS, _is_name) for names in paths)


@dataclass(frozen=True)
class Owners:
    """The rules of a file, and its errors: the invalid lines, or why the file cannot be read."""

    file: Path
    rules: tuple[OwnerRule, ...] = ()
    errors: tuple[SettingsError, ...] = ()
    is_readable: bool = True

    def rule_for(self, space_names: Sequence[str], path: str) -> OwnerRule | None:
        """Return the last rule that matches a page, or None; see `OwnerRule.matches` for the arguments."""
        return next((rule for rule in reversed(self.rules) if rule.matches(space_names, path)), None)


class OwnersFile:
    """The file with the owners, read again after changes.

    Args:
        settings: the settings file, whose directory contains the file by default.
        named: the path from the settings of the profile, relative to the settings file; the file must then exist.
    """

    def __init__(self, settings: Path, named: str | None = None) -> None:
        self.path = settings.parent / (Path(named).expanduser() if named else OWNERS_NAME)
        self._is_required = named is not None
        self._version: tuple[int, int, int] | None = None
        self._owners = Owners(self.path)

    def read(self) -> Owners:
        """Return the rules and errors of the file; both are empty if an optional file is missing."""
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                return _unreadable(self.path, "is not a file: write patterns and their owners into a file")
            version = status.st_mtime_ns, status.st_size, status.st_ino
            if version != self._version:
                with self.path.open("rb") as file:
                    self._owners, self._version = _parse_bytes(self.path, file.read(MAX_BYTES + 1)), version
        except FileNotFoundError:
            self._version = None
            if self._is_required:
                return _unreadable(self.path, "not found: create it, or correct `owners` in the settings")
            return Owners(self.path)
        except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
            return _unreadable(self.path, f"cannot be read: {getattr(error, 'strerror', None) or 'invalid path'}")
        return self._owners


def owners_errors(settings: Path) -> tuple[SettingsError, ...]:
    """Return the errors in the owners files of all profiles.

    Raises:
        ConfigurationError: the settings file has errors.
    """
    named = {table.get("owners") for table in read_all(settings).values()} | {None}
    files = [OwnersFile(settings, name) for name in sorted(named, key=lambda name: name or "")]
    return tuple(error for file in files for error in file.read().errors)


def parse(file: Path, text: str) -> Owners:
    """Parse the text of an owners file. Invalid lines are skipped, and reported in `errors`."""
    rules: list[OwnerRule] = []
    errors: list[SettingsError] = []
    for number, line in enumerate(text.split("\n"), 1):
        if len(rules) == MAX_RULES:
            errors.append(SettingsError(file, number, (), f"only the first {MAX_RULES:,} patterns are used"))
            break
        try:
            rule = _rule(number, line)
        except ValueError as error:
            errors.append(SettingsError(file, number, (), str(error)))
        else:
            rules += [rule] if rule else []
    return Owners(file, tuple(rules), tuple(errors))


def _parse_bytes(file: Path, content: bytes) -> Owners:
    if len(content) > MAX_BYTES:
        return _unreadable(file, f"is larger than {MAX_BYTES // 1024} KB: shorten it")
    try:
        return parse(file, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        return _unreadable(file, "is not UTF-8 text: save the file as UTF-8", line)


def _unreadable(file: Path, message: str, line: int | None = None) -> Owners:
    return Owners(file, errors=(SettingsError(file, line, (), message),), is_readable=False)


def _rule(number: int, line: str) -> OwnerRule | None:
    """Return the rule of a line, or None for blank lines and comments.

    Raises:
        ValueError: the line is invalid; the message has the reason.
    """
    line = line.removesuffix("\r").replace("\t", " ").strip(" ")
    if not line or line.startswith("#"):
        return None
    if len(line) > MAX_LINE:
        raise ValueError(f"is too long: at most {MAX_LINE:,} characters; repeat the pattern in another line")
    if not line.isprintable():
        raise ValueError("has control characters or invisible ones: remove them")
    if line.startswith(("[", "^[")):
        raise ValueError("sections in brackets are not supported: remove the line")
    pattern, *owners = _words(line)
    if pattern.startswith("!"):
        raise ValueError("a pattern cannot be negated: write a later line with other owners, or with none")
    segments, needs_space = _segments(pattern)
    return OwnerRule(number, pattern, tuple(owner.removeprefix("@") for owner in owners), segments, needs_space)


def _words(line: str) -> Iterator[str]:
    """Yield the words of a line up to a comment; quotes or a backslash keep blanks in a word."""
    escaped, at = line.replace("\\ ", _BLANK), 0
    while at < len(escaped):
        match = _WORD.match(escaped, at)
        if match is None:
            raise ValueError('has no closing quote: add a "')
        at = match.end()
        word = match[1] if match[1] is not None else match[2]
        if match[1] is None and word.startswith("#"):
            return
        if not word.strip(" @"):
            raise ValueError("has an empty word in quotes or a single @: write a name")
        yield word.replace(_BLANK, " ")


def _segments(pattern: str) -> tuple[tuple[Segment, ...], bool]:
    """Return the segments of a pattern, and whether the first segment must be the name of a space."""
    names = [name for name in pattern.casefold().split("/") if name]
    if not names:
        raise ValueError("the pattern has no name: * matches all pages")
    is_exact = names[-1] == _ANY
    segments = [_ACROSS if name == "**" else _segment(name) for name in names]
    if segments[-1] == _ACROSS:
        segments[-1:] = [(None,)]  # pages below, not the page itself
    if "/" not in pattern.rstrip("/"):
        segments.insert(0, _ACROSS)
    if not is_exact:
        segments.append(_ACROSS)
    return tuple(segments), pattern.startswith("/")


def _segment(name: str) -> Segment:
    """Return a segment of a pattern: its text, or a tuple of tokens if it has wildcards.

    A token is a character, None for ``*``, or an empty string for ``?``.
    """
    tokens: list[str | None] = []
    characters = iter(name)
    has_wildcards = False
    for character in characters:
        if character == "[":
            raise ValueError("ranges in brackets are not supported: write * or ?")
        if character == "\\":
            escaped = next(characters, "")
            if not escaped:
                raise ValueError("ends with a backslash: remove it, or write two")
            tokens.append(escaped)
        elif character in (_ANY, _ONE):
            has_wildcards = True
            tokens.append(None if character == _ANY else "")
        else:
            tokens.append(character)
    return tuple(tokens) if has_wildcards else "".join(token or "" for token in tokens)


def _is_name(segment: Segment, name: str) -> bool:
    return segment == name if isinstance(segment, str) else _match(segment, name, None, _is_character)


def _is_character(token: str | None, character: str) -> bool:
    return token in ("", character)


def _match(pattern: Sequence[P], items: Sequence[N], star: P, equal: Callable[[P, N], bool]) -> bool:
    """Return whether items match a pattern in which `star` matches any number of items.

    After a mismatch only the last star takes another item: the number of steps is at most the product of both lengths.
    """
    at = last_star = 0
    has_star, tried = False, 0
    position = 0
    while position < len(items):
        if at < len(pattern) and pattern[at] == star:
            has_star, last_star, tried = True, at, position
            at += 1
        elif at < len(pattern) and equal(pattern[at], items[position]):
            at += 1
            position += 1
        elif has_star:
            tried += 1
            at, position = last_star + 1, tried
        else:
            return False
    return all(part == star for part in pattern[at:])
