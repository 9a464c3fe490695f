"""Spaces and collections in the tree by keys: create, change, move, lock, duplicate, delete, restore, undo."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.orm import Session
from tests.running_service import RunningService
from tests.service_users import somebody, token_of
from tests.stalling_proxy import holding_back
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.operation_keys.driver import logged_requests
from tests.tui.tree_driver import to_item

from presscheck.api.collections import Collection, ListCollections
from presscheck.api.spaces import CreateSpace, DeleteSpace, GetSpace, ListSpaces, Space, UpdateSpace
from presscheck.client.client import Client
from presscheck.service.db.engine import Database
from presscheck.service.models.organizations import MemberRow, OrganizationRow
from presscheck.tui.screens.browse import live_tree
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.emoji import emoji_character, emoji_code

ORGANIZATION = {"organization_id": "tallowick"}


@asynccontextmanager
async def tree(
    service: RunningService, home: Path, size: tuple[int, int] = (120, 40), **profile: Any
) -> AsyncIterator[Any]:
    """The app with the tree open, all of it loaded."""
    async with running(app_on(service, home, **profile), size) as pilot:
        await until(pilot, shows="live" if not profile.get("read_only") else "read-only")
        await pilot.press("g", "o")
        await until(pilot, shows="Runbook", holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
        yield pilot


async def at(pilot: Any, key: str) -> None:
    """Move the cursor to an item by its key."""
    await to_item(pilot, lambda item: item.key == key)


def order(pilot: Any) -> list[str]:
    """The titles in the tree from the top, of all rows that are visible."""
    screen = pilot.app.screen
    return [screen.library.item(row.node.key).title for row in screen.tree_view._rows]


async def spaces(client: Client) -> list[Space]:
    return list((await client.send(ListSpaces(**ORGANIZATION, limit=100))).items)


async def collections(client: Client) -> list[Collection]:
    return list((await client.send(ListCollections(**ORGANIZATION, nested=True, limit=100))).items)


async def comes(pilot: Any, holds: Callable[[], Awaitable[Any]]) -> Any:
    """Wait until the service has something; what it has."""
    async with asyncio.timeout(20):
        while not (value := await holds()):
            await pilot.pause(0.02)
    return value


async def sure(pilot: Any, question: str, title: str) -> None:
    """Type the title into a confirmation, and confirm."""
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
        await pilot.press("z")
        await until(pilot, shows="Deletes the space “Playbook”")
        await pilot.press("y")
        await until(pilot, shows="undone", holds=lambda: "Playbook" not in order(pilot))


async def named(listed: Callable[[Client], Awaitable[list[Any]]], client: Client, title: str) -> Any:
    return next((item for item in await listed(client) if item.title == title), None)


@pytest.mark.slow
async def test_title_emoji_and_description_are_changed_and_undone(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "space cli")
        await pilot.press("E")
        await pick(pilot, "Title")
        await write(pilot, "", "!", "enter")
        await until(pilot, shows="Command line!")
        await pilot.press("z")
        await until(pilot, shows="Restores the title “Command line”")
        await pilot.press("y")
        await until(pilot, holds=lambda: "Command line" in order(pilot))
        await pilot.press("E")
        await pick(pilot, "Emoji")
        await write(pilot, "", "", "backspace", "x")
        await until(pilot, shows="one emoji, or its code")
        await pilot.press("backspace", *"1f680", "enter")
        await until(pilot, shows="🚀 Command line")
        await at(pilot, "collection product")
        await pilot.press("E")
        await pick(pilot, "Description")
        await write(pilot, "", " here", "enter")
        product = await comes(pilot, lambda: described(client, "What customers read here"))
        assert product.id == "product"


@pytest.mark.slow
async def test_emoji_of_older_blocks_are_shown_and_flags_can_be_set_and_removed(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path, (80, 24)) as pilot:
        await at(pilot, "space cli")

        async def emoji(*keys: str) -> None:
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, BrowseScreen))
            await pilot.press("E")
            await pick(pilot, "Emoji")
            await write(pilot, "", "", *["backspace"] * 12, *keys)

        async def stored(code: str | None) -> Space | None:
            space = await client.send(GetSpace(space_id="cli"))
            return space if space.emoji == code else None

        await emoji("✨", "enter")
        await comes(pilot, lambda: stored("2728"))
        await until(pilot, shows="✨ Command line")
        await emoji(*"1F1E9-1F1EA", "enter")
        await comes(pilot, lambda: stored("1f1e9-1f1ea"))
        await until(pilot, shows="▢ Command line")  # terminals differ in how wide a flag is
        await pilot.press("E")
        await until(pilot, shows="1f1e9-1f1ea")
        await pilot.press("escape")
        await emoji("enter")

        async def is_gone() -> bool:
            return not (await client.send(GetSpace(space_id="cli"))).emoji

        await comes(pilot, is_gone)


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
def test_an_emoji_is_one_symbol_and_shown_where_every_terminal_has_it_in_two_cells(
    typed: str, code: str | None, character: str
) -> None:
    assert emoji_code(typed) == code
    assert emoji_character(code) == character


async def described(client: Client, text: str) -> Collection | None:
    return next((item for item in await collections(client) if item.description == text), None)


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
        await pilot.press("J")
        await until(pilot, shows="this is the last space here")
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
        await at(pilot, "collection internal")
        await pilot.press("K")
        await until(pilot, holds=lambda: order(pilot)[0] == "Internal")
        await comes(pilot, lambda: first_is(client, "internal"))


async def in_order(client: Client, *ids: str) -> bool:
    listed = [space.id for space in await spaces(client)]
    return listed.index(ids[0]) < listed.index(ids[1])


async def placed(client: Client, space: str, parent: str) -> bool:
    return (await client.send(GetSpace(space_id=space))).parent == parent


async def first_is(client: Client, collection: str) -> bool:
    return next(item.id for item in await collections(client) if item.parent is None) == collection


@pytest.mark.slow
async def test_a_refused_move_puts_the_tree_back(service: RunningService, client: Client, tmp_path: Path) -> None:
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "space handbook")
        before = order(pilot)
        await client.send(DeleteSpace(space_id="runbook"))
        await pilot.press("J")
        await until(pilot, shows="✗")
        await until(pilot, holds=lambda: order(pilot).index("Handbook") == before.index("Handbook"))


@pytest.mark.slow
async def test_a_lock_and_settings_are_shown_and_undone(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path, (80, 24)) as pilot:
        await at(pilot, "space guides")
        await pilot.press(".", "l")
        await until(pilot, shows="Guides locked: z undoes it")
        await until(pilot, shows="■")
        await until(pilot, shows="Guides   locked")
        await pilot.press("z")
        await until(pilot, shows="Unlocks the space")
        await pilot.press("y")
        await until(pilot, holds=lambda: "■" not in shown(pilot.app))
        await pilot.press(".", "s")
        await pick(pilot, "Default level")
        await pick(pilot, "comment")
        await comes(pilot, lambda: has(client, default_level="comment"))
        await pilot.press(".", "s")
        await until(pilot, shows="those of the organization")
        await pick(pilot, "Merge rules")
        await pick(pilot, "Rules of this space")
        await until(pilot, shows="change request subject")
        await pilot.press("tab", "enter")
        await until(pilot, shows="· at least one review")
        await pilot.press("y")
        space = await comes(pilot, lambda: has(client, default_level="comment", is_ruled=True))
        assert [rule.rule for rule in space.merge_rules.rules] == ["require_at_least_one_review"]
        await until(pilot, holds=lambda: pilot.app.screen.item.space.merge_rules.type == "rules")
        await pilot.press("z")
        await until(pilot, shows="Restores the merge rules “those of the organization”")
        await pilot.press("y")
        await comes(pilot, lambda: has(client, default_level="comment", is_ruled=False))


async def has(client: Client, *, default_level: str, is_ruled: bool | None = None) -> Space | None:
    space = await client.send(GetSpace(space_id="guides"))
    is_set = space.merge_rules is not None and space.merge_rules.type == "rules"
    return space if space.default_level == default_level and is_ruled in (None, is_set) else None


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
        await client.send(DeleteSpace(space_id="cli"))  # by somebody else
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


@pytest.mark.slow
async def test_a_space_that_disappears_while_deleted_ones_are_looked_for_is_remembered(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    answered, asked = threading.Event(), list[str]()
    answered.set()
    with holding_back(service, tmp_path, "/spaces/runbook HTTP", until=answered, asked=asked) as address:
        async with tree(service, tmp_path, base_url=address) as pilot:
            await client.send(DeleteSpace(space_id="runbook"))
            await pilot.press("ctrl+r")
            await until(pilot, holds=lambda: "Runbook" not in order(pilot))
            answered.clear()
            asked.clear()
            await pilot.press("g", "d")
            await until(pilot, holds=lambda: any(path.endswith("/spaces/runbook") for path in asked))
            await client.send(DeleteSpace(space_id="cli"))
            await pilot.press("ctrl+r")
            await until(pilot, holds=lambda: "Command line" not in order(pilot))
            answered.set()
            await until(pilot, shows="days left")
            assert [choice.label for choice in pilot.app.screen.choices] == ["Runbook"], "it was not asked about more"
            await pilot.press("escape", "g", "d")
            await until(pilot, shows="Command line")
            assert sorted(choice.label for choice in pilot.app.screen.choices) == ["Command line", "Runbook"]


@pytest.mark.slow
async def test_a_collection_is_deleted_after_its_title_is_typed(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "collection developers")
        await pilot.press("-")
        await until(pilot, shows="Its content moves up one level: 2 spaces.")
        await sure(pilot, "Delete the collection Developers?", "Developers")
        await until(pilot, holds=lambda: "Developers" not in order(pilot))
        assert await placed(client, "api", "product")


@pytest.mark.slow
async def test_what_others_change_appears_without_asking(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_tree, "INTERVAL", 0.1)
    async with tree(service, tmp_path) as pilot, somebody(service, "mia") as (mia,):
        await at(pilot, "space runbook")
        made = await mia.send(CreateSpace(**ORGANIZATION, title="Mia's own", parent="product"))
        await until(pilot, shows="Mia's own")
        assert pilot.app.screen.item.key == "space runbook", "the cursor stays"
        await at(pilot, f"space {made.id}")


@pytest.mark.slow
async def test_without_the_role_a_verb_is_disabled_with_the_reason(service: RunningService, tmp_path: Path) -> None:
    async with tree(service, tmp_path, token=token_of(service, "ada")) as pilot:
        await at(pilot, "space guides")
        for keys in ((".", "l"), ("-",), (".", "s"), (".", "t"), ("E",)):
            await pilot.press(*keys)
            await until(pilot, shows="you need the level admin in this space")
            await pilot.press("k", "j")
        await pilot.press("J")
        await until(pilot, shows="you need the level create in Product")
        await pilot.press("a")
        await pick(pilot, "Space in Product")
        await until(pilot, shows="you need the level create in Product")


@pytest.mark.slow
async def test_a_read_only_profile_changes_nothing(service: RunningService, tmp_path: Path) -> None:
    async with tree(service, tmp_path, read_only=True) as pilot:
        await at(pilot, "collection product")
        for keys in (("a",), ("E",), ("J",), (".", "m"), ("-",)):
            await pilot.press(*keys)
            await until(pilot, shows="this profile is read-only")
            await pilot.press("k")


def joined(service: RunningService, organization: str) -> None:
    """Make the owner an admin of another organization."""
    database, moment = Database(service.database_url), "2026-05-20T09:30:00.000Z"

    def add(session: Session) -> None:
        session.add(OrganizationRow(id=organization, title="Elsewhere", created_at=moment))
        session.flush()
        session.add(MemberRow(organization_id=organization, user_id="robin", role="admin", joined_at=moment))

    try:
        database.write(add)
    finally:
        database.close()


@pytest.mark.slow
async def test_a_space_is_transferred_after_its_title_is_typed(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    made = await client.send(CreateSpace(**ORGANIZATION, title="Given", parent="internal"))
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "space guides")
        await pilot.press(".", "t")
        await until(pilot, shows="you are in no other organization")
        joined(service, "elsewhere")
        await pilot.press(".", "t")
        await pick(pilot, "Elsewhere")
        await sure(pilot, "Transfer Guides to Elsewhere?", "Guides")
        await until(pilot, shows="The space is used by sites")
        assert "Guides" in order(pilot)
        await at(pilot, f"space {made.id}")
        await pilot.press(".", "t")
        await pick(pilot, "Elsewhere")
        await sure(pilot, "Transfer Given to Elsewhere?", "Given")
        await until(pilot, shows="Given is now in Elsewhere", holds=lambda: "Given" not in order(pilot))
        assert (await client.send(GetSpace(space_id=made.id))).organization == "elsewhere"


@pytest.mark.slow
async def test_the_signs_of_a_space_are_explained_in_the_keys(
    service: RunningService, client: Client, tmp_path: Path
) -> None:
    title = "Release notes with a title that is long"
    await client.send(UpdateSpace(space_id="notes", title=title, edit_mode="locked", emoji=None))
    async with tree(service, tmp_path, (80, 24)) as pilot:
        await until(pilot, shows="■")
        row = next(line for line in shown(pilot.app).splitlines() if "■" in line)
        assert "…" in row, "the title is cut, the sign stays"
        assert "▸ ▢ Release notes" in row, "without an emoji it has the sign of a space"
        await write(pilot, "?", "locked")
        await until(
            pilot, holds=lambda: any("■" in line and "locked" in line for line in shown(pilot.app).splitlines())
        )


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


@pytest.mark.slow
async def test_the_tree_is_filtered_also_in_what_is_folded(service: RunningService, tmp_path: Path) -> None:
    async with tree(service, tmp_path) as pilot:
        await at(pilot, "space api")
        await pilot.press("l")
        await until(pilot, shows="Overview")
    async with tree(service, tmp_path) as pilot:  # its pages are in the cache, but not in the tree
        before = order(pilot)
        assert "Limits" not in before
        await write(pilot, "/", "limits")
        await until(pilot, holds=lambda: order(pilot) == ["Product", "Developers", "API docs", "Limits"])
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "Limits")
        await pilot.press("g", "g")
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "Product")
        await pilot.press("escape")
        await until(pilot, holds=lambda: order(pilot) == before)
        await write(pilot, "/", "no such thing")
        await until(pilot, shows="Nothing that is loaded", holds=lambda: order(pilot) == [])
        await pilot.press("escape")
        await until(pilot, holds=lambda: order(pilot) == before)
