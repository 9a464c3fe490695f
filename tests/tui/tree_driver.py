"""A step that moves the cursor of the browse tree by keys, one key at a time."""

from collections.abc import Callable
from typing import Any

from tests.tui.app_driver import until

from presscheck.tui.screens.browse.page_tree import Item


async def to_item(pilot: Any, wanted: Callable[[Item], bool]) -> None:
    """Wait until a row matches `wanted`, and move the cursor down from the top to the first such row.

    Nothing else may move the cursor meanwhile. Each key waits until the cursor has moved: otherwise, on a busy machine,
    two keys could be handled between two checks, and the cursor would pass the row unnoticed.
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
