"""Integrations by keys: the catalog, installations, settings, spaces and sites, events, and rendered components."""

import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.running_service import RunningService, running_service
from tests.service_users import token_of
from tests.tui.admin import family, form, go_to
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.draft_places import drafted
from tests.tui.lamp_integration import ORG, lamp, publish_lamps
from tests.tui.site_access import comes
from tests.web_server import web_server
from textual.widgets import Input

from presscheck.api.change_requests import CreateChangeRequest
from presscheck.api.comments import Document
from presscheck.api.content import ListChangeRequestPages
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage
from presscheck.api.integrations import (
    Installation,
    InstallIntegration,
    ListIntegrationInstallations,
    ListIntegrations,
    UninstallIntegration,
    UpdateInstallation,
)
from presscheck.client.client import Client
from presscheck.documents.pages.tree import flatten
from presscheck.engine.integrations.settings import SettingsForm
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.integration import screen as integration_screen
from presscheck.tui.screens.admin.integration.component_screen import ComponentScreen
from presscheck.tui.screens.admin.integration.screen import IntegrationScreen
from presscheck.tui.screens.admin.integration.settings_form import ask_settings
from presscheck.tui.screens.form_dialog import ChoiceBox
from presscheck.tui.screens.outbox.screen import OutboxScreen

pytestmark = pytest.mark.service(shared=True)

HOSTILE = "\x1b[31mred\x1b]0;x\x07 [b]bold[/b] \u202eabc"


@pytest.fixture
async def client(client: Client) -> AsyncIterator[Client]:
    await publish_lamps(client)
    yield client
    for installation in await installations(client):
        await client.send(UninstallIntegration(integration_name="lamp", installation_id=installation.id))


async def installations(client: Client) -> tuple[Installation, ...]:
    return (await client.send(ListIntegrationInstallations(integration_name="lamp"))).items


async def opened(pilot: Any, title: str = "Lamp") -> IntegrationScreen:
    """Open an integration of the catalog."""
    await family(pilot, "Integrations")
    await go_to(pilot, title)
    await pilot.press("enter")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, IntegrationScreen))
    screen: IntegrationScreen = pilot.app.screen
    listed = screen.session
    await until(pilot, holds=lambda: listed.installations.value is not None or listed.installations.error)
    return screen


async def cursor_on(pilot: Any, text: str) -> None:
    """Move the cursor to the first row with a text."""
    await until(pilot, shows=text)
    screen = pilot.app.screen
    rows = screen._rows if isinstance(screen, ComponentScreen) else screen.lists.tab.rows
    for at in range(rows.count):
        if text in "".join(span.text for span in rows.row(at, 110)):
            rows.move_to(at)
            return
    raise AssertionError(f"no row with {text}")


def field(pilot: Any, label: str) -> Input | ChoiceBox:
    dialog = pilot.app.screen
    name = next(one.name for one in dialog.fields if one.label == label)
    return dialog.query_one(f"#field-{name}")


