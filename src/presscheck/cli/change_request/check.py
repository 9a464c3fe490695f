"""`presscheck cr check`: runs prose checks on the changed pages of a change request."""

from __future__ import annotations

import click

from presscheck.cli import lookup
from presscheck.cli.check_reports import print_report, report_options, summarize
from presscheck.cli.prose_checks import ALL, chosen_checks, prose_findings, with_option
from presscheck.cli.session import Session, request_argument, with_session
from presscheck.engine.prose_checks.programs import page_sources
from presscheck.engine.review.owners import read_changes
from presscheck.engine.review.page_texts import page_texts


@click.command()
@request_argument
@with_option
@report_options
@with_session
async def check(session: Session, which: str, *, programs: tuple[str, ...], report: str | None) -> None:
    """Check the prose of the changed pages.

    Runs the checks of your settings file, or those given with --with. Reports only findings that the pages did not have
    before the change. Errors make the exit code 6; warnings and notes do not.
    """
    checks = chosen_checks(programs or (ALL,))
    request = await lookup.change_request(session, which)
    changes = (await read_changes(session.engine, request)).changes
    texts = {change.page.id: await page_texts(session, request, change) for change in changes if change.page}
    sources = page_sources({change.page.id: change.page.path or "" for change in changes if change.page})
    before = {sources[page_id]: old for page_id, (old, _) in texts.items() if old is not None}
    after = {sources[page_id]: new for page_id, (_, new) in texts.items() if new is not None}
    findings = await prose_findings(checks, before, after)
    print_report("json" if session.json else report, which, findings)
    summarize(which, findings)
