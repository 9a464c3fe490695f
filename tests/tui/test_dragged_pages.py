"""Pages of the browse tree that are dragged with the mouse: where they land, and when they stay."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.private_names import send_mouse
from tests.running_service import RunningService
from tests.tui.app_driver import shown, until
from tests.tui.handbook_tree import (
    START,
    begun,
    cursor,
    handbook,
    outline_at,
    sent_as,
    tree,
    undoes,
)
from textual import events

from presscheck.client.client import Client
from presscheck.tui.screens.browse.move_actions import MoveActions
from presscheck.tui.widgets.tree import Drop

LABEL = 6
"""Columns from the left edge of the tree to the label of a page at the top level of a space."""


def line_of(pilot: Any, title: str) -> int:
    """Return the screen line of a page or space in the tree."""
    view = pilot.app.screen.tree_view
    items = [pilot.app.screen.library.item(row.node.key) for row in view._rows]
    number = next(at for at, item in enumerate(items) if item and not item.shortcut and item.title == title)
    return view.region.y + number - view.top


async def drags(pilot: Any, title: str, *places: tuple[str, int]) -> None:
    """Press the button on a page and move to other rows, each with an offset in columns. The button stays pressed."""
    await pilot.mouse_down(offset=(LABEL, line_of(pilot, title)))
    for other, columns in places:
        await move(pilot, LABEL + columns, line_of(pilot, other))


async def move(pilot: Any, x: int, y: int) -> None:
    await send_mouse(pilot, events.MouseMove, None, (x, y), button=1)
    await pilot.pause()


def line(pilot: Any, title: str) -> str:
    """Return the text of the line of a page in the tree."""
    view = pilot.app.screen.tree_view
    return shown(pilot.app).splitlines()[line_of(pilot, title)][: view.region.right].rstrip()


async def drop(pilot: Any, title: str, columns: int = 0) -> None:
    await pilot.mouse_up(offset=(LABEL + columns, line_of(pilot, title)))


@pytest.mark.slow
async def test_a_dragged_page_lands_before_after_and_inside_others(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        async with handbook(service, tmp_path, at) as pilot:
            await drags(pilot, "How we write", ("Reviews", 0))
            assert "▁▁ after" in line(pilot, "Reviews")
            await drop(pilot, "Reviews")
            moved = "Words, Reviews, How we write, Pictures, Who does what"
            await sent_as(client, at, moved)
            assert cursor(pilot) == "How we write"
            await drags(pilot, "Who does what", ("Reviews", 1))
            assert "▔▔ before" in line(pilot, "Reviews")
            await drop(pilot, "Reviews")
            before = "Words, Who does what, Reviews, How we write, Pictures"
            await sent_as(client, at, before)
            await drags(pilot, "Pictures", ("Reviews", 5))
            assert "── inside" in line(pilot, "Reviews")
            await drop(pilot, "Reviews", 5)
            inside = "Words, Who does what, Reviews [Pictures], How we write"
            await sent_as(client, at, inside)
            await until(pilot, holds=lambda: tree(pilot) == inside and cursor(pilot) == "Pictures")
            await until(pilot, holds=lambda: not pilot.app.screen.move_actions._moves._bursts)
            await undoes(pilot, "Undo: move page “Pictures”?")
            await sent_as(client, at, before)


async def test_dragging_with_a_read_only_profile_moves_nothing_and_shows_the_reason(
    service: RunningService, tmp_path: Path
) -> None:
    async with handbook(service, tmp_path, None, read_only=True) as pilot:
        await drags(pilot, "Words", ("Pictures", 0))
        await drop(pilot, "Pictures")
        await until(pilot, shows="read-only")
        assert tree(pilot) == START


def test_dropping_a_marked_page_keeps_the_marks_and_dropping_another_page_removes_them() -> None:
    marked, told = {"page a", "page b"}, list[str]()
    session: Any = SimpleNamespace(
        tree_view=SimpleNamespace(marks=SimpleNamespace(keys=marked, clear=marked.clear)),
        screen=SimpleNamespace(notify=told.append),
        library=SimpleNamespace(item=lambda _: None),
    )
    edits: Any = SimpleNamespace(reason_pages=lambda: "read-only")
    actions = MoveActions(session, edits)
    actions.drop("page a", Drop("page c", "after"))
    assert marked == {"page a", "page b"}
    actions.drop("page c", Drop("page a", "after"))
    assert not marked, "a page without a mark moves alone"
    assert told == ["read-only"] * 2


@pytest.mark.slow
async def test_esc_ends_a_drag_and_drops_without_a_target_line_move_nothing(
    service: RunningService, tmp_path: Path
) -> None:
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        async with handbook(service, tmp_path, at) as pilot:
            await drags(pilot, "Words", ("Pictures", 0))
            assert "after" in line(pilot, "Pictures")
            await pilot.press("escape")
            assert "after" not in line(pilot, "Pictures")
            await move(pilot, LABEL, line_of(pilot, "Reviews"))
            assert "after" not in line(pilot, "Reviews"), "until the button is pressed again"
            assert pilot.app.screen.get_selected_text() is None
            await drop(pilot, "Reviews")
            # a page that is dragged back to its own row does not move
            await drags(pilot, "Words", ("How we write", 0), ("Words", 0))
            assert "▔" not in shown(pilot.app)
            await drop(pilot, "Words")
            # a page cannot go into another space
            await drags(pilot, "Words", ("Guides", 5))
            assert "inside" not in line(pilot, "Guides")
            await drop(pilot, "Guides", 5)
            await pilot.pause()
            assert tree(pilot) == START == await outline_at(client, at)
            assert not pilot.app.screen.move_actions._moves._bursts
