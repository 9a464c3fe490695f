"""Merge commands of a review: merge, update from main, merge requirements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from presscheck.api.change_requests import MergeChangeRequest, PullChangeRequest
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.engine.review.changes import summarize_changes
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain
from presscheck.tui.screens.page_editor import stays_locked
from presscheck.tui.screens.problem_list import ProblemListScreen
from presscheck.tui.screens.review.merge_requirements import requirement_rows
from presscheck.tui.screens.review.renderer import merge_line, undo_line, verdicts
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.engine.review.model import ReviewModel, ThreadFilter
    from presscheck.tui.screens.problem_list import ProblemRow
    from presscheck.tui.screens.review.context import ReviewContext
    from presscheck.tui.screens.review.drafts import ReviewDrafts
    from presscheck.tui.screens.review.merge_forecast import MergeForecast, Revisions
    from presscheck.tui.screens.review.merge_requirements import Target
    from presscheck.tui.screens.review.page_owners import PageOwners

DIALOG_COLUMNS = 72


class MergeActions:
    """Handles the commands that merge or update.

    Args:
        model: the change request.
        context: the screen.
        drafts: sends.
        forecast: tells whether there are conflicts.
        threads: the threads by item.
        owners: finds the owners of the changed pages.
        go_to: goes to what a merge requirement depends on.
    """

    def __init__(
        self,
        model: ReviewModel,
        context: ReviewContext,
        drafts: ReviewDrafts,
        forecast: MergeForecast,
        threads: ThreadFilter,
        owners: PageOwners,
        go_to: Callable[[Target], None],
    ) -> None:
        self._model, self._context, self._drafts, self._forecast = model, context, drafts, forecast
        self._threads, self._owners, self._go_to = threads, owners, go_to
        self.requirements: ProblemListScreen[Target] | None = None
        """The list of requirements, once it was opened."""

    def reason_merge(self) -> str | None:
        """Why it cannot be merged."""
        if not self._context.engine.status.online:
            return "you are offline and a merge cannot be queued"
        readiness = self._model.readiness()
        return readiness.reasons[0] if readiness.certainty == "no" else self._drafts.disabled_reason()

    async def command_merge(self) -> None:
        """Merge after a confirmation, unless the change request or main was changed meanwhile."""
        if await stays_locked(self._context, self._model.space_id):
            return

        def lines() -> list[Line]:
            can_revert = self._context.engine.missing_reason(EditChangeRequestContent) is None
            return [*self.summary(), *self._forecast.lines(), undo_line(can_revert=can_revert)]

        is_confirmed, revisions = await self._confirm("Merge into the live content?", "Merge", lines, has_gate=True)
        if not is_confirmed:
            return
        if await self._forecast.changed_since(revisions):
            self._context.notify("not merged: the change request has changed; m shows the merge again")
        else:
            self._drafts.send(MergeChangeRequest(**self._model.path))

    def reason_pull(self) -> str | None:
        """Why it cannot be updated."""
        request = self._model.request
        if closed := self._model.closed_reason():
            return closed
        if request and not request.outdated:
            return "it is up to date with main"
        if not self._context.engine.status.online:
            return "you are offline and an update cannot be queued"
        return self._drafts.disabled_reason()

    async def command_pull(self) -> None:
        """Update from main, after a confirmation."""

        def lines() -> list[Line]:
            return [
                (Span("Brings the changes in main into this change request."),),
                (Span("Where both sides changed the same text, the page gets both versions.", "quiet"),),
                *self._forecast.lines(),
            ]

        is_confirmed, _ = await self._confirm("Update from main?", "Update", lines, has_gate=False)
        if is_confirmed:
            self._drafts.send(PullChangeRequest(**self._model.path))

    def command_why(self) -> None:
        """List the merge requirements, and what they depend on."""
        self.requirements = ProblemListScreen("Merge requirements", self._requirement_rows(), self._go_to)
        self._context.app_context.push_screen(self.requirements)
        self._context.run(self._load_owners, group="owners", exclusive=True)

    @property
    def is_shown(self) -> bool:
        """Whether the user sees the merge requirements."""
        return self.requirements is not None and self.requirements.is_shown

    def redraw_requirements(self) -> None:
        """Draw the merge requirements again, if they are shown."""
        if self.requirements:
            self.requirements.show(self._requirement_rows())

    def summary(self) -> list[Line]:
        """The subject, the changes, the reviews, and whether it can be merged."""
        request, progress = self._model.request, self._model.progress()
        subject = sanitize(request.subject) if request else ""
        reviews = plain(verdicts(self._model.reviewers() or ())).strip() or "none yet"
        missing = f"; ⚠ {progress.missing}" if progress and progress.missing else ""
        return [
            (Span(subject, "strong"),),
            (Span(summarize_changes(self._model.items) or "no changes"), Span(missing, "waiting")),
            (Span(f"Reviews  {reviews}", "quiet"),),
            merge_line(self._model.readiness(), DIALOG_COLUMNS),
        ]

    def _requirement_rows(self) -> list[ProblemRow[Target]]:
        return requirement_rows(self._model, self._threads.all_threads(), self._owners)

    async def _load_owners(self) -> None:
        """Show the owners who have not reviewed, as soon as they are known."""
        if self._model.space:
            await self._owners.load(self._model.space)
            self.redraw_requirements()

    async def _confirm(
        self, title: str, confirm_label: str, lines: Callable[[], list[Line]], *, has_gate: bool
    ) -> tuple[bool, Revisions | None]:
        """Ask with the forecast in the dialog: it cannot be confirmed before the forecast is known.

        Returns whether it was confirmed, and the revisions of the forecast that the user saw. With `has_gate`, the
        number of a change request with conflicts must be typed, and every changed page is searched for unresolved ones.
        """
        forecast, request = self._forecast, self._model.request
        number = str(request.number) if request and has_gate else None
        dialog = ConfirmDialog(title, lines(), confirm_label, self._context.style_for, is_ready=False)
        revisions: Revisions | None = None

        def update() -> None:
            nonlocal revisions
            if not dialog.is_ready and forecast.is_ready(reads_all=has_gate):
                revisions = forecast.revisions
                dialog.make_ready(lines(), type_to_confirm=number if forecast.has_conflicts else None)

        update()
        with forecast.listening(update):
            if not dialog.is_ready:
                forecast.require(reads_all=has_gate)
            is_confirmed = await self._context.ask(dialog)
        return bool(is_confirmed), revisions
