"""The verbs that hide change requests of the inbox, and bring them back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from presscheck.api.change_requests import ChangeRequest
from presscheck.cli.linear.place import Linear, Place, Verb, pick
from presscheck.cli.linear.words import request_name
from presscheck.engine.inbox.triage import MORNING, wake_time
from presscheck.errors import InvalidArgument

SNOOZES = {
    "tomorrow": f"until tomorrow, {MORNING}:00",
    "week": f"until next Monday, {MORNING}:00",
    "activity": "until there is new activity",
}


def triage_verbs(
    linear: Linear,
    requests: Callable[[], Sequence[ChangeRequest]],
    after: Callable[[ChangeRequest | None], Awaitable[Place | None]],
) -> tuple[Verb, ...]:
    """Return the verbs that hide change requests and bring them back.

    Args:
        linear: what all places share.
        requests: returns the change requests of the place; a single one needs no number.
        after: called with the hidden change request, or with None after `undo`; returns the next place.
    """
    triage = linear.session.engine.triage

    async def done(typed: str) -> Place | None:
        request = pick(requests(), typed, "change request")
        triage.done(request)
        linear.last_hidden = request
        linear.terminal.print(
            [f"{request_name(request)} done: hidden until there is new activity. undo brings it back."]
        )
        return await after(request)

    async def snooze(typed: str) -> Place | None:
        words = typed.split()
        when = words.pop() if words and not words[-1].isdecimal() else "tomorrow"
        choices = [choice for choice in SNOOZES if choice.startswith(when.lower())]
        if len(choices) != 1:
            raise InvalidArgument(when, f"choose one of: {', '.join(SNOOZES)}")
        request = pick(requests(), " ".join(words), "change request")
        triage.snooze(request, wake_time(choices[0], datetime.now().astimezone()))
        linear.last_hidden = request
        linear.terminal.print([f"{request_name(request)} snoozed {SNOOZES[choices[0]]}. undo brings it back."])
        return await after(request)

    async def undo(_: str) -> Place | None:
        request, linear.last_hidden = linear.last_hidden, None
        if request and triage.unhide(request.id):
            linear.terminal.print([f"{request_name(request)} is back in the inbox."])
        return await after(None)

    async def bookmark(typed: str) -> Place | None:
        request = pick(requests(), typed, "change request")
        state = "bookmarked" if triage.bookmark(request.id) else "no longer bookmarked"
        linear.terminal.print([f"{request_name(request)} {state}."])
        return None

    number = "" if len(requests()) == 1 else "NUMBER"
    nothing = None if linear.last_hidden else "nothing was hidden"
    return (
        Verb("done", "d", "Hide until there is new activity.", done, number),
        Verb("snooze", "s", f"Hide until a time: {', '.join(SNOOZES)}.", snooze, f"{number} [TIME]".strip()),
        Verb("bookmark", "", "Add or remove a bookmark.", bookmark, number),
        Verb("undo", "", "Bring back what was hidden last.", undo, reason=nothing),
    )
