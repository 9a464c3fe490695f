"""The forecast of a merge: made anew whenever one of the sides moved, shown where it can be merged and before it is."""

from __future__ import annotations

from presscheck.api.change_requests import ChangeRequest, GetChangeRequest
from presscheck.api.spaces import GetSpace
from presscheck.desk.forecast import forecast
from presscheck.documents.display_text import display_text
from presscheck.documents.spans import Line, Span
from presscheck.errors import PresscheckError
from presscheck.tui.screens.review.suggestion_actions import Suggesting


class Forecasting(Suggesting):
    """Says what a merge would come to."""

    _foreseen: tuple[str, str] | None = None

    def sides(self) -> tuple[str, str] | None:
        """The revisions that a merge joins, as they are shown; None while one is not known."""
        request, space = self.known.request, self.known.space
        return (request.revision, space.revision) if request and space else None

    async def moved_since(self, sides: tuple[str, str] | None) -> bool:
        """Whether the service has other sides by now; what is shown is then asked for again."""
        request = await self.desk.read(GetChangeRequest(**self.known.path))
        space = await self.desk.read(GetSpace(space_id=self.known.space_id))
        if sides in (None, (request.revision, space.revision)):
            return False
        self.desk.refresh()
        return True

    def foresee(self) -> None:
        """Make the forecast, where none was made of what the two sides are now."""
        request, sides = self.known.request, self.sides()
        if request is None or sides is None or request.status in ("merged", "archived"):
            return
        if sides != self._foreseen:
            self._foreseen, self.known.forecast = sides, None
            self.run(lambda: self._foresee(request), group="forecast", exclusive=True)

    async def _foresee(self, request: ChangeRequest) -> None:
        try:
            self.known.forecast = await forecast(self.desk, request)
        except PresscheckError:
            self._foreseen = None  # asked again with the next news
            return
        self.redraw()

    def forecast_lines(self) -> list[Line]:
        """What would collide, for a sheet."""
        request, found = self.known.request, self.known.forecast
        if request is None or not request.outdated:
            return []
        if found is None:
            return [(Span("Whether it fits with what changed in main is not known yet.", "waiting"),)]
        if not found.conflicts:
            return [(Span("It fits with what changed in main.", "added"),)]
        said = [
            (Span(f"{display_text(one.title)}  ", "strong"), Span(display_text(one.reason), "quiet"))
            for one in found.conflicts
        ]
        return [(Span("It collides with what changed in main:", "removed"),), *said]
