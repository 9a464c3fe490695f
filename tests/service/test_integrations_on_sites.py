"""Integrations on published sites: their blocks are drawn, within limits, and their scripts are added."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from tests.running_service import LOOPBACK, RunningService, running_service
from tests.service.factories import World, plant_world
from tests.service.integration_scripts import DIAGRAMS
from tests.service.publisher import Publisher
from tests.service.web_pages import published, write

BLOCK = {"id": "diagram", "title": "Diagram"}


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
    source = '<span class="language">diagram</span>'
    assert source in (await page(url)).text, "not installed"
    installed = await lamp.install()
    for _ in range(2):  # drawn, then cached
        shown = (await page(url)).text
        assert '<img src="https://img.example/a%26b"' in shown and f"Drawn in {here.space}" in shown
        assert "<strong>bold</strong>" in shown and "<script" not in shown and source not in shown
        assert '<span class="language">unknown</span>' in shown, "the integration has no such block"
    await lamp.http.patch(f"{lamp.at}/installations/{installed['id']}", json={"configuration": {"label": "Lamps"}})
    assert f"Lamps in {here.space}" in (await page(url)).text
    await lamp.http.patch(f"{lamp.at}/installations/{installed['id']}", json={"space_selection": "selected"})
    assert source in (await page(url)).text, "not installed in the space"


@pytest.mark.slow
@pytest.mark.attack("HTML of integrations")
async def test_a_block_that_never_ends_is_cut(here: World, lamp: Publisher) -> None:
    url, _ = await published(here)
    await lamp.install()
    await write(here, "".join(f"{block(lamp, content)}\n" for content in ("loop", "break", "good", "loop")))
    begun = time.monotonic()
    shown = (await page(url)).text
    assert time.monotonic() - begun < 20
    assert shown.count('<span class="language">diagram</span>') >= 2, "the source stands for what is not drawn"
    begun = time.monotonic()
    again = (await page(url)).text
    assert time.monotonic() - begun < 3, "what failed is not tried again at once"
    assert "img.example/good" in again
