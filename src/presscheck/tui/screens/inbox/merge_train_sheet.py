"""The confirmation of a merge train, with the merge readiness of each change request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.engine.review.changes import changed_items, summarize_changes
from presscheck.engine.review.merge_inputs import read_merge_inputs
from presscheck.engine.review.merge_readiness import MergeInputs, merge_readiness
from presscheck.engine.shared_calls import changes_in
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.screens.review.renderer import merge_line, undo_line, verdicts
from presscheck.tui.ui.ask import Checked, confirm_checked

if TYPE_CHECKING:
    from presscheck.tui.screens.inbox.session import Inbox
    from presscheck.tui.ui.screen import BaseScreen

STOPS = ("no", "blocked")
"""The certainties at which a train stops."""


async def confirm_train(session: Inbox, requests: Sequence[ChangeRequest]) -> bool:
    """Ask for a confirmation, which is possible once every change request is checked.

    Args:
        session: the inbox.
        requests: the change requests, in merge order.
    """
    screen, name = session.screen, session.model.name
    title = f"Merge {count(len(requests), 'change request')}, one after another?"
    lines: list[Line] = [line for request in requests for line in (_head(request, name), _quiet("Checking …"))]
    undo = undo_line(can_revert=screen.engine.missing_reason(EditChangeRequestContent) is None)

    async def check() -> Checked:
        checked = await asyncio.gather(*(_check(screen, request, _head(request, name)) for request in requests))
        stops = [request for request, (_, does_stop) in zip(requests, checked, strict=True) if does_stop]
        lines = [line for about, _ in checked for line in about]
        return Checked([*_summary([name(request) for request in stops], undo), (), *lines])

    return await confirm_checked(screen, title, lines, "Merge", check)


def _summary(stops: Sequence[str], undo: Line) -> list[Line]:
    """Render the lines about the whole train, which come first because the list below may be long."""
    lines: list[Line] = []
    if stops:
        lines.append((Span(f"The train stops at {stops[0]}, unless that changes before its turn.", "removed"),))
    return [*lines, (Span("Each is updated from main and checked again.", "waiting"),), undo]


async def _check(screen: BaseScreen, request: ChangeRequest, head: Line) -> tuple[list[Line], bool]:
    """Return the lines about a change request, and whether the train will stop at it.

    If the change request cannot be checked, the lines show the error, and the train is expected to go on.
    """
    try:
        changes = await screen.engine.read(changes_in(request))
        inputs = await read_merge_inputs(screen.engine, request)
    except PresscheckError as error:
        return [head, (Span(f"   could not be checked: {sanitize(error.message)}", "waiting"),)], False
    readiness = merge_readiness(inputs)
    summary = summarize_changes(changed_items(changes.changes)) or "no changes"
    reviews = verdicts(inputs.reviewers or ())
    lines: list[Line] = [
        head,
        (Span(f"   {summary}", "quiet"), *((Span("  · reviews", "quiet"), *reviews) if reviews else ())),
        (Span("   "), *merge_line(readiness)),
        *_updates(inputs),
    ]
    return lines, readiness.certainty in STOPS


def _updates(inputs: MergeInputs) -> list[Line]:
    """Render the expected result of the update from main; empty if there is no update or it has conflicts."""
    if not inputs.request.outdated or inputs.conflicts:
        return []
    words = "main could not be compared" if inputs.conflicts is None else "no conflicts with main"
    return [_quiet(words)]


def _head(request: ChangeRequest, name: Callable[[ChangeRequest], str]) -> Line:
    return (Span(f"{name(request)} ", "quiet"), Span(sanitize(request.subject) or "(no subject)", "strong"))


def _quiet(words: str) -> Line:
    return (Span(f"   {words}", "quiet"),)
