"""Site settings: customization, share links, redirects, visitor claims and visitor authentication."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import httpx
import pytest
from tests.service.factories import World

from presscheck.api.agent_instructions import GetAgentInstructions, UpdateAgentInstructions
from presscheck.api.operation import Operation
from presscheck.api.published_sites import GetPublishedSite
from presscheck.api.site_settings import (
    BulkUpsertRedirects,
    CreateRedirect,
    CreateShareLink,
    DeleteRedirect,
    DeleteShareLink,
    DeleteSiteSpaceCustomization,
    GetAdaptiveSchema,
    GetCustomization,
    GetPublishingAuth,
    GetSiteSpaceCustomization,
    ListRedirects,
    ListShareLinks,
    ListTemplateConditions,
    OverrideSiteSpaceCustomization,
    RedirectDestination,
    RegeneratePublishingAuth,
    UpdateAdaptiveSchema,
    UpdateCustomization,
    UpdatePublishingAuth,
    UpdateRedirect,
    UpdateShareLink,
)
from presscheck.api.site_structure import AddSiteSpace, ListSiteSpaces
from presscheck.api.sites import CreateSite, PublishSite, UpdateSite
from presscheck.api.spaces import CreateSpace, GetSpace
from presscheck.errors import Conflict, Forbidden, NotFound, Refused
from presscheck.service.sites.customization import with_newest_parts


@pytest.fixture
async def at(world: World) -> dict[str, str]:
    """The path arguments of API calls for a site with one space."""
    site = await world.admin.send(
        CreateSite(organization_id=world.organization, title="Docs", spaces=(world.space,), visibility="share-link")
    )
    return {"organization_id": world.organization, "site_id": site.id}


async def test_a_share_link_works_while_it_is_active(world: World, at: dict[str, str]) -> None:
    link = await world.admin.send(CreateShareLink(**at, name="For Mia"))
    assert (link.active, link.urls.published) == (True, None), "nothing is published yet"
    await world.admin.send(PublishSite(**at))
    [listed] = (await world.admin.send(ListShareLinks(**at))).items
    assert listed.urls.published
    key = listed.urls.published.rstrip("/").rpartition("/")[2]
    guest = world.clients["guest"]
    assert (await guest.send(GetPublishedSite(**at, share_key=key))).site.title == "Docs"
    assert (await guest.send(GetSpace(space_id=world.space, share_key=key))).id == world.space
    off = await world.admin.send(UpdateShareLink(**at, share_link_id=link.id, active=False))
    assert off.urls.published is None
    for call in (GetPublishedSite(**at, share_key=key), GetSpace(space_id=world.space, share_key=key)):
        with pytest.raises(NotFound):
            await guest.send(call)
    await world.admin.send(UpdateShareLink(**at, share_link_id=link.id, active=True, name="For all"))
    await guest.send(GetPublishedSite(**at, share_key=key))
    await world.admin.send(UpdateSite(**at, visibility="public"))
    [listed] = (await world.admin.send(ListShareLinks(**at))).items
    assert listed.urls.published is None, "a public site needs no key"
    await world.admin.send(UpdateSite(**at, visibility="share-link"))
    for _ in range(2):
        await world.admin.send(DeleteShareLink(**at, share_link_id=link.id))
    with pytest.raises(NotFound):
        await guest.send(GetPublishedSite(**at, share_key=key))


async def test_secrets_are_only_visible_to_editors_of_the_site(world: World, at: dict[str, str]) -> None:
    secret: list[Operation[Any]] = [ListShareLinks(**at), CreateShareLink(**at, name="x"), GetAdaptiveSchema(**at)]
    for call in secret:
        with pytest.raises(Forbidden):
            await world.clients["edit"].send(call)
    for call in (GetPublishingAuth(**at), RegeneratePublishingAuth(**at), UpdatePublishingAuth(**at, backend="custom")):
        with pytest.raises(Forbidden):
            await world.clients["create"].send(call)
    with pytest.raises(NotFound):
        await world.admin.send(GetCustomization(organization_id=world.organization, site_id="none"))


async def test_update_replaces_the_whole_customization(world: World, at: dict[str, str]) -> None:
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    looks["styling"]["primaryColor"] = {"light": "#123", "dark": "#abcdef"}
    looks["announcement"] = {"enabled": True, "message": "New!", "style": "info"}
    await world.admin.send(UpdateCustomization(**at, settings=looks))
    assert await world.clients["read"].send(GetCustomization(**at)) == looks
    await world.admin.send(PublishSite(**at))
    published = await world.admin.send(GetPublishedSite(**at))
    site = published.customizations.site
    assert site["pageActions"].items() >= looks["pageActions"].items(), "with what newer releases have"
    assert site["styling"].items() >= looks["styling"].items()
    assert site | {name: looks[name] for name in ("pageActions", "styling")} == looks | {"socialAccounts": []}


async def test_a_space_has_its_own_customization(world: World, at: dict[str, str]) -> None:
    send = world.admin.send
    second = await send(CreateSpace(organization_id=world.organization, title="Second"))
    await send(AddSiteSpace(**at, space_id=second.id))
    await send(PublishSite(**at))
    first, other = (await send(ListSiteSpaces(**at))).items
    here, there = {**at, "site_space_id": first.id}, {**at, "site_space_id": other.id}
    site = with_newest_parts(await send(GetCustomization(**at)))
    own = {"title": "Own title", "styling": {"corners": "straight"}, "pagination": {"enabled": False}}
    changed = await send(OverrideSiteSpaceCustomization(**here, settings=own))
    assert changed == {**site, **own, "styling": {**site["styling"], "corners": "straight"}}
    assert await send(GetSiteSpaceCustomization(**here)) == changed
    assert await send(GetSiteSpaceCustomization(**there)) == site
    shown = (await send(GetPublishedSite(**at))).customizations.site_spaces or {}
    assert (shown[first.id]["title"], shown[other.id].get("title")) == ("Own title", None)
    async with httpx.AsyncClient(timeout=60) as reader:
        pages = [(await reader.get(str(one.urls.published))).text for one in (first, other)]
    assert ["Own title" in page for page in pages] == [True, False]
    part = await send(OverrideSiteSpaceCustomization(**here, settings={"styling": {"corners": None}}))
    assert part == {**site, **own, "styling": site["styling"]}
    for wrong, says in (({"ai": {}}, "whole site"), ({"styling": {"corners": "none"}}, "must be one of")):
        with pytest.raises(Refused, match=says):
            await send(OverrideSiteSpaceCustomization(**here, settings=wrong))
    await send(DeleteSiteSpaceCustomization(**here))
    assert await send(GetSiteSpaceCustomization(**here)) == site


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("header", None, "header: required"),
        ("styling.primaryColor.dark", "blue", r"styling\.primaryColor\.dark: must be a color such as #9a4f1b"),
        ("styling.corners", "pointed", r"styling\.corners: must be one of circular, rounded, straight"),
        ("pdf.enabled", "yes", r"pdf\.enabled: must be true or false"),
        ("header.links", {}, r"header\.links: must be an array"),
        ("footer", [], "footer: must be an object"),
    ],
)
async def test_an_invalid_customization_is_refused(
    world: World, at: dict[str, str], path: str, value: Any, says: str
) -> None:
    looks = deepcopy(await world.admin.send(GetCustomization(**at)))
    place, *_, last = [looks, *path.split(".")]
    for name in path.split(".")[:-1]:
        place = place[name]
    if value is None:
        del place[last]
    else:
        place[last] = value
    with pytest.raises(Refused, match=says):
        await world.admin.send(UpdateCustomization(**at, settings=looks))


def schema(**claims: Any) -> dict[str, Any]:
    return {"type": "object", "properties": claims, "additionalProperties": False}


async def test_the_schema_of_visitor_claims(world: World, at: dict[str, str]) -> None:
    with pytest.raises(NotFound):
        await world.admin.send(GetAdaptiveSchema(**at))
    assert (await world.admin.send(ListTemplateConditions(**at))).items == ()
    beta = {"type": "boolean", "description": "Is in the beta."}
    plan = {"type": "string", "description": "The plan", "enum": ["free", "pro"]}
    unsigned = {**schema(beta=beta), "description": "Unsigned claims of the site visitor."}
    whole = schema(plan=plan, beta=beta, unsigned=unsigned)
    await world.admin.send(UpdateAdaptiveSchema(**at, json_schema=whole))
    found = await world.admin.send(GetAdaptiveSchema(**at))
    assert found.json_schema == whole
    assert found.updated_at
    conditions = (await world.clients["read"].send(ListTemplateConditions(**at))).items
    assert {(condition.description, condition.condition) for condition in conditions} == {
        ("The plan: free", 'visitor.claims.plan == "free"'),
        ("The plan: pro", 'visitor.claims.plan == "pro"'),
        ("Is in the beta", "visitor.claims.beta == true"),
        ("Is in the beta", "visitor.claims.unsigned.beta == true"),
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"type": "array"},
        {**schema(), "title": "x"},
        schema(beta={"type": "boolean"}),
        schema(beta={"type": "date", "description": "x"}),
        schema(beta={"type": "array", "description": "x", "items": {"type": "object", "description": "y"}}),
        schema(group={"type": "object", "description": "x", "properties": {}}),
        {**schema(), "additionalProperties": True},
    ],
)
async def test_an_invalid_schema_is_refused(world: World, at: dict[str, str], wrong: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="jsonSchema"):
        await world.admin.send(UpdateAdaptiveSchema(**at, json_schema=wrong))


async def test_visitor_authentication_settings(world: World, at: dict[str, str]) -> None:
    first = await world.admin.send(GetPublishingAuth(**at))
    assert (first.backend, len(first.private_key) > 30) == ("custom", True)
    address = "https://example.org/sign-in"
    changed = await world.admin.send(UpdatePublishingAuth(**at, backend="custom", fallback_url=address))
    assert (changed.fallback_url, changed.private_key) == (address, first.private_key)
    assert (await world.admin.send(RegeneratePublishingAuth(**at))).private_key != first.private_key
    cleared = await world.admin.send(UpdatePublishingAuth(**at, backend="custom", fallback_url=None))
    assert cleared.fallback_url is None
    with pytest.raises(Refused, match="fallbackURL"):
        await world.admin.send(UpdatePublishingAuth(**at, backend="custom", fallback_url="javascript:x"))


async def test_redirects_are_created_updated_and_deleted(world: World, at: dict[str, str]) -> None:
    [site_space] = (await world.admin.send(ListSiteSpaces(**at))).items
    to_page = RedirectDestination(kind="site-page", site_space_id=site_space.id, page_id="guide")
    made = await world.admin.send(CreateRedirect(**at, source="/old/guide/", destination=to_page))
    assert (made.source, made.destination.kind, made.destination.page_id) == ("/old/guide", "site-page", "guide")
    with pytest.raises(Conflict, match="already exists"):
        await world.admin.send(CreateRedirect(**at, source="/old/guide", destination=to_page))
    out = RedirectDestination(kind="external", url="https://example.org/")
    changed = await world.admin.send(UpdateRedirect(**at, site_redirect_id=made.id, destination=out))
    assert (changed.source, changed.destination.url) == ("/old/guide", "https://example.org/")
    await world.admin.send(UpdateRedirect(**at, site_redirect_id=made.id, source="/old/guide"))
    await world.admin.send(CreateRedirect(**at, source="/a", destination=out))
    assert [item.source for item in (await world.admin.send(ListRedirects(**at))).items] == ["/a", "/old/guide"]
    assert [item.source for item in (await world.admin.send(ListRedirects(**at, search="GUIDE"))).items] == [
        "/old/guide"
    ]
    for _ in range(2):
        await world.admin.send(DeleteRedirect(**at, site_redirect_id=made.id))
    with pytest.raises(Forbidden):
        await world.clients["edit"].send(CreateRedirect(**at, source="/b", destination=out))


@pytest.mark.parametrize(
    ("source", "destination", "says"),
    [
        ("old", {"kind": "external", "url": "https://a.example"}, "source: must be a path"),
        ("/a?b", {"kind": "external", "url": "https://a.example"}, "source: must be a path"),
        ("/a", {"kind": "external"}, r"destination\.url"),
        ("/a", {"kind": "external", "url": "javascript:alert(1)"}, r"destination\.url"),
        ("/a", {"kind": "site-section", "site_section_id": "none"}, r"destination\.siteSectionId"),
        ("/a", {"kind": "site-space", "site_space_id": "none"}, r"destination\.siteSpaceId"),
        ("/a", {"kind": "site-page", "page_id": "guide"}, r"destination\.site_space_id"),
    ],
)
async def test_an_invalid_redirect_is_refused(
    world: World, at: dict[str, str], source: str, destination: dict[str, Any], says: str
) -> None:
    with pytest.raises(Refused, match=says):
        await world.admin.send(CreateRedirect(**at, source=source, destination=RedirectDestination(**destination)))


async def test_agent_instructions(world: World) -> None:
    here = {"organization_id": world.organization}
    empty = await world.clients["read"].send(GetAgentInstructions(**here))
    assert empty.instructions and empty.instructions["nodes"] == []
    text = {"object": "document", "data": {}, "nodes": [{"object": "block", "type": "paragraph", "nodes": []}]}
    told = await world.admin.send(UpdateAgentInstructions(**here, instructions=text))
    assert (told.instructions, told.updated_by) == (text, world.users["admin"])
    assert (await world.clients["read"].send(GetAgentInstructions(**here))).instructions == text
    with pytest.raises(Forbidden):
        await world.clients["create"].send(UpdateAgentInstructions(**here, instructions=text))
    with pytest.raises(Refused, match="instructions: must be a document"):
        await world.admin.send(UpdateAgentInstructions(**here, instructions={"markdown": "x"}))


async def test_redirects_are_created_replaced_and_deleted_in_one_request(world: World, at: dict[str, str]) -> None:
    out = {"kind": "external", "url": "https://example.org/"}
    page = {"kind": "path", "space_id": world.space, "path": "/guide"}

    async def change(*redirects: dict[str, object]) -> list[tuple[str, str]]:
        answer = await world.admin.send(BulkUpsertRedirects(**at, redirects=redirects))
        return [(result.status, result.error or "") for result in answer.results]

    assert await change(
        {"source": "/a", "destination": out},
        {"source": "/b/", "destination": page},
        {"source": "/c?d", "destination": out},
        {"source": "/e", "destination": {**page, "path": "nowhere"}},
    ) == [
        ("created", ""),
        ("created", ""),
        ("error", "source: must be a path such as /old/page, without a query"),
        ("error", "destination.path: page not found in this space"),
    ]
    first, second = (await world.admin.send(ListRedirects(**at))).items
    assert (first.source, first.destination.kind, second.source) == ("/a", "external", "/b")
    assert (second.destination.kind, second.destination.page_id) == ("site-page", "guide")
    gone = {"source": "/a", "destination": None}
    assert [status for status, _ in await change(gone, gone, {"source": "/a", "destination": page})] == [
        "deleted",
        "error",
        "created",
    ]
    assert [status for status, _ in await change({"source": "/b", "destination": out}, {**gone})] == [
        "updated",
        "deleted",
    ]
    [left] = (await world.admin.send(ListRedirects(**at))).items
    assert (left.id, left.destination.kind) == (second.id, "external")


@pytest.mark.parametrize("option", [{"intent": "draft"}, {"capture_wildcard": True}, {"permanent": True}])
async def test_unsupported_redirects_are_refused(world: World, at: dict[str, str], option: dict[str, object]) -> None:
    change = {"source": "/a", "destination": {"kind": "external", "url": "https://example.org/"}, **option}
    [result] = (await world.admin.send(BulkUpsertRedirects(**at, redirects=(change,)))).results
    assert result.status == "error" and "no drafts" in (result.error or "")
    assert (await world.admin.send(ListRedirects(**at))).items == ()
