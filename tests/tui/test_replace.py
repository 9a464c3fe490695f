"""Find and replace in a space by keys, checked at the service."""

from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.running_service import RunningService
from tests.service_users import page_of, say, token_of
from tests.tui.app_driver import app_on, running, shown, until, write

from presscheck.api.change_requests import (
    CreateChangeRequest,
    ListChangeRequests,
    MergeChangeRequest,
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.replace.form import ReplaceForm
from presscheck.tui.screens.replace.screen import ReplaceScreen
from presscheck.tui.screens.review.screen import ReviewScreen

HOSTILE = "\x1b]0;title\x07 [b]x[/b] \u202egpj.exe zebra"
SPACE = "notes"
ZOO = "A zebra runs.\n\nTwo zebras and `zebra`. [Zebra](zebra.md)\n"


async def drafted(client: Client, subject: str, *changes: Any) -> dict[str, str]:
    """Create a change request with these changes. Returns its ids."""
    request = await client.send(CreateChangeRequest(space_id=SPACE, subject=subject))
    path = {"space_id": SPACE, "change_request_id": request.id}
    await client.send(EditChangeRequestContent(**path, changes=changes))
    return path


async def merged(client: Client, *changes: Any) -> None:
    path = await drafted(client, "Animals", *changes)
    await client.send(UpdateChangeRequest(**path, status="open"))
    await client.send(MergeChangeRequest(**path))


def page(title: str, text: str) -> InsertPage:
    return InsertPage(title=title, document=Document(markdown=text))


async def opened(pilot: Any, request: str | None = None) -> None:
    """Go to the space in Browse and open the form of find and replace."""
    await until(pilot, shows="Needs me")
    await pilot.app.go(Place.page(SPACE, None, request))
    if request:
        await until(pilot, shows="editing #")
    await until(pilot, holds=lambda: (item := pilot.app.screen.item) is not None and item.space is not None)
    await until(pilot, holds=lambda: pilot.app.screen.item.space.id == SPACE)
    await pilot.press(".", "f")
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReplaceForm))


async def searched(pilot: Any, find: str, new: str, *keys: str) -> None:
    """Type a query, press further keys, and search."""
    await write(pilot, "", find, "tab")
    await pilot.press(*new, *keys, "enter")


async def listed(pilot: Any, shows: str) -> None:
    await until(pilot, shows=shows, holds=lambda: isinstance(pilot.app.screen, ReplaceScreen))


