"""Keeps a model of adaptive content up to date: the site, its schema, its structure and the pages of its spaces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from presscheck.api.site_settings import AdaptiveSchema, GetAdaptiveSchema
from presscheck.api.site_structure import GetSiteStructure, SiteStructure
from presscheck.api.sites import GetSite
from presscheck.engine.publish.audiences import read_adaptive
from presscheck.errors import NotFound, PresscheckError
from presscheck.tui.screens.adaptive_content.model import SchemaFacts

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.engine.results import Result
    from presscheck.tui.screens.adaptive_content.model import AdaptiveModel
    from presscheck.tui.screens.screen_context import ScreenContext


class AdaptiveSubscriptions:
    """Subscribes a screen to what its model of adaptive content is made from.

    Args:
        screen: the screen.
        model: what is known; kept up to date.
        redraw: draws the screen again after a change.
    """

    def __init__(self, screen: ScreenContext, model: AdaptiveModel, redraw: Callable[[], None]) -> None:
        self._screen, self._model, self._redraw = screen, model, redraw

    def start(self) -> None:
        """Show what is stored, then what is new."""
        watch, path, subscribe = self._screen.engine.watch, self._model.path, self._screen.subscribe
        subscribe(watch(GetSite(**path)), self._take_site, group="site", shows_errors=False)
        subscribe(watch(GetAdaptiveSchema(**path)), self._take_schema, group="schema", shows_errors=False)
        subscribe(watch(GetSiteStructure(**path)), self._take_structure, group="structure", shows_errors=False)

    def read_again(self) -> None:
        """Read the structure, and the pages of all spaces, again."""
        self._screen.run(self._read_content, group="content", exclusive=True)

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self._model.site = result.value
            self._redraw()

    def _take_schema(self, result: Result[AdaptiveSchema | None]) -> None:
        if isinstance(result.error, NotFound):
            self._model.schema = SchemaFacts(None)
        elif result.value:
            self._model.schema = SchemaFacts(result.value.json_schema, result.value.updated_at)
        self._model.update_uses()
        error = None if isinstance(result.error, NotFound) else result.error
        self._note_error("visitor schema", error, is_known=result.value is not None)

    def _take_structure(self, result: Result[SiteStructure | None]) -> None:
        """Read the pages of the spaces of a new structure."""
        if result.value:
            self.read_again()
        else:
            for noun in ("conditions", "pages"):
                self._note_error(noun, result.error, is_known=False)

    async def _read_content(self) -> None:
        model = self._model
        try:
            model.content = await read_adaptive(self._screen.engine, model.organization_id, model.site.id)
        except PresscheckError as error:
            for noun in ("conditions", "pages"):
                self._note_error(noun, error, is_known=model.content is not None)
            return
        model.update_uses()
        self._redraw()

    def _note_error(self, noun: str, error: PresscheckError | None, *, is_known: bool) -> None:
        if error and not is_known:
            self._model.errors[noun] = error
        else:
            self._model.errors.pop(noun, None)
        self._redraw()
