"""Adaptive content by keys: the visitor schema, checked at the service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import all_sent, app_on, running, until
from textual.widgets import TextArea

from presscheck.api.site_settings import GetAdaptiveSchema, UpdateAdaptiveSchema
from presscheck.api.sites import GetSite, ListSites
from presscheck.client.client import Client
from presscheck.documents.visitors.claim_schema import empty_schema, schema_text
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen

ORG = "tallowick"
PLAN = {"type": "string", "description": "The plan", "enum": ["free", "pro"]}


async def adaptive_open(pilot: Any) -> None:
    await until(pilot, shows="live")
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await pilot.press("g", "c")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdaptiveContentScreen))
    screen = pilot.app.screen
    await until(pilot, holds=lambda: screen.session.schema.value and screen.session.content.value)


async def replaced(pilot: Any, text: str) -> None:
    """Replace the text of the editor."""
    await until(pilot, holds=lambda: isinstance(pilot.app.focused, TextArea))
    area = pilot.app.focused
    area.text = text
    await until(pilot, holds=lambda: area.text == text)


@pytest.mark.slow
async def test_the_schema_is_edited_merged_and_undone(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with Client(service.base_url, service.token) as client:
        sites = (await client.send(ListSites(organization_id=ORG))).items
        at = {"organization_id": ORG, "site_id": next(site.id for site in sites if site.published)}
        async with running(app_on(service, tmp_path), (120, 40)) as pilot:
            await adaptive_open(pilot)
            await until(pilot, shows="The site has no visitor schema yet.")
            faulty = schema_text(
                {**empty_schema(), "properties": {"plan": {"type": "text", "description": "The plan"}}}
            )
            await pilot.press("e")
            await replaced(pilot, faulty)
            await until(pilot, shows="line 5: properties.plan.type")
            await pilot.press("ctrl+s", "escape")
            await until(pilot, shows="not saved: e opens your draft")
            await pilot.press("e")
            await until(pilot, shows="Continue with the draft")
            await pilot.press("c")
            await replaced(pilot, schema_text({**empty_schema(), "properties": {"plan": PLAN}}))
            await pilot.press("ctrl+s")
            await until(pilot, shows="1 claim added: plan")
            await pilot.press("y")
            await until(pilot, shows="visitor schema saved")
            saved = (await client.send(GetAdaptiveSchema(**at))).json_schema
            assert saved == {**empty_schema(), "properties": {"plan": PLAN}}

            await pilot.press("e")
            changed = {**PLAN, "description": "What they pay for"}
            await replaced(pilot, schema_text({**empty_schema(), "properties": {"plan": changed}}))
            theirs = {**empty_schema(), "properties": {"plan": {**PLAN, "description": "Another text"}}}
            await client.send(UpdateAdaptiveSchema(**at, json_schema=theirs))
            await pilot.press("ctrl+s")
            await until(pilot, shows="conflict: somebody changed the same lines")
            assert (await client.send(GetAdaptiveSchema(**at))).json_schema == theirs

            await pilot.press("E")
            await until(pilot, shows="Claim plan")
            await pilot.press("down", "down", "down", "ctrl+u", *"Tier", "ctrl+s")
            await until(pilot, shows="visitor schema saved")
            mine = (await client.send(GetAdaptiveSchema(**at))).json_schema
            assert mine == {**empty_schema(), "properties": {"plan": {**PLAN, "description": "Tier"}}}
            await pilot.press("z")
            await until(pilot, shows="Restores the visitor schema with 1 claim")
            await pilot.press("y")
            await until(pilot, shows="undone")
            assert (await client.send(GetAdaptiveSchema(**at))).json_schema == theirs

            await pilot.press(".", "a")
            await until(pilot, shows="Turn adaptive content of")
            await pilot.press("y")
            await until(pilot, shows="● on")
            await all_sent(pilot)
            site = await client.send(GetSite(**at))
            assert site.adaptive_content and site.adaptive_content.enabled
