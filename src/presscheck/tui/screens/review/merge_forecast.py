"""The merge forecast: whether a change request conflicts with main or has unresolved conflicts.

It is checked again after either side changes. A merge needs every changed page to be searched for conflict markers;
until then they are searched only after an update from main, which may have written some.
"""

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
        self.checked: Revisions | None = None
        """The revisions that were checked; None before the first check and after one that failed."""
        self._is_checked = self._reads_all = False
        self._error = ""
        self._listeners: list[Callable[[], None]] = []

    @property
    def revisions(self) -> Revisions | None:
        """The revisions that are shown; None while one is unknown."""
        request, space = self._model.request, self._model.space
        return (request.revision, space.revision) if request and space else None

    def is_ready(self, *, reads_all: bool) -> bool:
        """Whether the check is finished: that of all pages, or that with main, which may not be needed."""
        request = self._model.request
        if reads_all:
            return self._is_checked and self._reads_all
        return request is not None and (not request.outdated or self._is_checked)

    @property
    def has_conflicts(self) -> bool:
        """Whether a merge will have conflicts or publish unresolved ones, as far as it is known."""
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
        """Whether the service has other revisions by now; if so, everything that is shown is requested again."""
        request = await self._context.engine.read(GetChangeRequest(**self._model.path))
        space = await self._context.engine.read(GetSpace(space_id=self._model.space_id))
        if revisions in (None, (request.revision, space.revision)):
            return False
        self._context.engine.refresh()
        return True

    def update(self, *, reads_all: bool = False) -> None:
        """Check for conflicts, unless these revisions were checked."""
        request, revisions = self._model.request, self.revisions
        if request is None or revisions is None or self._model.closed_reason():
            return
        if revisions != self.checked:
            self._model.forecast, self._reads_all = None, False
        elif self._reads_all or not reads_all:
            return
        self.checked, self._is_checked, self._reads_all = revisions, False, reads_all
        self._context.run(lambda: self._check(request), group="forecast", exclusive=True)

    def require(self, *, reads_all: bool) -> None:
        """Check for conflicts, and read main first if it is unknown, because a dialog waits for the result."""
        if self.revisions is None:
            self._context.run(lambda: self._read_space(reads_all), group="space", exclusive=True)
        else:
            self.update(reads_all=reads_all)

    def lines(self) -> list[Line]:
        """The result, for a dialog."""
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
            self._model.space = await self._context.engine.read(GetSpace(space_id=self._model.space_id))
        except PresscheckError as error:
            self._finish(error)
        else:
            self.update(reads_all=reads_all)

    async def _check(self, request: ChangeRequest) -> None:
        try:
            self._model.forecast = await forecast(self._context.engine, request, reads_all=self._reads_all)
        except PresscheckError as error:
            self.checked = None  # checked again after the next answer
            self._finish(error)
        else:
            self._finish(None)
            self._context.redraw()

    def _finish(self, error: PresscheckError | None) -> None:
        self._is_checked, self._error = True, error.message if error else ""
        for listener in tuple(self._listeners):
            listener()
