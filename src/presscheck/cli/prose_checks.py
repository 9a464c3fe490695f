"""The prose checks that a command line names, and their findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from presscheck.cli.progress_line import ProgressLine
from presscheck.cli.project import project_of, report_untrusted
from presscheck.config.project import checks_of
from presscheck.config.prose_checks import KNOWN_PROGRAMS, ProseCheck
from presscheck.errors import ConfigurationError, InvalidArgument
from presscheck.paths import places

if TYPE_CHECKING:
    from presscheck.documents.git_format.findings import Finding

ALL = "all"
"""The name for all checks in the settings file and the project."""
with_option = click.option(
    "--with",
    "programs",
    metavar="NAME",
    multiple=True,
    help="Also run this prose check: typos, markdownlint-cli2, vale, a check of your settings file, or all of those.",
)


def chosen_checks(names: Iterable[str]) -> list[ProseCheck]:
    """Return the prose checks with these names.

    Checks of the project have precedence over those of the settings file, and both over the known programs.

    Raises:
        ConfigurationError: a check in the settings file or the project has an error.
        InvalidArgument: a name is unknown, or `all` was given and no check is configured.
    """
    file = places().config_file
    project = project_of(click.get_current_context())
    configured, errors = checks_of(file, project)
    if errors:
        raise ConfigurationError("\n".join(str(error) for error in errors))
    report_untrusted(project)
    checks = KNOWN_PROGRAMS | {check.name: check for check in configured}
    chosen: dict[str, ProseCheck] = {}
    for name in names:
        if name == ALL and not configured:
            raise InvalidArgument("--with", f"{file} has no checks: add [[checks]], or name a program")
        if name != ALL and name not in checks:
            raise InvalidArgument("--with", f"unknown check {name}; known: {', '.join(checks)}, {ALL}")
        chosen |= {check.name: check for check in configured} if name == ALL else {name: checks[name]}
    return list(chosen.values())


async def prose_findings(
    checks: Sequence[ProseCheck],
    before: Mapping[str, str] | None,
    after: Mapping[str, str],
    folder: Path | None = None,
) -> list[Finding]:
    """Return the findings of checks, and show the progress on stderr.

    Args:
        checks: the checks.
        before: the old texts, whose findings are left out; None to leave nothing out.
        after: the texts to check by source path.
        folder: a folder that has the texts as files.

    Raises:
        PresscheckError: a check failed.
    """
    from presscheck.engine.prose_checks.programs import all_findings, new_findings  # 45 ms, only for prose checks

    progress = ProgressLine()
    findings: list[Finding] = []
    try:
        for number, check in enumerate(checks, 1):
            progress.update(f"{check.name}: check {number} of {len(checks)} …")
            if before is None:
                findings += await all_findings(check, after, folder)
            else:
                findings += await new_findings(check, before, after, folder)
    finally:
        progress.clear()
    return findings
