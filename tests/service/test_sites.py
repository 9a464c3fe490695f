"""Sites over a socket: create, update, publish, and who can read them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from tests.service.factories import ROLES, World

from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.sites import (
    AdaptiveContentChange,
    CreateSite,
    DeleteSite,
    GetSite,
    ListSites,
    PublishSite,
    Site,
    UnpublishSite,
    UpdateSite,
)
from presscheck.api.spaces import CreateSpace, GetSpace, UpdateSpace
from presscheck.errors import Conflict, Forbidden, NotFound, Refused


async def made(world: World, title: str = "Docs", *spaces: str, **given: Any) -> Site:
    return await world.admin.send(
        CreateSite(organization_id=world.organization, title=title, spaces=spaces or (world.space,), **given)
    )


def at(world: World, site: Site) -> dict[str, str]:
    return {"organization_id": world.organization, "site_id": site.id}


async def published(world: World, site: Site) -> Site:
    answer = await world.admin.send(PublishSite(**at(world, site)))
    assert isinstance(answer, Site)
    return answer


async def test_a_new_site_is_not_published(world: World) -> None:
    site = await made(world)
    assert (site.title, site.type, site.visibility, site.site_spaces) == ("Docs", "basic", "public", 1)
    assert (site.published, site.urls.published) == (False, None)
    assert await world.admin.send(GetSite(**at(world, site))) == site
    unnamed = await world.admin.send(CreateSite(organization_id=world.organization))
    assert (unnamed.title, unnamed.site_spaces) == ("Acme docs", 0)


async def test_sites_are_listed_and_filtered(world: World) -> None:
    docs = await made(world, "Product docs")
    await world.admin.send(CreateSite(organization_id=world.organization, title="Handbook", type="premium"))
    await published(world, docs)

    async def titles(**given: Any) -> list[str]:
        listing = ListSites(organization_id=world.organization, **given)
        return [one.title async for one in world.admin.every(listing)]

    assert await titles() == ["Product docs", "Handbook"]
    assert await titles(limit=1) == ["Product docs", "Handbook"]
    assert await titles(published=True) == ["Product docs"]
    assert await titles(published=False) == ["Handbook"]
    assert await titles(title="DOCS") == ["Product docs"]
    assert await titles(title="_") == []
    assert await titles(type=("premium", "ultimate")) == ["Handbook"]
    assert await titles(space=world.space) == ["Product docs"]
    assert await titles(space="gone") == []


async def test_members_see_sites_of_their_spaces_and_public_ones(world: World) -> None:
    hidden = await world.admin.send(CreateSpace(organization_id=world.organization, title="Hidden"))
    await world.admin.send(UpdateSpace(space_id=hidden.id, default_level=None))
    shown = await made(world, "Shown", world.space, hidden.id, visibility="visitor-auth")
    counts = {"admin": 2, "edit": 1}
    for role, count in counts.items():
        assert (await world.clients[role].send(GetSite(**at(world, shown)))).site_spaces == count, role
    private = await made(world, "Private", hidden.id)
    await world.admin.send(CreateSite(organization_id=world.organization, title="Empty"))

    async def titles(role: str, **given: Any) -> list[str]:
        listing = ListSites(organization_id=world.organization, limit=1, **given)
        return [one.title async for one in world.clients[role].every(listing)]

    for role in ROLES:
        sees_all = role in ("admin", "create")
        assert await titles(role) == (["Shown", "Private", "Empty"] if sees_all else ["Shown"]), role
        assert await titles(role, title="private") == (["Private"] if sees_all else []), role
    with pytest.raises(NotFound):
        await world.clients["edit"].send(GetSite(**at(world, private)))
    await world.clients["edit"].send(DeleteSite(**at(world, private)))
    for visibility in ("public", "unlisted", "share-link", "visitor-auth"):
        await world.admin.send(UpdateSite(**at(world, private), visibility=visibility))
        assert await titles("read") == ["Shown"], "it is not published"
        await published(world, private)
        assert await titles("read") == (["Shown", "Private"] if visibility == "public" else ["Shown"])
        await world.admin.send(UnpublishSite(**at(world, private)))


async def test_publishing_returns_the_url(world: World) -> None:
    site = await published(world, await made(world))
    assert site.published
    assert site.urls.published == f"{world.base_url}/docs/{site.id}/"
    assert (await world.admin.send(GetSpace(space_id=world.space))).urls.published == site.urls.published
    again = await published(world, site)
    assert again == site
    off = await world.admin.send(UnpublishSite(**at(world, site)))
    assert (off.published, off.urls.published) == (False, None)
    assert (await world.admin.send(GetSpace(space_id=world.space))).urls.published is None


async def test_a_site_is_updated_and_deleted(world: World) -> None:
    empty = await world.admin.send(CreateSite(organization_id=world.organization))
    with pytest.raises(Conflict, match="Add a space"):
        await world.admin.send(PublishSite(**at(world, empty)))
    site = await made(world)
    changed = await world.admin.send(
        UpdateSite(
            **at(world, site),
            title="Manual",
            basename="manual",
            visibility="unlisted",
            agents_context="excluded",
            adaptive_content=AdaptiveContentChange(enabled=True),
            proxy="example.org/docs",
        )
    )
    assert (changed.title, changed.basename, changed.visibility) == ("Manual", "manual", "unlisted")
    assert changed.adaptive_content and changed.adaptive_content.enabled
    assert changed.proxy and changed.proxy.origin == "example.org/docs"
    assert (await published(world, site)).urls.published == f"{world.base_url}/docs/manual/"
    assert (await world.admin.send(UpdateSite(**at(world, site), proxy=None))).proxy is None
    for wrong in ({"title": None}, {"default_site_space": "gone"}, {"default_site_section": "gone"}):
        with pytest.raises(Refused):
            await world.admin.send(UpdateSite(**at(world, site), **wrong))
    for _ in range(2):
        await world.admin.send(DeleteSite(**at(world, site)))
    with pytest.raises(NotFound):
        await world.admin.send(GetSite(**at(world, site)))
    assert (await world.admin.send(GetSpace(space_id=world.space))).id == world.space


async def test_permissions_of_sites(world: World) -> None:
    site = await made(world)
    where = at(world, site)
    for role in ROLES[1:]:
        for call in (PublishSite(**where), UnpublishSite(**where), DeleteSite(**where)):
            with pytest.raises(Forbidden):
                await world.clients[role].send(call)
    for role in ROLES[2:]:
        for call in (CreateSite(organization_id=world.organization), UpdateSite(**where, title="Mine")):
            with pytest.raises(Forbidden):
                await world.clients[role].send(call)
        seen = await world.clients[role].send(GetSite(**where))
        assert seen.permissions and not seen.permissions["edit"]
    with pytest.raises(Forbidden):
        await world.clients["guest"].send(GetSite(**where))
    assert (await world.clients["create"].send(UpdateSite(**where, title="Ours"))).title == "Ours"


async def test_readers_can_read_a_published_site(world: World) -> None:
    site = await made(world)
    call = GetPublishedSite(**at(world, site))
    with pytest.raises(NotFound):
        await world.admin.send(call)
    await published(world, site)
    for role in (*ROLES, "guest"):
        found = await world.clients[role].send(call)
        assert found.site.id == site.id
        assert found.customizations.site
        spaces = [one.title for one in found.structure.structure]
        assert spaces == ([] if role == "guest" else ["Manual"])


async def test_site_with_a_share_link_requires_its_key(world: World) -> None:
    site = await published(world, await made(world, visibility="share-link"))
    assert site.urls.published
    key = site.urls.published.rstrip("/").rpartition("/")[2]
    guest = world.clients["guest"]
    for wrong in ({}, {"share_key": "wrong"}):
        with pytest.raises(NotFound):
            await guest.send(GetPublishedSite(**at(world, site), **wrong))
    assert (await guest.send(GetPublishedSite(**at(world, site), share_key=key))).site.id == site.id
    await world.admin.send(UpdateSite(**at(world, site), visibility="visitor-auth"))
    with pytest.raises(NotFound):
        await guest.send(GetPublishedSite(**at(world, site), share_key=key))


def test_responses_have_the_required_fields(world: World) -> None:
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    with httpx.Client(base_url=f"{world.base_url}/v1", headers=headers) as http:
        response = http.post(f"/orgs/{world.organization}/sites", json={"title": "Docs", "spaces": [world.space]})
        assert response.status_code == 201
        site = response.json()
        assert response.headers["location"] == site["urls"]["location"]
        http.post(f"/orgs/{world.organization}/sites/{site['id']}/publish").raise_for_status()
        answer = http.get(f"/orgs/{world.organization}/sites/{site['id']}/published").json()
    assert {"object", "site", "structure", "customizations", "scripts"} == set(answer)
    assert answer["structure"]["type"] == "siteSpaces"
    assert answer["structure"]["structure"][0]["space"]["object"] == "space"
    assert set(answer["customizations"]["siteSpaces"]) == {answer["structure"]["structure"][0]["id"]}
