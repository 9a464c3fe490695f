"""The app on a service with the operations of its document and no others: inbox, browse, review and publish."""

import tomllib
from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.service_users import say
from tests.tui.app_driver import all_sent, app_on, inbox_loaded, pick, running, shown, until, until_all, write

from presscheck.api.change_requests import CreateChangeRequest, GetChangeRequest
from presscheck.api.collections import ListCollections
from presscheck.api.comments import ListComments
from presscheck.api.site_structure import AddSection
from presscheck.api.sites import ListSites
from presscheck.api.spaces import CreateSpace
from presscheck.tui.places import Place

pytestmark = [pytest.mark.usefixtures("at_once"), pytest.mark.service(shared=True, release="document")]
TYPOS = {"space_id": "guides", "change_request_id": "3"}
WHO = "This service does not tell who you are"


@pytest.mark.slow
async def test_the_inbox_asks_once_who_you_are(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows=f"{WHO}: choose your name")
        await until(pilot, shows="Noor Haddad")
        await pilot.press("escape")
        await until(pilot, shows=f"{WHO}: all are shown. M u: your name")
        await until_all(pilot, "Needs me 10 ", "Mine 10 ", "Involved 10 ", "All open 10 ")
        assert "Fix typos in quickstart" in shown(pilot.app)
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await inbox_loaded(pilot)
        assert "choose your name" not in shown(pilot.app), "not asked again"
        await pilot.press("M", "u")
        await until(pilot, shows="Noor Haddad")
        await pick(pilot, "Noor")
        await until(pilot, shows="you are Noor Haddad; saved in the settings")
        await until(pilot, shows="Mine 3")
        assert WHO not in shown(pilot.app)
    settings = tomllib.loads((tmp_path / "config" / "config.toml").read_text())
    assert settings == {"profiles": {"default": {"user": "noor"}}}
    async with running(app_on(service, tmp_path, user="noor"), (80, 24)) as pilot:
        await until(pilot, shows="Mine 3")
        await pilot.press("2")
        await until(pilot, shows="by you")
        assert WHO not in shown(pilot.app)


@pytest.mark.slow
async def test_a_service_that_tells_who_you_are_does_not_ask(service: RunningService, tmp_path: Path) -> None:
    service.stop()
    service.release = None
    service.start()
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me ")
        await pilot.press("M", "u")
        await until(pilot, shows="the service tells who you are")
    service.stop()
    service.release = "document"
    service.start()


@pytest.mark.slow
async def test_a_space_is_browsed_in_a_change_request(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, user="robin")) as pilot:
        await until(pilot, shows="Needs me ")
        await pilot.press("g", "o")
        await until(pilot, shows="Release notes")
        pilot.app.screen.session.go_to("space guides")
        await pilot.press("enter")
        await until(pilot, shows="no page content outside change requests: shown as in #1")
        await until(pilot, shows="Quickstart")
        assert "in #1" in shown(pilot.app)
        await pilot.press("j")
        await until(pilot, shows="Ten minutes from nothing to a label that you can print.")
        await pilot.press("e")
        await until(pilot, shows="This service has no page editing")
        await pilot.press("?")
        await until(pilot, shows="Keys")
        await pilot.press(*"edit")
        await until(pilot, shows="This service has no page editing")
        await pilot.press("escape")


@pytest.mark.slow
async def test_an_empty_change_request_shows_main(service: RunningService, tmp_path: Path) -> None:
    [empty] = await say(service, service.token, CreateChangeRequest(space_id="handbook", subject="Empty"))
    async with running(app_on(service, tmp_path, user="robin")) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("handbook"))
        await until(pilot, shows="How we write")
        tree = [line.partition("│")[0] for line in shown(pilot.app).splitlines()]
        assert not any(f"in #{empty.number}" in row for row in tree), "it has the content of main"


@pytest.mark.slow
async def test_a_space_without_change_requests_shows_what_to_do(service: RunningService, tmp_path: Path) -> None:
    service.stop()
    service.release = None
    service.start()
    [collections] = await say(service, service.token, ListCollections(organization_id="tallowick"))
    new = CreateSpace(organization_id="tallowick", title="New space", parent=collections.items[0].id)
    [space] = await say(service, service.token, new)
    service.stop()
    service.release = "document"
    service.start()
    async with running(app_on(service, tmp_path, user="robin")) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page(space.id))
        await until(pilot, shows="This service has no page content outside change requests, and no change")
        await until(pilot, shows="O starts a change request.")
        pilot.app.screen.redraw()
        assert "O starts a change request." in shown(pilot.app), "it stays when the tree is read again"


@pytest.mark.slow
async def test_review_comment_and_merge(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, user="robin")) as pilot:
        await until(pilot, shows="Needs me ")
        await pilot.app.go(Place.review(*TYPOS.values()))
        await until(pilot, shows="compared with #1, which was merged before")
        await until(pilot, shows="Can merge?")
        await pilot.press("j")
        await until(pilot, shows="word · 1 of 1")
        await until(pilot, shows="Ten minutes from nothing to a label")
        assert "−1" in shown(pilot.app), "the words that changed are counted"
        await write(pilot, "v a", "")
        await until(pilot, shows="This service has no reviews: post a comment instead")
        await pilot.press(*"Reads well.", "ctrl+s")
        await all_sent(pilot)
        await pilot.press("m")
        await until(pilot, shows="Merge into the live content?")
        await until(pilot, shows="y  n")
        await pilot.press("y")
        await until(pilot, shows="\n merged")
    [request, comments] = await say(
        service, service.token, GetChangeRequest(**TYPOS), ListComments(**TYPOS, format="markdown")
    )
    assert request.status == "merged"
    texts = [(comment.body.markdown or "").strip() for comment in comments.items]
    assert "Approved. Reads well." in texts


@pytest.mark.slow
async def test_a_change_request_without_a_base_shows_all_pages(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, user="robin"), (80, 24)) as pilot:
        await until(pilot, shows="Needs me ")
        await pilot.app.go(Place.review("api", "5"))
        await until(pilot, shows="all pages, not compared")
        await pilot.press("j", "enter")
        await until(pilot, shows="not compared · 2 of")
        await until(pilot, shows="A request without a token is answered with 401.")


@pytest.mark.slow
async def test_publish_and_the_structure_of_a_site(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path, user="robin"), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.press("g", "p")
        await until(pilot, shows="▾ Developers")
        await until(pilot, holds=lambda: pilot.app.engine.missing_reason(AddSection) is not None)
        await pilot.press("tab", "a")
        await until(pilot, shows="This service has no editing of site structure")
        await pilot.press("tab", "j")
        await until(pilot, shows="Its structure is shown once it is published")
        await pilot.press("P")
        await until(pilot, shows="Publish Inside Tallowick")
        await until(pilot, shows="y  n")
        await pilot.press("y")
        await until(pilot, shows="is live")
        await pilot.press("q")
        await until(pilot, shows="Handbook")
    [sites] = await say(service, service.token, ListSites(organization_id="tallowick"))
    assert all(site.published for site in sites.items)
