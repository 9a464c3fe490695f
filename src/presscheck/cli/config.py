"""`presscheck config`: path, editing, checking and effective values of the settings. Secrets are never printed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from presscheck.cli.alias import alias_errors
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.json_filter import json_option
from presscheck.cli.output import print_details, print_json, print_message, print_text
from presscheck.cli.project import project_file
from presscheck.cli.session import confirm, load_profile, profile_option, yes_option
from presscheck.cli.text_input import edit_file
from presscheck.config.checks_file import ChecksFile
from presscheck.config.file_replacement import replace_file
from presscheck.config.owners_file import OwnersFile, owners_errors
from presscheck.config.project import Program, Project, read_project
from presscheck.config.project_search import PROJECT_NAME, find_here
from presscheck.config.settings_schema import first_file, project_schema, schema
from presscheck.config.tokens import is_stored, set_elsewhere
from presscheck.config.trust import TrustList
from presscheck.config.validation import SettingsError, errors_in, read, read_all
from presscheck.engine.inbox.views import validate_view
from presscheck.errors import ChecksFailed, ConfigurationError, InvalidArgument
from presscheck.paths import PRIVATE_FILE, places, private_directory
from presscheck.text.phrases import count


@click.group()
def config() -> None:
    """Manage the settings."""


@config.command("path")
@click.option("--project", "of_project", is_flag=True, help=f"Print the path of {PROJECT_NAME} instead.")
@report_errors
def path(*, of_project: bool) -> None:
    """Print the path of the settings file.

    With --project, prints the path of the project file of this folder, or the nearest one above it.
    """
    click.echo(str(_project_file(None) if of_project else places().config_file))


@config.command("edit")
@click.pass_context
@report_errors
def edit(context: click.Context) -> None:
    """Open the settings file in your editor, then check it."""
    file = places().config_file
    if not file.exists():
        private_directory(file.parent)
        replace_file(file, first_file(), PRIVATE_FILE)
    edit_file(file)
    _print_errors(file, _errors(file, context))


@config.command("check")
@json_option
@report_errors
@click.pass_context
def check(context: click.Context, *, as_json: bool) -> None:
    """Check the settings, owners, checks, theme and project files.

    Prints each error with file, line and key. The exit code is 6 if there are errors.
    """
    file = places().config_file
    errors = _errors(file, context) + _project_errors(context)
    if as_json:
        print_json([_as_values(error) for error in errors])
        if errors:
            raise ChecksFailed(count(len(errors), "error"))
        return
    _print_errors(file, errors)


@config.command("show")
@json_option
@profile_option
@click.pass_context
@report_errors
def show(context: click.Context, *, as_json: bool) -> None:
    """Show the effective settings and where they come from.

    Combines the environment, the project, the settings file and the defaults.
    """
    profile = load_profile(context, with_token=False)
    file, project = places().config_file, profile.project
    table = read(file, profile.name)
    stored = "login" if is_stored(file.parent, profile.name, profile.base_url) else None
    values = {
        "file": str(file),
        "profile": profile.name,
        "base_url": _without_credentials(profile.base_url),
        "token": set_elsewhere(table, os.environ) or stored or "none",
        "organization": profile.organization,
        "read_only": profile.read_only,
        "cache_size": profile.cache_size,
        "owners": str(OwnersFile(file, profile.owners).path),
        "checks": str(ChecksFile(file, profile.checks).path),
        "theme": profile.theme,
        "notify": profile.notify,
        "project": str(project.path) if project else None,
        "space": project.space if project else None,
        "site": project.site if project else None,
        "programs": [_program_values(project, program) for program in project.programs] if project else [],
        "sources": _sources(table, project),
    }
    (print_json if as_json else print_details)(values)


@config.command("schema")
@click.option("--project", "of_project", is_flag=True, help=f"Print the schema of {PROJECT_NAME} instead.")
def print_schema(*, of_project: bool) -> None:
    """Print the JSON schema of the settings file.

    Editors with TOML support use it for completion and validation.
    """
    click.echo(json.dumps(project_schema() if of_project else schema(), indent=2))


@config.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@yes_option
@report_errors
def trust(file: Path | None, *, yes: bool) -> None:
    """Trust the programs of a project file (asks first).

    Prints the command of each program. FILE defaults to the project file of this folder, or the nearest one above it. A
    changed command or a moved file must be trusted again. Changes in scripts that a command runs are not detected.
    """
    project = _usable_project(_project_file(file))
    if not project.programs:
        print_message(f"{project.path} names no program: there is nothing to trust.")
        return
    for program in project.programs:
        notes = f" ({program.notes})" if program.notes else ""
        print_text(f"{_state(project, program)} {program.kind} {program.name}{notes}")
        print_text(f"    {program.line}")
        print_text(f"    in {program.directory}")
    if not project.untrusted:
        print_message(f"{count(len(project.programs), 'program')} of {project.path}: trusted already.")
        return
    number = count(len(project.programs), "program")
    confirm(f"Trust {number} of {project.path}?", yes=yes)
    TrustList(places().trust_file).trust(project.path, (program.fingerprint for program in project.programs))
    print_message(f"Trusted {number} of {project.path}.")


@config.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@report_errors
def untrust(file: Path | None) -> None:
    """Stop trusting the programs of a project file.

    FILE defaults to the project file of this folder, or the nearest one above it. It may be deleted already.
    """
    path = _project_file(file)
    was_trusted = TrustList(places().trust_file).forget(path)
    print_message(f"{'No longer trusted' if was_trusted else 'Was not trusted'}: {path}")


def _project_file(given: Path | None) -> Path:
    """Return the path of the given project file, or else of the nearest one.

    Raises:
        InvalidArgument: no file was given, and there is none.
    """
    if given is not None:
        path = given.parent.resolve() / given.name
        return path / PROJECT_NAME if path.is_dir() else path
    path = find_here({})
    if path is None:
        raise InvalidArgument("FILE", f"this folder and those above it have no {PROJECT_NAME}")
    return path


def _usable_project(file: Path) -> Project:
    """Read a project file.

    Raises:
        ConfigurationError: the file may not be used (see `Project.refusal`), or has errors.
    """
    project = read_project(file, places().trust_file)
    if errors := project.check(validate_view):
        raise ConfigurationError("\n".join(str(error) for error in errors))
    return project


def _state(project: Project, program: Program) -> str:
    return "trusted" if program.fingerprint in project.trusted else "new"


def _program_values(project: Project, program: Program) -> dict[str, Any]:
    return {
        "kind": program.kind,
        "name": program.name,
        "command": [*program.words],
        "directory": str(program.directory),
        "trusted": program.fingerprint in project.trusted,
    }


def _sources(table: Mapping[str, Any], project: Project | None) -> dict[str, str]:
    """Return where each setting that is not a default comes from."""
    variables = {"base_url": "PRESSCHECK_BASE_URL", "theme": "PRESSCHECK_THEME"}
    names = ("base_url", "organization", "read_only", "cache_size", "owners", "checks", "theme", "notify")
    sources = dict.fromkeys((name for name in names if name in table), "profile")
    sources |= dict.fromkeys(project.values if project else (), "project")
    return sources | {name: variable for name, variable in variables.items() if os.environ.get(variable)}


def _as_values(error: SettingsError) -> dict[str, Any]:
    return {
        "file": str(error.file),
        "line": error.line,
        "key": ".".join(error.key),
        "message": error.message,
    }


def _errors(file: Path, context: click.Context) -> tuple[SettingsError, ...]:
    """Return the errors in the settings file, the owners files, the checks files and the themes."""
    errors = errors_in(file, validate_view)
    for others in (_key_errors(file), alias_errors(file, context)):
        errors += tuple(error for error in others if error not in errors)
    errors = tuple(sorted(errors, key=lambda error: error.line or 0))
    try:
        return errors + owners_errors(file) + _checks_errors(file) + _theme_errors(file)
    except ConfigurationError:
        return errors  # includes the error that was raised


def _project_errors(context: click.Context) -> tuple[SettingsError, ...]:
    """Return the errors of the project file. A refused file is an error."""
    file = project_file(context)
    if file is None:
        return ()
    from presscheck.tui.key_settings import load_keymap  # 2 ms, only to check the file

    project = read_project(file, places().trust_file).trusting()  # also checks keys that are not trusted yet
    of_keys = load_keymap(places().config_file, project)[1]
    return (*project.check(validate_view), *(error for error in of_keys if error.file == file))


def _key_errors(file: Path) -> tuple[SettingsError, ...]:
    from presscheck.tui.key_settings import load_keymap  # 2 ms, only to check the file

    return tuple(error for error in load_keymap(file)[1] if len(error.key) > 1)


def _theme_errors(file: Path) -> tuple[SettingsError, ...]:
    from presscheck.tui.theme import theme_errors  # 200 ms, only to check the files

    return theme_errors(file)


def _checks_errors(file: Path) -> tuple[SettingsError, ...]:
    from presscheck.documents.sites.checks import CHECK_NAMES  # 60 ms, only to check the files

    named = {table.get("checks") for table in read_all(file).values()} | {None}
    files = [ChecksFile(file, name) for name in sorted(named, key=lambda name: name or "")]
    return tuple(error for checks_file in files for error in checks_file.check(CHECK_NAMES)[1])


def _print_errors(file: Path, errors: Sequence[SettingsError]) -> None:
    for error in errors:
        print_text(str(error))
    if errors:
        raise ChecksFailed(f"{count(len(errors), 'error')} in {' and '.join({str(error.file): 0 for error in errors})}")
    print_message(f"No errors in {file}." if file.exists() else f"{file} does not exist; all settings have defaults.")


def _without_credentials(address: str) -> str:
    try:
        parts = urlsplit(address)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    except ValueError:
        return "invalid URL"
