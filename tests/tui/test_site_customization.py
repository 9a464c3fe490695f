"""The customization of a site by keys: edits, drafts, contrast, changes of other users, and restored versions."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.service_users import token_of
from tests.tui.app_driver import app_on, pick, running, until, write

from presscheck.api.organizations import UpdateMember
from presscheck.api.site_settings import GetCustomization, UpdateCustomization
from presscheck.api.sites import ListSites
from presscheck.client.client import Client
from presscheck.engine.site_customization.rows import Row
from presscheck.engine.site_customization.settings import NOT_DRAWN, every_setting
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.sites.customization.row_text import row_line

ORG = "tallowick"


async def customization_open(pilot: Any, state: str = "live") -> None:
    await until(pilot, shows=state)
    await pilot.press("g", "p")
    await until(pilot, shows="● live", holds=lambda: isinstance(pilot.app.screen, PublishScreen))
    await pilot.press("g", "y")
    await until(pilot, shows="Primary color")


def test_settings_without_effect_on_the_local_service_are_marked() -> None:
    noted: set[str] = set()
    for setting in every_setting():
        line = row_line(Row(setting, setting.path), {}, 120, is_changed=False, error="")
        if "not available on the local service" in "".join(span.text for span in line):
            noted.add(setting.name)
    assert noted == NOT_DRAWN


@pytest.mark.slow
async def test_the_customization_is_edited_drafted_merged_saved_and_restored(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSCHECK_HOME", str(tmp_path))
    async with Client(service.base_url, service.token) as client:
        sites = (await client.send(ListSites(organization_id=ORG))).items
        at = {"organization_id": ORG, "site_id": next(site.id for site in sites if site.published)}
        before = await client.send(GetCustomization(**at))

        async def change(**styling: Any) -> None:
            """Change the styling outside the app, as another user would."""
            present = await client.send(GetCustomization(**at))
            await client.send(
                UpdateCustomization(**at, settings={**present, "styling": {**present["styling"], **styling}})
            )

        async with running(app_on(service, tmp_path), (120, 40)) as pilot:
            await customization_open(pilot)
            await until(pilot, shows="#9a4f1b  5.8 AA")

            # a color is validated, and its contrast is shown at its field
            await write(pilot, "enter", "", "ctrl+u", *"#eeaa")
            await until(pilot, shows="must be a color such as #9a4f1b")
            await pilot.press(*"00")
            await until(pilot, shows="contrast 1.9 : 1 with the light page: fails")
            await pilot.press("ctrl+s")
            await until(pilot, shows="#eeaa00  1.9 fails")
            await until(pilot, shows="✗ 1 color fails AA")

            # links as a tree: added, one below the other, moved, removed and brought back
            await pilot.press("3", "G")
            for title in ("Help", "Blog"):
                await write(pilot, "a", title, "tab", "tab", *"https://example.org/", "ctrl+s")
                if title == "Blog":
                    break
                await until(pilot, shows=f"{title} ")
                await pilot.press("g", "g", "G", "k")
            await until(pilot, shows="Blog ")
            screen: Any = pilot.app.screen
            links = screen.session.document["header"]["links"]
            assert [one["title"] for one in links] == ["Help", "Blog"]
            await pilot.press("K")
            await until(pilot, holds=lambda: screen.session.document["header"]["links"][0]["title"] == "Blog")
            await pilot.press("J", "-")
            await until(pilot, holds=lambda: len(screen.session.document["header"]["links"]) == 1)
            await pilot.press("z")
            await until(pilot, holds=lambda: len(screen.session.document["header"]["links"]) == 2)

            # a draft stays when the screen is closed
            await pilot.press("escape", "g", "y")
            await until(pilot, shows="2 unsaved changes")

            # two users changed the same field and others: no change is overwritten silently
            await change(corners="circular", primaryColor={"light": "#123456", "dark": "#654321"})
            await pilot.press("ctrl+s")
            await until(pilot, shows="Conflict: both changed styling.primaryColor.light (before: #9a4f1b)")
            await pick(pilot, "Yours: #eeaa00")
            await until(pilot, shows="styling.corners: rounded → circular")
            await until(pilot, shows="Primary color (light): contrast 1.9 : 1 fails")
            await pilot.press("y")
            await until(pilot, shows="saved: . b restores what it had before")
            saved = await client.send(GetCustomization(**at))
            assert saved["styling"]["corners"] == "circular"
            assert saved["styling"]["primaryColor"] == {"light": "#eeaa00", "dark": "#654321"}
            assert [one["title"] for one in saved["header"]["links"]] == ["Help", "Blog"]
            assert not pilot.app.engine.outbox.draft(f"customization of site {at['site_id']}")

            # not even a change between the question and the write
            await pilot.press("2", "g", "g", "j", "j", "enter")
            await pick(pilot, "flat")
            await until(pilot, shows="1 unsaved change")
            await pilot.press("ctrl+s")
            await until(pilot, shows="styling.depth: subtle → flat")
            await change(search="prominent")
            await pilot.press("y")
            await until(pilot, shows="not saved: somebody changed it just now")
            theirs = await client.send(GetCustomization(**at))
            assert (theirs["styling"]["depth"], theirs["styling"]["search"]) == ("subtle", "prominent")

            # the values that the first save replaced are restored
            await pilot.press(".", "b")
            await until(pilot, shows="before the change of")
            await pilot.press("enter")
            await until(pilot, shows="Save the customization of")
            await pilot.press("y")
            await until(pilot, shows="saved: . b restores")
            restored = await client.send(GetCustomization(**at))
            assert restored["styling"] == {
                **before["styling"],
                "corners": "circular",
                "primaryColor": {"light": "#123456", "dark": "#654321"},
            }
            assert restored["header"]["links"] == before["header"]["links"]


@pytest.mark.slow
async def test_a_user_without_the_role_sees_the_reason_and_keeps_the_edits(
    service: RunningService, tmp_path: Path
) -> None:
    async with Client(service.base_url, service.token) as admin:
        site = next(one for one in (await admin.send(ListSites(organization_id=ORG))).items if one.published)
        at = {"organization_id": ORG, "site_id": site.id}
        before = await admin.send(GetCustomization(**at))
        async with running(app_on(service, tmp_path, token=token_of(service, "mia")), (120, 40)) as pilot:
            await customization_open(pilot)
            screen: Any = pilot.app.screen
            await pilot.press("2")
            await until(pilot, shows="rounded")
            screen.session.go_to("styling.corners")
            await pilot.press("enter")
            await pick(pilot, "circular")
            await until(pilot, shows="1 unsaved change: ctrl+s saves")

            # the role is removed while the question is open: the service refuses, and the edit stays
            await pilot.press("ctrl+s")
            await until(pilot, shows="styling.corners: rounded → circular")
            await admin.send(UpdateMember(organization_id=ORG, user_id="mia", role="read"))
            await pilot.press("y")
            await until(pilot, shows="your edits are kept: you need the role create in the organization")
            assert await admin.send(GetCustomization(**at)) == before
            await pilot.press("enter")
            await until(pilot, shows="you need the role create", holds=lambda: pilot.app.screen is screen)
            assert screen.session.document["styling"]["corners"] == "circular"
