"""A step to a site on the publish screen."""

from typing import Any

from tests.tui.app_driver import until

from presscheck.api.sites import Site
from presscheck.tui.places import Place
from presscheck.tui.screens.publish.screen import PublishScreen

ORG = "tallowick"


async def on_site(pilot: Any, site: Site) -> PublishScreen:
    """Open the publish screen, move the cursor to a site, and wait for its checks."""
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    screen: Any = pilot.app.screen
    await pilot.app.go(Place.site(site.id))
    await until(pilot, holds=lambda: screen.current and screen.current.id == site.id)
    await until(pilot, holds=lambda: screen.checklist.content(site) is not None)
    return screen
