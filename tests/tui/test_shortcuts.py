"""Bookmarks and recent places in the tree: stored between runs, moved, removed, and marked as gone."""

from pathlib import Path
from typing import Any

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, shown, until
from tests.tui.tree_driver import to_item

from presscheck.api.sites import Site
from presscheck.api.spaces import DeleteSpace
from presscheck.client.client import Client
from presscheck.engine.shortcuts import Shortcut
from presscheck.tui.screens.browse.page_tree import BOOKMARKED, OPENED, Library
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.widgets.tree import Tree


def tree(pilot: Any) -> Tree:
    return pilot.app.screen.query_one(Tree)


def titles(pilot: Any, group: str) -> list[str]:
    """Return the titles in a group of the tree."""
    screen = pilot.app.screen
    assert isinstance(screen, BrowseScreen)
    item = screen.library.item(group)
    return [each.title for each in screen.library.inside(item)] if item else []


async def to(pilot: Any, title: str) -> None:
    """Move the cursor to the first row with a title."""
    await to_item(pilot, lambda item: item.title == title)


async def browsing(pilot: Any) -> None:
    await until(pilot, shows="live")
    await pilot.press("g", "o")
    await until(pilot, shows="API docs")


@pytest.mark.slow
async def test_bookmarks_and_recent_places_stay_between_starts(service: RunningService, tmp_path: Path) -> None:
    async with running(app_on(service, tmp_path), (120, 45)) as pilot:
        await browsing(pilot)
        assert BOOKMARKED not in shown(pilot.app)
        await to(pilot, "API docs")
        await pilot.press("l")
        await until(pilot, shows="Authentication")
        await to(pilot, "Authentication")
        await pilot.press("b")
        await until(pilot, shows="bookmarked Authentication", holds=lambda: titles(pilot, BOOKMARKED) != [])
        await until(pilot, shows="Authentication ★")
        await pilot.press("enter")
        await until(pilot, holds=lambda: pilot.app.screen.page_view.has_focus)
        assert OPENED not in {row.node.key for row in tree(pilot)._rows}, "no row appears under a reader's hands"
        await pilot.press("escape")
        await to(pilot, "Handbook")
        await pilot.press("b")
        await until(pilot, shows="bookmarked Handbook")
        await pilot.press("g", "i", "g", "o")
        await until(pilot, holds=lambda: titles(pilot, OPENED) == ["Authentication"])
        assert titles(pilot, BOOKMARKED) == ["Authentication", "Handbook"]
        handbook = pilot.app.engine.shortcuts.bookmarks("tallowick")[1]
        # the dialog of ctrl+k lists bookmarks first while nothing is typed
        await pilot.press("ctrl+k")
        await until(pilot, holds=lambda: hasattr(pilot.app.screen, "matches"))
        labels = [choice.label for choice in pilot.app.screen.matches]
        assert labels[:2] == ["Authentication", "Handbook"]
        await pilot.press("escape")

    client = Client(service.base_url, service.token)
    await client.send(DeleteSpace(space_id=handbook.ids[0]))
    await client.aclose()
    async with running(app_on(service, tmp_path), (80, 45)) as pilot:
        await browsing(pilot)
        await until(pilot, shows="gone", holds=lambda: titles(pilot, OPENED) == ["Authentication"])
        assert not (tree(pilot).key or "").startswith("shortcuts"), "the cursor begins on what is there"
        await to(pilot, "Authentication")
        assert (tree(pilot).key or "").startswith(BOOKMARKED)
        await until(pilot, shows="401. Tokens belong to a workspace")
        await pilot.press("enter")
        await until(pilot, holds=lambda: (tree(pilot).key or "").startswith("page "))
        await until(pilot, holds=lambda: pilot.app.screen.page_view.has_focus)
        await pilot.press("escape")
        await to(pilot, "Handbook")
        await until(pilot, shows="This space is gone")
        await pilot.press("enter")
        await until(pilot, shows="Handbook is gone: b removes it")
        await pilot.press("K")
        await until(pilot, holds=lambda: titles(pilot, BOOKMARKED)[0] == "Handbook")
        await pilot.press("b")
        await until(pilot, holds=lambda: titles(pilot, BOOKMARKED) == ["Authentication"])


def test_a_site_is_gone_only_after_sites_are_loaded_without_it() -> None:
    library, shortcut = Library(), Shortcut("site gone", "A site", "", "tallowick")
    library.set_spaces([], [])
    library.set_shortcuts([shortcut], [])
    assert not library.is_gone(shortcut)
    assert library.set_sites([]), "the row is drawn again"
    assert library.is_gone(shortcut)
    library.set_sites([Site.model_validate({"id": "gone", "title": "A site"})])
    assert not library.is_gone(shortcut)