@pytest.mark.slow
async def test_an_integration_is_found_in_the_catalog_installed_set_up_and_removed(
    service: RunningService, tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integration_screen, "POLL_SECONDS", 0.1)
    await client.send(lamp("hostile", title=HOSTILE[:30], description=HOSTILE, summary=HOSTILE))
    async with running(app_on(service, tmp_path / "home")) as pilot:
        # every filter of the API is in the form
        await family(pilot, "Integrations")
        await pilot.press("F")
        dialog = await form(pilot)
        given = set(ListIntegrations.model_fields) - {"page", "limit"}
        assert {one.name for one in dialog.fields} == given
        await pilot.press(*"o", "tab", "enter")
        await until(pilot, shows="gitsync")
        await pick(pilot, "marketing")
        await form(pilot)
        await pilot.press("ctrl+s")
        await until(pilot, shows="only search: o, category: marketing: esc shows all")
        await until(pilot, holds=lambda: "Torch" in shown(pilot.app) and "Lamp" not in shown(pilot.app))
        await pilot.press("escape")
        await until(pilot, shows="Lamp")
        assert "only " not in shown(pilot.app)

        # a hostile description is shown as plain text
        await go_to(pilot, "red")
        await pilot.press("enter")
        await until(pilot, shows="[b]bold[/b]", holds=lambda: isinstance(pilot.app.screen, IntegrationScreen))
        assert not ACTS.search(shown(pilot.app).replace("\n", ""))
        await pilot.press("q")
        await until(pilot, shows="Administration › Integrations")

        # its description and permissions
        await go_to(pilot, "Lamp")
        await pilot.press("enter")
        await until(pilot, shows="not installed: a installs it")
        text = shown(pilot.app)
        assert "⚠ Run its own script on the pages of sites" in text and "· Read the pages and files of spaces" in text
        assert "A lamp  Shines" in text and "Shades of lamps" in text and "Token (text, required)" in text
        assert text.index("⚠ Change titles") < text.index("· Read the pages"), "those that change something are first"

        # after the installation, the app asks for the required settings
        await pilot.press("a")
        await until(pilot, shows="Install Lamp in Tallowick?")
        await until(pilot, shows="Run its own script on the pages of sites")
        await pilot.press("y")
        await pick(pilot, "Settings in a form")
        await form(pilot)
        assert field(pilot, "Watts").value == "40"
        field(pilot, "Watts").value = "bright"
        field(pilot, "Label").value = "Desk"
        await until(pilot, shows="is not a number")
        field(pilot, "Watts").value = "6"
        await pilot.press("ctrl+s")
        await until(pilot, shows="is required")
        field(pilot, "Watts").value = "bright"
        await pilot.press("escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, IntegrationScreen))
        [made] = await installations(client)
        await until(pilot, shows="it needs settings: Token")

        # the typed values are kept as a draft in the outbox
        await drafted(pilot, "form: Settings of Lamp")
        await form(pilot)
        assert field(pilot, "Label").value == "Desk" and field(pilot, "Watts").value == "bright"
        await pilot.press("escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, OutboxScreen))
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, IntegrationScreen))

        # a setting whose values come from the address of the integration
        properties = {"room": {"type": "string", "title": "Room", "completion_url": "/rooms"}}
        lamp_here = pilot.app.screen.session.integration.model_copy(
            update={"configurations": {"account": {"properties": properties}}}
        )
        rooms = json.dumps([{"value": "k", "label": f"Kitchen{HOSTILE}"}, {"value": "h", "label": "Hall"}])
        with web_server({"/i/rooms": rooms}, "application/json") as web:
            elsewhere = made.model_copy(
                update={"urls": made.urls.model_copy(update={"public_endpoint": f"{web.url}/i"})}
            )
            pilot.app.screen.run(partial(ask_settings, pilot.app.screen, SettingsForm(lamp_here, elsewhere)))
            await form(pilot)
            await pilot.press("enter")
            await pick(pilot, "Kitchen")
            await form(pilot)
            assert field(pilot, "Room").value == "k" and not ACTS.search(shown(pilot.app).replace("\n", ""))
        await pilot.press("ctrl+s")
        await until(pilot, shows="Settings of Lamp: saved")
        await comes(pilot, lambda: _has(client, lambda one: one.configuration == {"room": "k"}))
        await client.send(UpdateInstallation(integration_name="lamp", installation_id=made.id, configuration={}))

        await pilot.press("2")
        await until(pilot, shows="needs Token")
        await pilot.press("E")
        await pick(pilot, "Settings in a form")
        dialog = await form(pilot)
        assert field(pilot, "Label").value == "Desk" and field(pilot, "Watts").value == "bright"
        field(pilot, "Watts").value = "7.5"
        field(pilot, "Token").value = " abc "
        field(pilot, "Can be dimmed").value = "true"
        field(pilot, "Color").value = "green"
        await pilot.press("ctrl+s")
        await until(pilot, shows="Settings of Lamp: saved")
        wanted = {"label": "Desk", "api.token": "abc", "watts": 7.5, "dim": True, "color": "green"}
        await comes(pilot, lambda: _has(client, lambda one: one.configuration == wanted))
        await until(pilot, shows="complete")

        # its spaces and sites
        await pilot.press("3")
        await until(pilot, shows="Runbook")  # the previous tab shows an active row, too
        await until(pilot, shows="✓ active")
        await pilot.press("a")
        await until(pilot, shows="web app, where single spaces are added; E chooses all")
        await pilot.press("E")
        await pick(pilot, "Selected spaces")
        await until(pilot, shows="It works in no spaces.")
        await comes(pilot, lambda: _has(client, lambda one: one.space_selection == "selected"))
        await pilot.press("2", "enter")
        await pick(pilot, "Which spaces")
        await pick(pilot, "All spaces")
        await comes(pilot, lambda: _has(client, lambda one: one.space_selection == "all"))

        # new events appear while the list is shown
        await pilot.press("5")
        await until(pilot, shows="installation setup")
        listed = pilot.app.screen.lists.tab.count
        await client.send(
            UpdateInstallation(integration_name="lamp", installation_id=made.id, configuration={"api.token": "other"})
        )
        await until(pilot, holds=lambda: pilot.app.screen.lists.tab.count > listed)
        await pilot.press("g", "g", "enter")
        await until(pilot, shows="handling installation_setup")
        await until(pilot, shows='"previous"')
        await pilot.press("q")

        # uninstalled, confirmed by typing the title
        await pilot.press("2", "-")
        await until(pilot, shows="Uninstall Lamp from Tallowick?")
        await pilot.press(*"Lamp", "enter")
        await until(pilot, shows="uninstalled Lamp from Tallowick")
        await until(pilot, shows="It is not installed yet.")
        assert not await installations(client)


