"""The command of a review that runs the prose checks on the changed pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from presscheck.config.project import checks_of, untrusted_reason
from presscheck.errors import ConfigurationError, PresscheckError
from presscheck.text.phrases import count
from presscheck.tui.commands import key_for
from presscheck.tui.screens.review.prose_findings import has_prose

if TYPE_CHECKING:
    from textual.worker import Worker

    from presscheck.config.prose_checks import ProseCheck
    from presscheck.tui.screens.review.session import ReviewSession


class ProseCheckActions:
    """The command that runs the prose checks on the changed pages.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._worker: Worker[None] | None = None

    def reason_check_prose(self) -> str | None:
        """Return why no prose can be checked: the change request changes no page."""
        return None if any(map(has_prose, self._model.items)) else "no changed pages to check"

    def command_check_prose(self) -> None:
        """Run the prose checks in the background, or cancel them."""
        prose = self._session.prose
        if prose.progress and self._worker:
            self._worker.cancel()
            prose.progress = ""
            self._screen.notify("prose check canceled")
            self._screen.redraw()
            return
        app = self._screen.app_context
        checks, errors = checks_of(app.settings_file, app.profile.project)
        if errors:
            raise ConfigurationError(str(errors[0]))
        if not checks:
            raise PresscheckError(
                untrusted_reason(app.profile.project)
                or f'no prose checks: add [[checks]] with name = "typos" to {app.settings_file}'
            )
        self._worker = self._screen.run(lambda: self._check(checks), group="prose checks", exclusive=True)

    async def _check(self, checks: Sequence[ProseCheck]) -> None:
        prose, items = self._session.prose, self._model.items
        try:
            await prose.check(checks, items, self._screen.redraw)
        finally:
            prose.progress = ""
        self._screen.redraw()
        for failure in prose.failures:
            self._screen.app_context.show_error(PresscheckError(failure))
        number = sum(len(prose.on(item)) for item in items)
        if number:
            self._screen.notify(f"{count(number, 'new prose finding')}: {key_for('next_thread')} goes to the next one")
        elif not prose.failures:
            self._screen.notify(f"no new prose findings ({', '.join(check.name for check in checks)})")
