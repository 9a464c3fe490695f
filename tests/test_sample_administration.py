"""The sample workspace besides its content: the lists of organization, site and space have entries."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until

from presscheck.api.agent_instructions import GetAgentInstructions
from presscheck.api.audit_events import ListAuditEvents
from presscheck.api.computed_content import GetComputedRevision
from presscheck.api.content import ListFiles, ListPages
from presscheck.api.conversations import ListConversationIssues, ListIssuesClusters
from presscheck.api.imports import ListImports
from presscheck.api.openapi import GetLatestOpenAPISpecContent, ListOpenAPISpecs
from presscheck.api.site_events import AggregateSiteEvents
from presscheck.api.site_findings import ListSiteFindings
from presscheck.api.site_settings import GetAdaptiveSchema, ListRedirects, ListShareLinks
from presscheck.api.site_structure import GetSiteStructure, SiteExternalLink
from presscheck.api.sites import ListSites
from presscheck.api.spaces import CreateSpace, ListSpaces
from presscheck.api.style_guides import ListStyleGuides
from presscheck.api.teams import ListTeamMembers, ListTeams
from presscheck.api.translations import ListTranslations
from presscheck.client.client import Client
from presscheck.service.db.engine import Database
from presscheck.service.models.jobs import JobRow
from presscheck.service.server import bootstrap
from presscheck.tui.places import Place
from presscheck.tui.screens.admin.families import FAMILIES

ORG: dict[str, Any] = {"organization_id": "tallowick"}
TIMETABLE: dict[str, Any] = {"type": "integration:parcel-status:timetable", "props": {}}
"""A content source of the sample's integration."""


async def furnished(service: RunningService) -> None:
    """Queue the sample job twice and wait until the service has done all jobs."""
    database = Database(service.database_url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "FURNISHED_AFTER", 0 * bootstrap.FURNISHED_AFTER)
        for _ in range(2):
            database.write(lambda session: bootstrap.queue_sample_job(session, service.clock))
    states = {""}
    async with asyncio.timeout(60):
        while not states <= {"done"}:
            await asyncio.sleep(0.1)
            with database.snapshot() as session:
                jobs = session.execute(select(JobRow.kind, JobRow.state, JobRow.reason)).all()
            assert not [job for job in jobs if job.state == "failed"]
            states = {job.state for job in jobs if job.kind not in ("sweep", "import")}
    assert [job.kind for job in jobs].count(bootstrap.SAMPLE) == 1
    database.close()


pytestmark = pytest.mark.service(sample=True, shared=True, prepare=furnished)


async def test_lists_of_the_sample_have_entries(service: RunningService, client: Client) -> None:

    async def first(listing: Any) -> Any:
        items = (await client.send(listing)).items
        assert items, f"{type(listing).__name__} is empty"
        return items[0]

    for family in FAMILIES:
        integration = (
            {"integration_name": "parcel-status"} if "integration_name" in family.listing.path_fields() else {}
        )
        path = ORG if "organization_id" in family.listing.model_fields else {}
        await first(family.listing(**{**path, **integration}))
    team = await first(ListTeams(**ORG))
    await first(ListTeamMembers(**ORG, team_id=team.id))
    await first(ListConversationIssues(**ORG))
    await first(ListIssuesClusters(**ORG))
    assert (await client.send(GetAgentInstructions(**ORG))).instructions["nodes"]

    imported = await first(ListImports(**ORG))
    assert (imported.status, len(imported.pages)) == ("completed", 2)
    translation = await first(ListTranslations(**ORG))
    assert translation.status == "completed" and translation.result
    specification = await first(ListOpenAPISpecs(**ORG))
    content = await client.send(GetLatestOpenAPISpecContent(**ORG, spec_slug=specification.slug))
    assert "/rates" in content.filesystem["openapi.json"]["paths"]

    sites = {site.published: site for site in (await client.send(ListSites(**ORG))).items}
    await first(ListRedirects(**ORG, site_id=sites[True].id))
    docs = {**ORG, "site_id": sites[True].id}
    events = await client.send(AggregateSiteEvents(**docs, range="last30Days", select=[{"column": "eventsCount"}]))
    assert events.columns[0].values == (3,)
    structure = (await client.send(GetSiteStructure(**docs))).structure
    assert [item.title for item in structure if isinstance(item, SiteExternalLink)] == ["Service status"]
    assert {finding.status for finding in (await client.send(ListSiteFindings(**docs))).items} == {"open", "canceled"}
    await first(ListAuditEvents(**ORG))
    await first(ListShareLinks(**ORG, site_id=sites[False].id))
    assert (await client.send(GetAdaptiveSchema(**ORG, site_id=sites[True].id))).json_schema["properties"]
    [guide] = (await client.send(ListStyleGuides(**ORG))).styleguides
    assert [site.id for site in guide.sites] == [sites[True].id]
    spaces = (await client.send(ListSpaces(**ORG))).items
    carriers = next(space for space in spaces if space.title == "Carriers")
    await first(ListFiles(space_id=carriers.id))
    computed = await client.send(GetComputedRevision(space_id=carriers.id, source=TIMETABLE, seed="1"))
    assert [page["title"] for page in computed.pages] == ["Timetable"]


async def test_published_page_shows_the_block_of_an_integration(service: RunningService, client: Client) -> None:
    site = next(site for site in (await client.send(ListSites(**ORG))).items if site.published)
    async with httpx.AsyncClient(timeout=60, follow_redirects=True) as reader:
        page = await reader.get(f"{service.base_url}/docs/{site.id}/command-line/track")
    assert "<strong>TW-2041</strong> left the depot" in page.text


async def test_app_shows_a_page_computed_by_a_content_source(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    space = await client.send(CreateSpace(**ORG, title="Departures", computed_source=TIMETABLE))
    [page] = (await client.send(ListPages(space_id=space.id))).pages
    async with running(app_on(service, tmp_path), (100, 30)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page(space.id, page.id))
        await until(pilot, shows="Nordpost collects parcels at noon.")
