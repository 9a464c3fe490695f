"""Actions on pages in the tree of Browse: move, mark, hide, delete and undo, also while other users move pages."""

import threading
from pathlib import Path

import pytest
from tests.engine.live_engine import until as eventually
from tests.running_service import RunningService
from tests.service_users import page_of, somebody
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, running, shown, until, write
from tests.tui.handbook_tree import (
    START,
    asks,
    at_page,
    begun,
    cursor,
    handbook,
    outline_at,
    sent_as,
    tree,
    undoes,
)

from presscheck.api.change_requests import (
    UpdateChangeRequest,
)
from presscheck.api.comments import Document
from presscheck.api.content_changes import EditChangeRequestContent, InsertPage, UpdatePage
from presscheck.client.client import Client
from presscheck.tui.places import Place
from presscheck.tui.screens.browse import live_tree
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.prompt_dialog import PromptDialog


@pytest.mark.slow
async def test_pages_move_up_down_in_and_out_at_once_and_are_sent_in_order(
    service: RunningService, tmp_path: Path
) -> None:
    answered = threading.Event()
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        with holding_back(service, tmp_path, "POST", until=answered) as address:
            async with handbook(service, tmp_path, at, base_url=address) as pilot:
                await at_page(pilot, "How we write")
                await pilot.press("K")
                await until(pilot, shows="this is the first page here")
                await pilot.press(")")
                await until(pilot, shows="there is no page before it to go into")
                await pilot.press("(")
                await until(pilot, shows="it is at the top level already")
                await pilot.press("J", "J", "J", "K")
                moved = "Words, Reviews, How we write, Pictures, Who does what"
                await until(pilot, holds=lambda: tree(pilot) == moved)
                assert cursor(pilot) == "How we write"
                assert await outline_at(client, at) == START, "nothing is sent yet"
                answered.set()
                await sent_as(client, at, moved)
                await pilot.press(")")
                inside = "Words, Reviews [How we write], Pictures, Who does what"
                await until(pilot, holds=lambda: tree(pilot) == inside and cursor(pilot) == "How we write")
                await until(pilot, shows="Reviews › How we write")
                await sent_as(client, at, inside)
                await pilot.press("shift+left")
                await sent_as(client, at, moved)
                await until(pilot, holds=lambda: not pilot.app.screen.move_actions._moves._bursts)
                assert (tree(pilot), cursor(pilot)) == (moved, "How we write")
                await undoes(pilot, "Undo: move page “How we write”?", "Moves the page back to its former place.")
                await sent_as(client, at, inside)
                await until(pilot, holds=lambda: tree(pilot) == inside)
                # unsent moves are sent even if the screen is closed
                answered.clear()
                await at_page(pilot, "Words")
                await pilot.press("J")
                bursts = pilot.app.screen.move_actions._moves._bursts
                await until(pilot, holds=lambda: any(burst.sending for burst in bursts.values()))
                await pilot.press("J", "J")
                last = "Reviews [How we write], Pictures, Who does what, Words"
                await until(pilot, holds=lambda: tree(pilot) == last)
                await pilot.press("q")
                await until(pilot, holds=lambda: not isinstance(pilot.app.screen, BrowseScreen))
                answered.set()
                await sent_as(client, at, last)


@pytest.mark.slow
async def test_a_move_of_another_user_is_neither_overwritten_nor_undone(
    service: RunningService, tmp_path: Path
) -> None:
    async with Client(service.base_url, service.token) as client, somebody(service, "mia") as (mia,):
        at = await begun(client)
        words = await page_of(mia, at, "Words")
        async with handbook(service, tmp_path, at) as pilot:
            await at_page(pilot, "Words")
            change = UpdatePage(page=words.id, into=None, at=4)
            await mia.send(EditChangeRequestContent(**at, changes=(change,)))
            await pilot.press("K")
            hers = "How we write, Reviews, Pictures, Who does what, Words"
            await until(pilot, shows="Not moved: somebody else changed the order here just now")
            await until(pilot, holds=lambda: (tree(pilot), cursor(pilot)) == (hers, "Words"))
            assert await outline_at(client, at) == hers
            await pilot.press("K", "K")
            await sent_as(client, at, "How we write, Reviews, Words, Pictures, Who does what")
            await until(pilot, holds=lambda: not pilot.app.screen.move_actions._moves._bursts)
            again = UpdatePage(page=words.id, into=None, at=0)
            await mia.send(EditChangeRequestContent(**at, changes=(again,)))
            await pilot.press("z")
            await until(pilot, shows="changed by others since")
            assert (await outline_at(client, at)).startswith("Words, ")


async def test_the_pages_that_link_to_a_page_are_named_before_it_is_deleted(
    service: RunningService, tmp_path: Path
) -> None:
    async with running(app_on(service, tmp_path)) as pilot:
        await until(pilot, shows="Needs me")
        await pilot.app.go(Place.page("api", None, "5"))
        await until(pilot, shows="editing #5")
        await at_page(pilot, "Authentication")
        await pilot.press("l")
        await at_page(pilot, "Tokens")
        await pilot.press("-")
        await until(pilot, shows="Delete Tokens?")
        await until(pilot, shows="here: ")
        await until(pilot, shows="It stays live until the change request is merged.")
        assert "Authentication" in shown(pilot.app).partition("here: ")[2].partition("\n")[0]
        await pilot.press("n")
        await until(pilot, holds=asks(pilot, BrowseScreen))


