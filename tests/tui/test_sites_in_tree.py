"""Sites in the tree of the organization: order, actions, live updates and the filter."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import somebody
from tests.tui.app_driver import app_on, pick, running, shown, until, write

from presscheck.api.sites import CreateSite, GetSite, ListSites
from presscheck.tui.screens.browse import live_tree
from presscheck.tui.screens.browse.page_tree import SITES
from presscheck.tui.screens.browse.screen import BrowseScreen

ORGANIZATION = {"organization_id": "tallowick"}


def rows(pilot: Any) -> list[str]:
    """Return the keys of the visible rows."""
    return [row.node.key for row in pilot.app.screen.tree_view._rows]


def line_with(pilot: Any, text: str) -> str:
    return next(line for line in shown(pilot.app).splitlines()[1:] if text in line.partition("│")[0])


async def browsing(pilot: Any) -> None:
    await pilot.press("g", "o")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen) and SITES in rows(pilot))
    await until(pilot, shows="Runbook")


async def at(pilot: Any, title: str) -> None:
    """Move the cursor from the last row up to a site."""
    screen = pilot.app.screen
    await pilot.press("G")
    for _ in rows(pilot):
        if screen.item and screen.item.title == title:
            break
        await pilot.press("k")
    await until(pilot, shows=f"Sites › {title}")


@pytest.mark.slow
async def test_sites_are_listed_in_the_tree_with_their_actions(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_tree, "INTERVAL", 0.1)
    async with running(app_on(service, tmp_path)) as pilot, somebody(service, "robin") as (robin,):
        await until(pilot, shows="live")
        await browsing(pilot)
        assert pilot.app.screen.item.kind == "collection", "the cursor begins above them, whatever came first"
        docs, inside = (await robin.send(ListSites(**ORGANIZATION))).items
        assert rows(pilot)[-3:] == [SITES, f"site {docs.id}", f"site {inside.id}"], "below the spaces"
        assert "● live" in line_with(pilot, "Tallowick Docs")
        assert "○ draft" in line_with(pilot, "Inside Tallowick")
        # a site that another user creates appears, and the cursor stays
        await at(pilot, "Tallowick Docs")
        await until(pilot, shows="live · public · 4 spaces")
        await robin.send(CreateSite(**ORGANIZATION, title="Robin's [b]site", visibility="unlisted"))
        await until(pilot, shows="Robin's [b]site")
        assert pilot.app.screen.item.site.id == docs.id
        # a detail is changed and undone
        await at(pilot, "Robin's [b]site")
        await pilot.press("E")
        await pick(pilot, "Visibility")
        await pick(pilot, "public")
        await until(pilot, shows="draft · public")
        made = pilot.app.screen.item.site
        assert (await robin.send(GetSite(**ORGANIZATION, site_id=made.id))).visibility == "public"
        await pilot.press("z")
        await until(pilot, shows="visibility")
        await pilot.press("y")
        await until(pilot, shows="draft · unlisted")
        # the filter keeps the site and its heading; enter opens the site in the publish screen
        await write(pilot, "slash", "robin's")
        await until(pilot, holds=lambda: rows(pilot) == [SITES, f"site {made.id}"])
        await pilot.press("escape")
        await until(pilot, holds=lambda: len(rows(pilot)) > 5)
        assert pilot.app.screen.item.key == f"site {made.id}"
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.current_mode == "publish")
        await until(pilot, holds=lambda: pilot.app.screen.current.id == made.id)
        await browsing(pilot)
        await pilot.press("minus")
        await until(pilot, shows="Delete Robin's [b]site?")
        await write(pilot, "", "Robin's [b]site", "enter")
        await until(pilot, holds=lambda: f"site {made.id}" not in rows(pilot))
