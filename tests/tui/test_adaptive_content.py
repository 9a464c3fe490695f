"""Adaptive content by keys: the visitor schema, conditions, audiences and tokens, checked at the service."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, until, write
from textual.widgets import TextArea

from presscheck.api.site_settings import GetAdaptiveSchema, ListTemplateConditions, UpdateAdaptiveSchema
from presscheck.api.site_structure import GetSiteStructure, SiteSection, UpdateSection
from presscheck.api.sites import GetSite, ListSites
from presscheck.client.client import Client
from presscheck.documents.visitors.claim_schema import empty_schema, schema_text
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.adaptive.screen import AdaptiveContentScreen

ORG = "tallowick"
PLAN = {"type": "string", "description": "The plan", "enum": ["free", "pro"]}
PRO = 'visitor.claims.plan == "pro"'
BETA = {"type": "boolean", "description": "Is in the beta"}


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
            site = await client.send(GetSite(**at))
            assert site.adaptive_content and site.adaptive_content.enabled


@pytest.mark.slow
async def test_conditions_audiences_and_who_sees_what(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client:
        sites = (await client.send(ListSites(organization_id=ORG))).items
        at = {"organization_id": ORG, "site_id": next(site.id for site in sites if site.published)}
        schema = {**empty_schema(), "properties": {"plan": PLAN, "beta": BETA}}
        await client.send(UpdateAdaptiveSchema(**at, json_schema=schema))
        structure = (await client.send(GetSiteStructure(**at))).structure
        limited, faulty = [item for item in structure if isinstance(item, SiteSection)][:2]
        for section, claim in ((limited, "plan"), (faulty, "plam")):
            condition = f'visitor.claims.{claim} == "pro"'
            await client.send(UpdateSection(**at, site_section_id=section.id, condition=condition))
        async with running(app_on(service, tmp_path), (120, 40)) as pilot:
            await adaptive_open(pilot)
            screen: Any = pilot.app.screen
            copied: list[str] = []
            pilot.app.copy_to_clipboard = copied.append  # type: ignore[method-assign]

            # conditions: those with a problem first; where each is set; filter, copy
            await pilot.press("2")
            await until(pilot, shows="2 conditions in use   ✗ 1 problem")
            await until(pilot, holds=lambda: 'claims.plam == "pro"' in screen.shown_tab.items[0].condition)
            await pilot.press("enter")
            await until(pilot, shows=f"section {faulty.title}")
            await pilot.press("escape", "/", *limited.title.lower(), "enter")
            await until(pilot, holds=lambda: [row.condition for row in screen.shown_tab.items if row.places] == [PRO])
            await pilot.press("y")
            await until(pilot, holds=lambda: copied == [PRO])
            await pilot.press("escape")
            await until(pilot, holds=lambda: len(screen.shown_tab.items) > 1)

            # those that the service suggests follow, and nothing has them yet
            templates = (await client.send(ListTemplateConditions(**at))).items
            unused = [one.condition for one in templates if one.condition != PRO]
            assert unused
            await until(
                pilot, holds=lambda: [row.condition for row in screen.shown_tab.items if not row.places] == unused
            )
            screen.shown_tab.rows.move_to([row.condition for row in screen.shown_tab.items].index(unused[-1]))
            await until(pilot, shows="suggestion")
            await pilot.press("enter")
            await until(pilot, shows="A suggestion: nothing of this site has it.")
            await pilot.press("escape", "y")
            await until(pilot, holds=lambda: copied[-1] == unused[-1])

            # audiences: added with a form, checked, changed as JSON, kept after a restart, deleted
            await pilot.press("3")
            await until(pilot, shows="No audience is saved yet.")
            await write(pilot, "a", "Pro", "tab", "space")
            await pick(pilot, "pro")
            await pilot.press("ctrl+s")
            await until(pilot, shows='plan = "pro"')
            await until(pilot, shows="1 of 2 limited")
            await write(pilot, "a", "Free", "ctrl+s")
            await until(pilot, shows="no claims")
            screen.shown_tab.rows.move_to([audience.name for audience in screen.shown_tab.items].index("Free"))
            await pilot.press("e")
            await replaced(pilot, '{"plan": }')
            await pilot.press("ctrl+s")
            await until(pilot, shows="is not valid JSON")
            await replaced(pilot, '{"plan": "free"}')
            await pilot.press("ctrl+s")
            await until(pilot, shows='plan = "free"')

            # the grid: a cell in words, all pages, the page as the audience gets it
            await pilot.press("4")
            await until(pilot, shows="&: all pages")
            names = [audience.name for audience in screen.session.audiences]
            assert sorted(names) == ["Free", "Pro"]
            screen.shown_tab.rows.move_to(
                next(at for at, place in enumerate(screen.shown_tab.items) if place.title == limited.title)
            )
            for name in names:
                words = "✓ Pro sees it" if name == "Pro" else "– Free does not see it"
                await until(pilot, shows=words)
                if name == "Free":
                    await pilot.press("enter")
                    await until(pilot, shows="Free does not see it: ")
                else:
                    await pilot.press("enter")
                    await until(pilot, shows=" View as › ")
                    await until(pilot, shows=' As Pro  plan = "pro"')
                    await pilot.press("escape")
                await pilot.press("right")
            await pilot.press("&")
            await until(pilot, shows="all ", holds=lambda: len(screen.shown_tab.items) > 10)
            await pilot.press("&")
            await until(pilot, holds=lambda: len(screen.shown_tab.items) == 2)

            await pilot.press("3", "g", "g", "-")
            await until(pilot, shows="It is only on this machine")
            await pilot.press("y")
            await until(pilot, holds=lambda: len(screen.session.audiences) == 1)
        async with running(app_on(service, tmp_path, read_only=True), (80, 24)) as pilot:
            await until(pilot, shows="read-only")
            await pilot.press("g", "p")
            await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
            await pilot.press("g", "c")
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, AdaptiveContentScreen))
            await pilot.press("3")
            await until(pilot, holds=lambda: len(pilot.app.screen.session.audiences) == 1)
