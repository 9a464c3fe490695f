"""What is known of the adaptive content of a site: schema, conditions, audiences; and what keeps it up to date."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from presscheck.api.site_settings import AdaptiveSchema, GetAdaptiveSchema, TemplateCondition
from presscheck.api.site_structure import GetSiteStructure, SiteStructure
from presscheck.api.sites import GetSite, Site
from presscheck.documents.visitors.claim_schema import Claim, schema_claims
from presscheck.documents.visitors.conditions import Path, Verdict
from presscheck.engine.publish.audiences import AdaptivePlace, AdaptiveSite, Audience, Use, read_adaptive, uses_of
from presscheck.errors import NotFound, PresscheckError

if TYPE_CHECKING:
    from presscheck.engine.results import Result
    from presscheck.tui.ui.screen_context import ScreenContext


class SchemaFacts:
    """A visitor schema, and what is in it.

    Args:
        schema: the schema; None if the site has none.
        updated_at: when it was changed last.
    """

    def __init__(self, schema: dict[str, Any] | None, updated_at: str | None = None) -> None:
        self.schema, self.updated_at = schema, updated_at

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims in order."""
        return tuple(schema_claims(self.schema))

    @cached_property
    def known(self) -> frozenset[Path]:
        """The paths of the claims."""
        return frozenset(claim.path for claim in self.claims)


@dataclass
class AdaptiveModel:
    """The adaptive content of a site, as far as it is loaded.

    Attributes:
        organization_id: the organization of the site.
        site: the site.
        schema: the visitor schema; None while it is not loaded.
        templates: the conditions that the service suggests.
        content: the sections, spaces and pages; None while they are not loaded.
        uses: the conditions of these.
        audiences: the saved audiences.
        errors: why something could not be loaded, by the noun of its tab.
        version: counts the changes of what the rows are found from.
    """

    organization_id: str
    site: Site
    schema: SchemaFacts | None = None
    templates: tuple[TemplateCondition, ...] = ()
    content: AdaptiveSite | None = None
    uses: tuple[Use, ...] = ()
    audiences: tuple[Audience, ...] = ()
    errors: dict[str, PresscheckError] = field(default_factory=dict[str, PresscheckError])
    version: int = 0
    _verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict[tuple[str, str], Verdict])
    """Who sees what, by the keys of places and the names of audiences, as far as it was asked for."""

    @property
    def path(self) -> dict[str, Any]:
        """The arguments that name the site in a call."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def known(self) -> frozenset[Path] | None:
        """The claims of the schema; None if the schema is not known."""
        return self.schema.known if self.schema else None

    @property
    def is_on(self) -> bool:
        """Whether the site adapts to its visitors."""
        return bool(self.site.adaptive_content and self.site.adaptive_content.enabled)

    def verdict(self, place: AdaptivePlace, audience: Audience) -> Verdict:
        """Whether the visitors of an audience see a place."""
        at = (place.key, audience.name)
        if at not in self._verdicts:
            self._verdicts[at] = place.seen_by(audience, self.known)
        return self._verdicts[at]

    def take_audiences(self, audiences: tuple[Audience, ...]) -> None:
        """Take the saved audiences."""
        self.audiences = audiences
        self._verdicts.clear()

    def update_uses(self) -> None:
        """Find the conditions again, after the schema, the suggestions or the content changed."""
        self._verdicts.clear()
        self.version += 1
        self.uses = uses_of(self.content.places, self.known) if self.content else ()


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
