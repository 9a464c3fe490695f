"""The home of a space: what is known of it, each line a link, for few requests and only where the cursor rests."""

import asyncio
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService, running_service
from tests.service_users import main_moves, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, running, until

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    ListChangeRequests,
    ListOrganizationChangeRequests,
    UpdateChangeRequest,
)
from presscheck.api.content import ListPages
from presscheck.api.links import ListSpaceLinks
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import GitSync, Space
from presscheck.errors import Forbidden, NetworkError, PresscheckError
from presscheck.text.styled_text import plain
from presscheck.tui.places import Place
from presscheck.tui.screens.browse import space_home
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.browse.space_home import HomeLines, SpaceFacts
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.screens.space_content.screen import SpaceContentScreen
from presscheck.tui.ui.loaded import Loaded

pytestmark = pytest.mark.service(shared=True)

AT_MOST = 5
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


async def at_space(pilot: Any, space: str, shows: str) -> None:
    """Put the cursor on a space, and wait until its home shows a text."""
    await until(pilot, shows="Needs me")
    await pilot.app.go(Place.page(space))
    await until(pilot, holds=lambda: (item := pilot.app.screen.item) and item.key == f"space {space}")
    await until(pilot, shows=shows)


def loaded(pilot: Any) -> bool:
    return "loading" not in home(pilot)


def home(pilot: Any) -> str:
    """The text of the home, without the tree."""
    document = pilot.app.screen.page_view.document
    return "\n".join("".join(span.text for span in line) for line in document.lines) if document else ""


async def to_line(pilot: Any, words: str) -> None:
    """Put the cursor of the home on the line with a text."""
    view = pilot.app.screen.page_view
    if not view.has_focus:
        await pilot.press("tab")
        await until(pilot, holds=lambda: view.has_focus)
    await pilot.press("g", "g")
    lines = home(pilot).split("\n")
    number = next(number for number, line in enumerate(lines) if words in line)
    await pilot.press(*"j" * number)
    await until(pilot, holds=lambda: view.cursor == number)


@pytest.mark.slow
async def test_a_space_shows_what_is_going_on_there(service: RunningService, tmp_path: Path) -> None:
    async with somebody(service, "robin") as (robin,):
        draft = await robin.send(CreateChangeRequest(space_id="cli", subject="My own [b]draft"))
        sites = (await robin.send(ListSites(organization_id="tallowick", space="cli"))).items
        merged = (await robin.send(ListChangeRequests(space_id="cli", status="merged"))).items
    async with running(app_on(service, tmp_path)) as pilot:
        await at_space(pilot, "cli", "Recently changed pages")
        await until(pilot, holds=lambda: loaded(pilot))
        text = home(pilot)
        assert "not locked · 6 pages · no broken links" in text
        yours, others = text.split("Your change requests")[1].split("Other open change requests")
        assert f"continue in #{draft.number} My own [b]draft" in yours
        assert "continue in" not in others
        assert "by 田中" in others.split("Last merges")[0]
        assert f"#{merged[0].number} {merged[0].subject}" in others.split("Last merges")[1]
        assert sites[0].urls.published
        assert sites[0].title in text.split("Sites")[1]
        assert sites[0].urls.published in text.split("Sites")[1]


def test_the_repository_of_a_space_is_named_with_the_time_of_its_last_sync() -> None:
    def lines(git: Loaded[GitSync] | None) -> tuple[str, list[str | None]]:
        found = HomeLines(SpaceFacts(Space(id="s", title="Docs"), git=git), 60, NOON).lines
        return "\n".join(map(plain, found)), [span.link for line in found for span in line if span.link]

    url = "https://git.example/acme/docs"
    synced = GitSync(
        repo_name="acme/\x1b[31mdocs", installation_provider="github", url=url, updated_at="2026-11-20T10:00:00Z"
    )
    text, links = lines(Loaded(synced))
    assert "Git sync" in text and "docs" in text and "github · synced 2 h ago" in text and "\x1b" not in text
    assert links == [url]
    text, links = lines(Loaded(GitSync(integration="gitlab")))
    assert "(no name)   gitlab · not synced yet" in text and not links
    assert "Git sync" not in lines(None)[0]


@pytest.mark.parametrize(
    ("error", "online", "note"),
    [
        (None, True, "loading …"),
        (None, False, "not in the cache"),
        (Forbidden("not permitted", request="GET", status=403), False, "not loaded: not permitted"),
        (NetworkError("no answer", request="GET"), True, "not loaded: no answer"),
        (NetworkError("no answer", request="GET"), False, "not in the cache"),
    ],
)
def test_a_missing_part_shows_the_reason(error: PresscheckError | None, online: bool, note: str) -> None:
    merges = Loaded[tuple[ChangeRequest, ...]](None, error)
    sites = Loaded[tuple[Site, ...]](None, error)
    facts = SpaceFacts(Space(id="s", title="Docs"), merges=merges, sites=sites, online=online)
    text = [plain(line) for line in HomeLines(facts, 60, NOON).lines]
    assert text[text.index("Last merges") + 1] == text[text.index("Sites") + 1] == f"  {note}"


