"""The command of a review that runs the prose checks on the changed pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.tui.commands import key_for
from presscheck.tui.screens.review.prose_findings import has_prose

if TYPE_CHECKING:
    from presscheck.config.prose_checks import ProseCheck
    from presscheck.tui.screens.review.session import ReviewSession


class ProseCheckActions:
    """The command that runs the prose checks on the changed pages.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model = session, session.model

    def reason_check_prose(self) -> str | None:
        """Return why no prose can be checked: the change request changes no page."""
        return None if any(map(has_prose, self._model.items)) else "no changed pages to check"

    def command_check_prose(self) -> None:
        """Run the prose checks in the background, or cancel them."""
        self._session.prose.run.toggle(self._check, f"{key_for('next_thread')} goes to the next one")

    async def _check(self, checks: Sequence[ProseCheck]) -> int:
        prose, items = self._session.prose, self._model.items
        await prose.check(checks, items)
        return sum(len(prose.on(item)) for item in items)