async def _has(client: Client, holds: Any) -> bool:
    return all(map(holds, await installations(client)))


async def test_a_block_of_a_page_is_rendered_by_its_integration(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    request = await client.send(CreateChangeRequest(space_id="runbook", subject="Lamps"))
    at = {"space_id": "runbook", "change_request_id": request.id}
    text = '{% @lamp/lamp size="large" %}\n\nBetween.\n\n{% @nothing/lamp size="small" %}\n'
    page = InsertPage(title="Lamps", document=Document(markdown=text))
    await client.send(EditChangeRequestContent(**at, changes=(page,)))
    async with running(app_on(service, tmp_path), (110, 60)) as pilot:
        await until(pilot, shows="Needs me")
        pages = (await pilot.app.engine.read(ListChangeRequestPages(**at))).pages
        lamps = next(page for page in flatten(pages) if page.title == "Lamps")
        await pilot.app.go(Place.page("runbook", lamps.id, request.id))
        await until(pilot, shows="Pressed 0 times")
        text = shown(pilot.app)
        assert "Integration: lamp/lamp" in text and "│ ┌ ▸ A card" in text and "size: large" not in text
        assert "size: small" in text, "a block that cannot be rendered shows its settings"


@pytest.mark.slow
async def test_a_component_is_rendered_and_reacts_to_input(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    async with running(app_on(service, tmp_path / "home"), (110, 60)) as pilot:
        await opened(pilot)
        await cursor_on(pilot, "A lamp")
        await pilot.press("enter")
        await until(pilot, shows="Render A lamp in the space")
        await pilot.press("enter")
        await until(pilot, shows="Pressed 0 times")
        text = shown(pilot.app)
        assert "┌ ▸ A card   of the lamp" in text and "│ inside" in text and "│ [ Card button ]" in text
        assert "the terminal cannot show the element sparkle" in text
        assert "A lamp with code" in text and "The manual  https://lamp.example/manual" in text

        async def enter(row: str) -> None:
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, ComponentScreen))
            await until(pilot, holds=lambda: not pilot.app.screen._is_busy)
            await cursor_on(pilot, row)
            await pilot.press("enter")

        await enter("▸ A card")
        await until(pilot, shows="Pressed 1 times")
        await enter("[ Reset ]")
        await until(pilot, shows="All is lost.")
        await pilot.press("y")
        await until(pilot, shows="Pressed 2 times")
        await enter("[ Locked ]")
        await until(pilot, shows="the integration disabled Locked")

        # values are typed and chosen in the app; a select with an action informs the integration at once
        await enter("no name")
        await write(pilot, "", "Ada", "enter")
        await enter("Red  ▾")
        await pick(pilot, "Green")
        await until(pilot, shows="color is green")
        await enter("[ ] off")
        await enter("( ) large")
        await enter("[ ] shade")
        await enter("choose  ▾")
        await until(pilot, shows="Monday")
        await pilot.press("tab", "tab", "enter")
        await until(pilot, shows="Monday, Tuesday")
        await enter("let lamp = 1")
        await write(pilot, "", "x", "ctrl+s")
        await until(pilot, shows="│ x")
        await enter("▁ empty")
        await write(pilot, "", "hush", "enter")
        await until(pilot, shows="********")
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, IntegrationScreen))

        # after closing without sending, the typed values are restored, except passwords
        await cursor_on(pilot, "A lamp")
        await pilot.press("enter")
        await until(pilot, shows="Render A lamp in the space")
        await pilot.press("enter")
        await until(pilot, shows="▁ Ada")
        assert "(o) large" in shown(pilot.app) and "****" not in shown(pilot.app)
        await enter("[ Add ]")
        await until(pilot, shows="sent Ada/green/true/mo,tu/large/shade/x")

        # a modal returns a value; after a failure, the last rendering stays
        await enter("[ Ask ]")
        await until(pilot, shows="Which lamp?")
        await enter("▁ empty")
        await write(pilot, "", "this one", "enter")
        await enter("[ Done ]")
        await until(pilot, shows="modal returned this one")
        await enter("[ Blow ]")
        await until(pilot, shows="Lamp failed")
        await until(pilot, shows="modal returned this one", holds=lambda: not pilot.app.screen._is_busy)
        await pilot.press("q")

        # a configuration in steps
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, IntegrationScreen))
        await cursor_on(pilot, "Shades of lamps")
        await pilot.press("enter")
        await until(pilot, shows="Render Shades of lamps in the space")
        await pilot.press("enter")
        await until(pilot, shows="Step 1 of 2 The step one")
        await enter("[ Next ]")
        await until(pilot, shows="inside two")
        await enter("[ Finish ]")
        await until(pilot, shows="Shades of lamps: done")


