"""Notifies the user of new events through the terminal and through a command, except in quiet hours."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import datetime, time
from pathlib import Path

from presscheck.config.profile import Profile
from presscheck.config.prose_checks import command_words
from presscheck.engine.child_programs import expanded, run_program
from presscheck.engine.inbox.event_log import EventLog
from presscheck.engine.inbox.events import Event, event_record, summarize
from presscheck.text.notifications import notification
from presscheck.text.phrases import now
from presscheck.text.sanitize import sanitize

COMMAND_SECONDS = 20.0
"""Time limit of `notify_command`."""


async def notify(
    log: EventLog, profile: Profile, events: Collection[Event], write: Callable[[str], object] | None
) -> None:
    """Notify the user of events in the ways that the profile sets. Only one of several instances notifies.

    Args:
        log: the log with the events.
        profile: the profile.
        events: the new events.
        write: writes to the terminal; None without a terminal.

    Raises:
        PresscheckError: `notify_command` failed.
    """
    in_terminal = profile.notify if write else None
    if not events or not (in_terminal or profile.notify_command):
        return
    if is_quiet(profile.quiet_hours, now().astimezone()) or not log.may_notify():
        return
    if in_terminal and write:
        write(notification(in_terminal, summarize(events)))
    if profile.notify_command:
        lines = "".join(f"{json.dumps(event_record(event))}\n" for event in events)
        # the text does not begin with a dash, so that it cannot become an option
        words = (*expanded(command_words(profile.notify_command)), f"presscheck: {sanitize(summarize(events))}")
        ran = await run_program("notify_command", words, Path.home(), COMMAND_SECONDS, given=lines.encode())
        if ran.code:
            raise ran.failure("notify_command")


def is_quiet(hours: str | None, moment: datetime) -> bool:
    """Return whether a moment is in quiet hours such as `22:00-07:00`, which may include midnight."""
    if hours is None:
        return False
    first, last = (time.fromisoformat(part) for part in hours.split("-"))
    at = moment.time()
    return first <= at < last if first <= last else at >= first or at < last
