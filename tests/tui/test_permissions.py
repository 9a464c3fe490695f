"""The permissions screen by keys: levels and their paths, teams of a collection, teams of a person."""

from pathlib import Path
from typing import Any

from tests.hostile_strings import ACTS
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, pick, running, shown, until, write
from tests.tui.permissions import open_family
from tests.tui.site_access import comes

from presscheck.api.collections import GetCollection, UpdateCollection
from presscheck.api.permissions import ListCollectionTeamPermissions, UpdateCollectionTeamPermission
from presscheck.api.teams import CreateTeam, ListTeamMembers
from presscheck.client.client import Client
from presscheck.tui.screens.access.screen import AccessScreen
from presscheck.tui.screens.text_screen import TextScreen

ORG = {"organization_id": "tallowick"}
HOSTILE = "\x1b[2J[b]"


async def loaded(pilot: Any) -> AccessScreen:
    """Return the permissions screen once its rows are loaded."""
    await until(pilot, holds=lambda: isinstance(pilot.app.screen, AccessScreen))
    screen: AccessScreen = pilot.app.screen
    await until(pilot, holds=lambda: screen.lists.tab.total is not None)
    return screen


def line_with(pilot: Any, text: str) -> str:
    """Return the first line of the screen that contains a text; empty if there is none."""
    return next((line for line in shown(pilot.app).split("\n") if text in line), "")


async def go_to(pilot: Any, text: str) -> None:
    """Move the cursor to the first row that contains a text."""
    await pilot.press("g", "g")
    screen: AccessScreen = pilot.app.screen
    await until(pilot, shows=text)
    tab = screen.lists.tab
    for _ in range(tab.count):
        if tab.current and text in tab.searched(tab.current):
            return
        await pilot.press("j")
    raise AssertionError(f"no row with {text!r}:\n{shown(pilot.app)}")


async def test_a_level_shows_its_paths_and_is_changed_at_its_source(
    service: RunningService, tmp_path: Path, client: Client
) -> None:
    team = await client.send(CreateTeam(**ORG, title=f"Writers {HOSTILE}", members=("luz",)))
    await client.send(UpdateCollectionTeamPermission(collection_id="product", team_id=team.id, role="edit"))

    async def level() -> str | None:
        listed = (await client.send(ListCollectionTeamPermissions(collection_id="product"))).items
        return next((one.permission for one in listed if one.team.id == team.id), None)

    async def is_level(value: str | None) -> bool:
        return await level() == value

    async def role() -> str | None:
        people = (await client.send(ListTeamMembers(**ORG, team_id=team.id))).items
        return next((one.team.role for one in people if one.organization.id == "luz"), None)

    async def is_role(value: str | None) -> bool:
        return await role() == value

    async with running(app_on(service, tmp_path / "home")) as pilot:
        await until(pilot, shows="live")
        await pilot.press("g", "o")
        await until(pilot, shows="API docs")  # guests see what their teams may read
        await pilot.press("j", "j")
        await until(pilot, holds=lambda: pilot.app.screen.item.title == "API docs")
        await pilot.press("g", "w")
        on_space = await loaded(pilot)
        await until(pilot, shows="8 of 8 members have access")
        await until(pilot, shows="Product › Developers › API docs")
        assert "on Product" in line_with(pilot, "Luz Quispe") and " edit " in line_with(pilot, "Luz Quispe")
        assert "role in Tallowick" in line_with(pilot, "Ada Moreau")
        assert not ACTS.search(shown(pilot.app).replace("\n", ""))
        # all paths that give a level, the highest level first
        await go_to(pilot, "Luz Quispe")
        await pilot.press("enter")
        await until(pilot, shows="Level here: edit", holds=lambda: isinstance(pilot.app.screen, TextScreen))
        assert "✓ edit" in line_with(pilot, "team Writers")
        assert "comment  role in the organization: Tallowick › Product › Developers › API docs" in shown(pilot.app)
        await pilot.press("q")
        # the space shows the team; its level is changed on the collection that gives it
        await pilot.press("2", "E")
        await until(pilot, shows="teams get a level on a collection, not on a space")
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen is not on_space)
        on_collection = await loaded(pilot)
        await pilot.press("2", "E")
        await pick(pilot, "review")
        await comes(pilot, lambda: is_level("review"))
        await until(pilot, holds=lambda: " review " in line_with(pilot, "this collection"))
        await pilot.press("-")
        await until(pilot, shows="review → comment: 1 person (Luz Quispe)")
        await pilot.press("y")
        await comes(pilot, lambda: is_level(None))
        await until(pilot, shows="No team has a level here")
        await pilot.press("z")
        await until(pilot, shows="Restores the level of the team “review”")
        await pilot.press("y")
        await comes(pilot, lambda: is_level("review"))
        # the default level holds for all below it
        await pilot.press("1", ".", "s")
        await pick(pilot, "comment")
        await until(pilot, shows="default level: comment")
        await until(pilot, holds=lambda: "default level of Product" in line_with(pilot, "Jón"))
        assert (await client.send(GetCollection(collection_id="product"))).default_level == "comment"
        await pilot.press("q")
        await until(pilot, holds=lambda: pilot.app.screen is on_space and on_space is not on_collection)
        await until(pilot, shows="default level: comment, inherited from Product")
        await pilot.press("1")
        await write(pilot, "/", "luz", "enter")
        await until(pilot, holds=lambda: on_space.lists.tab.count == 1)
        await client.send(UpdateCollection(collection_id="product", default_level="inherit"))

        # the same levels on the permissions screen of a person
        table = await open_family(pilot, "Members")
        while "Luz" not in table.table.name_of(table.table.current):
            await pilot.press("j")
        await pilot.press("enter")
        await loaded(pilot)
        await until(pilot, shows="Permissions › Luz Quispe")
        await until(pilot, holds=lambda: "on Product" in line_with(pilot, "Guides"))
        assert "role in Tallowick" in line_with(pilot, "Tallowick Docs")
        await pilot.press("2", "E")
        await pick(pilot, "owner")
        await comes(pilot, lambda: is_role("owner"))
        await until(pilot, holds=lambda: " owner " in line_with(pilot, "Writers"))
        await pilot.press("-")
        await until(pilot, shows="review → comment: 6 places (Product")
        await pilot.press("y")
        await comes(pilot, lambda: is_role(None))
        await until(pilot, shows="In no team.")
        await pilot.press("z")
        await until(pilot, shows="Restores the role in the team “owner”")
        await pilot.press("escape", "a")
        await until(pilot, shows="Add Luz Quispe to teams")
        await pilot.press("enter")
        await pick(pilot, "member")
        await comes(pilot, lambda: is_role("member"))
