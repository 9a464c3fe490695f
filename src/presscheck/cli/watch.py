"""`presscheck inbox --watch`: one line for each event as it happens, until ctrl+c or a signal ends it."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from typing import Any

from presscheck.cli.output import has_colour, print_line, talk
from presscheck.cli.session import Session
from presscheck.engine.inbox.events import Event, sentence, summarize
from presscheck.errors import MalformedAnswer, NetworkError, ServiceFailed, TooManyRequests
from presscheck.text.notifications import notification
from presscheck.text.relative_time import now
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PASSING = (NetworkError, ServiceFailed, TooManyRequests, MalformedAnswer)
"""What may be over at the next look."""


async def watch_events(session: Session, pause: float) -> None:
    """Print events until a signal comes; the exit code then names it, as is usual.

    Raises:
        PresscheckError: what waiting does not mend, such as a token that is not known.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()
    for number in ENDS:
        loop.add_signal_handler(number, lambda number=number: ended.done() or ended.set_result(number))
    following = asyncio.ensure_future(_follow(session, pause))
    try:
        await asyncio.wait((following, ended), return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            following.result()
        session.then = lambda: 128 + ended.result()
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        for number in ENDS:
            loop.remove_signal_handler(number)


async def _follow(session: Session, pause: float) -> None:
    is_first, trouble = True, False
    session.engine.events.pause, session.engine.events.first = pause, 0
    async for events, error in session.engine.events.watch():
        if error and not isinstance(error, PASSING):
            raise error
        if error and not trouble:
            why = "Offline" if isinstance(error, NetworkError) else error.message
            talk(f"{why}: retrying less and less often.")
        elif trouble and not error:
            talk("Back online.")
        trouble = error is not None
        if is_first and not error:
            is_first = False
            talk(f"Checking for new events every {pause:g} s; stop with ctrl+c.")
        for event in events:
            print_event(event, as_json=session.json)
        if events and session.profile.notify and sys.stdout.isatty() and session.engine.events.may_notify():
            sys.stdout.write(notification(session.profile.notify, summarize(events)))
        sys.stdout.flush()


def print_event(event: Event, *, as_json: bool) -> None:
    """Print one event: a line of JSON, a sentence for a person, tabs for a program."""
    if as_json:
        sys.stdout.write(json.dumps(event_as_json(event)) + "\n")
    elif sys.stdout.isatty():
        clock = f"{now().astimezone():%H:%M}  "
        print_line((Span(clock, "quiet" if has_colour() else ""), Span(sanitize(sentence(event)))))
    else:
        where = f"{event.space}#{event.number}" if event.request else event.site
        cells = (event.at, event.kind, event.name, where, event.subject)
        sys.stdout.write("\t".join(sanitize(cell) for cell in cells) + "\n")


def event_as_json(event: Event) -> dict[str, Any]:
    """An event by stable names; what the service does not tell is null."""
    request = {"id": event.request, "number": event.number, "subject": event.subject, "space": event.space}
    return {
        "event": event.kind,
        "at": event.at or None,
        "by": {"id": event.who, "displayName": event.name} if event.who else None,
        "changeRequest": request if event.request else None,
        "site": {"id": event.site, "title": event.subject} if event.site else None,
        "text": sentence(event),
    }
