"""`presscheck outbox`: lists, sends, retries, edits and discards unsent changes; lists and undoes sent changes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

import click

from presscheck.api.users import GetCurrentUser
from presscheck.cli.output import print_message
from presscheck.cli.session import (
    OTHER_PROCESS_TIMEOUT,
    OUTBOX_POLL_SECONDS,
    Session,
    confirm,
    limit_option,
    print_edit_choices,
    with_session,
    yes_option,
)
from presscheck.cli.text_input import body_options, body_text
from presscheck.client.responses import read_answer
from presscheck.engine.writes.typed_texts import typed_text_in, with_text
from presscheck.errors import InvalidArgument, NetworkError, PresscheckError, ReadOnly, Refused
from presscheck.store.outbox import FAILED, Row
from presscheck.text.phrases import count

MAX_ATTEMPTS = 3
"""Failed attempts, such as with a service error, after which `send` leaves a change in the outbox."""
LONGEST_PAUSE = 60.0
"""Maximum seconds that `send` waits for a delayed change."""
number = click.argument("number", type=int)
agent_option = click.option("--agent", metavar="NAME", help="The drafts of this agent.")


@click.group()
def outbox() -> None:
    """Manage unsent changes, and undo sent ones.

    NUMBER is the id of a change in `presscheck outbox list` or `presscheck outbox history`.
    """


@outbox.command("list")
@limit_option
@with_session
async def list_all(session: Session, limit: int) -> None:
    """List pending and failed changes, oldest first.

    The last columns are the failed change that a change waits for, and the change in words. JSON also has its text.
    """
    # 60 ms, only for a list
    from presscheck.engine.writes.descriptions import describe, describe_name

    held_up = session.engine.outbox.held_up()
    rows = [
        {
            "id": entry.id,
            "state": entry.state,
            "change": describe(entry.call, entry.target) if entry.call else describe_name(entry.name),
            "call": entry.name,
            "request": str(entry.call or ""),
            "error": entry.error,
            "behind": held_up[entry.id].id if entry.id in held_up else None,
            "agent": entry.agent or None,
            "text": typed[1] if (typed := typed_text_in(entry.call)) else None,
        }
        for entry in session.engine.waiting()
    ]
    session.show(rows[: limit or None], ("id", "state", "call", "request", "error", "agent", "behind", "change"))


@outbox.command()
@click.argument("number", type=int, required=False)
@with_session
async def send(session: Session, number: int | None) -> None:
    """Send all pending changes, or one.

    Stops if the connection is lost. Changes that cannot be sent are printed, with those that wait behind them (exit
    code 1).

    With NUMBER, sends this change, even if it or an earlier change failed.
    """
    if session.profile.read_only:
        raise ReadOnly
    if number is not None:
        _row(session, number)
    # fails at once without a connection or with an invalid token
    user = read_answer(GetCurrentUser(), await session.engine.fetch(GetCurrentUser()))
    if number is None:
        await _send_all(session, user.id)
    else:
        await _send_one(session, number)


async def _send_one(session: Session, number: int) -> None:
    """Send a single change, ahead of failed changes that block it.

    Raises:
        InvalidArgument: the change cannot be sent alone.
        PresscheckError: the service rejected the change, or it stays in the outbox for another reason.
    """
    outbox = session.engine.outbox
    if (row := outbox.row(number)) and row.state == "collected":
        if row.agent:
            accept, drop = (f"`presscheck outbox {verb} {number}`" for verb in ("accept", "drop"))
            raise InvalidArgument("NUMBER", f"change {number} is a draft of {row.agent}. Run {accept} or {drop}")
        raise InvalidArgument("NUMBER", f"change {number} is held until you submit your review")
    failed = outbox.held_up().get(number)
    if not session.engine.send_now(number):
        first = f" {failed.id}" if failed else ""
        raise InvalidArgument("NUMBER", f"change {number} needs change{first}, which failed: send that first")
    session.engine.retry(number)
    if not await session.sent(number):
        raise PresscheckError(f"Change {number} is not sent yet: see `presscheck outbox list`")
    print_message("Sent.")


async def _send_all(session: Session, user_id: str) -> None:
    """Send all changes that can be sent now.

    Raises:
        NetworkError: the connection was lost.
        PresscheckError: another process is sending, but makes no progress.
        Refused: changes failed, or stay in the outbox for another reason.
    """
    outbox = session.engine.outbox
    attempts: dict[int, set[float]] = {}
    before, changed_at = outbox.rows(), time.monotonic()
    while True:
        rows, ahead = outbox.rows(), outbox.ahead()
        stuck = set[int]()
        for row in rows:
            failures = attempts.setdefault(row.id, set())
            is_new = bool(row.error) and row.not_before not in failures
            if is_new:
                failures.add(row.not_before)
            if _is_stuck(row, user_id, len(failures)):
                stuck.add(row.id)
            elif is_new:
                print_message(f"Change {row.id} is tried again: {row.error}")
        stuck |= {number for number, first in ahead.items() if first.id in stuck}
        if all(row.id in stuck for row in rows if row.state in ("waiting", "sending")):
            break
        if rows != before:
            before, changed_at = rows, time.monotonic()
        if time.monotonic() - changed_at > OTHER_PROCESS_TIMEOUT and not outbox.may_send():
            raise PresscheckError("Another presscheck process is sending: what it does not send stays in the outbox")
        if not session.engine.status.online:
            raise NetworkError(
                "The connection was lost. Unsent changes stay in the outbox; try again later", request="outbox"
            )
        await _wait_for_change(session)
    _report(rows, ahead, stuck)


def _report(rows: Sequence[Row], ahead: Mapping[int, Row], stuck: Collection[int]) -> None:
    """Print the changes that stay in the outbox, and the changes that they block.

    Raises:
        Refused: changes failed, or stay for a reason other than a pending review.
    """
    unsent = [row for row in rows if row.id in stuck]
    for row in unsent:
        if row.id not in ahead:
            _print_stuck(row, [number for number, first in ahead.items() if first.id == row.id])
    if unsent:
        failed = sum(row.state in FAILED for row in unsent)
        parts = [f"{count(failed, 'change')} failed"] if failed else []
        parts += [f"{len(unsent) - failed:,} pending"] if len(unsent) > failed else []
        raise Refused(f"{', '.join(parts)}: see `presscheck outbox list`", request="outbox", status=400)
    held = [row for row in rows if row.state == "collected"]
    # submitting a review sends comments on its change request, also those of agents
    drafts = [row for row in held if row.agent and (row.is_edit or "change_request_id" not in row.given)]
    if not held:
        print_message("The outbox is empty.")
        return
    print_message("Everything else was sent.")
    if len(held) > len(drafts):
        print_message(f"{count(len(held) - len(drafts), 'comment')} held until you submit your review.")
    if drafts:
        print_message(
            f"{count(len(drafts), 'draft')} of agents: run `presscheck outbox accept` or `presscheck outbox drop`."
        )


def _is_stuck(row: Row, user_id: str, attempts: int) -> bool:
    """Return whether a change cannot be sent now: it failed, is of another user, is delayed, or was tried too often."""
    if row.state in ("collected", "now"):
        return False
    is_foreign = row.author not in (None, user_id)
    is_later = row.not_before > time.time() + LONGEST_PAUSE
    return row.state in FAILED or is_foreign or is_later or attempts >= MAX_ATTEMPTS


def _print_stuck(row: Row, behind: list[int]) -> None:
    """Print why a change is not sent, and the changes that it blocks."""
    verb = "failed" if row.state in FAILED else "is not sent yet"
    print_message(f"Change {row.id} {verb}{f': {row.error}' if row.error else ''}")
    if row.is_edit and row.state in FAILED:
        print_edit_choices(row.id)
    if behind:
        numbers, first = ", ".join(map(str, behind)), behind[0]
        print_message(
            f"Behind change {row.id}: {numbers}. `presscheck outbox send {first}` sends change {first} first."
        )


@outbox.command()
@number
@with_session
async def retry(session: Session, number: int) -> None:
    """Queue a failed change to be sent again."""
    _row(session, number)
    if session.profile.read_only:
        raise ReadOnly
    if not session.engine.retry(number):
        raise InvalidArgument("NUMBER", f"change {number} has not failed. {_next_step(session, number)}")
    print_message("Queued again. Run `presscheck outbox send` to send it now.")


@outbox.command()
@number
@body_options
@with_session
async def edit(session: Session, number: int, *, body: str | None, body_file: str | None) -> None:
    """Edit the text of a change that is not sent yet.

    A failed change is then sent again.
    """
    _row(session, number)
    row = session.engine.outbox.row(number)
    if session.profile.read_only:
        raise ReadOnly
    entry = next((entry for entry in session.engine.waiting() if entry.id == number), None)
    typed_text = typed_text_in(entry.call) if entry else None
    if row is None or entry is None or entry.call is None or typed_text is None:
        raise InvalidArgument("NUMBER", f"change {number} contains no text to edit")
    field, before = typed_text
    with body_text(body, body_file, before=before) as text:
        call, engine = with_text(entry.call, field, text), session.engine
        if not (engine.replace_edit(row, call) if entry.has_base else engine.rewrite(number, call)):
            raise InvalidArgument("NUMBER", f"change {number} is already sent, or is being sent")
    print_message(f"Saved. {_next_step(session, number)}.")


@outbox.command()
@click.argument("number", type=int, required=False)
@agent_option
@yes_option
@with_session
async def drop(session: Session, number: int | None, agent: str | None, *, yes: bool) -> None:
    """Discard a change and print it.

    With --agent, discards all drafts of an agent (asks first). Fails while another process sends the change. A change
    that was sent without a response may have been saved.
    """
    if agent is not None:
        numbers = _drafts_of(session, agent, () if number is None else (number,))
        confirm(f"Discard {count(len(numbers), 'draft')} of {agent}?", yes=yes)
        dropped = sum(session.engine.drop(each) for each in numbers)
        print_message(f"Discarded: {count(dropped, 'draft')}.")
        return
    if number is None:
        raise InvalidArgument("NUMBER", "give a number, or --agent")
    row = _row(session, number)
    if not session.engine.drop(number):
        # only this command ends a change without a response: the app keeps waiting for the response
        if not session.engine.drop_unanswered(number):
            why = "is already sent, or another presscheck process is sending it"
            raise InvalidArgument("NUMBER", f"change {number} {why}. Run `presscheck outbox list`")
        print_message("It was sent, but not answered, so it may be saved: check.")
    session.show(row)


@outbox.command()
@click.argument("numbers", metavar="[NUMBER]...", type=int, nargs=-1)
@agent_option
@yes_option
@with_session
async def accept(session: Session, numbers: tuple[int, ...], agent: str | None, *, yes: bool) -> None:
    """Send drafts of agents.

    Sends the drafts with these numbers, or all drafts of an agent (asks first). A comment that an agent drafted can
    also be sent with your review.
    """
    if session.profile.read_only:
        raise ReadOnly
    if not numbers and agent is None:
        raise InvalidArgument("NUMBER", "give numbers, or --agent")
    drafts = _drafts_of(session, agent, numbers)
    if not numbers:
        confirm(f"Send {count(len(drafts), 'draft')} of {agent}?", yes=yes)
    session.engine.release(drafts)
    sent = [await session.sent(each) for each in drafts]
    if all(sent):
        print_message(f"Sent: {count(len(sent), 'draft')}.")


def _drafts_of(session: Session, agent: str | None, numbers: Sequence[int]) -> list[int]:
    """Return the numbers of the held drafts of an agent, or of any agent if `agent` is None.

    Args:
        session: reads the outbox.
        agent: the name of the agent.
        numbers: the drafts to return; empty for all.

    Raises:
        InvalidArgument: a number is not a draft of the agent, or the agent has no drafts.
    """
    drafts = [
        entry.id
        for entry in session.engine.waiting()
        if entry.state == "collected" and (entry.agent == agent if agent is not None else entry.agent)
    ]
    if others := set(numbers).difference(drafts):
        raise InvalidArgument("NUMBER", f"change {min(others)} is not a draft of {agent or 'an agent'}")
    if not drafts:
        raise InvalidArgument("--agent", f"{agent} has no drafts. Run `presscheck outbox list`")
    return list(numbers) or drafts


@outbox.command()
@limit_option
@with_session
async def history(session: Session, limit: int) -> None:
    """List sent, undone and failed changes, newest first.

    The newest 500 changes of the last 30 days are kept. The last column is the effect of undoing the change, or the
    reason why it cannot be undone.
    """
    rows = [
        {
            "id": entry.id,
            "at": f"{datetime.fromtimestamp(entry.ended_at, UTC):%Y-%m-%dT%H:%M:%SZ}",
            "state": entry.state,
            "change": entry.description,
            "place": entry.place_name,
            "undo": entry.inverse or f"no: {entry.reason}",
            "call": entry.name,
            "request": str(entry.call or ""),
            "error": entry.error,
            "undoes": entry.undoes,
            "undoable": entry.reason is None,
            "agent": entry.agent or None,
        }
        for entry in session.engine.history()
    ]
    session.show(rows[: limit or None], ("id", "at", "state", "change", "place", "agent", "undo"))


@outbox.command()
@number
@yes_option
@with_session
async def undo(session: Session, number: int, *, yes: bool) -> None:
    """Undo a sent change (asks first).

    Sends the opposite change. If others edited the same content since, nothing is sent, and both texts are printed
    (exit code 5). Offline, the undo is queued in the outbox if possible, and checked when it is sent.
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
    """Wait until the state of the engine changes, but no longer than `OUTBOX_POLL_SECONDS`.

    Writes of other processes do not change this state, so the caller then checks the outbox again.
    """
    changed = asyncio.Event()
    ends = session.engine.on_status(lambda _: changed.set())
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(OUTBOX_POLL_SECONDS):
                await changed.wait()
    finally:
        ends()


def _next_step(session: Session, number: int) -> str:
    """Return what sends a change that has not failed."""
    row = session.engine.outbox.row(number)
    if row is None or row.state != "collected":
        return f"Run `presscheck outbox send {number}` to send it now"
    return f"Run `presscheck outbox accept {number}` to send it" if row.agent else "Submit your review to send it"


def _row(session: Session, number: int) -> dict[str, object]:
    row = session.engine.outbox.row(number)
    if row is None:
        raise InvalidArgument("NUMBER", f"the outbox has no change {number}. Run `presscheck outbox list`")
    return {"id": row.id, "call": row.name, "given": row.given, "error": row.error}
