"""`presscheck check`: checks a documentation folder, without an account and without a service."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import click

from presscheck.cli.changed_files import changed_files, old_texts
from presscheck.cli.check_reports import print_report, report_options, summarize
from presscheck.cli.exit_codes import report_errors
from presscheck.cli.output import print_message
from presscheck.cli.prose_checks import chosen_checks, prose_findings, with_option
from presscheck.config.prose_checks import ProseCheck
from presscheck.documents.git_format.checks import check_folder
from presscheck.documents.git_format.files import RepositoryFiles
from presscheck.documents.git_format.findings import RULES, Finding
from presscheck.documents.git_format.fixes import apply_fixes
from presscheck.documents.markdown.links import page_path
from presscheck.errors import InvalidArgument
from presscheck.text.phrases import count


@click.command()
@click.argument(
    "directory",
    metavar="[DIR]",
    default=".",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
)
@click.option("--json", "report", flag_value="json", help="Print JSON.")
@report_options
@click.option(
    "--changed-since", metavar="REVISION", help="Report only findings about files changed since this Git revision."
)
@click.option("--fix", is_flag=True, help="Fix findings that have exactly one right answer.")
@with_option
@click.option("--rule", "only", metavar="NAME", multiple=True, help="Report only this rule (repeatable).")
@click.option("--no-rule", "without", metavar="NAME", multiple=True, help="Leave out this rule (repeatable).")
@report_errors
def check(
    directory: Path,
    *,
    report: str | None,
    changed_since: str | None,
    fix: bool,
    programs: tuple[str, ...],
    only: tuple[str, ...],
    without: tuple[str, ...],
) -> None:
    """Check a documentation folder.

    DIR is a folder in the Git format of the platform, by default this one. The check needs no account and no service.
    Errors make the exit code 6; warnings and notes do not.
    """
    checks = chosen_checks(programs) if programs else []
    known = [*RULES, *(check.name for check in checks)]
    for option, names in (("--rule", only), ("--no-rule", without)):
        if unknown := next((name for name in names if name.partition("/")[0] not in known), None):
            raise InvalidArgument(option, f"unknown rule {unknown}; known: {', '.join(known)}")

    def is_chosen(rule: str) -> bool:
        def has(names: Iterable[str]) -> bool:
            return any(f"{rule}/".startswith(f"{name}/") for name in names)

        return (not only or has(only)) and not has(without)

    changed = None if changed_since is None else _with_page_paths(changed_files(directory, changed_since))

    def findings() -> list[Finding]:
        return [
            finding
            for finding in check_folder(directory)
            if is_chosen(finding.rule) and (changed is None or finding.path in changed or finding.target in changed)
        ]

    found = findings()
    if fix:
        fixes = 0
        while fixed := apply_fixes(directory, found):  # a fixed path shows whether the anchor behind it is right
            fixes += fixed
            found = findings()
        print_message(f"{count(fixes, 'finding')} fixed.")
    if checks:
        found = sorted([*found, *_prose(directory, checks, changed_since, changed)], key=lambda finding: finding.place)
        found = [finding for finding in found if is_chosen(finding.rule)]
    shown = [finding._replace(path=_shown_path(directory, finding.path)) for finding in found]
    print_report(report, str(directory), shown)
    summarize(str(directory), shown)


def _prose(
    directory: Path, checks: Sequence[ProseCheck], changed_since: str | None, changed: Collection[str] | None
) -> list[Finding]:
    """Return the findings of prose checks in a folder. With a revision, return only new findings in changed pages."""
    import asyncio  # 25 ms, only for prose checks

    files = RepositoryFiles(directory)
    sources = [source for source in files.texts() if changed is None or source in changed]
    texts = {source: files.text(source).text for source in sources}
    before = None if changed_since is None else old_texts(directory, changed_since, sources)
    return asyncio.run(prose_findings(checks, before, texts, directory))


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
