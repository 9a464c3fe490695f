"""The style guide of a space, which programs that review a change request receive."""

import pytest

from presscheck.api.change_requests import ListChangeRequests
from presscheck.api.sites import CreateSite, ListSites
from presscheck.api.spaces import GetSpace
from presscheck.api.style_guides import CreateStyleGuide
from presscheck.client.client import Client
from presscheck.engine.engine import Engine
from presscheck.engine.review.program_input import program_input
from presscheck.engine.style_guide import read_style_guide

pytestmark = pytest.mark.service(sample=True)


async def test_programs_get_the_style_guide_of_the_site(engine: Engine, client: Client) -> None:
    request = (await engine.read(ListChangeRequests(space_id="api", status="open"))).items[0]
    assert (await program_input(engine, request)).document["style_guide"] is None
    sites = (await client.send(ListSites(organization_id="tallowick"))).items
    live = next(site for site in sites if site.published)
    call = CreateStyleGuide(organization_id="tallowick", site_id=live.id, template="reference")
    await engine.write(call).landed()
    text = await read_style_guide(engine, await engine.read(GetSpace(space_id="api")))
    assert text.startswith("# Reference\n")
    assert (await program_input(engine, request)).document["style_guide"] == text


async def test_a_space_has_the_style_guides_of_its_own_sites(engine: Engine, client: Client) -> None:
    sites = (await client.send(ListSites(organization_id="tallowick"))).items
    live = next(site for site in sites if site.published)
    other = await client.send(CreateSite(organization_id="tallowick", title="Other", spaces=("api",)))
    await client.send(CreateSite(organization_id="tallowick", title="Elsewhere", spaces=("runbook",)))
    await client.send(CreateStyleGuide(organization_id="tallowick", site_id=live.id, template="plain"))
    await client.send(CreateStyleGuide(organization_id="tallowick", site_id=other.id, template="reference"))
    text = await read_style_guide(engine, await engine.read(GetSpace(space_id="api")))
    assert (text.count("# Plain language\n"), text.count("# Reference\n")) == (1, 1)
    assert await read_style_guide(engine, await engine.read(GetSpace(space_id="runbook"))) == ""
