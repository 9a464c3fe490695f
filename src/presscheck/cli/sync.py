"""`presscheck sync`: downloads everything that the app shows; the progress is printed on stderr."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import asdict

import click
from pydantic.alias_generators import to_camel

from presscheck.cli import lookup
from presscheck.cli.output import print_message
from presscheck.cli.progress_line import ProgressLine
from presscheck.cli.session import Session, with_session
from presscheck.engine.engine import Progress
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count


@click.command()
@click.option("--org", metavar="ORG", help="Only this organization, by title or id.")
@click.option("--space", metavar="SPACE", help="Only this space, by title, id or URL.")
@with_session
async def sync(session: Session, org: str | None, space: str | None) -> None:
    """Download all content for offline use.

    Later runs download only what changed.
    """
    organization = (await lookup.organization(session, org)).id if org else None
    chosen = await lookup.space(session, space) if space else None
    if chosen:
        organization = chosen.organization or organization
    started, printer, last = time.monotonic(), ProgressLine(), Progress()
    async with aclosing(session.engine.sync(organization, chosen.id if chosen else None)) as progress:
        try:
            async for last in progress:
                printer.update(progress_line(last))
        finally:
            printer.clear()
    _print(session, last, time.monotonic() - started)


def progress_line(progress: Progress) -> str:
    """Return the progress as a line."""
    if progress.waits:
        return f"Rate limited: waiting {_time(progress.waits)} · {count(progress.requests, 'request')}"
    if not progress.parts:
        return f"Checking for changes · {count(progress.requests, 'request')}"
    left = f" · {_time(progress.left)} left" if progress.left is not None else ""
    return f"{progress.done:,} of {count(progress.parts, 'changed part')} · {count(progress.requests, 'request')}{left}"


def _print(session: Session, progress: Progress, seconds: float) -> None:
    """Print the result.

    Raises:
        PresscheckError: some reads failed that may succeed later.
    """
    if session.json:
        counts = {to_camel(name): number for name, number in asdict(progress).items() if name not in ("left", "waits")}
        session.show(counts | {"seconds": round(seconds, 1)})
    else:
        click.echo(
            f"{count(progress.spaces, 'space')}, {count(progress.change_requests, 'change request')};"
            f" {count(progress.parts, 'part')} changed, {count(progress.requests, 'request')}, {_time(seconds)}"
        )
    if progress.refused:
        print_message(f"{count(progress.refused, 'read')} denied: the token has no access.")
    if progress.failed:
        raise PresscheckError(f"{count(progress.failed, 'read')} failed. Run `presscheck sync` again")


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
