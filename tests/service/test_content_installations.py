"""Integrations in selected spaces and sites: their settings there, and the events that they get."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, insert, plant_world
from tests.service.integration_scripts import MODULE
from tests.service.web_pages import customize, published

from presscheck.api.change_requests import MergeChangeRequest
from presscheck.api.content_installations import (
    GetOrganizationIntegrationStatus,
    GetSpaceInstallation,
    InstallInSite,
    InstallInSpace,
    ListInstallationSites,
    ListInstallationSpaces,
    ListOrganizationInstallations,
    ListOrganizationIntegrations,
    ListOrganizationIntegrationsStatus,
    ListSiteIntegrations,
    ListSpaceIntegrationBlocks,
    ListSpaceIntegrations,
    UninstallFromSite,
    UninstallFromSpace,
    UpdateSpaceInstallation,
)
from presscheck.api.integrations import (
    InstallIntegration,
    ListIntegrationEvents,
    ListIntegrationSpaces,
    PublishIntegration,
    RenderIntegration,
    UpdateInstallation,
)
from presscheck.api.site_settings import CreateShareLink
from presscheck.api.sites import CreateSite
from presscheck.api.spaces import CreateSpace, DeleteSpace
from presscheck.errors import Conflict, NotFound, Refused

BLOCK = {"id": "lamp", "title": "Lamp"}
LABELED = MODULE.replace("environment.installation?.configuration", "environment.spaceInstallation?.configuration")
"""A script with a component whose label comes from the settings in a space."""


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("scripted"), outside=LOOPBACK) as running:
        yield running


@pytest.fixture
async def world(scripted: RunningService) -> AsyncIterator[World]:
    planted = plant_world(scripted.database_url, scripted.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


async def install(world: World, script: str = MODULE, **more: Any) -> dict[str, str]:
    """Publish an integration and install it for selected spaces and sites. Returns the path arguments of its calls."""
    name = {"integration_name": f"lamp-{world.organization}"}
    details = {"title": "Lamp", "description": "", "scopes": (), "organization": world.organization}
    await world.admin.send(PublishIntegration(**name, **details, script=script, **more))
    made = await world.admin.send(InstallIntegration(**name, organization=world.organization))
    at = {**name, "installation_id": made.id}
    await world.admin.send(UpdateInstallation(**at, space_selection="selected", site_selection="selected"))
    return at


async def payloads(world: World, at: dict[str, str], kind: str) -> list[dict[str, Any]]:
    """Wait for an event of a kind. Returns the payloads of all events of the kind, newest first."""
    listing = ListIntegrationEvents(integration_name=at["integration_name"], limit=100)
    for _ in range(1000):
        events = await world.admin.send(listing)
        if any((event.payload or {})["type"] == kind for event in events.items):
            break
        await asyncio.sleep(0.02)
    return [event.payload or {} for event in events.items if (event.payload or {})["type"] == kind]


async def test_only_selected_spaces_and_sites_are_listed(world: World) -> None:
    at, admin = await install(world), world.admin
    here = {"organization_id": world.organization}
    other = (await admin.send(CreateSpace(**here, title="Other"))).id
    site = (await admin.send(CreateSite(**here, title="Lamps"))).id
    assert (await admin.send(ListInstallationSpaces(**at))).items == ()
    assert (await admin.send(ListInstallationSites(**at))).items == ()
    made = await admin.send(InstallInSpace(**at, space=world.space))
    assert made.space == world.space and made.configuration == {}
    extended = await admin.send(InstallInSite(**at, site_id=site, extended=True))
    assert not isinstance(extended.site, str) and extended.site.title == "Lamps"
    for listing in (ListInstallationSpaces(**at), ListIntegrationSpaces(integration_name=at["integration_name"])):
        assert [one.space for one in (await admin.send(listing)).items] == [world.space]
    assert [one.site for one in (await admin.send(ListInstallationSites(**at))).items] == [site]
    with pytest.raises(NotFound, match="Installation in this space"):
        await admin.send(GetSpaceInstallation(**at, space_id=other))
    with pytest.raises(Conflict, match="already installed in this space"):
        await admin.send(InstallInSpace(**at, space=world.space))
    await admin.send(UninstallFromSpace(**at, space_id=world.space))
    await admin.send(UninstallFromSite(**at, site_id=site))
    await admin.send(UninstallFromSite(**at, site_id=site))
    assert (await admin.send(ListInstallationSpaces(**at))).items == ()
    assert (await admin.send(ListInstallationSites(**at))).items == ()


async def test_installation_in_all_spaces_has_settings_by_space_and_cannot_be_removed_from_one(world: World) -> None:
    at, admin = await install(world), world.admin
    await admin.send(UpdateInstallation(**at, space_selection="all", external_ids=("a",)))
    before = await admin.send(GetSpaceInstallation(**at, space_id=world.space))
    assert (before.configuration, before.external_ids) == ({}, ("a",))
    changed = await admin.send(
        UpdateSpaceInstallation(**at, space_id=world.space, configuration={"label": "Oil"}, external_ids=("b",))
    )
    assert (changed.configuration, changed.external_ids) == ({"label": "Oil"}, ("b",))
    with pytest.raises(Conflict, match="installed in all spaces"):
        await admin.send(UninstallFromSpace(**at, space_id=world.space))


async def test_a_deleted_space_is_no_longer_listed(world: World) -> None:
    at, admin = await install(world), world.admin
    other = (await admin.send(CreateSpace(organization_id=world.organization, title="Other"))).id
    await admin.send(InstallInSpace(**at, space=other))
    await admin.send(DeleteSpace(space_id=other))
    assert (await admin.send(ListInstallationSpaces(**at))).items == ()
    with pytest.raises(NotFound):
        await admin.send(GetSpaceInstallation(**at, space_id=other))


async def test_installed_integrations_are_listed_in_their_spaces_and_sites(world: World) -> None:
    at, admin = await install(world, blocks=(BLOCK,), target="space"), world.admin
    here = {"organization_id": world.organization}
    site = (await admin.send(CreateSite(**here, title="Lamps"))).id
    at_site = {**here, "site_id": site}
    await admin.send(InstallInSite(**at, site_id=site))
    reader, name = world.clients["read"], at["integration_name"]
    assert (await reader.send(ListSpaceIntegrations(space_id=world.space))).items == ()
    assert await reader.send(ListSpaceIntegrationBlocks(space_id=world.space)) == ()
    await admin.send(InstallInSpace(**at, space=world.space))
    for search, names in (("", [name]), ("lAMP", [name]), ("oil", [])):
        listing = ListSpaceIntegrations(space_id=world.space, search=search)
        assert [one.name for one in (await reader.send(listing)).items] == names
    [blocks] = await reader.send(ListSpaceIntegrationBlocks(space_id=world.space))
    assert (blocks.name, blocks.blocks) == (name, (BLOCK,))
    assert (await admin.send(ListSiteIntegrations(**at_site))).items == ()  # the target of the integration is spaces
    assert (await admin.send(GetOrganizationIntegrationStatus(**here, integration_name=name))).status == "active"
    with pytest.raises(NotFound):
        await admin.send(GetOrganizationIntegrationStatus(**here, integration_name="other"))
    for target, count in (
        ({}, 1),
        ({"target": "space", "space": world.space}, 1),
        ({"target": "site", "site": site}, 0),
    ):
        statuses = await admin.send(ListOrganizationIntegrationsStatus(**here, **target))
        assert [one.integration.name for one in statuses.items] == [name] * count
    with pytest.raises(Refused, match="is required with the target space"):
        await admin.send(ListOrganizationIntegrationsStatus(**here, target="space"))
    [installed] = (await admin.send(ListOrganizationInstallations(**here, search="lamp"))).items
    assert (installed.integration.name, installed.installation.id) == (name, at["installation_id"])
    assert installed.installation.spaces == 1
    assert (await admin.send(ListOrganizationInstallations(**here, search="oil"))).items == ()
    offered = await reader.send(ListOrganizationIntegrations(**here, target="space", limit=1000))
    assert name in [one.name for one in offered.items]
    offered = await reader.send(ListOrganizationIntegrations(**here, target="site", limit=1000))
    assert name not in [one.name for one in offered.items]


@pytest.mark.slow
async def test_integration_has_settings_in_its_spaces_and_gets_only_their_events(world: World) -> None:
    at, admin = await install(world, LABELED), world.admin
    draft = await world.draft()
    await world.edit(draft, insert("New"))
    await admin.send(MergeChangeRequest(space_id=world.space, change_request_id=draft.id))
    await admin.send(InstallInSpace(**at, space=world.space))
    await admin.send(UpdateSpaceInstallation(**at, space_id=world.space, configuration={"label": "Oil"}))
    for space_id, label in ((world.space, "Oil: 0"), ("other", "Count: 0")):
        context = {"type": "document", "spaceId": space_id}
        call = RenderIntegration(
            integration_name=at["integration_name"], component_id="counter", props={}, context=context
        )
        rendered = await admin.send(call)
        assert rendered.element and rendered.element["children"][0]["label"] == label
    other = await world.draft()
    await world.edit(other, insert("Newer"))
    await admin.send(MergeChangeRequest(space_id=world.space, change_request_id=other.id))
    await admin.send(UninstallFromSpace(**at, space_id=world.space))
    [deleted] = await payloads(world, at, "space_installation_deleted")
    assert deleted["spaceId"] == world.space and deleted["previous"] == {"configuration": {"label": "Oil"}}
    [changed, made] = await payloads(world, at, "space_installation_setup")
    assert (made["status"], made["spaceId"], "previous" in made) == ("active", world.space, False)
    assert changed["previous"] == {"status": "active", "configuration": {}}
    [content] = await payloads(world, at, "space_content_updated")
    assert content["spaceId"] == world.space


@pytest.mark.slow
async def test_integration_gets_anonymous_feedback_on_its_sites(world: World) -> None:
    at, admin = await install(world), world.admin
    address, site = await published(world)
    await customize(world, site, feedback={"enabled": True})
    async with httpx.AsyncClient(headers={"user-agent": "Lamp/1"}) as browser:
        await browser.post(f"{address}guide", data={"rating": "bad", "comment": "Not installed yet"})
        await admin.send(InstallInSite(**at, site_id=site["site_id"]))
        await browser.post(f"{address}guide", data={"rating": "good", "comment": "Clear & short"})
        await browser.post(f"{address}guide", data={"rating": "ok"})
    while len(events := await payloads(world, at, "page_feedback")) < 2:
        pass
    later, earlier = events
    assert earlier["feedback"] == {"rating": "good", "comment": "Clear & short"} and later["feedback"] == {
        "rating": "ok"
    }
    fields = {"siteId": site["site_id"], "spaceId": world.space, "pageId": "guide", "url": f"{address}guide"}
    assert earlier.items() >= fields.items()
    assert earlier["visitor"].items() >= {"cookies": {}, "ip": "", "userAgent": ""}.items()
    assert earlier["visitor"]["anonymousId"] == later["visitor"]["anonymousId"] != ""


@pytest.mark.slow
async def test_feedback_events_do_not_contain_the_key_of_a_share_link(world: World) -> None:
    at, admin = await install(world), world.admin
    _, site = await published(world, visibility="share-link")
    await customize(world, site, feedback={"enabled": True})
    await admin.send(InstallInSite(**at, site_id=site["site_id"]))
    link = await admin.send(CreateShareLink(**site, name="For Mia"))
    assert link.urls.published
    async with httpx.AsyncClient() as browser:
        sent = await browser.post(f"{link.urls.published}guide", data={"rating": "good"}, follow_redirects=False)
    key = link.urls.published.rstrip("/").rpartition("/")[2]
    assert sent.status_code == 303 and key in sent.headers["location"]
    [event] = await payloads(world, at, "page_feedback")
    assert event["url"] == link.urls.published.replace(f"{key}/", "guide")
    assert key not in str(event)
