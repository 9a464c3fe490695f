"""The home of a space: its parts, its links, and few requests, which are sent only when the cursor rests."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until

from presscheck.api.change_requests import (
    ChangeRequest,
    CreateChangeRequest,
    ListChangeRequests,
    UpdateChangeRequest,
)
from presscheck.api.content import ListPages, RevisionPage
from presscheck.api.links import ListSpaceLinks
from presscheck.api.organizations import ListOrganizations
from presscheck.api.sites import ListSites, Site
from presscheck.api.spaces import CreateSpace, GitSync, Space
from presscheck.client.client import Client
from presscheck.errors import Forbidden, NetworkError, PresscheckError
from presscheck.text.styled_text import plain
from presscheck.tui.places import Place
from presscheck.tui.screens.browse import space_home
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.browse.space_home import HomeLines, SpaceFacts
from presscheck.tui.screens.publish.screen import PublishScreen
from presscheck.tui.screens.review.screen import ReviewScreen
from presscheck.tui.ui.loaded import Loaded

pytestmark = pytest.mark.service(shared=True)

AT_MOST = 5
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


async def at_space(pilot: Any, space: str, shows: str) -> None:
    """Move the cursor to a space and wait until the screen shows a text."""
    await until(pilot, shows="Needs me")
    await pilot.app.go(Place.page(space))
    await until(pilot, holds=lambda: (item := pilot.app.screen.item) and item.key == f"space {space}")
    await until(pilot, shows=shows)


def loaded(pilot: Any) -> bool:
    return "loading" not in home(pilot)


def home(pilot: Any) -> str:
    """Return the text of the home, without the tree."""
    document = pilot.app.screen.page_view.document
    return "\n".join("".join(span.text for span in line) for line in document.lines) if document else ""


async def to_line(pilot: Any, words: str) -> None:
    """Move the cursor of the home to the first line that contains a text."""
    view = pilot.app.screen.page_view
    if not view.has_focus:
        await pilot.press("tab")
        await until(pilot, holds=lambda: view.has_focus)
    await pilot.press("g", "g")
    lines = home(pilot).split("\n")
    number = next(number for number, line in enumerate(lines) if words in line)
    await pilot.press(*"j" * number)
    await until(pilot, holds=lambda: view.cursor == number)


def test_the_home_shows_change_requests_merges_sites_and_pages_with_links() -> None:
    def changed(number: int, subject: str, person: str, status: str = "open") -> ChangeRequest:
        author = {"id": person, "displayName": f"{person.title()} Lund"}
        more = {"createdBy": author, "mergedAt": "2026-11-20T10:00:00Z" if status == "merged" else None}
        return ChangeRequest.model_validate({"id": f"c{number}", "number": number, "subject": subject, **more})

    published = {"id": "docs", "title": "Docs", "published": True, "urls": {"published": "https://docs.example/"}}
    facts = SpaceFacts(
        Space(id="s", title="Guides", edit_mode="locked"),
        me="me",
        pages=Loaded((RevisionPage(id="p", title="Start", updated_at="2026-11-20T11:00:00Z"),)),
        drafts=Loaded((changed(1, "My own [b]\x1b[2Jdraft", "me", "draft"),)),
        requests=Loaded((changed(2, "Mine", "me"), changed(3, "Hers", "ada"))),
        total_requests=12,
        merges=Loaded((changed(4, "Done", "ada", "merged"),)),
        sites=Loaded((Site.model_validate(published),)),
        broken_links=Loaded(1),
    )
    found = HomeLines(facts, 80, NOON).lines
    text = "\n".join(map(plain, found))
    assert "locked · 1 page · 1 broken link" in text
    yours, others = text.split("Your change requests")[1].split("Other open change requests")
    assert "continue in #1 My own [b]␛[2Jdraft" in yours and "continue in #2 Mine" in yours
    assert "#3 Hers" in others and "by Ada" in others and "continue in" not in others and "… 10 more" in others
    assert "#4 Done" in others.split("Last merges")[1] and "merged 2 h ago" in others
    assert {span.link for line in found for span in line if span.link} == {
        *("links", "request c1", "request c2", "request c3", "request c4"),
        *("site docs", "https://docs.example/", "page p"),
    }


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
async def test_enter_on_a_line_opens_its_target(
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
async def test_no_requests_are_sent_while_the_cursor_moves_and_few_when_it_rests(
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
    """Return True if the home of a space sends this request."""
    is_of_site = isinstance(call, ListSites) and call.space is not None
    return is_of_site or isinstance(call, ListChangeRequests | ListPages | ListSpaceLinks)


@pytest.mark.slow
@pytest.mark.service(sample=False)
async def test_an_empty_inbox_offers_the_home_of_a_space(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    """The inbox offers the first space at first, and later the space that was opened last."""
    [organization] = (await client.send(ListOrganizations())).items
    titles: dict[str, str] = {}
    for title in ("First", "Second"):
        titles[(await client.send(CreateSpace(organization_id=organization.id, title=title))).id] = title
    at: Any = {"space_id": next(iter(titles))}
    own = await client.send(CreateChangeRequest(**at, subject="My own"))
    await client.send(UpdateChangeRequest(**at, change_request_id=own.id, status="open"))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Nothing to review. enter opens ")
        first = next(iter(pilot.app.screen.session.model.spaces.values()))
        await until(pilot, shows=f"enter opens {first}, 2 Mine, g o all your spaces.")
        await pilot.press("enter")
        await until(pilot, shows="Your change requests", holds=lambda: pilot.app.screen.item.space.title == first)
        other = next(identity for identity, title in titles.items() if title != first)
        await pilot.app.go(Place.page(other))
        await until(pilot, holds=lambda: pilot.app.screen.item.space.id == other)
        await pilot.press("g", "i")
        await until(pilot, shows=f"enter opens {titles[other]}, 2 Mine")
        await pilot.press("enter")
        await until(pilot, shows="Your change requests", holds=lambda: pilot.app.screen.item.space.id == other)