async def installed(client: Client) -> Installation:
    return await client.send(InstallIntegration(integration_name="lamp", organization=ORG))


@pytest.mark.slow
async def test_missing_permissions_read_only_profiles_and_offline_show_the_reason(tmp_path: Path) -> None:
    (tmp_path / "service").mkdir()
    with running_service(tmp_path / "service", sample=True) as service:
        async with Client(service.base_url, service.token) as client:
            await publish_lamps(client)
            await client.send(lamp("hostile", title=HOSTILE[:30], description=HOSTILE, summary=HOSTILE))
            await installed(client)
        ada = token_of(service, "ada")
        async with running(app_on(service, tmp_path / "ada", token=ada)) as pilot:
            await opened(pilot)
            await until(pilot, shows="the service does not list its installations for you")
            for key, noun in (("2", "installations"), ("3", "spaces"), ("4", "sites"), ("5", "events")):
                await pilot.press(key)
                await until(pilot, shows=f"The service lists the {noun} for admins of Tallowick only.")
            for keys in (("2", "a"), ("1", "a"), ("1", "E"), ("1", "-"), (".", "u")):
                await pilot.press(*keys)
                await until(pilot, shows="you need the role admin in Tallowick")
                await pilot.press("j")
        async with running(app_on(service, tmp_path / "home", read_only=True), (80, 24)) as pilot:
            await opened(pilot, "red")
            text = shown(pilot.app)
            assert "[b]bold[/b]" in text and not ACTS.search(text.replace("\n", ""))
            await pilot.press("q")
            await until(pilot, shows="Administration › Integrations")
            await pilot.press("h")
            await opened(pilot)
            await pilot.press("2")
            await until(pilot, shows="needs Token")
            for key in ("E", "-"):
                await pilot.press(key)
                await until(pilot, shows="this profile is read-only")
                await pilot.press("j")
            service.stop()
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            await pilot.press("q")
            await until(pilot, shows="Administration › Integrations")
            await go_to(pilot, "Torch")
            await pilot.press("enter", "2")
            await until(pilot, shows="The installations of this integration are not in the cache.")
            service.start()
            await pilot.press("ctrl+r")
            await until(pilot, shows="It is not installed yet.")
