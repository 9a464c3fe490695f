"""Reverts in a new change request, after a confirmation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.engine.review.revert import create_revert
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.places import Place
from presscheck.tui.ui.ask import confirm

if TYPE_CHECKING:
    from presscheck.engine.review.revert import Revert
    from presscheck.tui.ui.screen import BaseScreen


async def make_revert(screen: BaseScreen, question: str, space_id: str, plan: Revert) -> None:
    """Create the change request of a plan, after a confirmation, and open its review.

    Raises:
        PresscheckError: the service refused an operation; the message names a change request that was already created.
    """
    if await confirm(screen, question, _lines(plan), "Create change request"):
        created = await create_revert(screen.engine, space_id, plan)
        await screen.app_context.go(Place.review(created.space, created.id))


def _lines(plan: Revert) -> list[Line]:
    """Return lines with the subject, the number of edits, the conflicts, and reasons why changes stay."""
    lines: list[Line] = [(Span(sanitize(plan.subject), "strong"),), (Span(count(len(plan.changes), "edit")),)]
    lines += [
        (Span(f"conflict: {sanitize(title)} was edited since; both versions will be in the page", "removed"),)
        for title in plan.conflicts
    ]
    return lines + [(Span(sanitize(reason), "waiting"),) for reason in plan.kept]
