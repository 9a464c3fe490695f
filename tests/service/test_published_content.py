"""URLs of published sites are resolved to content, with a token that only reads the site."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import jwt
import pytest
from tests.service.factories import World, insert
from tests.service.web_pages import changed, hidden_space, published, signing, write

from presscheck.api.comments import ListSpaceComments
from presscheck.api.content import (
    GetChangeRequestRevision,
    GetCurrentRevision,
    GetRevision,
    GetRevisionPage,
    GetRevisionPageDocument,
)
from presscheck.api.embeds import Embed, GetSpaceEmbed
from presscheck.api.integrations import InstallIntegration, PublishIntegration
from presscheck.api.organizations import ListMembers
from presscheck.api.published_sites import GetPublishedSite, SearchSite, SiteSearchScope
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    GetPreview,
    GetRedirectBySource,
    UpdatePublishingAuth,
)
from presscheck.api.site_structure import AddSection, AddSiteSpace, ListSiteSpaces
from presscheck.api.sites import CreateSite, GetSite, PublishSite, Site, UnpublishSite, UpdateSite
from presscheck.api.spaces import CreateSpace, GetSpace, UpdateSpace
from presscheck.api.url_lookup import (
    GetPublishedContent,
    PublishedContentRedirect,
    PublishedSiteContent,
    ResolvePublishedContent,
    Visitor,
)
from presscheck.client.client import Client
from presscheck.errors import Forbidden, NotFound, NotSignedIn, RequestError
from presscheck.service.db.engine import Database
from presscheck.service.db.ids import hash_token
from presscheck.service.models.organizations import TokenRow


@asynccontextmanager
async def reading(world: World, content: PublishedSiteContent) -> AsyncIterator[Client]:
    """Open a client with the token of a site."""
    async with Client(world.base_url, content.api_token) as client:
        yield client


async def resolve(world: World, url: str, role: str = "read", **given: Any) -> PublishedSiteContent:
    content = await world.clients[role].send(ResolvePublishedContent(url=url, **given))
    assert isinstance(content, PublishedSiteContent)
    return content


async def test_url_is_resolved_to_site_space_and_page_path(world: World) -> None:
    url, at = await published(world)
    content = await resolve(world, f"{url}guide?x=1#y")
    path = url.removeprefix(world.base_url.removesuffix("/v1"))
    assert (content.site, content.space, content.organization) == (at["site_id"], world.space, world.organization)
    assert (content.pathname, content.base_path, content.site_base_path) == ("/guide", path, path)
    assert content.canonical_url == f"{url}guide" and content.complete and not content.preview
    assert (await resolve(world, url)).pathname == ""
    secure = await resolve(world, url.replace("http://", "https://") + "none/at/all")
    assert secure.pathname == "/none/at/all", "renderers write https, and show the missing page themselves"
    by_get = await world.admin.send(GetPublishedContent(url=url))
    assert isinstance(by_get, PublishedSiteContent) and by_get.site == at["site_id"]
    for other in ("https://example.org/docs/x", f"{url.rstrip('/')}x/", "http://[", url.replace("/docs/", "/other/")):
        with pytest.raises(NotFound):
            await resolve(world, other)
    await world.admin.send(UnpublishSite(**at))
    with pytest.raises(NotFound):
        await resolve(world, url)


async def test_paths_of_sections_and_spaces_have_priority_over_pages(world: World) -> None:
    made = await world.admin.send(CreateSite(organization_id=world.organization, title="Docs"))
    at = {"organization_id": world.organization, "site_id": made.id}
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title="Other"))
    variant = await world.admin.send(CreateSpace(organization_id=world.organization, title="Old"))
    first = await world.admin.send(AddSection(**at, space_id=world.space, title="First"))
    second = await world.admin.send(AddSection(**at, space_id=other.id, title="Other"))
    await world.admin.send(AddSiteSpace(**at, space_id=variant.id, section_id=first.id))
    site = await world.admin.send(PublishSite(**at))
    assert isinstance(site, Site) and site.urls.published
    url = site.urls.published
    content = await resolve(world, f"{url}guide")
    assert (content.site_section, content.space, content.pathname) == (first.id, world.space, "/guide")
    content = await resolve(world, f"{url}other/page")
    assert (content.site_section, content.space, content.pathname) == (second.id, other.id, "/page")
    assert content.base_path == f"{content.site_base_path}other/"
    content = await resolve(world, f"{url}old")
    assert (content.site_section, content.space, content.complete) == (first.id, variant.id, False)
    assert not (await resolve(world, url)).complete, "a longer URL may lead to another space"


async def test_former_name_redirects_to_the_current_url(world: World) -> None:
    url, at = await published(world)
    await world.admin.send(UpdateSite(**at, basename="lamps"))
    content = await world.admin.send(ResolvePublishedContent(url=f"{url}guide"))
    assert content == PublishedContentRedirect(target="content", redirect=url.replace(at["site_id"], "lamps") + "guide")


@pytest.mark.attack("other organizations")
async def test_the_caller_must_see_all_spaces_of_the_site(world: World) -> None:
    url, at = await published(world)
    with pytest.raises(NotFound):
        await resolve(world, url, "guest")
    content = await resolve(world, url)
    hidden = await hidden_space(world)
    await world.admin.send(AddSiteSpace(**at, space_id=hidden))
    with pytest.raises(NotFound):
        await resolve(world, url)
    async with reading(world, content) as client:
        with pytest.raises(NotFound):
            await client.send(GetSpace(space_id=hidden))
        assert (await client.send(GetSpace(space_id=world.space))).id == world.space


@pytest.mark.attack("other organizations")
async def test_token_reads_only_the_live_content_of_the_site(world: World) -> None:
    url, at = await published(world)
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title="Other"))
    draft = await world.draft()
    await world.edit(draft, insert("Secret"))
    path = {"space_id": world.space, "change_request_id": draft.id}
    before = (await world.admin.send(GetCurrentRevision(space_id=world.space))).id
    drafted = (await world.admin.send(GetChangeRequestRevision(**path))).id
    content = await resolve(world, url, "admin")
    async with reading(world, content) as client:
        assert (await client.send(GetPublishedSite(**at))).site.id == at["site_id"]
        assert (await client.send(GetRevision(space_id=world.space, revision_id=before))).pages
        await write(world, "Anew.\n")
        await client.send(GetRevisionPage(space_id=world.space, revision_id=before, page_id="guide"))
        assert (await resolve(world, url, "admin")).api_token == content.api_token, "so that answers can be kept"
        for call in (
            GetRevision(space_id=world.space, revision_id=drafted),
            GetChangeRequestRevision(**path),
            GetCurrentRevision(space_id=world.space),
            GetSpace(space_id=other.id),
            ListSpaceComments(space_id=world.space),
            ListMembers(organization_id=world.organization),
            GetSite(**at),
            UpdateSpace(space_id=world.space, title="Taken"),
            CreateSpace(organization_id=world.organization, title="Taken"),
        ):
            with pytest.raises(Forbidden, match="only reads the site"):
                await client.send(call)
        for preview in ((await world.admin.send(GetPreview(**at))).url, f"{world.base_url}/preview/{at['site_id']}/"):
            with pytest.raises(NotFound):
                await client.send(ResolvePublishedContent(url=preview))
        again = await client.send(ResolvePublishedContent(url=url))
        assert isinstance(again, PublishedSiteContent) and again.api_token == content.api_token


@pytest.mark.attack("other organizations")
async def test_token_ends_with_the_token_of_its_user_and_cannot_be_forged(world: World) -> None:
    url, at = await published(world)
    content = await resolve(world, url)
    said = jwt.decode(content.api_token, options={"verify_signature": False})
    assert said["claims"] == {} and said["exp"] > 0 and world.tokens["read"] not in content.api_token
    key = await signing(world, at)
    forged = [
        jwt.encode({**said, "site": "x"}, key, "HS256"),
        jwt.encode(said, "", "none"),
        content.api_token[:-4] + "AAAA",
        "a.b.c",
    ]
    for token in forged:
        async with Client(world.base_url, token) as client:
            with pytest.raises(NotSignedIn):
                await client.send(GetSpace(space_id=world.space))
    database = Database(world.database_url)
    with database.writing.begin() as session:
        session.delete(session.get_one(TokenRow, hash_token(world.tokens["read"])))
    database.close()
    async with reading(world, content) as client:
        with pytest.raises(NotSignedIn):
            await client.send(GetSpace(space_id=world.space))


async def test_url_with_a_share_key_is_resolved(world: World) -> None:
    url, at = await published(world, visibility="share-link")
    link = await world.admin.send(CreateShareLink(**at, name="For us"))
    for shared in (url, str(link.urls.published)):
        content = await resolve(world, f"{shared}guide", "admin")
        assert (content.pathname, content.share_key) == ("/guide", shared.rstrip("/").rpartition("/")[2])
    with pytest.raises(NotFound):
        await resolve(world, url.rstrip("/").rpartition("/")[0] + "/wrong/guide", "admin")


async def test_site_with_visitor_authentication_requires_sign_in(world: World) -> None:
    url, at = await published(world, visibility="visitor-auth")
    with pytest.raises(Forbidden, match="signed-in visitor"):
        await resolve(world, url)
    await world.admin.send(UpdatePublishingAuth(**at, backend="custom", fallback_url="https://example.org/in?a=b"))
    target = "https://example.org/in?a=b&location=%2Fguide"
    sign_in = PublishedContentRedirect(target="external", site=at["site_id"], redirect=target)
    assert await world.admin.send(ResolvePublishedContent(url=f"{url}guide")) == sign_in
    for redirects in (True, False):
        call = GetPublishedContent(url=f"{url}guide", visitor_auth_token="x.y.z", redirect_on_error=redirects)
        if redirects:
            assert await world.admin.send(call) == sign_in
            continue
        with pytest.raises(Forbidden):
            await world.admin.send(call)
    token = jwt.encode({"isBeta": True}, await signing(world, at), "HS256")
    content = await resolve(world, f"{url}guide", visitor=Visitor(jwt_token=token))
    assert jwt.decode(content.api_token, options={"verify_signature": False})["claims"] == {"isBeta": True}


@pytest.mark.attack("conditional content")
async def test_token_reads_only_content_for_the_claims_of_its_visitor(world: World) -> None:
    url, at = await published(world)
    await changed(
        world,
        insert("Beta", "Secret page.\n", condition="visitor.claims.unsigned.isBeta"),
        insert("Mixed", "All.\n\n{% if visitor.claims.unsigned.isBeta %}\nSecret part.\n{% endif %}\n"),
    )
    revision = await world.admin.send(GetCurrentRevision(space_id=world.space))
    mixed = next(page.id for page in revision.pages if page.title == "Mixed")
    at_page = {"space_id": world.space, "revision_id": revision.id, "page_id": mixed}

    async def seen(**claims: Any) -> tuple[set[str], bool, bool]:
        content = await resolve(world, url, visitor=Visitor(unsigned_claims=claims))
        async with reading(world, content) as client:
            pages = (await client.send(GetRevision(space_id=world.space, revision_id=revision.id))).pages
            as_markdown = await client.send(GetRevisionPage(**at_page, format="markdown"))
            as_nodes = await client.send(GetRevisionPageDocument(**at_page, evaluated="deterministic-only"))
        return {page.title for page in pages}, "Secret" in (as_markdown.markdown or ""), "Secret" in str(as_nodes)

    everything = {"Start", "Guide", "Reference", "Beta", "Mixed"}
    assert await seen() == (everything, True, True), "without adaptive content, conditions do not apply"
    await world.admin.send(UpdateSite(**at, adaptive_content={"enabled": True}))
    assert await seen(isBeta=True) == (everything, True, True)
    assert await seen() == (everything - {"Beta"}, False, False)
    assert await seen(isBeta=True) == (everything, True, True), "nothing is kept between visitors"


async def test_preview_shows_change_requests_to_users_who_see_the_site(world: World) -> None:
    _, at = await published(world)
    await world.admin.send(UnpublishSite(**at))
    site = await world.admin.send(GetSite(**at))
    draft = await world.draft()
    path = {"space_id": world.space, "change_request_id": draft.id}
    revision = (await world.admin.send(GetChangeRequestRevision(**path))).id
    signed = (await world.admin.send(GetPreview(**at))).url
    for url in (signed, str(site.urls.preview)):
        content = await resolve(world, f"{url}guide")
        assert content.preview and content.pathname == "/guide" and content.share_key is None
        async with reading(world, content) as client:
            assert (await client.send(GetPublishedSite(**at))).site.id == at["site_id"]
            assert (await client.send(GetRevision(space_id=world.space, revision_id=revision))).id == revision
    with pytest.raises(NotFound):
        await resolve(world, str(site.urls.preview), "guest")


async def test_search_finds_only_visible_pages_in_the_selected_spaces(world: World) -> None:
    _, at = await published(world)
    other = await world.admin.send(CreateSpace(organization_id=world.organization, title="Other"))
    added = await world.admin.send(AddSiteSpace(**at, space_id=other.id))
    [first] = [one.id for one in (await world.admin.send(ListSiteSpaces(**at))).items if one.id != added.id]
    await changed(world, insert("Beta", "A guide.\n", condition="visitor.claims.isBeta"))

    async def found(query: str = "guide", role: str = "read", **scope: Any) -> list[str]:
        call = SearchSite(**at, query=query, **({"scope": SiteSearchScope(**scope)} if scope else {}))
        items = (await world.clients[role].send(call)).items
        assert all(item.type == "space" and item.score for item in items)
        assert all(page.score and page.rank for item in items for page in item.pages)
        return [page.title for item in items for page in item.pages]

    assert set(await found()) == {"Guide", "Beta"}
    assert set(await found(mode="all")) == {"Guide", "Beta"}
    assert await found(mode="specific", site_space_ids=(added.id,)) == []
    assert await found(mode="default", current_site_space=first, restrict_to="otherSiteSpaces") == []
    assert await found(mode="default", current_site_space=first, restrict_to="currentSiteSpace") == await found()
    former = SearchSite(**at, query="guide", mode="current", site_space_id=added.id)
    assert (await world.admin.send(former)).items == ()
    assert await found(" ") == [] and await found("nothing") == []
    await world.admin.send(UpdateSite(**at, adaptive_content={"enabled": True}))
    assert await found() == ["Guide"]
    await world.admin.send(UpdateSite(**at, visibility="visitor-auth"))
    world.change(default_level=None)
    assert await found(role="admin") == ["Guide"] and await found() == [], "its reader does not see the space"


async def test_redirect_is_found_by_its_source(world: World) -> None:
    url, at = await published(world)
    [site_space] = (await world.admin.send(ListSiteSpaces(**at))).items
    to_page = {"kind": "site-page", "site_space_id": site_space.id, "page_id": "guide"}
    for source, destination in (("/old", to_page), ("/away", {"kind": "external", "url": "https://example.org/"})):
        await world.admin.send(CreateRedirect(**at, source=source, destination=destination))
    for source, target in (("/old", f"{url}guide"), ("/old/", f"{url}guide"), ("/away", "https://example.org/")):
        match = await world.clients["read"].send(GetRedirectBySource(**at, source=source))
        assert (match.target, match.redirect.source) == (target, source.rstrip("/"))
    with pytest.raises(NotFound):
        await world.admin.send(GetRedirectBySource(**at, source="/none"))


async def test_images_of_a_public_integration_are_among_its_assets(world: World) -> None:
    picture = b"\x89PNG a lamp"
    shown = base64.b64encode(picture).decode()
    details: dict[str, Any] = {"title": "Lamps", "description": "", "scopes": (), "script": "x", "icon": shown}
    publish = PublishIntegration(
        integration_name="lamps",
        organization=world.organization,
        visibility="public",
        preview_images=(shown,),
        **details,
    )
    urls = (await world.admin.send(publish)).urls
    assert urls.public_content_endpoint == urls.public_endpoint and urls.icon
    async with httpx.AsyncClient() as browser:
        for url in (urls.icon, f"{urls.assets}/icon.png", f"{urls.assets}/preview-1.png"):
            assert (await browser.get(url)).content == picture
        for name in ("preview-2.png", "..%2Ficon.png", "none"):
            assert (await browser.get(f"{urls.assets}/{name}")).status_code == 404
        await world.admin.send(publish.model_copy(update={"visibility": "private"}))
        assert (await browser.get(f"{urls.assets}/icon.png")).status_code == 404


async def test_embedded_url_becomes_a_link_or_an_integration_block(world: World) -> None:
    async def embed(url: str) -> Embed:
        return await world.admin.send(GetSpaceEmbed(space_id=world.space, url=url))

    video = "https://video.example/watch/A-lamp_at-night.html?x=1"
    assert await embed(video) == Embed(type="link", title="A lamp at night", site="video.example")
    assert (await embed("https://video.example/")).title == "video.example"
    block = {"id": "player", "title": "Player", "urlUnfurl": ["https://video.example/watch/**"]}
    details: dict[str, Any] = {"title": "Videos", "description": "", "scopes": (), "script": "x", "blocks": (block,)}
    await world.admin.send(PublishIntegration(integration_name="videos", organization=world.organization, **details))
    assert (await embed(video)).type == "link", "not installed"
    await world.admin.send(InstallIntegration(integration_name="videos", organization=world.organization))
    shown = await embed(video)
    assert (shown.type, shown.integration, shown.block) == ("integration", "videos", block)
    assert (await embed("https://video.example/about")).type == "link"
    with pytest.raises(RequestError, match="url: must be a URL"):
        await embed("javascript:alert(1)")
