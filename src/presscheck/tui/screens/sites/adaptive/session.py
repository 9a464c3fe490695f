"""The data of the adaptive content screens: schema, conditions, audiences, and the pages that each audience sees."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from presscheck.api.site_settings import (
    AdaptiveSchema,
    GetAdaptiveSchema,
    ListTemplateConditions,
    TemplateCondition,
    TemplateConditions,
)
from presscheck.api.site_structure import GetSiteStructure, SiteStructure
from presscheck.api.sites import GetSite, Site
from presscheck.documents.visitors.claim_schema import Claim, schema_claims
from presscheck.documents.visitors.conditions import Path, Verdict
from presscheck.engine.publish.audiences import (
    AdaptivePlace,
    AdaptiveSite,
    Audience,
    Audiences,
    Use,
    condition_problem,
    read_adaptive,
    uses_of,
)
from presscheck.errors import NotFound, PresscheckError
from presscheck.tui.ui.loaded import Loaded

if TYPE_CHECKING:
    from presscheck.engine.results import Result
    from presscheck.tui.ui.screen import BaseScreen


class VisitorSchema:
    """A visitor schema with its claims.

    Args:
        schema: the JSON schema; None if the site has none.
        updated_at: the time of the last change.
    """

    def __init__(self, schema: dict[str, Any] | None, updated_at: str | None = None) -> None:
        self.schema, self.updated_at = schema, updated_at

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """The claims in the order of the schema."""
        return tuple(schema_claims(self.schema))

    @cached_property
    def known(self) -> frozenset[Path]:
        """The paths of the claims."""
        return frozenset(claim.path for claim in self.claims)


class Condition(NamedTuple):
    """A condition in use, or a condition that the service suggests.

    Attributes:
        condition: the text of the condition.
        places: the sections, spaces and pages with the condition; empty for a suggestion.
        problem: why the condition is invalid; empty for a valid condition.
        description: the description from the service; empty if there is none.
    """

    condition: str
    places: tuple[AdaptivePlace, ...]
    problem: str
    description: str


class AdaptiveContent:
    """The adaptive content of a site, loaded from the service.

    Args:
        screen: the screen of the adaptive content.
        organization_id: the organization of the site.
        site: the site.

    Attributes:
        schema: the visitor schema.
        content: the sections, spaces and pages.
        uses: the conditions in use.
        conditions: the conditions in use and the suggestions, invalid conditions first.
        limited: the sections, spaces and pages with a condition.
        audiences: the saved audiences.
    """

    def __init__(self, screen: BaseScreen, organization_id: str, site: Site) -> None:
        self.screen, self.organization_id, self.site = screen, organization_id, site
        self.schema = Loaded[VisitorSchema]()
        self.content = Loaded[AdaptiveSite]()
        self.uses: Sequence[Use] = ()
        self.conditions: Sequence[Condition] = ()
        self.limited: Sequence[AdaptivePlace] = ()
        self.audiences: tuple[Audience, ...] = ()
        self._templates: Sequence[TemplateCondition] = ()
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        """Cached results of `seen_by`, by place key and audience name."""

    @property
    def path(self) -> dict[str, Any]:
        """The path parameters of the site."""
        return {"organization_id": self.organization_id, "site_id": self.site.id}

    @property
    def known(self) -> frozenset[Path] | None:
        """The paths of the claims in the schema; None until the schema is loaded."""
        return self.schema.value.known if self.schema.value else None

    @property
    def is_on(self) -> bool:
        """Whether adaptive content is on; False if the service does not report it."""
        return bool(self.site.adaptive_content and self.site.adaptive_content.enabled)

    @property
    def stored_audiences(self) -> Audiences:
        """The audiences of the site, stored on this machine."""
        return Audiences(self.screen.engine.outbox, self.site.id)

    def verdict(self, place: AdaptivePlace, audience: Audience) -> Verdict:
        """Return whether the visitors of an audience see a place."""
        at = (place.key, audience.name)
        if at not in self._verdicts:
            self._verdicts[at] = place.seen_by(audience, self.known)
        return self._verdicts[at]

    def load(self) -> None:
        """Subscribe to the site, its schema and its structure. After each new structure, the pages are read again."""
        watch, subscribe = self.screen.engine.watch, self.screen.subscribe
        subscribe(watch(GetSite(**self.path)), self._take_site, group="site", shows_errors=False)
        subscribe(watch(GetAdaptiveSchema(**self.path)), self._take_schema, group="schema", shows_errors=False)
        subscribe(watch(GetSiteStructure(**self.path)), self._take_structure, group="structure", shows_errors=False)

    def load_suggestions(self) -> None:
        """Load the conditions that the service suggests."""
        answers = self.screen.engine.watch(ListTemplateConditions(**self.path))
        self.screen.subscribe(answers, self._take_templates, group="conditions", shows_errors=False)

    def read_audiences(self) -> None:
        """Read the saved audiences again."""
        self.audiences = self.stored_audiences.all()
        self._verdicts.clear()
        self.screen.redraw()

    def read_content(self) -> None:
        """Read the structure and the pages of all spaces again."""

        async def read() -> None:
            try:
                content = await read_adaptive(self.screen.engine, self.organization_id, self.site.id)
            except PresscheckError as error:
                self.content = Loaded(self.content.value, error)
            else:
                self.content = Loaded(content)
            self._examine()

        self.screen.run(read, group="content", exclusive=True)

    def _take_site(self, result: Result[Site | None]) -> None:
        if result.value:
            self.site = result.value
            self.screen.redraw()

    def _take_schema(self, result: Result[AdaptiveSchema | None]) -> None:
        if isinstance(result.error, NotFound):
            self.schema = Loaded(VisitorSchema(None))
        else:
            answer = result.value
            schema = VisitorSchema(answer.json_schema, answer.updated_at) if answer else self.schema.value
            self.schema = Loaded(schema, result.error)
        self._examine()

    def _take_structure(self, result: Result[SiteStructure | None]) -> None:
        if result.value:
            self.read_content()
        else:
            self.content = Loaded(self.content.value, result.error)
            self.screen.redraw()

    def _take_templates(self, result: Result[TemplateConditions | None]) -> None:
        if result.value:
            self._templates = result.value.items
            self._examine()

    def _examine(self) -> None:
        """Compute the conditions after a change of schema, suggestions or content, then redraw."""
        self._verdicts.clear()
        places = self.content.value.places if self.content.value else ()
        self.limited = tuple(place for place in places if place.condition)
        self.uses = uses_of(places, self.known)
        words = {template.condition: template.description for template in self._templates}
        used = [Condition(use.condition, use.places, use.problem, words.pop(use.condition, "")) for use in self.uses]
        suggested = [Condition(text, (), condition_problem(text, self.known), words[text]) for text in words]
        self.conditions = sorted((*used, *suggested), key=lambda condition: not condition.problem)
        self.screen.redraw()
