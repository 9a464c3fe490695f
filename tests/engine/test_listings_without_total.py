"""Listings of a service without totals. As the API describes, `count` is the number of items on a page."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.client.conftest import FaultServer, http

from presscheck.api.comments import Document, ListComments, PostComment
from presscheck.api.spaces import ListSpaces
from presscheck.config.profile import Profile
from presscheck.engine.engine import Engine
from presscheck.paths import Places
from presscheck.wiring import open_engine

SPACES = ListSpaces(organization_id="o")
ME = http(200, {"object": "user", "id": "u1", "displayName": "Ada"})


def page(start: int, count: int, following: str | None = None, **more: Any) -> bytes:
    items = [{"object": "space", "id": f"s{number}", "title": "Space"} for number in range(start, start + count)]
    return http(200, {"items": items, "count": count, **({"next": {"page": following}} if following else {}), **more})


@pytest.fixture
async def server() -> AsyncIterator[FaultServer]:
    async with FaultServer(always={"/v1/user": ME}).listening() as made:
        yield made


@pytest.fixture
async def engine(server: FaultServer, tmp_path: Path) -> AsyncIterator[Engine]:
    places = Places(*(tmp_path / name for name in ("config", "cache", "state", "data")))
    opened = open_engine(Profile(base_url=server.address, token="token"), places)
    await opened.start()
    yield opened
    await opened.close()


async def test_the_total_is_known_after_the_last_page(server: FaultServer, engine: Engine) -> None:
    server.script = [page(0, 3, "a"), page(3, 3, "b"), page(6, 1)]
    seen: list[tuple[int, int, bool, bool]] = []
    async for result in engine.watch_listing(SPACES):
        window = engine.window(SPACES, 0, 0)
        seen.append((result.value, window.total, window.is_total_known, window.complete))
        if window.complete:
            break
    assert seen == [(3, 3, False, False), (6, 6, False, False), (7, 7, True, True)]
    assert [space.id for space in engine.window(SPACES, 0, 9).items] == [f"s{number}" for number in range(7)]


async def test_items_that_move_to_the_next_page_are_listed_once(server: FaultServer, engine: Engine) -> None:
    server.script = [page(0, 3, "a"), page(2, 3)]
    async for _ in engine.watch_listing(SPACES):
        if engine.window(SPACES, 0, 0).complete:
            break
    assert [space.id for space in engine.window(SPACES, 0, 9).items] == [f"s{number}" for number in range(5)]


async def test_cached_listing_reports_only_first_and_last_page(server: FaultServer, engine: Engine) -> None:
    server.script = [page(0, 3, "a"), page(3, 3, "b"), page(6, 1)]
    server.script += [page(0, 3, "a"), page(3, 3, "b"), page(6, 3, "c"), page(9, 250)]
    seen: list[tuple[str, int, int]] = []
    async for result in engine.watch_listing(SPACES):
        seen.append((result.state, result.value, engine.window(SPACES, 0, 0).total))
        if len(seen) == 3:
            engine.refresh(SPACES)
        if result.value == 259:
            break
    assert seen[3:] == [("cached", 7, 7), ("fresh", 3, 7), ("fresh", 259, 259)], "its rows stay until the last page"
    assert [space.id for space in engine.window(SPACES, 0, 300).items] == [f"s{number}" for number in range(259)]


async def test_malformed_page_is_not_stored_in_part(server: FaultServer, engine: Engine) -> None:
    wrong = [*({"object": "space", "id": f"s{number}"} for number in range(3, 300)), {"object": "space", "id": 7}]
    server.script = [page(0, 3, "a"), http(200, {"items": wrong})]
    async for result in engine.watch_listing(SPACES):
        if result.error:
            assert f"items.{len(wrong) - 1}.id" in result.error.message
            break
    assert engine.window(SPACES, 0, 0).total == 3


async def test_a_cached_first_page_has_no_total(server: FaultServer, engine: Engine) -> None:
    server.script = [page(0, 3, "a")]
    call = SPACES.model_copy(update={"limit": 3})
    assert (await engine.read(call)).total is None
    known = engine.known(call)
    assert known
    assert (known.value.count, known.value.total) == (3, None)


@pytest.mark.parametrize(("total", "expected"), [(None, None), (5, 6)])
async def test_pending_comment_is_added_to_the_known_numbers(
    server: FaultServer, engine: Engine, total: int | None, expected: int | None
) -> None:
    more = {} if total is None else {"total": total}
    server.script = [http(200, {"items": [], "count": 0, "next": {"page": "a"}, **more})]
    listing = ListComments(space_id="s", change_request_id="c")
    await engine.read(listing)
    engine.write(PostComment(space_id="s", change_request_id="c", body=Document(markdown="x")), hold=60)
    known = engine.known(listing)
    assert known
    assert (known.value.count, known.value.total) == (1, expected)


async def test_repeating_listing_keeps_its_first_items_and_has_an_error(server: FaultServer, engine: Engine) -> None:
    server.script = [page(0, 3, "again")]
    results = [result async for result in _until_error(engine)]
    assert [(result.value, str(result.error or "")) for result in results] == [
        (3, ""),
        (3, "The list is incomplete: the service repeats a page"),
    ]
    window = engine.window(SPACES, 0, 9)
    assert (len(window.items), window.is_total_known, window.complete) == (3, False, False)
    assert len([asked for asked in server.asked if asked.target != "/v1/user"]) == 2


async def _until_error(engine: Engine) -> AsyncIterator[Any]:
    async for result in engine.watch_listing(SPACES):
        yield result
        if result.error:
            return