@pytest.mark.slow
async def test_marked_pages_are_moved_hidden_and_deleted_in_one_write(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        async with handbook(service, tmp_path, at) as pilot:

            async def settles(wanted: str) -> None:
                await sent_as(client, at, wanted)
                await until(pilot, holds=lambda: tree(pilot) == wanted)
                await until(pilot, holds=lambda: not pilot.app.screen.move_actions._moves._bursts)

            await at_page(pilot, "Handbook")
            await pilot.press("space")
            await until(pilot, shows="only pages can be marked")
            await at_page(pilot, "Words")
            await pilot.press("space", "space")
            await until(pilot, shows="2 pages marked")
            await until(pilot, shows="•Words")
            await pilot.press("J")
            await settles("How we write, Pictures, Words, Reviews, Who does what")
            await pilot.press(")")
            await settles("How we write, Pictures [Words, Reviews], Who does what")
            await pilot.press("(")
            await settles("How we write, Pictures, Words, Reviews, Who does what")
            await undoes(pilot, "Undo: move 2 pages: “", "Moves 2 pages back to their former places.")
            await settles("How we write, Pictures [Words, Reviews], Who does what")
            await pilot.press("E")
            await until(pilot, shows="Edit 2 pages")
            await pilot.press("h")
            await until(pilot, shows="Reviews  hidden")
            await undoes(pilot, "Undo: hide 2 pages: “")
            await until(pilot, holds=lambda: "hidden" not in shown(pilot.app))
            await pilot.press("-")
            await until(pilot, shows="Delete 2 pages?")
            await until(pilot, shows="They stay live until the change request is merged.")
            await pilot.press("y")
            await settles("How we write, Pictures, Who does what")
            assert not pilot.app.screen.tree_view.marks.keys
            await undoes(pilot, "Undo: delete 2 pages: “")
            await settles("How we write, Pictures [Words, Reviews], Who does what")


@pytest.mark.slow
async def test_pages_added_by_others_appear_and_the_tree_of_an_archived_request_shows_main(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_tree, "INTERVAL", 0.1)
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        async with handbook(service, tmp_path, at) as pilot:
            await at_page(pilot, "Words")
            page = InsertPage(title="Hers", document=Document(markdown="By a program"), at=0)
            await client.send(EditChangeRequestContent(**at, changes=(page,)))
            await until(pilot, holds=lambda: tree(pilot) == f"Hers, {START}")
            assert cursor(pilot) == "Words", "the cursor stays"
            await client.send(UpdateChangeRequest(**at, status="archived"))
            await until(pilot, shows="is archived: showing main again")
            await until(pilot, holds=lambda: "in #" not in shown(pilot.app) and cursor(pilot) == "Words")
            assert tree(pilot) == START


@pytest.mark.slow
async def test_a_page_is_added_inside_another_copied_moved_by_choice_and_described(
    service: RunningService, tmp_path: Path
) -> None:
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        async with handbook(service, tmp_path, at) as pilot:

            async def settles(wanted: str, title: str) -> None:
                await sent_as(client, at, wanted)
                await until(pilot, holds=lambda: tree(pilot) == wanted and cursor(pilot) == title)
                await until(pilot, holds=lambda: not pilot.app.screen.move_actions._moves._bursts)

            await at_page(pilot, "Words")
            await pilot.press("a")
            await until(pilot, shows="Add a page: where from Words?")
            await pilot.press("i")
            await until(pilot, holds=asks(pilot, PromptDialog))
            await write(pilot, "", "Deep", "enter")
            inside = "How we write, Words [Deep], Reviews, Pictures, Who does what"
            await settles(inside, "Deep")
            await pilot.press("escape")
            await at_page(pilot, "Words")
            await pilot.press(".", "c")
            await settles(inside.replace("Reviews", "Words (copy) [Deep], Reviews"), "Words (copy)")
            await undoes(pilot, "Deletes 2 new pages")
            await sent_as(client, at, inside)
            await at_page(pilot, "Words")
            await pilot.press(".", "m")
            await until(pilot, shows="Move Words to")
            assert "Deep" not in [choice.label for choice in pilot.app.screen.matches], "it is below the page itself"
            await pilot.press(*"pict")
            await until(pilot, holds=lambda: [one.label for one in pilot.app.screen.matches][:1] == ["Pictures"])
            await pilot.press("enter")
            await settles("How we write, Reviews, Pictures [Words [Deep]], Who does what", "Words")

            async def has(slug: str, emoji: str | None) -> None:
                async def is_so() -> bool:
                    page = await page_of(client, at, "Words")
                    return (page.slug, page.emoji) == (slug, emoji)

                await eventually(is_so)

            async def choose(letter: str) -> None:
                await until(pilot, holds=asks(pilot, BrowseScreen))
                await pilot.press("E")
                await until(pilot, holds=asks(pilot, Picker))
                await pilot.press(letter)

            await choose("s")
            await write(pilot, "", " x")
            await until(pilot, shows="no spaces, /, ?, # or %")
            await pilot.press("backspace", "backspace", *"-x", "enter")
            await has("words-x", None)
            await choose("e")
            await write(pilot, "", "🚀", "enter")
            await has("words-x", "1f680")
            await until(pilot, shows="🚀 Words")
            await undoes(pilot, "Undo: change emoji of page “Words”?")
            await has("words-x", None)
