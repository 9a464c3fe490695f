"""`presscheck outbox`: lists, sends, retries and discards unsent changes."""

from __future__ import annotations

import asyncio
import contextlib

import click

from presscheck.api.organizations import ListOrganizations
from presscheck.cli.output import print_message
from presscheck.cli.session import OUTBOX_POLL_SECONDS, Session, with_session
from presscheck.errors import InvalidArgument, NetworkError, ReadOnly, Refused
from presscheck.text.phrases import count

number = click.argument("number", type=int)


@click.group()
def outbox() -> None:
    """Manage unsent changes.

    NUMBER is the id of a change in `presscheck outbox list`.
    """


@outbox.command("list")
@with_session
async def list_all(session: Session) -> None:
    """List pending and failed changes, oldest first."""
    rows = [
        {"id": row.id, "state": row.state, "call": row.name, "request": str(row.call or ""), "error": row.error}
        for row in session.engine.waiting()
    ]
    session.show(rows, ("id", "state", "call", "request", "error"))


@outbox.command()
@with_session
async def send(session: Session) -> None:
    """Send all pending changes.

    Stops if the connection is lost.
    """
    if session.profile.read_only:
        raise ReadOnly
    await session.engine.fetch(
        ListOrganizations(limit=1)
    )  # fails at once without a connection or with an invalid token
    while [row for row in session.engine.outbox.rows() if row.state in ("waiting", "sending")]:
        if not session.engine.status.online:
            raise NetworkError(
                "The connection was lost. Unsent changes stay in the outbox; try again later", request="outbox"
            )
        await _wait_for_change(session)
    failed = [row for row in session.engine.outbox.rows() if row.state in ("refused", "parked")]
    if failed:
        message = f"{count(len(failed), 'change')} failed: see `presscheck outbox list`"
        raise Refused(message, request="outbox", status=400)
    print_message("The outbox is empty.")


@outbox.command()
@number
@with_session
async def retry(session: Session, number: int) -> None:
    """Queue a failed change to be sent again."""
    _row(session, number)
    if session.profile.read_only:
        raise ReadOnly
    session.engine.retry(number)
    print_message("Queued again. Run `presscheck outbox send` to send it now.")


@outbox.command()
@number
@with_session
async def drop(session: Session, number: int) -> None:
    """Discard a change and print it."""
    row = _row(session, number)
    session.engine.drop(number)
    session.show(row)


async def _wait_for_change(session: Session) -> None:
    """Wait until the state of the engine changes, or until it is time to check what another process sent."""
    changed = asyncio.Event()
    ends = session.engine.on_status(lambda _: changed.set())
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(OUTBOX_POLL_SECONDS):
                await changed.wait()
    finally:
        ends()


def _row(session: Session, number: int) -> dict[str, object]:
    row = session.engine.outbox.row(number)
    if row is None:
        raise InvalidArgument("NUMBER", f"the outbox has no change {number}. Run `presscheck outbox list`")
    return {"id": row.id, "call": row.name, "given": row.given, "error": row.error}
