"""`presscheck outbox`: what is not sent, sending it, and deciding over what was refused."""

from __future__ import annotations

import asyncio
import contextlib

import click

from presscheck.api.users import GetCurrentUser
from presscheck.cli.output import talk
from presscheck.cli.session import LOOK_AGAIN, Session, asking
from presscheck.errors import InvalidArgument, NetworkError, ReadOnly, Refused

number = click.argument("number", type=int)


@click.group()
def outbox() -> None:
    """Manage unsent changes: `list`, `send`, `retry`, `drop`."""


@outbox.command("list")
@asking
async def list_all(session: Session) -> None:
    """Print what waits and what was refused, the oldest first."""
    rows = [
        {"id": row.id, "state": row.state, "call": row.name, "request": str(row.call or ""), "error": row.error}
        for row in session.engine.waiting()
    ]
    session.show(rows, ("id", "state", "call", "request", "error"))


@outbox.command()
@asking
async def send(session: Session) -> None:
    """Send what waits; ends when nothing does, or when there is no connection."""
    if session.profile.read_only:
        raise ReadOnly
    await session.engine.fetch(GetCurrentUser())  # no network, or nobody's token: then say so at once
    while [row for row in session.engine.outbox.rows() if row.state in ("waiting", "sending")]:
        if not session.engine.status.online:
            raise NetworkError("The connection was lost; unsent changes stay in the outbox", request="outbox")
        await _something_changed(session)
    refused = [row for row in session.engine.outbox.rows() if row.state in ("refused", "parked")]
    if refused:
        raise Refused(f"{len(refused)} rejected: see `presscheck outbox list`", request="outbox", status=400)
    talk("Outbox is empty.")


@outbox.command()
@number
@asking
async def retry(session: Session, number: int) -> None:
    """Let a write that was refused be sent again."""
    _known(session, number)
    if session.profile.read_only:
        raise ReadOnly
    session.engine.retry(number)
    talk("Marked to be sent again: run `presscheck outbox send`.")


@outbox.command()
@number
@asking
async def drop(session: Session, number: int) -> None:
    """Give a write up; it is printed once more."""
    row = _known(session, number)
    session.engine.drop(number)
    session.show(row)


async def _something_changed(session: Session) -> None:
    """Wait until the state of the world changes, or until it is time to look whether another window sent something."""
    changed = asyncio.Event()
    ends = session.engine.on_status(lambda _: changed.set())
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AGAIN):
                await changed.wait()
    finally:
        ends()


def _known(session: Session, number: int) -> dict[str, object]:
    row = session.engine.outbox.row(number)
    if row is None:
        raise InvalidArgument("NUMBER", f"the outbox has no entry {number}")
    return {"id": row.id, "call": row.name, "given": row.given, "error": row.error}
