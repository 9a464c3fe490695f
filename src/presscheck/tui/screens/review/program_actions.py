"""The command of a review that runs a program of the user, whose comments become drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.config.project import ReviewProgram, review_programs_of, untrusted_reason
from presscheck.errors import PresscheckError
from presscheck.text.phrases import count
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Span, cut, plain
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.change_requests import ChangeRequest
    from presscheck.tui.screens.review.session import ReviewSession

LONGEST_REJECTION = 120
"""Maximum width, in cells, of the first rejected comment in a message."""


class ProgramActions:
    """The command that runs a program on the change request.

    Args:
        session: the review.
    """

    def __init__(self, session: ReviewSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen

    def reason_review_with(self) -> str | None:
        """Return why no program can review: for example, the change request is merged."""
        if self._session.program.progress:
            return None
        if not self._model.items:
            return "no changes to review"
        return self._model.closed_reason() or self._session.drafts.disabled_reason()

    async def command_review_with(self) -> None:
        """Run a program in the background, or cancel the running one."""
        if self.cancel():
            return
        app, request = self._screen.app_context, self._model.request
        programs = review_programs_of(app.settings_file, app.profile.project)
        if not programs:
            reason = untrusted_reason(app.profile.project)
            raise PresscheckError(reason or "no programs: name one in [review_programs] of config.toml")
        choices = [Choice(name, name, sanitize(program.command[0])) for name, program in programs.items()]
        name = choices[0].key if len(choices) == 1 else await choose(self._screen, "Review with", choices)
        if name and request:
            running = self._session.program
            running.worker = self._screen.run(
                lambda: self._review(request, name, programs[name]), group="program", exclusive=True
            )

    def cancel(self) -> bool:
        """End the running program. Return whether one was running."""
        was_running = self._session.program.cancel()
        if was_running:
            self._screen.notify("review canceled: nothing was drafted")
            self._screen.redraw()
        return was_running

    async def _review(self, request: ChangeRequest, name: str, program: ReviewProgram) -> None:
        from presscheck.engine.review.program_review import review_with_program  # 13 ms, only for programs

        def show(progress: str) -> None:
            self._session.program.progress = f"▸ {progress}"
            self._screen.redraw()

        def show_end() -> None:
            self._session.program.progress = ""
            self._screen.redraw()

        try:
            command, directory = program
            drafted = await review_with_program(
                self._screen.engine, request, command, name, directory=directory, progress=show
            )
        except Exception:  # not after a cancellation: the next program may be running already
            show_end()
            raise
        show_end()
        parts = [f"{count(len(drafted.numbers), 'comment')} held in your review"]
        if drafted.known:
            parts.append(f"{drafted.known:,} held already")
        if drafted.rejected:
            first = f"{drafted.rejected[0].place}: {drafted.rejected[0].reason}"
            parts.append(f"{len(drafted.rejected):,} rejected ({plain(cut((Span(first),), LONGEST_REJECTION))})")
        self._screen.notify(f"{name}: {', '.join(parts)}")
