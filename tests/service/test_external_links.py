"""Links among the sections of a site: in its structure, and on published pages."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.service.factories import World
from tests.service.web_pages import published

from presscheck.api.external_links import AddExternalLink, DeleteExternalLink, UpdateExternalLink
from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_structure import (
    AddSection,
    AddSectionGroup,
    DeleteSectionGroup,
    GetSiteStructure,
    SiteExternalLink,
    SortSiteStructure,
    StructureItemPointer,
    StructurePosition,
)
from presscheck.api.sites import AdaptiveContentChange, UpdateSite
from presscheck.api.spaces import CreateSpace
from presscheck.errors import Conflict, Refused

SHOP = {"title": "Shop", "url": "https://shop.example/"}


async def with_sections(world: World) -> tuple[str, dict[str, str]]:
    """Publish a site with two sections. Returns its URL, and the path arguments of its API calls."""
    url, at = await published(world)
    space = await world.admin.send(CreateSpace(organization_id=world.organization, title="API"))
    await world.admin.send(AddSection(**at, space_id=world.space, title="Docs"))
    await world.admin.send(AddSection(**at, space_id=space.id, title="API"))
    return url, at


async def titles(world: World, at: dict[str, str]) -> list[str]:
    return [item.title for item in (await world.admin.send(GetSiteStructure(**at))).structure]


async def text_of(url: str) -> str:
    async with httpx.AsyncClient(timeout=60) as reader:
        return (await reader.get(url)).text


async def test_link_is_listed_among_the_sections_and_can_be_moved(world: World) -> None:
    _, at = await published(world)
    send = world.admin.send
    with pytest.raises(Conflict, match="no sections"):
        await send(AddExternalLink(**at, **SHOP))
    _, at = await with_sections(world)
    link = await send(AddExternalLink(**at, **SHOP, icon="cart-shopping", description="Buy lamps"))
    assert await titles(world, at) == ["Docs", "API", "Shop"]
    first = (await send(GetSiteStructure(**at))).structure[0]
    moved, before = (StructureItemPointer(type=kind, id=one.id) for kind, one in _pointers(link, first))
    await send(SortSiteStructure(**at, item=moved, position=StructurePosition(before=before)))
    assert await titles(world, at) == ["Shop", "Docs", "API"]
    group = await send(AddSectionGroup(**at, title="More"))
    renamed = UpdateExternalLink(**at, site_external_link_id=link.id, title="Store", parent=group.id, icon=None)
    changed = await send(renamed)
    assert (changed.title, changed.icon, changed.description) == ("Store", None, "Buy lamps")
    assert changed.section_group == group.id and await titles(world, at) == ["Docs", "API", "More"]
    await send(DeleteSectionGroup(**at, site_section_group_id=group.id))
    structure = (await send(GetSiteStructure(**at))).structure
    assert isinstance(structure[2], SiteExternalLink) and structure[2].url == SHOP["url"]
    await send(DeleteExternalLink(**at, site_external_link_id=link.id))
    await send(DeleteExternalLink(**at, site_external_link_id=link.id))
    assert await titles(world, at) == ["Docs", "API"]


def _pointers(link: SiteExternalLink, first: Any) -> tuple[tuple[Any, Any], ...]:
    return ("site-external-link", link), ("site-section", first)


async def test_visitors_see_links_whose_condition_they_meet_and_no_drafts(world: World) -> None:
    url, at = await with_sections(world)
    send = world.admin.send
    await send(AddExternalLink(**at, **SHOP))
    draft = await send(AddExternalLink(**at, title="Soon", url="https://soon.example/", draft=True))
    condition = "visitor.claims.pro == true"
    await send(AddExternalLink(**at, title="Pro", url="https://pro.example/", condition=condition))
    await send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
    shown = await text_of(url)
    assert 'href="https://shop.example/"' in shown
    assert "soon.example" not in shown and "pro.example" not in shown
    seen = [item.title for item in (await send(GetPublishedSite(**at))).structure.structure]
    assert seen == ["Docs", "API", "Shop", "Pro"], "an editor sees what has a condition"
    await send(UpdateExternalLink(**at, site_external_link_id=draft.id, draft=False))
    assert "soon.example" in await text_of(url)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//shop.example/", "shop.example", "https://", "mailto:a@b.c"])
@pytest.mark.attack("scripts in content")
async def test_only_web_addresses_are_links(world: World, url: str) -> None:
    _, at = await with_sections(world)
    with pytest.raises(Refused, match="url: must be a URL"):
        await world.admin.send(AddExternalLink(**at, title="Shop", url=url))
    link = await world.admin.send(AddExternalLink(**at, **SHOP))
    with pytest.raises(Refused, match="url: must be a URL"):
        await world.admin.send(UpdateExternalLink(**at, site_external_link_id=link.id, url=url))
