"""`presscheck sync`: everything that the screens show comes onto this machine, with how far that is on stderr."""

from __future__ import annotations

import shutil
import sys
import time
from contextlib import aclosing
from dataclasses import asdict

import click
from pydantic.alias_generators import to_camel

from presscheck.cli import lookup
from presscheck.cli.output import talk
from presscheck.cli.session import Session, asking
from presscheck.engine.engine import Progress
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, cut, plain

EACH = 1.0
"""Seconds between two lines where no terminal can write one anew."""


@click.command()
@click.option("--org", metavar="ORG", help="Only this organization, by title or id.")
@click.option("--space", metavar="SPACE", help="Only this space, by title, id or address.")
@asking
async def sync(session: Session, org: str | None, space: str | None) -> None:
    """Download everything for offline reading; later runs fetch only what changed."""
    organization = (await lookup.organization(session, org)).id if org else None
    chosen = await lookup.space(session, space) if space else None
    if chosen:
        organization = chosen.organization or organization
    began, teller, last = time.monotonic(), _Teller(), Progress()
    async with aclosing(session.engine.sync(organization, chosen.id if chosen else None)) as progress:
        try:
            async for last in progress:
                teller.tell(last)
        finally:
            teller.end()
    _print(session, last, time.monotonic() - began)


def told(progress: Progress) -> str:
    """How far it is, in a line."""
    if progress.waits:
        return f"Rate limited: waiting {_time(progress.waits)} · {progress.requests:,} requests"
    if not progress.parts:
        return f"Checking for changes · {progress.requests:,} requests"
    left = f" · {_time(progress.left)} left" if progress.left is not None else ""
    return f"{progress.done:,} of {progress.parts:,} changed · {progress.requests:,} requests{left}"


class _Teller:
    """Tells how far it is: on a terminal in one line, written anew; elsewhere in a line a second."""

    def __init__(self) -> None:
        self._has_terminal = sys.stderr.isatty()
        self._told, self._next, self._is_open = "", time.monotonic() + EACH, False

    def tell(self, progress: Progress) -> None:
        """Say it, where it is time for it and something else than before."""
        line = told(progress)
        if line == self._told or (not self._has_terminal and time.monotonic() < self._next):
            return
        self._told, self._next = line, time.monotonic() + EACH
        if self._has_terminal:
            columns = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r" + plain(cut((Span(sanitize(line)),), columns)).ljust(columns))
            sys.stderr.flush()
            self._is_open = True
        else:
            talk(line)

    def end(self) -> None:
        """Leave the line empty for what comes."""
        if self._is_open:
            sys.stderr.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            sys.stderr.flush()


def _print(session: Session, progress: Progress, seconds: float) -> None:
    """What it came to.

    Raises:
        PresscheckError: something did not come that may come the next time.
    """
    if session.json:
        counted = {to_camel(name): number for name, number in asdict(progress).items() if name not in ("left", "waits")}
        session.show(counted | {"seconds": round(seconds, 1)})
    else:
        click.echo(
            f"{progress.spaces:,} spaces, {progress.change_requests:,} change requests;"
            f" {progress.parts:,} parts changed, {progress.requests:,} requests, {_time(seconds)}"
        )
    if progress.refused:
        talk(f"{progress.refused} reads were denied to this token.")
    if progress.failed:
        raise PresscheckError(f"{progress.failed} reads failed: run `presscheck sync` again")


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