@pytest.mark.slow
async def test_every_line_leads_to_what_it_names(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "from elsewhere")
    async with running(app_on(service, tmp_path)) as pilot:
        await at_space(pilot, "guides", "https://docs.tallowick")
        await until(pilot, holds=lambda: loaded(pilot))
        await to_line(pilot, "https://docs.tallowick")
        await pilot.press("enter")
        await until(pilot, shows="copied: https://docs.tallowick")
        await to_line(pilot, "Fix typos in quickstart")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        await until(pilot, shows="Can merge")
        await pilot.press("q")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        changed = home(pilot).split("Recently changed pages\n")[1].split("\n")[0].strip().split("  ")[0]
        await to_line(pilot, f"  {changed}")
        await pilot.press("enter")
        await until(pilot, shows=f"› Guides › {changed}" if changed in ("Quickstart", "Going live") else f"› {changed}")
        await pilot.press("H")
        await until(pilot, shows="Your change requests")
        await until(pilot, holds=lambda: pilot.app.screen.item.key == "space guides")
        await to_line(pilot, "Tallowick Docs")
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, PublishScreen))
        await until(pilot, shows="› Tallowick Docs")


@pytest.mark.slow
@pytest.mark.service()
async def test_the_number_of_broken_links_leads_to_their_list(service: RunningService, tmp_path: Path) -> None:
    async with somebody(service, "robin") as (robin,):
        await main_moves(robin, "api", "Limits", "[Lost](nowhere.md)")
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await at_space(pilot, "api", "1 broken link")
        await until(pilot, holds=lambda: loaded(pilot))
        await to_line(pilot, "1 broken link")
        await pilot.press("enter")
        await until(pilot, shows="Links and files", holds=lambda: isinstance(pilot.app.screen, SpaceContentScreen))
        await until(pilot, shows="nowhere.md")
        await pilot.press("q")
        await until(pilot, shows="Your change requests", holds=lambda: isinstance(pilot.app.screen, BrowseScreen))


@pytest.mark.slow
async def test_labels_and_clicks_follow_lines_too(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await at_space(pilot, "runbook", "Other open change requests")
        await until(pilot, holds=lambda: loaded(pilot))
        await pilot.press("f")
        await until(pilot, shows="[a]")
        await pilot.press("a")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        await until(pilot, shows="Can merge")
        await pilot.press("q")
        await until(pilot, shows="Other open change requests")
        line = next(number for number, line in enumerate(home(pilot).split("\n")) if "#" in line)
        await pilot.click("#page", offset=(8, line))
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))


