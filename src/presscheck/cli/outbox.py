"""`presscheck outbox`: lists, sends, retries and discards unsent changes; lists and undoes sent ones."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime

import click

from presscheck.api.organizations import ListOrganizations
from presscheck.cli.output import print_message
from presscheck.cli.session import OUTBOX_POLL_SECONDS, Session, confirm, with_session
from presscheck.errors import InvalidArgument, NetworkError, ReadOnly, Refused
from presscheck.text.phrases import count

number = click.argument("number", type=int)


@click.group()
def outbox() -> None:
    """Manage unsent changes, and undo sent ones.

    NUMBER is the id of a change in `presscheck outbox list` or `presscheck outbox history`.
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
    held = [row for row in session.engine.outbox.rows() if row.state == "collected"]
    if held:
        print_message(f"Everything else was sent. {count(len(held), 'comment')} held until you submit your review.")
    else:
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
    """Discard a change and print it.

    Not while another process sends it. One that was sent and not answered may be saved.
    """
    row = _row(session, number)
    if not session.engine.drop(number):
        # nothing else ends a change whose answer never comes: the app waits for it
        if not session.engine.drop_unanswered(number):
            why = "is already sent, or another presscheck process is sending it"
            raise InvalidArgument("NUMBER", f"change {number} {why}. Run `presscheck outbox list`")
        print_message("It was sent, but not answered, so it may be saved: check.")
    session.show(row)


@outbox.command()
@with_session
async def history(session: Session) -> None:
    """List sent, undone and failed changes, newest first.

    The newest 500 changes of the last 30 days are kept. The last column is the effect of undoing the change, or the
    reason why it cannot be undone.
    """
    rows = [
        {
            "id": entry.id,
            "at": datetime.fromtimestamp(entry.ended_at, UTC).isoformat(timespec="seconds"),
            "state": entry.state,
            "change": entry.description,
            "place": entry.place_name,
            "undo": entry.inverse or f"no: {entry.reason}",
            "call": entry.name,
            "request": str(entry.call or ""),
            "error": entry.error,
            "undoes": entry.undoes,
            "undoable": entry.reason is None,
        }
        for entry in session.engine.history()
    ]
    session.show(rows, ("id", "at", "state", "change", "place", "undo"))


@outbox.command()
@number
@click.option("--yes", "-y", is_flag=True, help="Skip the confirmation.")
@with_session
async def undo(session: Session, number: int, *, yes: bool) -> None:
    """Undo a sent change (asks first).

    Sends what reverses the change. If others changed it since, nothing is sent, and both texts are printed (exit code
    5). Offline it is queued in the outbox, if it can be queued, and checked when it is sent.
    """
    entry = session.engine.history_entry(number)
    if entry is None:
        raise InvalidArgument("NUMBER", f"the history has no change {number}. Run `presscheck outbox history`")
    if entry.reason:
        raise InvalidArgument("NUMBER", f"cannot undo `{entry.description}`: {entry.reason}")
    if session.profile.read_only:
        raise ReadOnly
    with contextlib.suppress(NetworkError):  # offline it is checked when it is sent
        await session.engine.check_undo(number)
    confirm(f"{entry.inverse}. Undo `{entry.description}`?", yes=yes)
    tickets = session.engine.undo(number)
    if not tickets:
        raise InvalidArgument("NUMBER", f"cannot undo `{entry.description}`: its undo is in the outbox")
    for ticket in tickets:
        await session.settled(ticket, "")
    undone = session.engine.history_entry(number)
    if undone and undone.state == "undone":
        print_message(f"Undone: {entry.description}.")


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
