"""Pages of visited sites are rendered in the background; readers do not wait for that and see no outdated page."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from tests.service.factories import World, rewrite
from tests.service.web_pages import changed, inside, page_reads, published, write

from presscheck.api.comments import Document, PostSpaceComment
from presscheck.api.sites import UpdateSite
from presscheck.service.web import page_body, page_drawer, views


class Drawings:
    """The paths of pages that were rendered in the background, and the texts that were rendered for readers.

    The tests count texts: a page is rendered again after any transaction on the server, with PostgreSQL even in another
    database, but its text is then cached.

    Attributes:
        slow: a path; rendering it in the background waits for `release` at the end.
    """

    def __init__(self) -> None:
        self._draw, self._render = views.site_response, page_body.render_page_html
        self._thread = threading.local()
        self.in_background: list[str] = []
        self.texts: list[str] = []
        self.slow, self.is_waiting, self.release = "\0", threading.Event(), threading.Event()

    def render(self, markdown: str, *details: Any) -> Any:
        if self._thread.is_reader:
            self.texts.append(markdown.strip())
        return self._render(markdown, *details)

    def draw(self, context: Any, request: Request, *details: Any) -> Any:
        path, is_reader = request.url.path, "host" in request.headers
        self._thread.is_reader = is_reader
        response = self._draw(context, request, *details)
        if path == self.slow and not is_reader:
            self.is_waiting.set()
            assert self.release.wait(60)
        if not is_reader:
            self.in_background.append(path)
        return response

    async def until_drawn(self, address: str, *paths: str) -> None:
        """Wait until pages of a site were rendered in the background, and clear the records.

        The service renders sites of earlier tests, too.
        """
        await until(lambda: {inside(address) + path for path in paths} <= {*self.in_background})
        self.in_background.clear()
        self.texts.clear()


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("nothing was drawn")


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drawings]:
    drawings = Drawings()
    monkeypatch.setattr(views, "site_response", drawings.draw)
    monkeypatch.setattr(page_body, "render_page_html", drawings.render)
    monkeypatch.setattr(page_drawer, "PAUSE", 0.05)
    yield drawings
    drawings.release.set()


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=60) as client:
        yield client


async def test_page_is_rendered_before_its_first_visit(
    world: World, browser: httpx.AsyncClient, drawings: Drawings
) -> None:
    address, _ = await published(world)
    await browser.get(address)
    await drawings.until_drawn(address, "guide", "reference")
    assert "Second." in (await browser.get(f"{address}guide")).text
    assert "All of it." in (await browser.get(f"{address}reference")).text
    assert drawings.texts == []

    await write(world, "The second text.\n")
    await drawings.until_drawn(address, "", "guide", "reference")
    assert "The second text." in (await browser.get(address)).text
    assert "Second." in (await browser.get(f"{address}guide")).text
    assert drawings.texts == []

    await world.admin.send(PostSpaceComment(space_id=world.space, body=Document(markdown="Hm")))
    with page_reads() as statements:
        assert "Second." in (await browser.get(f"{address}guide")).text
    assert drawings.texts == [] and statements == [], "a commit that the site does not show"


async def test_readers_do_not_wait_for_a_slow_page_or_get_it_after_a_commit(
    world: World, browser: httpx.AsyncClient, drawings: Drawings
) -> None:
    address, _ = await published(world)
    drawings.slow = f"{inside(address)}guide"
    await browser.get(address)
    await until(drawings.is_waiting.is_set)
    for path, text in (("", "Welcome."), ("guide", "Second."), ("reference", "All of it.")):
        assert text in (await browser.get(f"{address}{path}")).text

    await changed(world, rewrite("guide", "# Guide\n\nNew words.\n"))
    drawings.slow = "\0"
    drawings.release.set()
    await until(lambda: f"{inside(address)}guide" in drawings.in_background)
    await asyncio.sleep(0.05)  # the old page is cached after it was recorded
    guide = (await browser.get(f"{address}guide")).text
    assert "New words." in guide and "Second." not in guide


async def test_page_with_an_integration_block_is_rendered_for_its_first_reader(
    world: World, browser: httpx.AsyncClient, drawings: Drawings
) -> None:
    await changed(world, rewrite("guide", '# Guide\n\n{% @lamp/counter size="2" %}\n'))
    address, _ = await published(world)
    await browser.get(address)
    await drawings.until_drawn(address, "guide", "reference")
    for path in ("guide", "reference"):
        assert (await browser.get(f"{address}{path}")).status_code == 200
    assert drawings.texts == ['{% @lamp/counter size="2" %}']


async def test_pages_that_are_not_public_are_not_rendered_in_the_background(
    world: World, browser: httpx.AsyncClient, drawings: Drawings
) -> None:
    address, at = await published(world)
    other, _ = await published(world)
    await browser.get(address)
    await drawings.until_drawn(address, "guide", "reference")
    await world.admin.send(UpdateSite(**at, visibility="visitor-auth"))
    await browser.get(other)
    await drawings.until_drawn(other, "guide", "reference")
    await write(world, "The second text.\n")
    await until(lambda: {inside(other) + path for path in ("", "guide", "reference")} <= {*drawings.in_background})
    assert not [path for path in drawings.in_background if path.startswith(inside(address))]
    assert (await browser.get(f"{address}guide")).status_code == 401