@pytest.mark.slow
async def test_chosen_hits_become_a_change_request_that_is_reviewed(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    await merged(client, page("Zoo", ZOO), page("The zebra house", "Stripes."), page("Farm", "A zebra, too."))
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await searched(pilot, "zebra", "horse")
        await listed(pilot, "4 of 5 hits on 3 pages chosen")
        await until(pilot, shows="[x] Farm")
        text = shown(pilot.app)
        [left_out] = [line for line in text.split("\n") if "[ ]" in line]
        assert left_out.rstrip().endswith("in a link target")
        assert "[Zebra](zebra.md)" in left_out
        await pilot.press("j", "j", "j", "space", "g", "g")
        await listed(pilot, "5 hits on 3 pages chosen")
        await until(pilot, holds=lambda: "[ ]" not in shown(pilot.app))
        text = shown(pilot.app)
        assert "zebra → horse   match case" in text
        assert [line.split("[x]")[1].split()[:3] for line in text.split("\n") if "[x]" in line] == [
            ["Zoo", "zoo", "3"],
            ["3", "A", "zebrahorse"],
            ["5", "Two", "zebrahorses"],
            ["5", "Two", "zebras"],
            ["The", "zebra", "house"],
            ["title", "The", "zebrahorse"],
            ["Farm", "farm", "1"],
            ["3", "A", "zebrahorse,"],
        ]
        await pilot.press("j", "space")
        await listed(pilot, "4 of 5 hits on 3 pages chosen")
        await until(pilot, shows="[–] Zoo")
        await pilot.press("*")
        await listed(pilot, "5 hits on 3 pages chosen")
        await pilot.click("RowList", offset=(6, 1))
        await listed(pilot, "4 of 5 hits on 3 pages chosen")
        await pilot.press("enter")
        await until(pilot, shows="Zoo: 2 hits replaced")
        await until(pilot, shows="+ Two horses and")
        await pilot.press("q", "ctrl+s")
        await until(pilot, shows="Replace 4 hits on 3 pages in a new change request: subject")
        await until(pilot, shows='Replace "zebra" by "horse"')
        await pilot.press("enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
        await until(pilot, holds=lambda: "replaced 4 hits on 3 pages in #" in pilot.app.notices.history[-1].text)
        assert any(isinstance(screen, ReplaceScreen) for screen in pilot.app.screen_stack) is False
        await pilot.press("g", "o")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        assert pilot.app.screen.library.requests[SPACE].subject == 'Replace "zebra" by "horse"'
        assert pilot.app.engine.outbox.draft(f"replace {SPACE}") in (None, "")
    drafts = (await client.send(ListChangeRequests(space_id=SPACE, status="draft"))).items
    [request] = [request for request in drafts if request.subject == 'Replace "zebra" by "horse"']
    path = {"space_id": SPACE, "change_request_id": request.id}
    assert (await page_of(client, path, "Zoo")).markdown == (
        "# Zoo\n\nA zebra runs.\n\nTwo horses and `zebra`. [Zebra](horse.md)\n"
    )
    assert (await page_of(client, path, "The horse house")).markdown == "# The horse house\n\nStripes.\n"


@pytest.mark.slow
async def test_a_page_edited_in_the_meantime_is_shown_again(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    path = await drafted(client, "Animals", page("Zoo", ZOO), page("Farm", "A zebra, too."))
    zoo = await page_of(client, path, "Zoo")
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot, path["change_request_id"])
        await searched(pilot, "zebra", "horse", "tab", "tab", "space")
        await listed(pilot, "2 of 3 hits on 2 pages chosen")
        await pilot.press("j", "j", "space")
        await listed(pilot, "3 hits on 2 pages chosen")
        await pilot.press("k", "space")
        await listed(pilot, "2 of 3 hits on 2 pages chosen")
        text = "# Zoo\n\nA wild zebra runs.\n\nTwo zebras and `zebra`. [Zebra](zebra.md)\n"
        change = UpdatePage(page=zoo.id, document=Document(markdown=text))
        await say(service, token_of(service, "mia"), EditChangeRequestContent(**path, changes=(change,)))
        await pilot.press("A")
        await until(pilot, shows="Replace 2 hits on 2 pages?")
        await pilot.press("y")
        await until(pilot, shows="1 page was edited in the meantime: nothing was replaced")
        await listed(pilot, "2 of 3 hits on 2 pages chosen")
        await until(pilot, shows="edited in the meantime: check again")
        await until(pilot, shows="A wild zebrahorse runs.")
        assert (await page_of(client, path, "Farm")).markdown == "# Farm\n\nA zebra, too.\n", "nothing was sent"
        await pilot.press("A")
        await until(pilot, shows="Replace 2 hits on 2 pages?")
        await pilot.press("y")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReviewScreen))
    assert (await page_of(client, path, "Zoo")).markdown == text.replace("wild zebra", "wild horse")
    assert (await page_of(client, path, "Farm")).markdown == "# Farm\n\nA horse, too.\n"


async def test_hostile_text_is_only_shown(service: RunningService, client: Client, tmp_path: Path) -> None:
    text = f"{HOSTILE}\n\n{'x' * 5000} zebra {'y' * 5000}\n\n営業時間 zebra 営業時間\n"
    path = await drafted(client, HOSTILE, page(HOSTILE, text))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await opened(pilot, path["change_request_id"])
        await searched(pilot, "zebra", "horse")
        await listed(pilot, "zebrahorse")
        seen = shown(pilot.app)
        assert not ACTS.search(seen.replace("\n", "")), seen
        assert seen.count("zebrahorse") == 4, seen
        assert "営業時間 zebrahorse 営業時間" in seen
        await pilot.press("enter")
        await until(pilot, shows="hits replaced")
        seen = shown(pilot.app)
        assert not ACTS.search(seen.replace("\n", "")), seen