@pytest.mark.slow
async def test_a_cursor_that_moves_on_asks_nothing_and_one_that_rests_little(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests = asyncio.Event()
    monkeypatch.setattr(space_home, "rest", rests.wait)
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        engine: Any = pilot.app.engine
        await pilot.press("g", "o")
        await until(pilot, shows="Handbook")

        def asked() -> list[str]:
            calls = [entry.call for entry in engine._activity._entries if not entry.from_cache]
            return [
                call.space or "" if isinstance(call, ListSites) else call.space_id for call in calls if is_part(call)
            ]

        await pilot.press("g", "g")
        keys = [pilot.app.screen.tree_view.key]
        while keys[-1] != "space handbook":
            await pilot.press("j")
            keys.append(pilot.app.screen.tree_view.key)
        assert sum(key.startswith("space ") for key in keys) > 3, "spaces were passed"
        assert asked() == []
        rests.set()
        await until(pilot, shows="Recently changed pages", holds=lambda: loaded(pilot))
        assert set(asked()) == {"handbook"}
        assert len(asked()) <= AT_MOST


def is_part(call: Any) -> bool:
    """Whether a request is one of those that the home of a space sends."""
    is_of_site = isinstance(call, ListSites) and call.space is not None
    return is_of_site or isinstance(call, ListChangeRequests | ListPages | ListSpaceLinks)


@pytest.mark.slow
async def test_parts_that_are_loading_are_named(service: RunningService, tmp_path: Path) -> None:
    answered = threading.Event()
    with holding_back(service, tmp_path, "status=merged", until=answered) as address:
        async with running(app_on(service, tmp_path, base_url=address)) as pilot:
            await at_space(pilot, "notes", "Recently changed pages")
            await until(pilot, holds=lambda: home(pilot).count("loading") == 1)
            assert "loading" in home(pilot).split("Last merges")[1].split("Sites")[0]
            answered.set()
            await until(pilot, holds=lambda: "Notes for March" in home(pilot).split("Last merges")[1])


@pytest.mark.slow
async def test_offline_it_shows_what_is_cached_and_how_old_it_is(tmp_path: Path) -> None:
    with running_service(tmp_path, sample=True) as service:
        async with running(app_on(service, tmp_path)) as pilot:
            await at_space(pilot, "runbook", "Recently changed pages")
            await until(pilot, holds=lambda: loaded(pilot))
            service.stop()
            await pilot.press("ctrl+r")
            await until(pilot, shows="offline")
            await until(pilot, shows="as it was")
            assert "#" in home(pilot).split("Other open change requests")[1]
            await at_home_of(pilot, "notes")
            await until(pilot, shows="not in the cache")


async def at_home_of(pilot: Any, space: str) -> None:
    await pilot.app.go(Place.page(space))
    await until(pilot, holds=lambda: (item := pilot.app.screen.item) and item.key == f"space {space}")


@pytest.mark.slow
async def test_a_service_without_an_operation_leaves_that_part_out(tmp_path: Path) -> None:
    with running_service(tmp_path, sample=True, release="0.202.0") as service:
        async with running(app_on(service, tmp_path)) as pilot:
            await at_space(pilot, "guides", "Sites")
            await until(pilot, holds=lambda: loaded(pilot))
            assert "broken link" not in home(pilot)
            assert "Last merges" in home(pilot)
            assert "not loaded" not in home(pilot)


@pytest.mark.slow
@pytest.mark.service()
async def test_somebody_without_reviews_is_offered_the_home_of_a_space(service: RunningService, tmp_path: Path) -> None:
    """At first that of the first space, then that of the one that was opened last."""
    async with somebody(service, "robin") as (robin,):
        for status in ("open", "draft"):
            listing = ListOrganizationChangeRequests(organization_id="tallowick", status=status, limit=1000)
            for request in (await robin.send(listing)).items:
                path = {"space_id": request.space, "change_request_id": request.id}
                await robin.send(UpdateChangeRequest(**path, status="archived"))
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Nothing to review. enter opens ")
        first = next(iter(pilot.app.screen.session.model.spaces.values()))
        await until(pilot, shows=f"enter opens {first}, g o all your spaces.")
        await pilot.press("enter")
        await until(pilot, shows="Your change requests")
        assert pilot.app.screen.item.space.title == first
        await pilot.app.go(
            Place.page("guides", (await pilot.app.engine.read(ListPages(space_id="guides"))).pages[0].id)
        )
        await until(pilot, shows="› Guides ›")
        await pilot.press("g", "i")
        await until(pilot, shows="enter opens Guides, g o all your spaces.")
        await pilot.press("enter")
        await until(pilot, shows="Your change requests", holds=lambda: pilot.app.screen.item.space.id == "guides")


@pytest.mark.slow
@pytest.mark.service()
async def test_somebody_with_own_change_requests_but_no_reviews_is_offered_it_too(
    service: RunningService, tmp_path: Path
) -> None:
    async with somebody(service, "robin") as (robin,):
        listing = ListOrganizationChangeRequests(organization_id="tallowick", status="open", limit=1000)
        for request in (await robin.send(listing)).items:
            path = {"space_id": request.space, "change_request_id": request.id}
            await robin.send(UpdateChangeRequest(**path, status="archived"))
        own = await robin.send(CreateChangeRequest(space_id="cli", subject="My own"))
        await robin.send(UpdateChangeRequest(space_id="cli", change_request_id=own.id, status="open"))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Nothing to review. enter opens ")
        first = next(iter(pilot.app.screen.session.model.spaces.values()))
        await until(pilot, shows=f"enter opens {first}, 2 Mine, g o all your spaces.")
        await pilot.press("2")
        await until(pilot, shows="My own")
        await pilot.press("1")
        await until(pilot, shows=f"enter opens {first}, 2 Mine")
        await pilot.press("enter")
        await until(
            pilot,
            shows="Your change requests",
            holds=lambda: (item := pilot.app.screen.item) is not None and item.space.title == first,
        )


@pytest.mark.slow
@pytest.mark.service(sample=False)
async def test_a_tree_without_spaces_tells_how_to_get_one(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await pilot.press("g", "o")
        await until(pilot, shows="There are no spaces yet: a creates one.")


@pytest.mark.slow
@pytest.mark.service(sample=False)
async def test_a_tree_that_was_never_loaded_tells_why(service: RunningService, tmp_path: Path) -> None:
    service.stop()
    async with running(app_on(service, tmp_path)) as pilot:
        await pilot.press("g", "o")
        await until(pilot, shows="Not loaded yet: ")
