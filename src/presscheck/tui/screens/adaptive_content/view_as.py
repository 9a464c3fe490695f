"""Asks for the audience as which a site is shown: everyone, a saved set of claims, or a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from presscheck.api.site_settings import GetAdaptiveSchema
from presscheck.documents.visitors.claim_schema import schema_claims
from presscheck.engine.publish.audiences import EVERYONE, Audience, Audiences
from presscheck.errors import NotFound
from presscheck.text.sanitize import sanitize
from presscheck.tui.screens.adaptive_content.audience_dialog import ask_audience, claims_text
from presscheck.tui.widgets.picker import Choice, Picker

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.tui.screens.screen_context import ScreenContext

EVERYONE_KEY, NEW_KEY = "everyone", "new"
SAVED = "saved "
"""The prefix of the keys of saved audiences."""


class ViewAs:
    """Handles the command that shows a site as an audience reads it.

    Args:
        context: the screen.
        organization_id: tells the organization.
        site: tells the site under the cursor.
        show: shows the site as an audience.
        on_new: called after an audience was saved.
        current: tells the name of the audience that is shown; None if none is.
    """

    def __init__(
        self,
        context: ScreenContext,
        organization_id: Callable[[], str],
        site: Callable[[], Site | None],
        show: Callable[[Site, Audience], None],
        on_new: Callable[[], None] = lambda: None,
        current: Callable[[], Audience | None] = lambda: None,
    ) -> None:
        self._context, self._organization_id, self._site = context, organization_id, site
        self._show, self._on_new, self._current = show, on_new, current

    def reason_view_as(self) -> str | None:
        """Disabled without a site."""
        return None if self._site() else "there is no site: a creates one"

    async def command_view_as(self) -> None:
        """Choose an audience, or make one, and show the site as it reads it."""
        site, context = self._site(), self._context
        if site is None:
            return
        saved = {f"{SAVED}{one.name}": one for one in Audiences(context.engine.outbox, site.id).all()}
        choices = [Choice(EVERYONE_KEY, "Everyone", "visitors without claims")]
        choices += [
            Choice(key, sanitize(one.name), sanitize(one.problem or claims_text(one))) for key, one in saved.items()
        ]
        choices.append(Choice(NEW_KEY, "Make a new one …", "a name and its claims"))
        current = self._current()
        at = EVERYONE_KEY if current is EVERYONE else f"{SAVED}{current.name}" if current else ""
        title = f"View {sanitize(site.title)} as"
        chosen = await context.ask(Picker(title, choices, context.style_for, ranked=False, current=at))
        if not chosen:
            return
        audience = {EVERYONE_KEY: EVERYONE, **saved}.get(chosen[0]) or await self._new(site)
        if audience:
            self._show(site, audience)

    async def _new(self, site: Site) -> Audience | None:
        """A new audience, in a form that is made from the schema."""
        call = GetAdaptiveSchema(organization_id=self._organization_id(), site_id=site.id)
        try:
            schema = (await self._context.engine.read(call)).json_schema
        except NotFound:  # a site without a visitor schema
            schema = None
        audience = await ask_audience(self._context, site.id, tuple(schema_claims(schema)))
        if audience:
            self._on_new()
        return audience
