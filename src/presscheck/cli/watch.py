"""`presscheck inbox --watch`: prints a line for each new event, until ctrl+c or a signal."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from typing import Any

from presscheck.cli.output import has_color, print_json_line, print_line, print_message
from presscheck.cli.session import Session
from presscheck.engine.inbox.event_notifications import notify
from presscheck.engine.inbox.events import Event, event_record, sentence
from presscheck.engine.members import user_id
from presscheck.engine.reads.substitutes import NO_USER
from presscheck.errors import (
    MalformedAnswer,
    NetworkError,
    NotSupported,
    PresscheckError,
    ServiceFailed,
    TooManyRequests,
)
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span

END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TEMPORARY_ERRORS = (NetworkError, ServiceFailed, TooManyRequests, MalformedAnswer)
"""Errors that may not occur at the next check."""


async def watch_events(session: Session, pause: float) -> None:
    """Print events until a signal arrives; the exit code is 128 plus the number of the signal.

    Raises:
        PresscheckError: an error that is not temporary, such as an invalid token.
    """
    await until_signal(session, _print_events(session, pause))


async def until_signal(session: Session, work: Coroutine[Any, Any, None]) -> None:
    """Run work until it ends or a signal arrives; after a signal, the exit code is 128 plus its number.

    Raises:
        PresscheckError: the work failed.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()
    for number in END_SIGNALS:
        loop.add_signal_handler(number, lambda number=number: ended.done() or ended.set_result(number))
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait((working, ended), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
        else:
            session.on_close = lambda: 128 + ended.result()
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        for number in END_SIGNALS:
            loop.remove_signal_handler(number)


async def _print_events(session: Session, pause: float) -> None:
    is_first, has_error = True, False
    write = sys.stdout.write if sys.stdout.isatty() else None
    session.engine.events.pause, session.engine.events.first = pause, 0
    async for events, error in session.engine.events.watch():
        if error and not isinstance(error, TEMPORARY_ERRORS):
            raise error
        if error and not has_error:
            print_message(f"{error.message}: retrying at longer and longer intervals.")
        elif has_error and not error:
            print_message("Back online.")
        has_error = error is not None
        if is_first and not error:
            is_first = False
            if not await user_id(session.engine):
                message = f"{NO_USER}: events are what other users did"
                raise NotSupported(message, request="GET /user", status=404)
            print_message(f"Checking for new events every {pause:g} s. Press ctrl+c to stop.")
        for event in events:
            print_event(event, as_json=session.json)
        sys.stdout.flush()
        try:
            await notify(session.engine.events, session.profile, events, write)
        except PresscheckError as failed:
            print_message(failed.message)
        sys.stdout.flush()


def print_event(event: Event, *, as_json: bool) -> None:
    """Print an event: as JSON, on a terminal as a sentence, otherwise as columns with tabs."""
    if as_json:
        print_json_line(event_record(event))
    elif sys.stdout.isatty():
        clock = f"{now().astimezone():%H:%M}  "
        print_line((Span(clock, "quiet" if has_color() else ""), Span(sanitize(sentence(event)))))
    else:
        where = f"{event.space}#{event.number}" if event.request else event.site
        cells = (event.at, event.kind, event.name, where, event.subject)
        sys.stdout.write("\t".join(sanitize(cell) for cell in cells) + "\n")
