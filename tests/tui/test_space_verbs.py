"""Spaces and collections in the tree by keys: create, change, move, lock, duplicate, delete, restore, undo."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.operation_keys.driver import logged_requests
from tests.tui.tree_driver import to_item

from presscheck.api.collections import Collection, ListCollections
from presscheck.api.spaces import DeleteSpace, GetSpace, ListSpaces, Space
from presscheck.client.client import Client
from presscheck.store.outbox import Outbox
from presscheck.text.phrases import now
from presscheck.tui.screens.browse.deleted_spaces import DeletedSpaces
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.emoji import emoji_character, emoji_code

ORGANIZATION = {"organization_id": "tallowick"}


@asynccontextmanager
async def tree(
    service: RunningService, home: Path, size: tuple[int, int] = (120, 40), **profile: Any
) -> AsyncIterator[Any]:
    """Run the app with the tree open and loaded."""
    async with running(app_on(service, home, **profile), size) as pilot:
        await until(pilot, shows="live" if not profile.get("read_only") else "read-only")
        await pilot.press("g", "o")
        await until(pilot, shows="Runbook", holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        yield pilot


async def at(pilot: Any, key: str) -> None:
    """Move the cursor to an item by its key."""
    await to_item(pilot, lambda item: item.key == key)


def order(pilot: Any) -> list[str]:
    """Return the titles of the visible rows of the tree, from the top."""
    screen = pilot.app.screen
    return [screen.library.item(row.node.key).title for row in screen.tree_view._rows]


async def spaces(client: Client) -> list[Space]:
    return list((await client.send(ListSpaces(**ORGANIZATION, limit=100))).items)


async def collections(client: Client) -> list[Collection]:
    return list((await client.send(ListCollections(**ORGANIZATION, nested=True, limit=100))).items)


async def comes(pilot: Any, holds: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until `holds` returns a true value, and return it."""
    async with asyncio.timeout(20):
        while not (value := await holds()):
            await pilot.pause(0.02)
    return value


async def sure(pilot: Any, question: str, title: str) -> None:
    """Wait for a question, type the title, and confirm."""
    await until(pilot, shows=question)
    await write(pilot, "", title, "enter")


@pytest.mark.slow
async def test_spaces_and_collections_are_created_where_the_cursor_is(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "collection internal")
        await pilot.press("a")
        await until(pilot, shows="Space at the top level")
        await pick(pilot, "Collection in Internal")
        await write(pilot, "", "Rules [b]", "enter")
        await until(pilot, holds=lambda: "Rules [b]" in order(pilot))
        made = await comes(pilot, lambda: named(collections, client, "Rules [b]"))
        assert made.parent == "internal"
        await at(pilot, "space handbook")
        await pilot.press("a")
        await until(pilot, shows="Page in Handbook")
        await pick(pilot, "Space in Internal")
        await write(pilot, "", "Pla", "escape")
        await pilot.press("a")
        await pick(pilot, "Space in Internal")
        await until(pilot, shows="Title of the new space")
        await write(pilot, "", "ybook", "enter")
        await until(pilot, shows="› Playbook")  # the cursor is on it
        assert (await comes(pilot, lambda: named(spaces, client, "Playbook"))).parent == "internal"
        await pilot.press("E")
        await pick(pilot, "Emoji")
        await write(pilot, "", "", *["backspace"] * 5, "x")
        await until(pilot, shows="one emoji, or its code")
        await pilot.press("backspace", *"1f680", "enter")
        await until(pilot, shows="🚀 Playbook")
        await pilot.press("z")
        await until(pilot, shows="Undo: ")
        await pilot.press("y")
        await until(pilot, shows="undone", holds=lambda: "🚀" not in shown(pilot.app))


async def named(listed: Callable[[Client], Awaitable[list[Any]]], client: Client, title: str) -> Any:
    return next((item for item in await listed(client) if item.title == title), None)


@pytest.mark.parametrize(
    ("typed", "code", "character"),
    [
        ("🚀", "1f680", "🚀"),
        ("⚡\ufe0f", "26a1", "⚡"),
        ("2B50", "2b50", "⭐"),
        ("❤\ufe0f", "2764", ""),
        ("🇩🇪", "1f1e9-1f1ea", ""),
        ("👩\u200d💻", "1f469-200d-1f4bb", ""),
        ("🇩", None, ""),
        ("🚀🚀", None, ""),
        ("→", None, ""),
        ("漢", None, ""),
        ("rocket", None, ""),
    ],
)
def test_an_emoji_is_one_symbol_and_shown_only_if_it_has_two_cells_in_every_terminal(
    typed: str, code: str | None, character: str
) -> None:
    assert emoji_code(typed) == code
    assert emoji_character(code) == character


