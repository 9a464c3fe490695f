"""Verbs of the tree and of the lists of a space by their keys: marks, addresses, the other editor, and undo."""

from pathlib import Path
from typing import Any, cast

import pytest
from tests.running_service import RunningService
from tests.service_users import page_of
from tests.tui.app_driver import app_on, down_to, pick, running, until, write
from tests.tui.space_content import PAGE, PNG, drafted, file, listed, merged, opened, page

from presscheck.client.client import Client
from presscheck.tui.app import PresscheckApp
from presscheck.tui.places import Place
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.replace.form import ReplaceForm
from presscheck.tui.screens.replace.screen import ReplaceScreen
from presscheck.tui.screens.space_content.screen import SpaceContentScreen


@pytest.fixture(autouse=True)
def far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """No editor of one's own, and addresses are copied, as over SSH."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setenv("SSH_CONNECTION", "elsewhere")


async def test_pages_are_marked_by_range_and_their_address_is_copied(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        app = cast("PresscheckApp", pilot.app)
        await app.go(Place.page("guides"))
        await until(pilot, shows="Quickstart", holds=lambda: isinstance(app.screen, BrowseScreen))
        browse = cast("BrowseScreen", app.screen)
        await until(pilot, holds=lambda: browse.item is not None and browse.item.key == "space guides")
        await pilot.press("y")
        await until(pilot, shows="copied")
        space = app.clipboard
        assert space.endswith("/guides")
        await pilot.press("V")
        await until(pilot, shows="a range starts here: V ends it")
        await pilot.press("j", "j", "V")
        await until(pilot, shows="2 pages marked")  # the space itself is no page
        await pilot.press("escape")
        await until(pilot, holds=lambda: not browse.tree_view.marks.keys)
        await pilot.press("*")
        await until(pilot, shows="pages marked", holds=lambda: len(browse.tree_view.marks.keys) > 2)
        await pilot.press("*")
        await until(pilot, shows="no page is marked", holds=lambda: not browse.tree_view.marks.keys)
        assert browse.item is not None
        assert browse.item.page is not None
        await pilot.press("y")
        await until(pilot, holds=lambda: app.clipboard == f"{space}/{browse.item.page.path}")


@pytest.mark.slow
async def test_the_lists_of_a_space(service: RunningService, client: Client, tmp_path: Path) -> None:
    await merged(client, page("Limits", "# Limits\n\nText."), page("Map", PAGE), file("plan.png", PNG))
    path = await drafted(client, "Maps")
    async with running(app_on(service, tmp_path)) as pilot:
        app = cast("PresscheckApp", pilot.app)
        await opened(pilot)
        await listed(pilot)
        await until(pilot, shows="gone.md")
        # the change request to edit in
        await pilot.press("O")
        await pick(pilot, "Maps")
        await until(pilot, shows="Maps › Release notes › Links and files")
        await listed(pilot)
        # a link
        await pilot.press("z")
        await until(pilot, shows="nothing to undo: no change of yours was sent from here")
        await pilot.press("g", "g")
        await down_to(pilot, "gone.md")
        await pilot.press("o")
        await until(pilot, shows="this link leads to no web address: enter opens its page")
        await pilot.press("Y")
        await until(pilot, holds=lambda: app.clipboard == "gone.md")
        await down_to(pilot, "example.org")
        await pilot.press("o")
        await until(pilot, shows="copied: https://example.org/")
        # its page, in the editor that is not the usual one, and back
        await pilot.press("l", "l", "h", "h")
        await until(pilot, shows="gone.md")
    async with running(app_on(service, tmp_path, editor="external")) as pilot:
        app = cast("PresscheckApp", pilot.app)
        await opened(pilot, request=path["change_request_id"])
        await listed(pilot)
        await until(pilot, shows="gone.md")
        await down_to(pilot, "gone.md")
        await pilot.press(".", "e")
        await until(pilot, holds=lambda: isinstance(app.focused, MarkdownArea))
        await pilot.press("ctrl+end", *"Seen.", "ctrl+s")
        await until(pilot, shows="Save to the change request?")
        await pilot.press("y")
        await until(pilot, holds=lambda: isinstance(app.screen, SpaceContentScreen))
        await pilot.press("z")
        await until(pilot, shows="Undo")
        await pilot.press("y")
        await until(pilot, holds=lambda: app.engine.history()[0].undoes is not None and not app.engine.waiting())
        assert "Seen." not in ((await page_of(client, path, "Map")).markdown or "")
        # a file
        await pilot.press("2")
        await until(pilot, shows="plan.png")
        await pilot.press("Y")
        await until(pilot, holds=lambda: app.clipboard == "![plan.png](/plan.png)")
        await pilot.press("y")
        await until(pilot, holds=lambda: app.clipboard.startswith("http"))
        address = app.clipboard
        await pilot.press("o")
        await until(pilot, shows="Address, copied", holds=lambda: app.clipboard == address)


@pytest.mark.slow
async def test_a_replacement_searches_again(service: RunningService, client: Client, tmp_path: Path) -> None:
    await merged(client, page("Zoo", "A zebra runs."))
    async with running(app_on(service, tmp_path), (80, 24)) as pilot:
        await until(pilot, shows="Needs me")
        app: Any = pilot.app
        await app.go(Place.page("notes"))
        await until(pilot, holds=lambda: app.screen.item is not None and app.screen.item.key == "space notes")
        await pilot.press(".", "f")
        await until(pilot, holds=lambda: isinstance(app.screen, ReplaceForm))
        await write(pilot, "", "zebra", "tab", *"horse", "enter")
        await until(pilot, shows="1 hit on 1 page chosen", holds=lambda: isinstance(app.screen, ReplaceScreen))
        await merged(client, page("Farm", "Another zebra."))
        await pilot.press("ctrl+r")
        await until(pilot, shows="2 hits on 2 pages chosen")
        await until(pilot, shows="[x] Farm")
