"""Large pages are converted to document nodes in a separate process, with limits and with the same result."""

from __future__ import annotations

import resource
import threading
from typing import Any

import httpx
import pytest
from tests.service.factories import World
from tests.service.web_pages import write

from presscheck.api.content import GetDocument, GetPage
from presscheck.documents.markdown.page_size import count_parts
from presscheck.errors import RequestError
from presscheck.service import nodes_conversion
from presscheck.service.content.serializers import TOO_LONG
from presscheck.service.http.turns import RETRY_AFTER

SMALL = "See the [guide](guide.md#first), the [site](https://example.org) and the [guide](guide.md) again.\n\n"
LARGE = SMALL + "\n\n".join(f"* Item {number} of the [reference](reference.md), “quoted”" for number in range(60))


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes_conversion, "MOST_PARTS", 50)


def seconds_of_processes() -> float:
    """Return the processor time of ended child processes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def references(value: Any) -> list[Any]:
    """Return the references inside a document, without repetitions."""
    found: list[Any] = []
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        inner = [item] if name == "ref" else references(item) if isinstance(item, (dict, list)) else []
        found += [one for one in inner if one not in found]
    return found


async def nodes(world: World) -> dict[str, Any]:
    page = await world.admin.send(GetPage(space_id=world.space, page_id="start", format="document"))
    assert page.document and page.markdown is None and page.title == "Start"
    return page.document


@pytest.mark.slow
async def test_large_page_is_converted_in_a_process_to_the_same_nodes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert count_parts(LARGE) > nodes_conversion.MOST_PARTS
    await write(world, LARGE)
    before = seconds_of_processes()
    elsewhere = await nodes(world)
    assert seconds_of_processes() > before + 0.05
    assert references(elsewhere) == [
        {"kind": "anchor", "anchor": "first", "page": "guide"},
        {"kind": "url", "url": "https://example.org"},
        {"kind": "page", "page": "guide"},
        {"kind": "page", "page": "reference"},
    ]
    page = await world.admin.send(GetPage(space_id=world.space, page_id="start"))
    assert page.document_id
    document = await world.admin.send(GetDocument(space_id=world.space, document_id=page.document_id))
    assert [*document.nodes] == elsewhere["nodes"]

    await write(world, LARGE + "\n")
    monkeypatch.setattr(nodes_conversion, "MOST_PARTS", count_parts(LARGE) + 10)
    before = seconds_of_processes()
    assert await nodes(world) == elsewhere
    assert seconds_of_processes() == before, "a page within the limit needs no process"


@pytest.mark.attack("deep and huge pages")
async def test_conversion_that_takes_too_long_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await write(world, LARGE)
    with monkeypatch.context() as patched:
        patched.setattr(nodes_conversion, "MOST_SECONDS", 0)
        with pytest.raises(RequestError, match=TOO_LONG):
            await nodes(world)
    assert await nodes(world), "an error is not kept"


async def test_conversions_beyond_the_limit_get_503_with_retry_after(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write(world, LARGE)
    headers = {"authorization": f"Bearer {world.tokens['admin']}"}
    path = f"/v1/spaces/{world.space}/content/page/start"
    with monkeypatch.context() as patched:
        patched.setattr(nodes_conversion, "_places", threading.Semaphore(0))
        async with httpx.AsyncClient(base_url=world.base_url, headers=headers) as http:
            refused = await http.get(path, params={"format": "document"})
            assert (await http.get(path, params={"format": "markdown"})).status_code == 200
    assert (refused.status_code, refused.headers["retry-after"]) == (503, str(RETRY_AFTER))
    assert "try again later" in refused.json()["error"]["message"]
    assert await nodes(world), "places are given back"
