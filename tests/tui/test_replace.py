"""Find and replace over a space, by keys, and checked at the service."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.hostile_strings import ACTS
from tests.running_service import RunningService
from tests.service_users import page_of, say, token_of
from tests.tui.app_driver import app_on, running, shown, until, write
from tests.tui.keyboard import burst

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
    """A new change request with these changes."""
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
    """Go to the space in Browse, and open the form."""
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


def cursor_line(pilot: Any) -> str:
    return next(line for line in shown(pilot.app).split("\n") if "▌" in line)


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
        await pilot.press("G", "k", "space")
        await listed(pilot, "3 of 5 hits on 2 pages chosen")
        await pilot.press("*")
        await listed(pilot, "5 hits on 3 pages chosen")
        await pilot.resize_terminal(120, 8)
        await until(pilot, holds=lambda: len(pilot.app.screen.rows.visible_range) < 6)
        await pilot.press("*")
        await listed(pilot, "0 of 5 hits on 0 pages chosen")  # also those below
        burst(pilot, "*", "*", "*")
        await listed(pilot, "5 hits on 3 pages chosen")
        await pilot.resize_terminal(120, 40)
        await until(pilot, holds=lambda: len(pilot.app.screen.rows.visible_range) > 6)
        await pilot.press("*", "V", "G", "V")
        await listed(pilot, "1 of 5 hits on 1 page chosen")
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
        await until(pilot, shows="replaced 4 hits on 3 pages in #")
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
async def test_what_is_wrong_with_a_pattern_is_shown_at_its_field(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    path = await drafted(client, "Animals", page("Zoo", ZOO + "a" * 60 + "!\n"))
    regex = ("tab", "tab", "tab", "space")
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await opened(pilot, path["change_request_id"])
        await pilot.press("enter")
        await until(pilot, shows="Find: required")
        await searched(pilot, "(", r"\2", *regex)
        await until(pilot, shows="Find: invalid: missing ), unterminated subpattern at position 0")
        assert pilot.app.focused.id == "find"
        await pilot.press("escape")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        assert json.loads(pilot.app.engine.outbox.draft(f"replace {SPACE}"))["find"] == "(", "it is a draft"
        await pilot.press(".", "f")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReplaceForm))
        await until(pilot, holds=lambda: getattr(pilot.app.focused, "value", "") == "(")
        await pilot.press("end", *"z)", "enter")
        await until(pilot, shows="Replace: invalid: invalid group reference 2")
        assert pilot.app.focused.id == "replacement"
        await pilot.press("shift+tab", "end", *["backspace"] * 3, *"(a+)+$", "tab", "end", "backspace", "1", "enter")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReplaceScreen))
        await pilot.press("?")  # the screen answers to keys while the pattern runs
        await until(pilot, holds=lambda: not isinstance(pilot.app.screen, ReplaceScreen | ReplaceForm))
        await pilot.press("escape")
        await until(pilot, shows="takes more than 4 s on Zoo: use a simpler expression")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReplaceForm))
        await pilot.press("escape")
        await until(pilot, shows="Could not search")
        await pilot.press(".", "f")
        await until(pilot, holds=lambda: isinstance(pilot.app.screen, ReplaceForm))
        await pilot.press("end", *["backspace"] * 6, *"(none)", "enter")
        await listed(pilot, "No hits on ")
        await pilot.press("ctrl+s")
        await until(pilot, shows="no hit is chosen: space chooses one")


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


@pytest.mark.slow
async def test_offline_read_only_and_without_the_role_nothing_is_replaced(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    await merged(client, page("Zoo", ZOO))
    async with running(app_on(service, tmp_path, read_only=True)) as pilot:
        await opened(pilot)
        await searched(pilot, "zebra", "horse")
        await listed(pilot, "2 of 3 hits on 1 page chosen")
        await pilot.press("ctrl+s")
        await until(pilot, shows="this profile is read-only")
    async with running(app_on(service, tmp_path / "reader", token=token_of(service, "ada"))) as pilot:
        await opened(pilot)
        await searched(pilot, "zebra", "horse")
        await listed(pilot, "2 of 3 hits on 1 page chosen")
        await pilot.press("ctrl+s")
        await until(pilot, shows="you need the level edit in this space")
    async with running(app_on(service, tmp_path)) as pilot:
        await opened(pilot)
        await until(pilot, holds=lambda: getattr(pilot.app.focused, "value", "") == "zebra")  # the draft
        service.stop()
        await pilot.press("enter")
        await listed(pilot, "offline: searched the cache")
        await until(pilot, shows="2 of 3 hits on 1 page chosen")
        await pilot.press("ctrl+s")
        await until(pilot, shows="you are offline, and edits cannot be queued")
        service.start()
    listing = ListChangeRequests(space_id=SPACE, status="draft")
    assert not [request for request in (await client.send(listing)).items if "zebra" in request.subject]


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
