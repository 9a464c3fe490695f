"""Merges, updates from main, and the merge forecast.

The forecast determines whether a change request conflicts with main or has unresolved conflicts. It is updated after
either side changes. Before a merge, every changed page is searched for conflict markers. At other times pages are
searched only after an update from main, which may have written markers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest, MergeChangeRequest, PullChangeRequest
from presscheck.api.content_changes import EditChangeRequestContent
from presscheck.api.sites import ListSites
from presscheck.api.spaces import GetSpace
from presscheck.engine.review.merge_forecast import forecast
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span
from presscheck.tui.commands import key_for
from presscheck.tui.screens.page.editor import stays_locked
from presscheck.tui.screens.review.renderer import live_lines, summary_lines, undo_line
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.tui.screens.review.request_session import RequestSession

Revisions = tuple[str, str]
"""The revision of the change request, and the revision of main."""


class MergeActions:
    """The commands that merge a change request, and that update it from main.

    Args:
        session: the change request.
    """

    def __init__(self, session: RequestSession) -> None:
        self._session, self._model, self._screen = session, session.model, session.screen
        self._drafts, self.forecast = session.drafts, MergeForecast(session)

    def reason_merge(self) -> str | None:
        """Return why the change request cannot be merged: the user is offline, or a merge requirement is not met."""
        cannot_send = self._screen.engine.write_reason(MergeChangeRequest, "a merge", at_once=True)
        return cannot_send or self._model.merge_reason() or self._drafts.disabled_reason()

    async def command_merge(self) -> None:
        """Merge after a confirmation, unless the change request or main has changed since the user saw the forecast."""
        if await stays_locked(self._screen, self._model.space_id):
            return

        def lines() -> list[Line]:
            can_revert = self._screen.engine.missing_reason(EditChangeRequestContent) is None
            lines = [*summary_lines(self._model), *self.forecast.lines(), *self._session.prose_lines()]
            return [*lines, *live_lines(self._model.live_sites), undo_line(can_revert=can_revert)]

        is_confirmed, revisions = await self._confirm("Merge into the live content?", "Merge", lines, has_gate=True)
        if not is_confirmed:
            return
        if await self.forecast.changed_since(revisions):
            self._screen.notify(f"not merged: the change request has changed; {key_for('merge')} shows the merge again")
        else:
            self._drafts.send(MergeChangeRequest(**self._model.path))

    def reason_pull(self) -> str | None:
        """Return why no update from main is possible: for example, there are no new changes, or the user is offline."""
        cannot_send = self._screen.engine.write_reason(PullChangeRequest, "an update", at_once=True)
        return self._model.update_reason() or cannot_send or self._drafts.disabled_reason()

    async def command_pull(self) -> None:
        """Update from main, after a confirmation."""

        def lines() -> list[Line]:
            return [
                (Span("Brings the changes in main into this change request."),),
                (Span("Where both sides changed the same text, the page gets both versions.", "quiet"),),
                *self.forecast.lines(),
            ]

        is_confirmed, _ = await self._confirm("Update from main?", "Update", lines, has_gate=False)
        if is_confirmed:
            self._drafts.send(PullChangeRequest(**self._model.path))

    async def _confirm(
        self, title: str, confirm_label: str, lines: Callable[[], list[Line]], *, has_gate: bool
    ) -> tuple[bool, Revisions | None]:
        """Ask for a confirmation, which is possible once the forecast is loaded.

        With `has_gate`, every changed page is searched for unresolved conflicts. If there are any, or conflicts with
        main, the user has to type the number of the change request.

        Returns:
            Whether the user confirmed, and the revisions of the forecast that the user saw.
        """
        forecast, request = self.forecast, self._model.request
        number = str(request.number) if request and has_gate else None
        dialog = ConfirmDialog(self._drafts.named(title), lines(), confirm_label, is_ready=False)
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
            is_confirmed = await self._screen.ask(dialog)
        return bool(is_confirmed), revisions


class MergeForecast:
    """The check for conflicts that keeps the forecast in the model current.

    Args:
        session: the change request.
    """

    def __init__(self, session: RequestSession) -> None:
        self._model, self._screen = session.model, session.screen
        self.checked: Revisions | None = None
        """The revisions of the last check; None before the first check and after a failed check."""
        self._is_checked = self._reads_all = False
        self._error = ""
        self._listeners: list[Callable[[], None]] = []

    @property
    def revisions(self) -> Revisions | None:
        """The current revisions; None until both are loaded."""
        request, space = self._model.request, self._model.space
        return (request.revision, space.revision) if request and space else None

    def is_ready(self, *, reads_all: bool) -> bool:
        """Return whether the required check is finished.

        With `reads_all`, all pages must be checked. Otherwise, only the check against main is required, and only if
        main has new changes.
        """
        request = self._model.request
        if reads_all:
            return self._is_checked and self._reads_all
        return request is not None and (not request.outdated or self._is_checked)

    @property
    def has_conflicts(self) -> bool:
        """Whether a merge would have conflicts, or publish unresolved conflicts, in the pages checked so far."""
        return bool(self._model.unresolved or (self._model.forecast and self._model.forecast.conflicts))

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Generator[None]:
        """Call a function after each check inside this context."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def changed_since(self, revisions: Revisions | None) -> bool:
        """Return whether the service has other revisions now. If it has, refresh everything on the screen.

        Return False if `revisions` is None.
        """
        request = await self._screen.engine.read(GetChangeRequest(**self._model.path))
        space = await self._screen.engine.read(GetSpace(space_id=self._model.space_id))
        if revisions in (None, (request.revision, space.revision)):
            return False
        self._screen.engine.refresh()
        return True

    def update(self, *, reads_all: bool = False) -> None:
        """Check for conflicts, unless the current revisions were checked before or the change request is closed.

        With `reads_all`, check again if the last check did not search all pages.
        """
        request, revisions = self._model.request, self.revisions
        if request is None or revisions is None or self._model.closed_reason():
            return
        if revisions != self.checked:
            self._model.forecast, self._reads_all = None, False
        elif self._reads_all or not reads_all:
            return
        self.checked, self._is_checked, self._reads_all = revisions, False, reads_all
        self._screen.run(lambda: self._check(request), group="forecast", exclusive=True)

    def require(self, *, reads_all: bool) -> None:
        """Check for conflicts for a waiting dialog. Loads the revision of main first if it is missing."""
        if self.revisions is None:
            self._screen.run(lambda: self._read_space(reads_all), group="space", exclusive=True)
        else:
            self.update(reads_all=reads_all)

    def lines(self) -> list[Line]:
        """Render the forecast for a dialog."""
        request, result = self._model.request, self._model.forecast
        if request is None:
            return []
        if not self._is_checked:
            return [(Span("Checking for conflicts …", "waiting"),)]
        if result is None:
            why = f": {self._error}" if self._error else "."
            return [(Span(f"Could not check for conflicts{why}", "waiting"),)]
        lines: list[Line] = []
        if self._model.unresolved:
            pages = ((Span(f"{sanitize(title)}", "strong"),) for title in self._model.unresolved.values())
            lines += [(Span("Unresolved conflicts, which readers would see:", "removed"),), *pages]
        if result.conflicts:
            lines.append((Span("Conflicts with main:", "removed"),))
        elif request.outdated:
            lines.append((Span("No conflicts with main.", "added"),))
        for conflict in result.conflicts:
            lines.append((Span(f"{sanitize(conflict.title)}  ", "strong"), Span(sanitize(conflict.reason), "quiet")))
        return lines

    async def _read_space(self, reads_all: bool) -> None:
        try:
            self._model.space = await self._screen.engine.read(GetSpace(space_id=self._model.space_id))
        except PresscheckError as error:
            self._finish(error)
        else:
            self.update(reads_all=reads_all)

    async def _check(self, request: ChangeRequest) -> None:
        try:
            if self._reads_all:
                self._model.live_sites = await self._read_live_sites()
            self._model.forecast = await forecast(self._screen.engine, request, reads_all=self._reads_all)
        except PresscheckError as error:
            self.checked = None  # checked again after the next result
            self._finish(error)
        else:
            self._finish(None)
            self._screen.redraw()

    async def _read_live_sites(self) -> Sequence[Site]:
        """Return the published sites that show the space; empty if they cannot be read."""
        space = self._model.space
        if space is None or not space.organization:
            return ()
        call = ListSites(organization_id=space.organization, space=space.id, published=True)
        with suppress(PresscheckError):
            return (await self._screen.engine.read(call)).items
        return ()

    def _finish(self, error: PresscheckError | None) -> None:
        self._is_checked, self._error = True, error.message if error else ""
        for listener in tuple(self._listeners):
            listener()
