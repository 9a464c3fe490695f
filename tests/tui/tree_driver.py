"""The cursor of the browse tree, moved by keys as a hand moves it: each key is waited for."""

from collections.abc import Callable
from typing import Any

from tests.tui.app_driver import until

from presscheck.tui.screens.browse.page_tree import Item


async def to_item(pilot: Any, wanted: Callable[[Item], bool]) -> None:
    """Move the cursor down from the top to the first row that is wanted, as soon as it is there.

    Nothing else may move the cursor meanwhile. Keys are not sent ahead: on a busy machine two of them would be handled
    between two looks, and the row passed unseen.
    """
    screen = pilot.app.screen
    tree = screen.tree_view

    def keys() -> list[str]:
        items = (screen.library.item(row.node.key) for row in tree._rows)
        return [item.key for item in items if item and wanted(item)]

    await until(pilot, holds=lambda: bool(keys()))
    await pilot.press("g", "g")
    await until(pilot, holds=lambda: bool(tree._rows) and tree.key == tree._rows[0].node.key)
    while not ((item := screen.library.item(tree.key)) and wanted(item)):
        before = tree.key
        await pilot.press("j")
        await until(pilot, holds=lambda before=before: tree.key != before)
