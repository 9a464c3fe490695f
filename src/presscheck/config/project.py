"""Settings of a project, from `.presscheck.toml` in the working directory or a folder above it.

Such a file often comes with a repository, so it is trusted less than the settings file. It cannot choose the service or
the source of the token. A program that it names runs only after the user has allowed its command (`trusted`), and a
file that another user could have written is refused as a whole.

The file is read once, at the start. Changed programs take effect at the next start, after the user has allowed them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from presscheck.config.inner_path import inner_path
from presscheck.config.own_commands import OwnCommand, check_own_commands
from presscheck.config.project_search import PROJECT_NAME
from presscheck.config.prose_checks import ProseCheck, check_prose_checks, command_words
from presscheck.config.saved_views import SavedView, Validator, check_views, same_name
from presscheck.config.settings_schema import PROJECT_SETTINGS, SETTINGS
from presscheck.config.trust import TrustList, direct_opener
from presscheck.config.validation import (
    SECRETS,
    Key,
    SettingsError,
    line_of_key,
    lines_of_keys,
    program_error,
    read_checks,
    read_folders,
    read_review_programs,
    read_toml_error,
    read_views,
)
from presscheck.errors import ConfigurationError

MAX_BYTES = 64 * 1024
"""The maximum size of the file."""
LONGEST_COMMAND = 400
"""The maximum number of characters of a command, so that the question about it can show the whole command."""
FOLDER = "{folder}"
"""The value of `directory` for an own command that runs in the folder of a space."""
TABLES = ("views", "folders", "checks", "review_programs", "commands")
"""The tables of the file. An error in one of them skips only the entry."""


class ReviewProgram(NamedTuple):
    """A program that reviews a change request: the words of its command, and its working directory."""

    command: tuple[str, ...]
    directory: Path = Path()


@dataclass(frozen=True)
class Program:
    """A program that a project names.

    Attributes:
        kind: what it is for, in words.
        name: its name in the file.
        words: the words of its command.
        directory: where it runs.
        fingerprint: a hash of what runs and where; if it changes, the user is asked again.
        value: the settings of the program.
        notes: how an own command runs, in words; empty for other programs.
    """

    kind: str
    name: str
    words: tuple[str, ...]
    directory: Path
    fingerprint: str
    value: ProseCheck | ReviewProgram | OwnCommand
    notes: str = ""

    @property
    def line(self) -> str:
        """The command as one line."""
        return shlex.join(self.words)


@dataclass(frozen=True)
class Project:
    """The settings of a project.

    Attributes:
        path: the file.
        values: the settings `organization`, `space` and `site`; those that are not set are missing.
        folders: the absolute folder of each space, by id or title.
        view_entries: the saved views as written; `views` checks them.
        programs: the valid programs.
        errors: the errors of the file, except errors in views.
        trusted: the fingerprints of the programs that may run.
        declined: the fingerprints of the programs that the user was asked about, and did not trust.
        refusal: why the whole file is refused; empty if it is used.
        lines: the line number of each key.
    """

    path: Path
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    folders: Mapping[str, str] = field(default_factory=dict[str, str])
    view_entries: object = ()
    programs: tuple[Program, ...] = ()
    errors: tuple[SettingsError, ...] = ()
    trusted: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()
    refusal: str = ""
    lines: Mapping[Key, int] = field(default_factory=dict[Key, int])

    @property
    def organization(self) -> str | None:
        """The organization to show first, by title or id."""
        return self.values.get("organization")

    @property
    def space(self) -> str | None:
        """The default space of commands, by title or id."""
        return self.values.get("space")

    @property
    def site(self) -> str | None:
        """The default site of commands, by title or id."""
        return self.values.get("site")

    @property
    def usable(self) -> tuple[Program, ...]:
        """The programs that may run."""
        return tuple(program for program in self.programs if program.fingerprint in self.trusted)

    @property
    def commands(self) -> tuple[OwnCommand, ...]:
        """The own commands that may run."""
        return tuple(program.value for program in self.usable if isinstance(program.value, OwnCommand))

    @property
    def untrusted(self) -> tuple[Program, ...]:
        """The programs that may not run."""
        return tuple(program for program in self.programs if program.fingerprint not in self.trusted)

    @property
    def to_ask(self) -> tuple[Program, ...]:
        """The programs that the user has neither trusted nor declined."""
        return tuple(program for program in self.untrusted if program.fingerprint not in self.declined)

    @property
    def problems(self) -> tuple[SettingsError, ...]:
        """The refusal of the file as an error, or the errors of the file except errors in views."""
        return (SettingsError(self.path, None, (), self.refusal),) if self.refusal else self.errors

    def trusting(self) -> Project:
        """Return the project with all of its programs trusted."""
        return replace(self, trusted=frozenset(program.fingerprint for program in self.programs))

    def check(self, validator: Validator | None = None) -> tuple[SettingsError, ...]:
        """Return all problems, including errors in views."""
        errors = (*self.problems, *self.views(validator)[1])
        return tuple(sorted(errors, key=lambda error: error.line or 0))

    def views(self, validator: Validator | None = None) -> tuple[list[SavedView], tuple[SettingsError, ...]]:
        """Return the valid views, and the errors of all others."""
        if self.view_entries == ():
            return [], ()
        views, errors = check_views(self.view_entries, validator)
        lines = dict(self.lines)
        return views, tuple(SettingsError(self.path, line_of_key(lines, key), key, message) for key, message in errors)


def load_project(file: Path, trust: Path) -> Project:
    """Return the settings of a project file, with the user's answers about its programs.

    Args:
        file: the file, as an absolute path.
        trust: the file with the trusted programs.

    Raises:
        ConfigurationError: the file has an error outside of its tables.
    """
    project = read_project(file, trust)
    for error in project.errors:
        if not error.key or error.key[0] not in TABLES:
            raise ConfigurationError(f"{error} (--no-project leaves this file out)")
    return project


def read_project(file: Path, trust: Path) -> Project:
    """Return the settings of a project file, with its errors. See `load_project` for the arguments."""
    text, refusal = _read(file)
    if refusal:
        return Project(file, refusal=refusal)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Project(file, errors=(read_toml_error(file, error),))
    lines, errors = lines_of_keys(text), list[tuple[Key, str]]()
    values = _values(document, errors)
    folders = _folders(file.parent, document.get("folders", {}), errors)
    checks = _checks(file.parent, document.get("checks", []), errors)
    programs = (
        *checks,
        *_review_programs(file.parent, document.get("review_programs", {}), errors),
        *_commands(file.parent, document.get("commands", []), errors),
    )
    answers = TrustList(trust).of(file) if programs else None
    return Project(
        path=file,
        values=values,
        folders=folders,
        view_entries=document.get("views", ()),
        programs=programs,
        errors=tuple(SettingsError(file, line_of_key(lines, key), key, message) for key, message in errors),
        trusted=answers.trusted if answers else frozenset(),
        declined=answers.declined if answers else frozenset(),
        lines=lines,
    )


def views_of(
    file: Path, project: Project | None, validator: Validator | None = None
) -> tuple[tuple[SavedView, ...], tuple[SettingsError, ...]]:
    """Return the saved views of the settings file, then the views of the project, and the errors of both.

    A view of the project replaces a view of the settings file with the same name.
    """
    saved, errors = read_views(file, validator)
    if project is None:
        return saved, errors
    views, project_errors = project.views(validator)
    own = (view for view in saved if not any(same_name(view.name, other.name) for other in views))
    return (*own, *views), errors + project_errors


def checks_of(file: Path, project: Project | None) -> tuple[tuple[ProseCheck, ...], tuple[SettingsError, ...]]:
    """Return the prose checks of the settings file, then the trusted checks of the project, and the errors of both.

    A check of the project replaces a check of the settings file with the same name.
    """
    checks, errors = read_checks(file)
    if project is None:
        return checks, errors
    values = [program.value for program in project.usable if isinstance(program.value, ProseCheck)]
    names = {check.name.casefold() for check in values}
    own = (check for check in checks if check.name.casefold() not in names)
    return (*own, *values), errors + tuple(error for error in project.errors if error.key[:1] == ("checks",))


def review_programs_of(file: Path, project: Project | None) -> dict[str, ReviewProgram]:
    """Return the review programs of the settings file and the trusted review programs of the project, by name."""
    own = {name: ReviewProgram(words) for name, words in read_review_programs(file).items()}
    usable = project.usable if project else ()
    return own | {program.name: program.value for program in usable if isinstance(program.value, ReviewProgram)}


def untrusted_reason(project: Project | None) -> str | None:
    """Return a message if a program of the project is not trusted, or None."""
    if project is None or not project.untrusted:
        return None
    return f"the programs of {PROJECT_NAME} are not trusted: run `presscheck config trust`"


def folders_of(file: Path, project: Project | None) -> dict[str, str]:
    """Return the folders of the settings file and of the project, by space."""
    return read_folders(file) | dict(project.folders if project else {})


def _read(file: Path) -> tuple[str, str]:
    """Return the text of a file and an empty string; or an empty string and why the file is refused."""
    try:
        if reason := _refusal(file.parent.stat(), "its folder", file.parent):
            return "", reason
        # a link would lead to a file that is not part of the project, and a pipe would block
        with open(file, "rb", opener=direct_opener) as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode):
                return "", "is not a regular file"
            if reason := _refusal(status, "it", file):
                return "", reason
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        is_link = file.is_symlink()
        return "", "is a symbolic link: replace it with the file" if is_link else f"cannot be read: {error.strerror}"
    if len(content) > MAX_BYTES:
        return "", f"is larger than {MAX_BYTES // 1024} KB: shorten it"
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return "", "is not UTF-8 text: save the file as UTF-8"


def _refusal(status: os.stat_result, what: str, path: Path) -> str:
    """Return why other users may have written a file or folder, or an empty string."""
    if status.st_uid != os.geteuid():
        return f"is not used because {what} belongs to another user: make it yours"
    if status.st_mode & 0o022:
        command = shlex.join(["chmod", "go-w", str(path)])
        return f"is not used because {what} can be written by other users: run `{command}`"
    return ""


def _values(document: dict[str, Any], errors: list[tuple[Key, str]]) -> dict[str, str]:
    """Return the organization, the space and the site, and add the errors of all keys that are not tables."""
    values: dict[str, str] = {}
    for key, value in document.items():
        setting = PROJECT_SETTINGS.get(key)
        if setting is None:
            if key not in TABLES:
                errors.append(((key,), _unknown_key(key)))
        elif not isinstance(value, str) or not value.strip() or not value.isprintable():
            errors.append(((key,), f"must be a quoted text on one line, such as {setting.example}"))
        elif setting.max_length and len(value) > setting.max_length:
            errors.append(((key,), f"is too long: at most {setting.max_length} characters"))
        else:
            values[key] = value.strip()
    return values


def _unknown_key(key: str) -> str:
    if key.lower() in SECRETS:
        return "must not be in this file, which others may read: remove it, and revoke the token"
    if key in SETTINGS or key in ("profiles", "aliases", "keys"):
        return "is not allowed in a project, which may come from others: set it in config.toml"
    return f"is not a known setting; known: {', '.join((*PROJECT_SETTINGS, *TABLES))}"


def _folders(root: Path, entries: object, errors: list[tuple[Key, str]]) -> dict[str, str]:
    if not isinstance(entries, dict):
        errors.append((("folders",), "must be a table, [folders]"))
        return {}
    folders: dict[str, str] = {}
    for space, folder in cast("dict[str, Any]", entries).items():
        path = _below(root, folder)
        if path is None:
            errors.append((("folders", space), 'must be a folder below that of this file, such as "guides"'))
        else:
            folders[space] = str(path)
    return folders


def _below(root: Path, folder: object) -> Path | None:
    """Return a folder as an absolute path, or None if the path is invalid or leads out of `root`."""
    if not isinstance(folder, str) or not folder.isprintable() or not folder or folder.startswith(("/", "~")):
        return None
    return inner_path(root, folder)


def _checks(root: Path, entries: object, errors: list[tuple[Key, str]]) -> list[Program]:
    tables, invalid = _with_directories(root, "checks", entries, errors)
    checks, check_errors = check_prose_checks(tables)
    errors += check_errors
    names = {str(table.get("name")) for table in invalid}
    return [
        _program("check", check.name, check.command, Path(check.directory or root), check)
        for check in checks
        if check.name not in names
    ]


def _commands(root: Path, entries: object, errors: list[tuple[Key, str]]) -> list[Program]:
    tables, invalid = _with_directories(root, "commands", entries, errors)
    commands, command_errors = check_own_commands(tables)
    errors += command_errors
    names = {str(table.get("name")).strip() for table in invalid}
    return [
        _program("command", command.name, command.words, Path(command.directory or root), command, _notes(command))
        for command in commands
        if command.name not in names
    ]


def _notes(command: OwnCommand) -> str:
    """Return in words how an own command runs."""
    keys = f"key {' or '.join(command.keys)}" if command.keys else "palette"
    shell = "in a shell" if command.is_script else ""
    places = f"only at {' and '.join(command.places)}" if command.places else ""
    return ", ".join(filter(None, (keys, command.mode, shell, "asks first" if command.asks_first else "", places)))


def _with_directories(
    root: Path, name: str, entries: object, errors: list[tuple[Key, str]]
) -> tuple[object, list[dict[str, Any]]]:
    """Return the tables with absolute directories, and those of the tables that have an error.

    The errors are added to `errors`. A table without a directory gets the folder of the project.
    """
    if not isinstance(entries, list):
        return entries, []
    tables, invalid = list[Any](), list[dict[str, Any]]()
    for number, entry in enumerate(cast("list[Any]", entries), 1):
        if not isinstance(entry, dict):
            tables.append(entry)
            continue
        table = cast("dict[str, Any]", entry)
        named, table_errors = table.get("directory", "."), list[tuple[Key, str]]()
        path = root if named == FOLDER else _below(root, named)
        if path is None:
            table_errors.append(
                ((name, str(number), "directory"), 'must be a folder below that of this file, such as "docs"')
            )
        command = table.get("command", "-")
        if reason := _command_error((command,) if isinstance(command, str) else command_words(command)):
            table_errors.append(((name, str(number), "command"), reason))
        tables.append({**table, "directory": FOLDER if named == FOLDER else str(path or root)})
        errors += table_errors
        invalid += [table] if table_errors else []
    return tables, invalid


def _review_programs(root: Path, entries: object, errors: list[tuple[Key, str]]) -> list[Program]:
    if not isinstance(entries, dict):
        errors.append((("review_programs",), "must be a table, [review_programs]"))
        return []
    programs: list[Program] = []
    for name, line in cast("dict[str, Any]", entries).items():
        words = () if program_error(name, line) else command_words(line)
        if reason := program_error(name, line) or _command_error(words):
            errors.append((("review_programs", name), reason))
        else:
            programs.append(_program("review program", name, words, root, ReviewProgram(words, root)))
    return programs


def _command_error(words: tuple[str, ...]) -> str | None:
    """Return why a command could not be shown to the user in full, or None."""
    if not all(word.isprintable() for word in words):
        return "must have no control characters"
    is_long = len(shlex.join(words)) > LONGEST_COMMAND
    return f"is too long: at most {LONGEST_COMMAND} characters; write a script" if is_long else None


def _program(
    kind: str,
    name: str,
    words: tuple[str, ...],
    directory: Path,
    value: ProseCheck | ReviewProgram | OwnCommand,
    notes: str = "",
) -> Program:
    settings = json.dumps([kind, name, words, str(directory), notes])  # everything that determines what runs, and when
    fingerprint = hashlib.sha256(settings.encode()).hexdigest()
    return Program(kind, name, words, directory, fingerprint, value, notes)
