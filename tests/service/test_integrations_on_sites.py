"""Integrations on published sites: their blocks are drawn, within limits, and their scripts are added."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.browser import Browser
from tests.service.factories import World, plant_world
from tests.service.integration_scripts import DIAGRAMS
from tests.service.publisher import Publisher
from tests.service.web_pages import published, write

from presscheck.api.published_sites import GetPublishedSite
from presscheck.service.integrations.script_runner import ScriptConfig
from presscheck.service.web.assets import asset_path

LIMITED = replace(LOOPBACK, scripts=ScriptConfig(processor_seconds=1))
BLOCK = {"id": "diagram", "title": "Diagram"}


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("scripted"), outside=LIMITED) as running:
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
    await lamp.publish(DIAGRAMS, blocks=[BLOCK])
    yield lamp
    await lamp.http.aclose()


def block(lamp: Publisher, content: str, name: str = "diagram") -> str:
    return f'{{% @{lamp.name}/{name} content="{content}" %}}\n'


async def page(url: str) -> httpx.Response:
    async with httpx.AsyncClient(timeout=60) as reader:
        return await reader.get(url)


@pytest.mark.slow
async def test_blocks_are_drawn_where_their_integration_is_installed(here: World, lamp: Publisher) -> None:
    url, _ = await published(here)
    await write(here, block(lamp, "a&b") + "\n" + block(lamp, "other", "unknown"))
    source = 'class="language-diagram"'
    assert source in (await page(url)).text, "not installed"
    installed = await lamp.install()
    for _ in range(2):  # drawn, then cached
        shown = (await page(url)).text
        assert '<img src="https://img.example/a%26b"' in shown and f"Drawn in {here.space}" in shown
        assert "<strong>bold</strong>" in shown and shown.count("<script src=") == 1 and source not in shown
        assert 'class="language-unknown"' in shown, "the integration has no such block"
    await lamp.http.patch(f"{lamp.at}/installations/{installed['id']}", json={"configuration": {"label": "Lamps"}})
    assert f"Lamps in {here.space}" in (await page(url)).text
    await lamp.http.patch(f"{lamp.at}/installations/{installed['id']}", json={"space_selection": "selected"})
    assert source in (await page(url)).text, "not installed in the space"


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
async def test_block_that_never_ends_is_stopped(here: World, lamp: Publisher) -> None:
    url, _ = await published(here)
    await lamp.install()
    await write(here, "".join(f"{block(lamp, content)}\n" for content in ("loop", "break", "good")))
    begun = time.monotonic()
    shown = (await page(url)).text
    assert time.monotonic() - begun < 20
    assert shown.count('class="language-diagram"') >= 2, "the source stands for what is not drawn"
    begun = time.monotonic()
    again = (await page(url)).text
    assert time.monotonic() - begun < 3, "what failed is not tried again at once"
    assert "img.example/good" in again


INJECTS = {"scopes": ["site:script:inject"]}
ASKS = {
    "connect-src": "https://api.example https://*.metrics.example 'self' * data: https://a.example;script-src http:",
    "script-src": "https://cdn.example/lamp.js 'unsafe-inline' 'unsafe-eval' https: blob:",
    "default-src": "https://all.example",
    "font-src": "https://fonts.example/\u0101 https://font\u017f.example https://\u212a.example:\u0661",
    "style-src": " ".join(f"https://style-{number}.example" for number in range(300)),
    "sandbox": "allow-same-origin",
}


def policy_of(response: httpx.Response) -> dict[str, list[str]]:
    parts = [part.split() for part in response.headers["content-security-policy"].split(";")]
    return {words[0]: words[1:] for words in parts}


@pytest.mark.slow
@pytest.mark.attack("scripts in content")
async def test_scripts_are_only_on_sites_that_installed_them(here: World, lamp: Publisher) -> None:
    url, at = await published(here)
    await lamp.publish(DIAGRAMS, blocks=[BLOCK], contentSecurityPolicy=ASKS, **INJECTS)
    details = {"title": "Lamp", "description": "", "scopes": [], "organization": here.organization, "script": DIAGRAMS}
    long = await lamp.http.post(lamp.at, json={**details, "contentSecurityPolicy": {"img-src": "a" * 30_000}})
    assert (long.status_code, "contentSecurityPolicy" in long.text) == (400, True)
    before = await page(f"{url}guide")
    own = asset_path("js")
    assert re.findall(r'<script src="([^"]*)" defer></script>', before.text) == [own]
    assert policy_of(before)["script-src"] == [f"{here.base_url}{own}"]
    installed = await lamp.install()
    shown = await page(f"{url}guide")
    [_, path] = re.findall(r'<script src="([^"]*)" defer></script>', shown.text)
    policy = policy_of(shown)
    assert policy["script-src"] == [f"{here.base_url}{own}", f"{here.base_url}{path}", "https://cdn.example/lamp.js"]
    assert policy["connect-src"] == ["https://api.example", "https://*.metrics.example"]
    assert "font-src" not in policy, "other letters are no part of a header"
    assert len(shown.headers["content-security-policy"]) < 5000
    assert policy["default-src"] == ["'none'"] and "allow-same-origin" not in policy["sandbox"]
    script = await page(f"{here.base_url}{path}")
    assert script.text == f'document.documentElement.dataset.lamp = "{at["site_id"]}";'
    assert script.headers["content-type"].startswith("text/javascript")
    listed = await here.admin.send(GetPublishedSite(**at))
    assert [(one.script, one.cookies) for one in listed.scripts] == [(f"{here.base_url}{path}", False)]
    other = plant_world(here.database_url, here.base_url)
    other_url, _ = await published(other)
    assert (await page(other_url)).text.count("<script src=") == 1
    for client in other.clients.values():
        await client.aclose()
    assert (await page(f"{here.base_url}{path[:-4]}x.js")).status_code == 404, "URLs cannot be guessed"
    await lamp.publish("throw 1", **INJECTS)
    broken = await page(f"{url}guide")
    [_, failing] = re.findall(r'<script src="([^"]*)" defer></script>', broken.text)
    assert (broken.status_code, (await page(f"{here.base_url}{failing}")).status_code) == (200, 502)
    await lamp.http.delete(f"{lamp.at}/installations/{installed['id']}")
    assert (await page(f"{here.base_url}{path}")).status_code == 404
    assert (await page(f"{url}guide")).text.count("<script src=") == 1


@pytest.mark.slow
@pytest.mark.attack("bad hosts")
async def test_host_of_one_visitor_is_not_shown_to_others(here: World, lamp: Publisher) -> None:
    url, at = await published(here)
    await lamp.publish(DIAGRAMS, blocks=[BLOCK], **INJECTS)
    installed = await lamp.install()
    await lamp.http.patch(f"{lamp.at}/installations/{installed['id']}", json={"configuration": {"label": "origin"}})
    await write(here, block(lamp, "origin"))
    [script] = (await here.admin.send(GetPublishedSite(**at))).scripts
    host = f"evil.localhost:{here.base_url.rpartition(':')[2]}"
    for target in (url, script.script):
        async with httpx.AsyncClient(timeout=60, headers={"host": host}) as visitor:
            assert host in (await visitor.get(target)).text
        shown = (await page(target)).text
        assert here.base_url in shown and "evil" not in shown, target


@pytest.mark.slow
@pytest.mark.attack("deep and huge pages")
async def test_page_with_many_large_blocks_stays_within_its_limits(here: World, lamp: Publisher) -> None:
    url, _ = await published(here)
    await lamp.install()
    await write(here, f"{block(lamp, 'large')}\n" * 100)
    begun = time.monotonic()
    shown = (await page(url)).text
    assert "&amp;" * 90_000 in shown and len(shown) < 2_000_000
    assert time.monotonic() - begun < 10


@pytest.mark.slow
@pytest.mark.attack("endless jobs")
async def test_pages_that_wait_for_blocks_leave_threads_to_other_pages(here: World, lamp: Publisher) -> None:
    url, _ = await published(here)
    other_url, _ = await published(here)
    await lamp.install()
    await write(here, "".join(f"{block(lamp, f'wait {number}')}\n" for number in range(60)))
    async with httpx.AsyncClient(timeout=60) as reader:
        calls = [asyncio.create_task(reader.get(f"{url}?n={number}")) for number in range(40)]
        await asyncio.sleep(1)
        begun = time.monotonic()
        assert (await reader.get(f"{other_url}guide")).status_code == 200
        assert time.monotonic() - begun < 5
        assert {response.status_code for response in await asyncio.gather(*calls)} == {200}


@pytest.mark.slow
@pytest.mark.needs("chromium")
async def test_a_browser_shows_the_block_and_runs_the_script(here: World, lamp: Publisher, chromium: Browser) -> None:
    url, at = await published(here)
    await lamp.publish(DIAGRAMS, blocks=[BLOCK], **INJECTS)
    await lamp.install()
    await write(here, block(lamp, "a"))
    chromium.open(url)
    chromium.wait(f"document.documentElement.dataset.lamp === '{at['site_id']}'")
    shown = chromium.value("document.documentElement.outerHTML")
    assert f"Drawn in {here.space}" in shown and "<strong>bold</strong>" in shown
    assert "<title>foreign" not in shown, "the script of the block has not run"
