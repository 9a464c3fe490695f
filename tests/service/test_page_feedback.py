"""Feedback of readers on published pages, over a socket without an account."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from tests.service.factories import World
from tests.service.web_pages import customize, published

from presscheck.api.site_events import AggregateSiteEvents, EventOrder
from presscheck.api.site_settings import CreateShareLink, ListShareLinks
from presscheck.api.sites import UpdateSite
from presscheck.errors import Forbidden
from presscheck.errors import RequestError as InvalidRequest
from presscheck.service.db.engine import Database
from presscheck.service.models.sites import PageFeedbackRow, SiteRow
from presscheck.service.web import feedback


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    """A browser of a visitor; it does not follow redirects."""
    async with httpx.AsyncClient(headers={"user-agent": "Lamp/1"}) as client:
        yield client


def rows(world: World) -> list[PageFeedbackRow]:
    """Return the feedback on all sites of the organization."""
    database = Database(world.database_url)
    sites = select(SiteRow.id).where(SiteRow.organization_id == world.organization)
    with database.snapshot() as session:
        of_sites = select(PageFeedbackRow).where(PageFeedbackRow.site_id.in_(sites))
        found = list(session.scalars(of_sites.order_by(PageFeedbackRow.id)))
    database.close()
    return found


async def asking(world: World) -> tuple[str, dict[str, str]]:
    """Publish a site that asks for feedback. Returns its URL, and the path arguments of its API calls."""
    address, at = await published(world)
    await customize(world, at, feedback={"enabled": True})
    return address, at


async def test_page_asks_for_feedback_only_if_it_is_enabled(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await published(world)
    assert "Was this page helpful?" not in (await browser.get(address)).text
    refused = await browser.post(f"{address}guide", data={"rating": "good"})
    assert refused.status_code == 404 and "does not ask for feedback" in refused.text
    await customize(world, at, feedback={"enabled": True})
    assert "Was this page helpful?" in (await browser.get(address)).text
    assert rows(world) == []


async def test_reader_has_one_feedback_per_page_and_day(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await asking(world)
    answer = await browser.post(f"{address}guide", data={"rating": "bad", "comment": "  Too\r\nshort.  "})
    assert (answer.status_code, answer.headers["location"]) == (303, f"{address}guide#Site-thanks")
    [row] = rows(world)
    assert (row.page_id, row.rating, row.comment, row.url) == ("guide", "bad", "Too\nshort.", f"{address}guide")
    await browser.post(f"{address}guide", data={"rating": "good"})
    [row] = rows(world)
    assert (row.rating, row.comment) == ("good", "Too\nshort."), "a second rating replaces the first"
    await browser.post(f"{address}guide", data={"rating": "ok"}, headers={"user-agent": "Other/2"})
    await browser.post(address, data={"rating": "ok"})
    assert [(row.page_id, row.rating) for row in rows(world)] == [("guide", "good"), ("guide", "ok"), ("start", "ok")]
    assert len({row.reader for row in rows(world)}) == 2 and len({row.network for row in rows(world)}) == 1
    assert "127.0.0.1" not in str([vars(row) for row in rows(world)]).replace(address, "")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("rating=best", 400),
        ("comment=x", 400),
        ("rating=good&comment=%00", 400),
        ("rating=good&comment=%ff", 400),
        (f"rating=good&comment={'x' * 513}", 400),
        ("&".join(["rating=good"] * 20), 400),
        ("ä", 400),
        (f"rating=good&comment={'%41' * 3000}", 413),
    ],
    ids=["rating", "no-rating", "nul", "not-utf-8", "long-comment", "many-fields", "not-ascii", "large"],
)
async def test_invalid_forms_are_refused(world: World, browser: httpx.AsyncClient, body: str, status: int) -> None:
    address, _ = await asking(world)
    form = {"content-type": "application/x-www-form-urlencoded"}
    answer = await browser.post(f"{address}guide", content=body.encode(), headers=form)
    assert answer.status_code == status and "Your feedback was not saved" in answer.text
    assert rows(world) == []


async def test_forms_of_other_sites_and_for_missing_pages_are_refused(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await asking(world)
    good = {"rating": "good"}
    for origin in ("https://evil.example", "null"):
        assert (await browser.post(f"{address}guide", data=good, headers={"origin": origin})).status_code == 403
    assert (await browser.post(f"{address}guide", data=good, headers={"origin": world.base_url})).status_code == 303
    assert (await browser.post(f"{address}none", data=good)).status_code == 404
    assert (await browser.post(f"{world.base_url}/docs/none/guide", data=good)).status_code == 404
    assert len(rows(world)) == 1


async def test_feedback_on_a_shared_site_needs_its_share_link(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await asking(world)
    await world.admin.send(UpdateSite(**at, visibility="share-link"))
    await world.admin.send(CreateShareLink(**at, name="For Mia"))
    [link] = (await world.admin.send(ListShareLinks(**at))).items
    assert (await browser.post(f"{address}guide", data={"rating": "good"})).status_code == 404
    answer = await browser.post(f"{link.urls.published}guide", data={"rating": "good"})
    assert answer.headers["location"] == f"{link.urls.published}guide#Site-thanks"


async def test_feedback_of_one_network_and_of_one_site_is_limited(world: World, browser: httpx.AsyncClient) -> None:
    address, _ = await asking(world)
    for number in range(feedback.MOST_OF_NETWORK):
        agent = {"user-agent": f"Lamp/{number}"}
        assert (await browser.post(address, data={"rating": "good"}, headers=agent)).status_code == 303
    agent = {"user-agent": "Another"}
    limited = await browser.post(address, data={"rating": "good"}, headers=agent)
    assert limited.status_code == 429 and "too much feedback" in limited.text
    assert (await browser.post(address, data={"rating": "bad"}, headers={"user-agent": "Lamp/0"})).status_code == 303
    assert len(rows(world)) == feedback.MOST_OF_NETWORK


async def test_editors_of_a_site_list_and_count_its_feedback(world: World, browser: httpx.AsyncClient) -> None:
    address, at = await asking(world)
    await browser.post(f"{address}guide", data={"rating": "bad", "comment": "Too short."})
    await browser.post(address, data={"rating": "good"})

    async def read(**given: Any) -> dict[str, tuple[Any, ...]]:
        table = await world.admin.send(AggregateSiteEvents(**at, **({"range": "last7Days"} | given)))
        return {column.column: column.values for column in table.columns}

    every = await read()
    assert every["url"] == (address, f"{address}guide")
    assert every["eventPageFeedbackRating"] == ("good", "bad")
    assert every["eventPageFeedbackComment"] == ("", "Too short.")
    assert every["eventType"] == ("page_post_feedback", "page_post_feedback_comment")
    url, day = {"column": "url"}, {"column": "datetime", "interval": "day"}
    totals = ({"column": "eventsCount"}, {"column": "pageFeedbackRating"})
    counted = await read(group_by=(url,), select=totals, order=EventOrder(by=url, direction="desc"))
    assert counted == {
        "url": (f"{address}guide", address),
        "eventsCount": (1, 1),
        "pageFeedbackRating": ({"good": 0, "ok": 0, "bad": 1}, {"good": 1, "ok": 0, "bad": 0}),
    }
    [of_day] = (await read(group_by=(day,), select=totals[:1]))["datetime"]
    assert of_day.endswith("T00:00:00.000Z")
    comments = {"column": "eventType", "values": ["page_post_feedback_comment"]}
    assert (await read(where=(comments,), select=(url,))) == {"url": (f"{address}guide",)}
    assert (await read(where=(comments | {"operator": "notIn"},), select=(url,))) == {"url": (address,)}
    assert (await read(limit=1, select=(url,))) == {"url": (address,)}
    past = {"from": "2020-01-01T00:00:00Z", "to": "2020-02-01T00:00:00Z"}
    assert (await read(range=past, select=(url,))) == {"url": ()}
    for wrong in (
        {"select": ({"column": "visitorGeoCountry"},)},
        {"select": (day | {"interval": "century"},)},
        {"where": (url | {"operator": "greaterThan", "values": []},)},
        {"where": (url,)},
        {"order": EventOrder(by=day, direction="asc"), "select": (url,)},
        {"range": {"from": "yesterday"}},
        {"select": (url,) * 21},
    ):
        with pytest.raises(InvalidRequest):
            await read(**wrong)
    with pytest.raises(Forbidden):
        await world.clients["read"].send(AggregateSiteEvents(**at, range="lastYear"))
