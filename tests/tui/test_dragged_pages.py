"""Pages of the browse tree dragged by the mouse: where they land, what ends a drag, and scrolling at the edges."""

from pathlib import Path
from typing import Any

import pytest
from tests.private_names import send_mouse
from tests.running_service import RunningService
from tests.tui.app_driver import pick, shown, until
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
from tests.tui.widget_harness import alone
from textual import events

from presscheck.client.client import Client
from presscheck.text.styled_text import Span
from presscheck.tui.widgets import tree as tree_module
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.tree import Drop, Node, Tree

LABEL = 6
"""Columns from the left edge of the tree to the label of a page at the top level of a space."""


def line_of(pilot: Any, title: str) -> int:
    """The line of the screen that shows a page or space in the tree."""
    view = pilot.app.screen.tree_view
    items = [pilot.app.screen.library.item(row.node.key) for row in view._rows]
    number = next(at for at, item in enumerate(items) if item and not item.shortcut and item.title == title)
    return view.region.y + number - view.top


async def drags(pilot: Any, title: str, *places: tuple[str, int]) -> None:
    """Press the button on a page, and move the pointer to others, each with columns to the right; the button stays."""
    await pilot.mouse_down(offset=(LABEL, line_of(pilot, title)))
    for other, columns in places:
        await move(pilot, LABEL + columns, line_of(pilot, other))


async def move(pilot: Any, x: int, y: int) -> None:
    await send_mouse(pilot, events.MouseMove, None, (x, y), button=1)
    await pilot.pause()


def line(pilot: Any, title: str) -> str:
    """The line of a page in the tree as the screen shows it."""
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
            # directly below an open page is the first place in it
            await drags(pilot, "Words", ("Reviews", 0))
            assert "▔▔ before" in line(pilot, "Pictures")
            await drop(pilot, "Reviews")
            both = "Who does what, Reviews [Words, Pictures], How we write"
            await sent_as(client, at, both)
            await until(pilot, holds=lambda: tree(pilot) == both)
            # out of it, at the top level
            await drags(pilot, "Pictures", ("Handbook", 0))
            assert "── inside" in line(pilot, "Handbook")
            await drop(pilot, "Handbook")
            last = "Who does what, Reviews [Words], How we write, Pictures"
            await sent_as(client, at, last)
            await until(pilot, holds=lambda: not pilot.app.screen.move_actions._moves._bursts)
            await undoes(pilot, "Undo: move page?")
            await sent_as(client, at, both)


@pytest.mark.slow
async def test_esc_ends_a_drag_and_places_without_a_line_take_nothing(service: RunningService, tmp_path: Path) -> None:
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
            # before the next page is where it is
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


@pytest.mark.slow
async def test_a_marked_page_takes_the_other_marked_pages_along(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client:
        at = await begun(client)
        async with handbook(service, tmp_path, at) as pilot:
            await at_page(pilot, "How we write")
            await pilot.press("space", "space")
            await drags(pilot, "Words", ("Pictures", 0))
            await drop(pilot, "Pictures")
            moved = "Reviews, Pictures, How we write, Words, Who does what"
            await sent_as(client, at, moved)
            await until(pilot, holds=lambda: tree(pilot) == moved)
            await drags(pilot, "Reviews", ("Pictures", 0))
            await drop(pilot, "Pictures")
            await sent_as(client, at, "Pictures, Reviews, How we write, Words, Who does what")
            assert not pilot.app.screen.tree_view.marks.keys, "a page without a mark moves alone"


@pytest.mark.slow
async def test_a_page_dragged_on_main_asks_for_a_change_request(service: RunningService, tmp_path: Path) -> None:
    async with Client(service.base_url, service.token) as client, handbook(service, tmp_path, None) as pilot:
        at = await begun(client)
        await drags(pilot, "Words", ("Pictures", 0))
        await drop(pilot, "Pictures")
        await until(pilot, holds=asks(pilot, Picker))
        await pick(pilot, "Order")
        await sent_as(client, at, "How we write, Reviews, Pictures, Words, Who does what")


async def test_a_reader_sees_why_a_dragged_page_stays(service: RunningService, tmp_path: Path) -> None:
    async with handbook(service, tmp_path, None, read_only=True) as pilot:
        await drags(pilot, "Words", ("Pictures", 0))
        await drop(pilot, "Pictures")
        await until(pilot, shows="read-only")
        assert tree(pilot) == START


@pytest.mark.slow
async def test_a_drag_scrolls_while_the_pointer_rests_at_an_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_module, "EDGE_SECONDS", 0.01)
    dropped: list[tuple[str, Drop]] = []

    class Dropped(Tree):
        def on_tree_node_dropped(self, event: Tree.NodeDropped) -> None:
            dropped.append((event.key, event.drop))

    nodes = [Node(f"page {at}", (Span(f"Page {at}"),)) for at in range(60)]
    view = Dropped(lambda key: [] if key else nodes, can_mark=lambda _: True, can_drop=lambda _key, _drop: True)
    async with alone(view, size=(40, 10)) as pilot:
        view.show()
        await pilot.pause()
        await pilot.mouse_down(view, offset=(4, 2))
        await move(pilot, 4, 9)
        await until(pilot, holds=lambda: view.top == 50)
        assert "Page 59" in shown(pilot.app) and "after" in shown(pilot.app)
        await move(pilot, 4, 0)
        await until(pilot, holds=lambda: view.top < 45)
        await move(pilot, 4, 5)
        top = view.top
        await pilot.pause(0.05)
        assert view.top == top, "in the middle it rests"
        await pilot.mouse_up(offset=(4, 5))
        await until(pilot, holds=lambda: dropped == [("page 2", Drop(f"page {top + 5}", "after"))])
