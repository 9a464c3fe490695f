"""The merge forecast: checks whether the change request conflicts with main, again after either changes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.spaces import GetSpace
from presscheck.engine.review.merge_forecast import forecast
from presscheck.errors import PresscheckError
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span

if TYPE_CHECKING:
    from presscheck.engine.review.model import ReviewModel
    from presscheck.tui.screens.review.context import ReviewContext

Revisions = tuple[str, str]
"""The revisions of the change request and of main."""


class MergeForecast:
    """Keeps the forecast in the model up to date.

    Args:
        model: the change request.
        context: the screen.
    """

    def __init__(self, model: ReviewModel, context: ReviewContext) -> None:
        self._model, self._context = model, context
        self._checked: Revisions | None = None
        self._is_checked = False
        self._error = ""
        self._listeners: list[Callable[[], None]] = []

    @property
    def revisions(self) -> Revisions | None:
        """The revisions that are shown; None while one is unknown."""
        request, space = self._model.request, self._model.space
        return (request.revision, space.revision) if request and space else None

    @property
    def is_ready(self) -> bool:
        """Whether the check is finished or not needed."""
        request = self._model.request
        return request is not None and (not request.outdated or self._is_checked)

    @property
    def has_conflicts(self) -> bool:
        """Whether a merge will have conflicts, as far as it is known."""
        return bool(self._model.forecast and self._model.forecast.conflicts)

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Generator[None]:
        """Call a function after each check inside this context."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    async def changed_since(self, revisions: Revisions | None) -> bool:
        """Whether the service has other revisions by now; if so, everything that is shown is requested again."""
        request = await self._context.engine.read(GetChangeRequest(**self._model.path))
        space = await self._context.engine.read(GetSpace(space_id=self._model.space_id))
        if revisions in (None, (request.revision, space.revision)):
            return False
        self._context.engine.refresh()
        return True

    def update(self) -> None:
        """Check for conflicts, unless these revisions were checked."""
        request, revisions = self._model.request, self.revisions
        if request is None or revisions is None or self._model.closed_reason():
            return
        if revisions != self._checked:
            self._checked, self._is_checked, self._model.forecast = revisions, False, None
            self._context.run(lambda: self._check(request), group="forecast", exclusive=True)

    def require(self) -> None:
        """Check for conflicts, and read main first if it is unknown, because a dialog waits for the result."""
        if self.revisions is None:
            self._context.run(self._read_space, group="space", exclusive=True)
        else:
            self.update()

    def lines(self) -> list[Line]:
        """The result, for a dialog."""
        request, result = self._model.request, self._model.forecast
        if request is None or not request.outdated:
            return []
        if not self._is_checked:
            return [(Span("Checking for conflicts with main …", "waiting"),)]
        if result is None:
            why = f": {self._error}" if self._error else "."
            return [(Span(f"Could not check for conflicts with main{why}", "waiting"),)]
        if not result.conflicts:
            return [(Span("No conflicts with main.", "added"),)]
        conflicts = [
            (Span(f"{sanitize(conflict.title)}  ", "strong"), Span(sanitize(conflict.reason), "quiet"))
            for conflict in result.conflicts
        ]
        return [(Span("Conflicts with main:", "removed"),), *conflicts]

    async def _read_space(self) -> None:
        try:
            self._model.space = await self._context.engine.read(GetSpace(space_id=self._model.space_id))
        except PresscheckError as error:
            self._finish(error)
        else:
            self.update()

    async def _check(self, request: ChangeRequest) -> None:
        try:
            self._model.forecast = await forecast(self._context.engine, request)
        except PresscheckError as error:
            self._checked = None  # checked again after the next answer
            self._finish(error)
        else:
            self._finish(None)
            self._context.redraw()

    def _finish(self, error: PresscheckError | None) -> None:
        self._is_checked, self._error = True, error.message if error else ""
        for listener in tuple(self._listeners):
            listener()
