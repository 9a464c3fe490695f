"""The style guide of a site: opened in Browse, or created first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from presscheck.api.style_guides import CreateStyleGuide, ListStyleGuideTemplates
from presscheck.text.sanitize import sanitize
from presscheck.tui.places import Place
from presscheck.tui.screens.sites.writes import send, write_reason
from presscheck.tui.ui.ask import choose
from presscheck.tui.widgets.picker import Choice

if TYPE_CHECKING:
    from presscheck.api.sites import Site
    from presscheck.tui.ui.screen import BaseScreen

EMPTY = "(empty)"
"""Key of the choice without a template; no template has this id."""


def style_guide_reason(screen: BaseScreen, site: Site | None) -> str | None:
    """Return why there is no style guide to open: the site has none, and none can be created now."""
    if site and site.styleguide and site.styleguide.space:
        return None
    return write_reason(screen, CreateStyleGuide, site, "create")


async def open_style_guide(screen: BaseScreen, organization_id: str, site: Site) -> None:
    """Open the style guide of a site in Browse. If it has none, first create a style guide from a chosen template."""
    space_id = site.styleguide.space if site.styleguide else None
    if not space_id:
        listing = ListStyleGuideTemplates(organization_id=organization_id)
        templates = (await screen.engine.read(listing)).templates
        choices = [
            Choice(template.id, sanitize(template.title), sanitize(template.subtitle or "")) for template in templates
        ]
        choices.append(Choice(EMPTY, "Empty page", "Without a template"))
        chosen = await choose(screen, f"New style guide of {sanitize(site.title)}, from", choices)
        if chosen is None:
            return
        call = CreateStyleGuide(
            organization_id=organization_id, site_id=site.id, template=None if chosen == EMPTY else chosen
        )
        space = await send(screen, call)
        if space is None:
            return
        space_id = space.id
        screen.notify("style guide created")
    await screen.app_context.go(Place.page(space_id))
