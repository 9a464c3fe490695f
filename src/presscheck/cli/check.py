"""`presscheck check`: checks a documentation folder, without an account and without a service."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click

from presscheck.cli.changed_files import changed_files
from presscheck.cli.check_reports import github_line, json_row, junit, sarif, text_line
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_json, print_message
from presscheck.documents.git_format.checks import check_folder
from presscheck.documents.git_format.findings import RULES, Finding, Severity
from presscheck.documents.git_format.fixes import apply_fixes
from presscheck.documents.markdown.links import page_path
from presscheck.errors import ChecksFailed, InvalidArgument
from presscheck.text.phrases import count

_WORDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


@click.command()
@click.argument(
    "directory",
    metavar="[DIR]",
    default=".",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option("--json", "report", flag_value="json", help="Print JSON.")
@click.option("--sarif", "report", flag_value="sarif", help="Print a SARIF log.")
@click.option("--junit", "report", flag_value="junit", help="Print a JUnit report.")
@click.option("--github", "report", flag_value="github", help="Print annotations for GitHub Actions.")
@click.option("--changed-since", metavar="REVISION", help="Report only what changes since this Git revision concern.")
@click.option("--fix", is_flag=True, help="Fix findings that have exactly one right answer.")
@click.option("--rule", "only", metavar="NAME", multiple=True, help="Report only this rule (repeatable).")
@click.option("--no-rule", "without", metavar="NAME", multiple=True, help="Leave out this rule (repeatable).")
@report_errors
def check(
    directory: Path,
    *,
    report: str | None,
    changed_since: str | None,
    fix: bool,
    only: tuple[str, ...],
    without: tuple[str, ...],
) -> None:
    """Check a documentation folder.

    DIR is a folder in the Git format of the platform, by default this one. The check needs no account and no service.
    Errors make the exit code 6; warnings and notes do not.
    """
    for option, names in (("--rule", only), ("--no-rule", without)):
        if unknown := next((name for name in names if name not in RULES), None):
            raise InvalidArgument(option, f"unknown rule {unknown}; known: {', '.join(RULES)}")
    rules = {name for name in RULES if (not only or name in only) and name not in without}
    changed = None if changed_since is None else _with_page_paths(changed_files(directory, changed_since))

    def findings() -> list[Finding]:
        return [
            finding
            for finding in check_folder(directory)
            if finding.rule in rules and (changed is None or finding.path in changed or finding.target in changed)
        ]

    found = findings()
    if fix:
        fixes = 0
        while fixed := apply_fixes(directory, found):  # a fixed path shows whether the anchor behind it is right
            fixes += fixed
            found = findings()
        print_message(f"{count(fixes, 'finding')} fixed.")
    _print(report, directory, found)
    counts = Counter(finding.severity for finding in found)
    numbers = ", ".join(count(counts[severity], word) for severity, word in _WORDS.items() if counts[severity])
    if counts["error"]:
        raise ChecksFailed(f"{directory}: {numbers}")
    print_message(f"No errors in {directory}{f': {numbers}' if numbers else ''}.")


def _print(report: str | None, directory: Path, found: Iterable[Finding]) -> None:
    shown = [finding._replace(path=_shown_path(directory, finding.path)) for finding in found]
    if report == "json":
        print_json([json_row(finding) for finding in shown])
    elif report == "sarif":
        click.echo(json.dumps(sarif(shown), indent=2))
    elif report == "junit":
        click.echo(junit(str(directory), shown))
    else:
        for finding in shown:
            click.echo(github_line(finding) if report == "github" else text_line(finding))


def _shown_path(directory: Path, path: str) -> str:
    """Return the path of a file in the folder, relative to the working directory.

    If the folder was given as an absolute path outside of the working directory, return an absolute path.
    """
    location = directory / path
    absolute = location.absolute()
    return str(absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else location)


def _with_page_paths(paths: set[str]) -> set[str]:
    """Return paths of files, and of the pages in these files: links may lead to a page without `.md` and `README`."""
    return paths | {page_path(path) for path in paths}
