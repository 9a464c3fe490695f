"""Content sources of integrations: the input of their scripts, and how the service uses their responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world
from tests.service.integration_scripts import COMPUTING, WRITING
from tests.service.publisher import Publisher
from tests.service.web_pages import hidden_space, published

from presscheck.api.content import GetPage, ListPages
from presscheck.api.sites import CreateSite, PublishSite, Site
from presscheck.api.spaces import CreateSpace
from presscheck.api.url_lookup import PublishedSiteContent, ResolvePublishedContent
from presscheck.documents.pages.tree import flatten
from presscheck.errors import RequestError

SOURCE = {"id": "pirate", "title": "Content as a pirate", "configuration": {"properties": {}}}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("scripted"), outside=LOOPBACK) as running:
        yield running


@pytest.fixture
async def here(scripted: RunningService) -> AsyncIterator[World]:
    planted = plant_world(scripted.database_url, scripted.base_url)
    yield planted
    for client in planted.clients.values():
        await client.aclose()


@pytest.fixture
async def lamp(here: World) -> AsyncIterator[Publisher]:
    lamp = Publisher(here)
    await lamp.publish(COMPUTING, scopes=["space:metadata:read"], contentSources=[SOURCE])
    yield lamp
    await lamp.http.aclose()


async def computed(lamp: Publisher, kind: str, token: str | None = None, **source: Any) -> httpx.Response:
    given = {"type": f"integration:{lamp.name}:pirate", "props": {"greeting": "Ahoy"}, **source}
    headers = {"authorization": f"Bearer {token}"} if token else None
    path = f"/spaces/{lamp.world.space}/content/computed/{kind}"
    return await lamp.http.post(path, json={"source": given, "seed": "1"}, headers=headers)


@pytest.mark.slow
@pytest.mark.attack("other organizations")
async def test_a_content_source_computes_pages_and_documents(here: World, lamp: Publisher) -> None:
    assert (await computed(lamp, "revision")).status_code == 404, "not installed"
    await lamp.install()
    secret = await hidden_space(here)
    refs = {"main": here.space, "secret": secret}
    given = {name: {"ref": {"kind": "space", "space": space}} for name, space in refs.items()}
    made = (await computed(lamp, "revision", dependencies=given)).json()
    [page] = made["pages"]
    assert (page["title"], page["from"]["id"]) == ("Ahoy Manual", here.space)
    assert made["files"] == made["reusableContents"] == []
    document = (await computed(lamp, "document", props=page["computed"]["props"])).json()
    assert document["nodes"][0]["nodes"][0]["leaves"][0]["text"] == "Arr"
    hidden = {"main": given["secret"]}
    seen = (await computed(lamp, "revision", here.tokens["read"], dependencies=hidden)).json()
    assert seen["pages"][0]["from"] is None, "a dependency that the caller does not see"
    url, _ = await published(here)
    content = await here.admin.send(ResolvePublishedContent(url=url))
    assert isinstance(content, PublishedSiteContent)
    assert (await computed(lamp, "document", content.api_token)).status_code == 200
    body = {"source": {"type": f"integration:{lamp.name}:pirate", "props": {}}, "seed": "1"}
    headers = {"authorization": f"Bearer {content.api_token}"}
    refused = await lamp.http.post(f"/spaces/{secret}/content/computed/document", json=body, headers=headers)
    assert refused.status_code == 403, "the token of a site is for its spaces alone"


@pytest.mark.slow
async def test_invalid_content_of_a_script_is_reported_and_logged(lamp: Publisher) -> None:
    await lamp.install()
    refused = await computed(lamp, "document", props={"greeting": "none"})
    assert (refused.status_code, "did not respond with content" in refused.text) == (502, True)
    [traced, _] = await lamp.events(2)
    assert traced["event"]["status"] == "failed" and traced["event"]["payload"]["type"] == "content_compute_document"
    for given, status in (
        ({"type": "builtin:openapi"}, 400),
        ({"type": f"integration:{lamp.name}"}, 400),
        ({"type": f"integration:{lamp.name}:parrot"}, 404),
        ({"type": "integration:nobody:pirate"}, 404),
        ({"dependencies": {"main": 1}}, 400),
        ({"props": 1}, 400),
    ):
        assert (await computed(lamp, "revision", **given)).status_code == status, given


@pytest.mark.slow
async def test_a_new_space_gets_the_pages_of_a_content_source(here: World, lamp: Publisher) -> None:
    await lamp.publish(WRITING, contentSources=[SOURCE])
    await lamp.install()
    source = {"type": f"integration:{lamp.name}:pirate", "props": {"greeting": "Ahoy"}}
    space = await here.admin.send(
        CreateSpace(organization_id=here.organization, title="Pirates", computed_source=source)
    )
    pages = (await here.admin.send(ListPages(space_id=space.id))).pages
    assert [(page.type, page.title, page.path) for page in flatten(pages)] == [
        ("document", "Ahoy", "ahoy"),
        ("document", "Below deck", "ahoy/below"),
        ("group", "Crew", "crew"),
    ]
    below = await here.admin.send(GetPage(space_id=space.id, page_id=pages[0].pages[0].id, format="markdown"))
    assert below.markdown == "# Below deck\n\nAhoy below\n"
    assert len(await lamp.events(4)) == 4, "the installation, the pages, and each document"
    site = await here.admin.send(
        CreateSite(organization_id=here.organization, title="Pirates", visibility="public", spaces=(space.id,))
    )
    published_site = await here.admin.send(PublishSite(organization_id=here.organization, site_id=site.id))
    assert isinstance(published_site, Site) and published_site.urls.published
    async with httpx.AsyncClient() as reader:
        assert "<p>Ahoy below</p>" in (await reader.get(f"{published_site.urls.published}ahoy/below")).text
    for problem, props in (("at most 50 pages", {"number": 51}), ("did not respond with content", {"number": -1})):
        with pytest.raises(RequestError, match=problem):
            await here.admin.send(
                CreateSpace(organization_id=here.organization, computed_source=source | {"props": props})
            )
    with pytest.raises(RequestError, match="role"):
        await here.clients["edit"].send(CreateSpace(organization_id=here.organization, computed_source=source))
