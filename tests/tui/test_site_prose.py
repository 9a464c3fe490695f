"""Prose checks of a site before it is published: new findings in changed pages, and cached pages offline."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.change_request_factory import Begun, begun, rewritten
from tests.tui.page_edits import go_offline
from tests.tui.prose_programs import configure
from tests.tui.site_checks import ORG, on_site

from presscheck.api.change_requests import CreateChangeRequest, MergeChangeRequest
from presscheck.api.sites import CreateSite, PublishSite, Site, UnpublishSite
from presscheck.client.client import Client
from presscheck.tui.screens.browse.screen import BrowseScreen

BEFORE = "An old teh line.\n\nThe end.\n"
AFTER = "An old teh line.\n\nA new line with teh word.\n\nA flaw here.\n\nThe end.\n"
PROGRAM = """
import json, sys
for path in sys.argv[1:]:
    for number, line in enumerate(open(path), 1):
        for word, severity in (("teh", "warning"), ("flaw", "error")):
            if word in line:
                row = {"path": path, "line": number, "rule": word, "severity": severity}
                print(json.dumps({**row, "message": "[b]no " + word + "\\x1b[2J"}))
"""


def python(tmp_path: Path, code: str) -> list[str]:
    """Return a command that runs Python code from a file with a space in its path."""
    file = tmp_path / "own programs" / "check.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(code)
    return [sys.executable, str(file)]


async def merged(service: RunningService, text: str, title: str) -> Begun:
    """Add a page to the live content."""
    page = await begun(service, f"Add {title}", text, title=title)
    await say(service, page.token, MergeChangeRequest(**page.at))
    return page


async def changed(service: RunningService, page: Begun, text: str) -> None:
    """Change the live text of a page."""
    [made] = await say(service, page.token, CreateChangeRequest(space_id="guides", subject="Change it"))
    request = Begun(page.token, {"space_id": "guides", "change_request_id": made.id}, page.page)
    await rewritten(service, request, text)
    await say(service, page.token, MergeChangeRequest(**request.at))


async def site_of(client: Client, title: str) -> Site:
    return await client.send(CreateSite(organization_id=ORG, title=title, spaces=("guides",)))


@pytest.mark.slow
async def test_new_findings_are_listed_lead_to_their_lines_and_warn_before_publishing(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    configure(tmp_path, ("own", python(tmp_path, PROGRAM)))
    page = await merged(service, BEFORE, "Prose of a site")
    draft = await site_of(client, "Prose site")
    site = await client.send(PublishSite(organization_id=ORG, site_id=draft.id))
    assert isinstance(site, Site)
    async with running(app_on(service, tmp_path)) as pilot:
        screen = await on_site(pilot, site)
        await pilot.press("W")
        await until(pilot, shows="Prose not checked: . W checks it.")
        await pilot.press("full_stop", "W")
        await until(pilot, shows="no new prose findings (own)")
        await changed(service, page, AFTER)
        await pilot.press("full_stop", "W")
        await until(pilot, shows="Prose: 2 prose findings")
        rows = [line.strip() for line in shown(pilot.app).splitlines() if "Prose of a site" in line and "[b]no" in line]
        assert [row.split("Prose of a site")[1].strip() for row in rows] == [
            "line 5: [b]no teh␛[2J",
            "line 7: [b]no flaw␛[2J",
        ]
        assert "⚠" in rows[0] and "✗" in rows[1]
        await pilot.press("/", *"no flaw", "enter")
        await until(
            pilot, holds=lambda: any("▌" in line and "no flaw" in line for line in shown(pilot.app).split("\n"))
        )
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        browse: Any = pilot.app.screen
        await until(pilot, shows="A flaw here.", holds=lambda: browse.page_view.source_at_cursor()[0] == "A flaw here.")
        await pilot.press("g", "p")
        await until(pilot, holds=lambda: pilot.app.screen is screen)
        await client.send(UnpublishSite(organization_id=ORG, site_id=site.id))
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: screen.current is not None and not screen.current.published)
        await pilot.press("P")
        await until(pilot, shows="⚠ 2 prose findings, W lists them")
        await pilot.press("escape")
        await changed(service, page, BEFORE)
        await pilot.press("W", "full_stop", "W")
        await until(pilot, shows="Prose: no prose findings")


async def test_cached_pages_are_checked_offline(service: RunningService, client: Client, tmp_path: Path) -> None:
    configure(tmp_path, ("own", python(tmp_path, PROGRAM)))
    await merged(service, AFTER, "Prose offline")
    site = await site_of(client, "Prose offline site")
    async with running(app_on(service, tmp_path)) as pilot:
        await on_site(pilot, site)
        await go_offline(pilot, service)
        await pilot.press("full_stop", "W")
        await until(pilot, shows="· 3 prose findings")