@pytest.mark.slow
async def test_items_move_among_siblings_and_to_another_collection(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "space handbook")
        before = order(pilot)
        assert before.index("Handbook") < before.index("Runbook")
        await pilot.press("J")
        assert order(pilot).index("Handbook") > order(pilot).index("Runbook"), "shown at once"
        await comes(pilot, lambda: in_order(client, "runbook", "handbook"))
        await pilot.press("z")
        await until(pilot, shows="back to its former position")
        await pilot.press("y")
        await until(pilot, holds=lambda: order(pilot) == before)
        await at(pilot, "collection developers")
        await pilot.press("h")
        await at(pilot, "space handbook")
        await pilot.press(".", "m")
        await until(pilot, shows="Product › Developers")
        await until(pilot, shows="it is here")
        await pick(pilot, "Product › Developers")
        await comes(pilot, lambda: placed(client, "handbook", "developers"))
        await until(pilot, holds=lambda: order(pilot).index("Handbook") < order(pilot).index("Guides"))
        assert pilot.app.screen.item.key == "space handbook", "the cursor goes with it, into a folded collection"
        await pilot.press("z")
        await until(pilot, shows="Moves the space back to its former collection")
        await pilot.press("y")
        await until(pilot, holds=lambda: order(pilot) == before)
        assert await in_order(client, "handbook", "runbook")


async def in_order(client: Client, *ids: str) -> bool:
    listed = [space.id for space in await spaces(client)]
    return listed.index(ids[0]) < listed.index(ids[1])


async def placed(client: Client, space: str, parent: str) -> bool:
    return (await client.send(GetSpace(space_id=space))).parent == parent


@pytest.mark.slow
async def test_a_space_is_duplicated_deleted_and_restored(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path) as pilot:
        await pilot.press("g", "d")
        await until(pilot, shows="No space was deleted in the last seven days")
        await pilot.press("escape")
        await at(pilot, "space runbook")
        await pilot.press(".", "c")
        await until(pilot, shows="› Copy of Runbook")
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "Copy of Runbook")
        await until(pilot, shows="no site publishes it")
        with logged_requests() as requests:
            await pilot.press("-")
            await sure(pilot, "Delete the space Copy of Runbook?", "Copy of Runbook")
            await until(pilot, shows="g d restores it", holds=lambda: "Copy of Runbook" not in order(pilot))
            await until(pilot, holds=lambda: any(request.line.endswith("/spaces 200") for request in requests))
        assert [request.line for request in requests if request.status == 404] == []
        await client.send(DeleteSpace(space_id="cli"))  # outside the app
        await pilot.press("ctrl+r")
        await until(pilot, holds=lambda: "Command line" not in order(pilot))
        await pilot.press("g", "d")
        await until(pilot, shows="Copy of Runbook")
        await until(pilot, shows="days left")
        await pick(pilot, "Command line")
        await until(pilot, shows="› Command line", holds=lambda: "Command line" in order(pilot))
        assert (await client.send(GetSpace(space_id="cli"))).deleted_at is None
        await pilot.press("g", "d")
        await until(pilot, shows="days left")
        assert "Command line" not in [choice.label for choice in pilot.app.screen.choices]


async def test_a_space_that_disappears_while_deleted_spaces_load_is_remembered(outbox: Outbox) -> None:
    gone = {identity: Space(id=identity, title=identity.title(), organization="o") for identity in ("runbook", "cli")}
    asked: list[str] = []

    class Engine:
        def __init__(self) -> None:
            self.outbox = outbox

        def history(self) -> list[Any]:
            return []

        async def read(self, call: GetSpace) -> Space:
            asked.append(call.space_id)
            deleted.remember("o", [gone["cli"]])
            return gone[call.space_id].model_copy(update={"deleted_at": now().isoformat()})

    engine: Any = Engine()
    deleted = DeletedSpaces(engine)
    deleted.remember("o", [gone["runbook"]])
    assert [space.title for space in await deleted.restorable("o")] == ["Runbook"]
    assert asked == ["runbook"], "it was not asked about more"
    assert sorted(space.title for space in await deleted.restorable("o")) == ["Cli", "Runbook"]


@pytest.mark.slow
async def test_the_filter_reads_the_pages_of_spaces_that_were_never_opened(
    service: RunningService, tmp_path: Path
) -> None:
    async with tree(service, tmp_path, (80, 24)) as pilot:
        before = order(pilot)
        await write(pilot, "/", "limits")
        found = ["Product", "Developers", "API docs", "Limits"]
        await until(pilot, shows="1 match", holds=lambda: order(pilot) == found)
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "Limits")
        await pilot.press("g", "g")
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "Product")
        await pilot.press("escape")
        await until(pilot, holds=lambda: order(pilot) == before)
