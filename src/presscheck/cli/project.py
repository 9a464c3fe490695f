"""The project of a command: `.presscheck.toml` of the working directory or above it, without `--no-project`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from presscheck.config.project_search import find_here
from presscheck.paths import places
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize

if TYPE_CHECKING:
    from presscheck.config.project import Project

TRUST = "`presscheck config trust` shows them, and asks"
"""How programs become trusted."""
_META = f"{__name__}.project"
"""The key of the project in the root context."""


def project_file(context: click.Context) -> Path | None:
    """Return the path of the project file of a command, or None."""
    is_left_out = (context.find_root().obj or ())[5:6] == (True,)
    return None if is_left_out else find_here(os.environ)


def project_of(context: click.Context) -> Project | None:
    """Return the project of a command, or None. A file that is refused is reported on stderr, once.

    Raises:
        ConfigurationError: the file has an error outside of its tables.
    """
    root = context.find_root()
    if _META not in root.meta:
        file = project_file(context)
        root.meta[_META] = _loaded(file) if file else None
    return root.meta[_META]


def _loaded(file: Path) -> Project:
    from presscheck.config.project import load_project  # 6 ms, only with a project file

    project = load_project(file, places().trust_file)
    if project.refusal:
        click.echo(sanitize(f"{file} {project.refusal}"), err=True)
    return project


def report_untrusted(project: Project | None) -> None:
    """Report on stderr how many programs of the project may not run."""
    if project and project.untrusted:
        number = count(len(project.untrusted), "program")
        verb = "is" if len(project.untrusted) == 1 else "are"
        click.echo(f"{number} of {sanitize(str(project.path))} {verb} not used until trusted: {TRUST}.", err=True)
