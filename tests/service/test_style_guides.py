"""Style guides of sites: created from templates, listed with their sites, and stored as spaces."""

from __future__ import annotations

import pytest
from tests.service.factories import World
from tests.service.web_pages import published

from presscheck.api.content import ListPages
from presscheck.api.sites import CreateSite, GetSite
from presscheck.api.spaces import DeleteSpace, GetSpace
from presscheck.api.style_guides import CreateStyleGuide, ListStyleGuides, ListStyleGuideTemplates
from presscheck.engine.shared_calls import live_page
from presscheck.errors import Conflict, Forbidden, Refused


async def test_a_site_gets_one_style_guide_with_the_text_of_a_template(world: World) -> None:
    _, at = await published(world)
    organization = {"organization_id": at["organization_id"]}
    templates = (await world.admin.send(ListStyleGuideTemplates(**organization))).templates
    assert [template.id for template in templates] == ["plain", "reference"]
    with pytest.raises(Refused, match="template: must be one of plain, reference"):
        await world.admin.send(CreateStyleGuide(**at, template="none"))
    space = await world.admin.send(CreateStyleGuide(**at, template="plain"))
    assert (space.type, (await world.admin.send(GetSpace(space_id=space.id))).type) == ("styleguide", "styleguide")
    [page] = (await world.admin.send(ListPages(space_id=space.id))).pages
    text = (await world.admin.send(live_page(space.id, page.id))).markdown
    assert text == f"# Plain language\n\n{templates[0].markdown}"
    site = await world.admin.send(GetSite(**at))
    assert site.styleguide and (site.styleguide.kind, site.styleguide.space) == ("space", space.id)
    [guide] = (await world.admin.send(ListStyleGuides(**organization))).styleguides
    assert (guide.space.id, [one.id for one in guide.sites]) == (space.id, [at["site_id"]])
    with pytest.raises(Conflict, match="has a style guide"):
        await world.admin.send(CreateStyleGuide(**at))


async def test_each_style_guide_is_listed_with_its_own_sites(world: World) -> None:
    _, at = await published(world)
    other = await world.admin.send(CreateSite(organization_id=world.organization, title="Other", spaces=(world.space,)))
    first = await world.admin.send(CreateStyleGuide(**at))
    second = await world.admin.send(CreateStyleGuide(organization_id=world.organization, site_id=other.id))
    guides = (await world.admin.send(ListStyleGuides(organization_id=world.organization))).styleguides
    sites = {guide.space.id: [site.id for site in guide.sites] for guide in guides}
    assert sites == {first.id: [at["site_id"]], second.id: [other.id]}


async def test_a_deleted_style_guide_is_replaced_by_an_empty_one(world: World) -> None:
    _, at = await published(world)
    first = await world.admin.send(CreateStyleGuide(**at, template="reference"))
    await world.admin.send(DeleteSpace(space_id=first.id))
    assert (await world.admin.send(GetSite(**at))).styleguide is None
    assert (await world.admin.send(ListStyleGuides(organization_id=at["organization_id"]))).styleguides == ()
    second = await world.admin.send(CreateStyleGuide(**at))
    [page] = (await world.admin.send(ListPages(space_id=second.id))).pages
    assert (await world.admin.send(live_page(second.id, page.id))).markdown == "# Style guide\n\n"


async def test_readers_cannot_create_a_style_guide(world: World) -> None:
    _, at = await published(world)
    with pytest.raises(Forbidden, match="create"):
        await world.clients["read"].send(CreateStyleGuide(**at))
