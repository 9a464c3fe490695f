"""Content sources of integrations: what their scripts get, and what the service makes of their responses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world
from tests.service.integration_scripts import COMPUTING
from tests.service.publisher import Publisher
from tests.service.web_pages import hidden_space, published

from presscheck.api.url_lookup import PublishedSiteContent, ResolvePublishedContent

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


@pytest.mark.slow
async def test_what_is_no_content_is_a_clean_problem_and_a_log(lamp: Publisher) -> None:
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
@pytest.mark.attack("other organizations")
async def test_the_token_of_a_site_computes_content_of_its_spaces_alone(here: World, lamp: Publisher) -> None:
    await lamp.install()
    url, _ = await published(here)
    content = await here.admin.send(ResolvePublishedContent(url=url))
    assert isinstance(content, PublishedSiteContent)
    assert (await computed(lamp, "revision", content.api_token)).status_code == 200
    other = await hidden_space(here, "Other")
    body = {"source": {"type": f"integration:{lamp.name}:pirate", "props": {}}, "seed": "1"}
    headers = {"authorization": f"Bearer {content.api_token}"}
    refused = await lamp.http.post(f"/spaces/{other}/content/computed/document", json=body, headers=headers)
    assert refused.status_code == 403
