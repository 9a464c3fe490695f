"""Cached pages of published sites equal those of a new read, in every process of the service."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import httpx
import jwt
import pytest
from tests.service.factories import World
from tests.service.web_pages import page_reads, published, signing, write

from presscheck.api.comments import Document, PostSpaceComment
from presscheck.api.site_settings import (
    CreateRedirect,
    CreateShareLink,
    GetCustomization,
    RedirectDestination,
    UpdateCustomization,
    UpdateShareLink,
)
from presscheck.api.sites import AdaptiveContentChange, PublishSite, UnpublishSite, UpdateSite
from presscheck.api.spaces import UpdateSpace
from presscheck.service.db.bounded_cache import BoundedCache
from presscheck.service.web.cached_response import CachedResponse, takes_gzip


@contextmanager
def another_process(world: World, home: Path) -> Iterator[str]:
    """Run another process of the service on the same database. Yields its URL."""
    command = [sys.executable, "-m", "presscheck", "serve", "--port", "0", "--data", str(home)]
    with subprocess.Popen([*command, "--database", world.database_url], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a visitor; it does not follow redirects and keeps no cookies."""
    async with httpx.AsyncClient(timeout=60) as client:
        yield client


@pytest.mark.slow
async def test_no_process_shows_outdated_pages_or_pages_for_others(
    world: World, browser: httpx.AsyncClient, tmp_path: Path
) -> None:
    address, at = await published(world)
    path = address.removeprefix(world.base_url)
    with another_process(world, tmp_path) as other:

        async def read(path: str, **headers: str) -> list[httpx.Response]:
            """Send a request twice to each of the processes; the second response may be cached."""
            browser.cookies.clear()
            places = (world.base_url, other)
            return [await browser.get(f"{place}{path}", headers=headers) for place in places for _ in range(2)]

        async def shows(path: str, wanted: str, without: str = "\0", **headers: str) -> None:
            for response in await read(path, **headers):
                assert response.status_code == 200, response.text
                assert wanted in response.text
                assert without not in response.text

        async def refuses(path: str, status: int, **headers: str) -> None:
            assert [response.status_code for response in await read(path, **headers)] == [status] * 4

        await shows(path, "Welcome.")
        await write(world, "The second text.\n")
        await shows(path, "The second text.", without="Welcome.")

        tag = (await browser.get(address)).headers["etag"]
        await world.admin.send(PostSpaceComment(space_id=world.space, body=Document(markdown="Hm")))
        assert (await browser.get(address)).headers["etag"] == tag
        with page_reads() as statements:
            assert (await browser.get(address)).headers["etag"] == tag
            assert not statements, "nothing was committed since"
            assert (await browser.get(address, headers={"if-none-match": tag})).status_code == 304
        zipped = await browser.send(
            browser.build_request("GET", address, headers={"accept-encoding": "gzip"}), stream=True
        )
        assert zipped.headers["content-encoding"] == "gzip" and "accept-encoding" in zipped.headers["vary"]
        sent = b"".join([part async for part in zipped.aiter_raw()])
        assert len(sent) == int(zipped.headers["content-length"])
        plain = await browser.get(address, headers={"accept-encoding": "identity"})
        assert gzip.decompress(sent) == plain.content and "content-encoding" not in plain.headers
        assert zipped.headers["etag"] != plain.headers["etag"]
        assert (await browser.get(address, headers={"if-none-match": plain.headers["etag"]})).status_code == 200

        looks = deepcopy(await world.admin.send(GetCustomization(**at)))
        await world.admin.send(UpdateCustomization(**at, settings=looks | {"title": "Handbook"}))
        await shows(path, "<title>Start | Handbook</title>")
        await shows(path, "Handbook", cookie="theme=dark")
        await world.admin.send(UpdateSpace(space_id=world.space, language="nl"))
        await shows(path, '<html lang="nl"')
        await shows(f"{path}guide", "Second.")
        away = RedirectDestination(kind="external", url="https://example.org/")
        await world.admin.send(CreateRedirect(**at, source="/guide", destination=away))
        await refuses(f"{path}guide", 307)

        await world.admin.send(UpdateSite(**at, visibility="share-link"))
        link = await world.admin.send(CreateShareLink(**at, name="For you"))
        opened = f"{path}{link.urls.published.rstrip('/').rpartition('/')[2]}/" if link.urls.published else ""
        await refuses(path, 404)
        await shows(opened, "The second text.")
        await world.admin.send(UpdateShareLink(**at, share_link_id=link.id, active=False))
        await refuses(opened, 404)

        text = 'For all.\n\n{% if visitor.claims.plan == "pro" %}\nFor some.\n{% endif %}\n'
        await world.admin.send(UpdateSite(**at, visibility="public"))
        await world.admin.send(UpdateSite(**at, adaptive_content=AdaptiveContentChange(enabled=True)))
        await write(world, text)
        await shows(path, "For all.", without="For some.")
        await world.admin.send(UpdateSite(**at, visibility="visitor-auth"))
        await refuses(path, 401)
        key = await signing(world, at)
        pro, free = (f"visitor-{at['site_id']}={jwt.encode({'plan': plan}, key)}" for plan in ("pro", "free"))
        await shows(path, "For some.", cookie=pro)
        await shows(path, "For all.", without="For some.", cookie=free)
        await refuses(path, 401)

        await world.admin.send(UpdateSite(**at, visibility="public"))
        await shows(path, "For all.", without="For some.", cookie=pro)
        await world.admin.send(UnpublishSite(**at))
        await refuses(path, 404)
        await world.admin.send(PublishSite(**at))
        await shows(path, "For all.")


async def test_search_results_and_error_pages_are_compressed_unless_their_url_is_secret(
    world: World, browser: httpx.AsyncClient
) -> None:
    address, at = await published(world)

    async def encodings(address: str) -> list[str | None]:
        some = [await browser.get(f"{address}{path}") for path in ("guide", "guide?from=mail", "?q=guide", "nowhere")]
        assert all("Guide" in answer.text for answer in some)
        assert all(
            int(answer.headers["content-length"]) < 2_500 for answer in some if "content-encoding" in answer.headers
        )
        return [answer.headers.get("content-encoding") for answer in some]

    assert await encodings(address) == ["gzip"] * 4
    await world.admin.send(UpdateSite(**at, visibility="share-link"))
    link = await world.admin.send(CreateShareLink(**at, name="For you"))
    assert await encodings(str(link.urls.published)) == ["gzip", None, None, None], "their size would tell the link"


def test_cached_pages_are_limited_in_bytes() -> None:
    page = CachedResponse(b"x" * 20_000, '"tag"', (), zipped=b"x" * 20_000)
    assert page.weight() > 2 * 20_000, "its weight must have the page, compressed as well"
    cache = BoundedCache(10 * page.weight())
    for number in range(100):
        cache.put(number, page, page.weight())
    assert sum(cache.get(number) is not None for number in range(100)) == 10


def test_gzip_is_sent_only_to_clients_that_accept_it() -> None:
    for accepted in ("gzip", "br, gzip;q=0.5", "*", "GZIP ; q=1"):
        assert takes_gzip(accepted), accepted
    for refused in ("", "br", "gzip;q=0", "gzip; q=0.0, br", "identity"):
        assert not takes_gzip(refused), refused
