"""The mouse: clicks, double clicks, the wheel, drags of text and of borders, in widgets, dialogs and the whole app."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.private_names import send_mouse
from tests.running_service import RunningService, running_service
from tests.terminal import Terminal
from tests.tui.app_driver import app_on, running, until
from tests.tui.base_screen import Room
from tests.tui.block_page import write_blocks
from tests.tui.dialogs import PEOPLE, answers, asked, sheet
from tests.tui.endings import PROGRAM
from tests.tui.line_views import MANY, Slow, numbered
from tests.tui.mouse import click_text, drag
from tests.tui.widget_harness import alone, app_with, shown
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.pilot import Pilot

from presscheck.text.styled_text import Line, Span, span_at
from presscheck.tui.screens.browse.screen import BrowseScreen
from presscheck.tui.screens.replace.form import ReplaceForm
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.pane_border import PaneBorder
from presscheck.tui.widgets.picker import Picker
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.tree import Node, Tree


def shows(pilot: Pilot[Any], text: str) -> bool:
    """Return True if a line of the screen contains a text."""
    return any(text in line for line in shown(pilot.app))


def names(messages: list[Any]) -> list[str]:
    return [type(message).__name__ for message in messages]


class TestWidgets:
    async def test_a_click_moves_and_a_double_click_opens(self) -> None:
        rows, messages = RowList(numbered([])), list[Any]()
        async with alone(rows, messages=messages) as pilot:
            rows.show(MANY)
            await pilot.pause()
            await pilot.click(rows, offset=(3, 4))
            assert names(messages) == ["RowHighlighted"]
            await pilot.click(rows, offset=(3, 2), times=2)
            await pilot.pause()
            assert names(messages) == ["RowHighlighted", "RowHighlighted", "RowSelected"]
            assert messages[-1].index == 2

    async def test_the_wheel_moves_the_pane_under_the_pointer(self) -> None:
        lists = [RowList(numbered([])), RowList(numbered([]))]
        async with alone(*lists, size=(40, 20)) as pilot:
            for rows in lists:
                rows.show(MANY)
            await pilot.pause()
            await send_mouse(pilot, events.MouseScrollDown, lists[1], (3, 3))
            await pilot.pause()
            assert [rows.top for rows in lists] == [0, 3]
            assert lists[0].has_focus
            await send_mouse(pilot, events.MouseScrollUp, lists[1], (3, 3))
            await pilot.pause()
            assert lists[1].top == 0

    @pytest.mark.slow
    async def test_a_click_on_the_fold_mark_of_a_node_toggles_it(self) -> None:
        known = {None: ["a", "b"], "a": ["a1"], "a1": ["deep"]}

        def children(key: str | None) -> list[Node]:
            return [Node(one, (Span(one),), (), one in known) for one in known.get(key, [])]

        tree, messages = Tree(children), list[Any]()
        async with alone(tree, messages=messages) as pilot:
            tree.show()
            await pilot.pause()
            await pilot.click(tree, offset=(1, 0))
            assert tree.expanded == {"a"}
            await pilot.click(tree, offset=(4, 1))
            assert tree.expanded == {"a", "a1"}
            assert "NodeSelected" not in names(messages)
            await pilot.click(tree, offset=(6, 1))
            assert tree.expanded == {"a", "a1"}, "the label does not fold"
            await pilot.click(tree, offset=(1, 3))
            assert tree.key == "b", "a node without children has no sign"
            await pilot.click(tree, offset=(1, 0))
            assert tree.expanded == {"a1"}
            await pilot.click(tree, offset=(4, 1), times=2)
            await pilot.pause()
            assert names(messages)[-1] == "NodeSelected"

    async def test_a_click_on_a_fold_mark_of_a_row_opens_it(self) -> None:
        rows, messages = RowList(lambda at, _: (Span("▸ ", "accent"), Span(f"{at} more"))), list[Any]()
        async with alone(rows, messages=messages) as pilot:
            rows.show(3)
            await pilot.pause()
            await pilot.click(rows, offset=(1, 2))
            await pilot.pause()
            assert names(messages) == ["RowHighlighted", "RowSelected"]

    async def test_a_double_click_on_a_heading_opens_nothing(self) -> None:
        rows, messages = RowList(numbered([]), is_heading=lambda at: at == 2), list[Any]()
        async with alone(rows, messages=messages) as pilot:
            rows.show(9)
            await pilot.pause()
            await pilot.click(rows, offset=(3, 2), times=2)
            await pilot.pause()
            assert "RowSelected" not in names(messages)

    async def test_a_click_on_a_link_follows_it(self) -> None:
        page, messages = PageView(), list[Any]()
        async with alone(page, messages=messages) as pilot:
            page.show(lambda width: Slow(width, 300))
            await pilot.pause()
            line = shown(pilot.app)[3]
            await pilot.click(page, offset=(line.index("there"), 3))
            await pilot.click(page, offset=(line.index("line"), 6))
            await pilot.pause()
            assert [message.target for message in messages] == ["https://x.example/3"]
            assert page.cursor == 6

    async def test_dragging_beyond_the_edge_scrolls(self) -> None:
        rows, below = RowList(numbered([])), TextView()
        async with alone(rows, below, size=(40, 20)) as pilot:
            rows.show(50)
            await pilot.pause()
            await drag(pilot, rows, (2, 8), (2, 12), (2, 13))
            assert rows.top >= 7
            text = pilot.app.screen.get_selected_text() or ""
            assert len(text.split("\n")) == rows.top + 10 - 8, "from the first line to the last visible one"
            assert below.text_selection is None

    def test_span_at_returns_the_span_and_the_character_in_a_column(self) -> None:
        line: Line = (Span("ab"), Span("日本", "link"))
        assert [(found[0].text, found[1]) for at in range(6) if (found := span_at(line, at))] == [
            ("ab", "a"),
            ("ab", "b"),
            ("日本", "日"),
            ("日本", "日"),
            ("日本", "本"),
            ("日本", "本"),
        ]
        assert span_at(line, 6) is None
        assert span_at(line, -1) is None


class TestDialogs:
    @pytest.mark.parametrize(("button", "answer"), [("Merge", True), ("No", False)])
    async def test_buttons(self, button: str, answer: bool) -> None:
        async with asked(sheet()) as pilot:
            lines = shown(pilot.app)
            y = next(y for y, line in enumerate(lines) if "▌No" in line)
            await pilot.click(offset=(lines[y].index(button) + 1, y))
            await until(pilot, holds=lambda: answers(pilot) == [answer])

    async def test_a_button_that_waits_for_a_text_does_nothing(self) -> None:
        async with asked(sheet(type_to_confirm="Auth guide")) as pilot:
            lines = shown(pilot.app)
            y = next(y for y, line in enumerate(lines) if "▌No" in line)
            await pilot.click(offset=(lines[y].index("Merge") + 1, y))
            await pilot.pause()
            assert answers(pilot) == []

    async def test_a_row_of_a_menu(self) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            await click_text(pilot, "bob", times=2)
            await until(pilot, holds=lambda: answers(pilot) == [("bob",)])

    async def test_a_key_hint(self) -> None:
        async with asked(Picker("Who?", PEOPLE)) as pilot:
            await click_text(pilot, "esc")
            await until(pilot, holds=lambda: answers(pilot) == [None])


class Panes(Room):
    """A screen with two panes and a border."""

    def body(self) -> ComposeResult:
        rows = RowList(self._row, id="rows")
        with Horizontal():
            yield rows
            yield PaneBorder(rows)
            yield TextView()

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(RowList).styles.width = 40


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with app_with(Room, tmp_path).run_test(size=(100, 20)) as one:
        await until(one, shows="row 0")
        yield one


def room(pilot: Pilot[int]) -> Room:
    return cast("Room", pilot.app.screen_stack[0])


class TestScreens:
    async def test_a_key_hint_runs_its_command(self, pilot: Pilot[int]) -> None:
        await click_text(pilot, "P publish")
        await until(pilot, holds=lambda: room(pilot).did == ["publish"])

    async def test_a_disabled_reason_is_shown(self, pilot: Pilot[int]) -> None:
        room(pilot).why = "nothing to publish yet"
        await click_text(pilot, "P publish")
        await until(pilot, shows="nothing to publish yet")
        assert room(pilot).did == []

    async def test_a_double_click_runs_open(self, pilot: Pilot[int]) -> None:
        await click_text(pilot, "row 3", times=2)
        await until(pilot, holds=lambda: room(pilot).did == ["open 3"])

    async def test_ctrl_c_does_not_overtake_the_drag_before_it(self, pilot: Pilot[int]) -> None:
        rows, button = room(pilot).query_one(RowList), 1
        left, top = rows.region.offset
        await pilot.press("j")

        def mouse(kind: type[events.MouseEvent], x: int) -> events.MouseEvent:
            return kind(rows, left + x, top + 2, 0, 0, button, False, False, False, left + x, top + 2)

        for event in (mouse(events.MouseDown, 1), mouse(events.MouseMove, 5), mouse(events.MouseUp, 5)):
            pilot.app.post_message(event)
        pilot.app.post_message(events.Key("ctrl+c", None))
        await until(pilot, shows="copied the selected text")
        assert pilot.app.clipboard == "row 2"

    @pytest.mark.slow
    async def test_a_border_is_dragged_and_its_place_remembered(self, tmp_path: Path) -> None:
        async with app_with(Panes, tmp_path).run_test(size=(100, 20)) as pilot:
            await until(pilot, shows="row 0")
            border, rows = pilot.app.screen.query_one(PaneBorder), pilot.app.screen.query_one(RowList)
            await drag(pilot, border, (0, 3), (10, 3), (15, 3))
            await until(pilot, holds=lambda: rows.size.width == 55)
            await drag(pilot, border, (0, 3), (40, 3))
            await until(pilot, holds=lambda: rows.size.width == 83)
            await drag(pilot, border, (0, 3), (-30, 3))
            await until(pilot, holds=lambda: rows.size.width == 53)
            assert not pilot.app.screen.get_selected_text()
        async with app_with(Panes, tmp_path).run_test(size=(100, 20)) as pilot:
            await until(pilot, shows="row 0")
            await until(pilot, holds=lambda: pilot.app.screen.query_one(RowList).size.width == 53)

    @pytest.mark.slow
    async def test_a_screen_that_opens_during_a_drag_ends_it(self, pilot: Pilot[int]) -> None:
        rows = room(pilot).query_one(RowList)
        await pilot.mouse_down(rows, offset=(1, 2))
        await pilot.press("v", "a")
        await until(pilot, shows="All of it.")
        await pilot.mouse_up(offset=(1, 2))
        await click_text(pilot, "No ")
        await until(pilot, holds=lambda: room(pilot).did == ["approve False"])
        await click_text(pilot, "row 3")
        await until(pilot, holds=lambda: rows.cursor == 3)

    async def test_a_click_elsewhere_leaves_the_search_before_keys_go_to_it(self, pilot: Pilot[int]) -> None:
        await pilot.press("/")
        await until(pilot, shows="find")
        await pilot.press("4")
        await click_text(pilot, "row 5")
        await pilot.press("j")
        assert room(pilot).query_one(RowList).cursor == 6
        assert not pilot.app.screen.query("FindBar")


class TestSampleWorkspace:
    @pytest.fixture(scope="class")
    def service(self, tmp_path_factory: pytest.TempPathFactory):
        with running_service(tmp_path_factory.mktemp("service"), sample=True) as one:
            yield one

    @pytest.mark.slow
    async def test_page_with_all_blocks_picker_and_form(self, service: RunningService, tmp_path: Path) -> None:
        await write_blocks(service)
        async with running(app_on(service, tmp_path), (100, 50)) as pilot:
            await until(pilot, shows="Needs me")
            await pilot.press("g", "o")
            await click_text(pilot, "▸ 🚨 Runbook")
            await click_text(pilot, "On call", times=2)
            browse = cast("BrowseScreen", pilot.app.screen)
            page = browse.page_view
            await until(pilot, shows="Page a team", holds=lambda: page.has_focus)
            # tabs, expandable blocks and wide tables
            await click_text(pilot, "Linux")
            await until(pilot, shows="Install from the archive")
            await click_text(pilot, "What if nobody")
            await until(pilot, shows="Call the second number")
            await click_text(pilot, "What if nobody")
            await until(pilot, holds=lambda: not shows(pilot, "second number"))
            await click_text(pilot, "of 12 ›", at=6)
            await until(pilot, holds=lambda: shows(pilot, "team of south") and not shows(pilot, "city of south"))
            top, y = page.top, next(y for y, line in enumerate(shown(pilot.app)) if "team of south" in line)
            wheel = (4, y - page.region.y)
            for _ in range(12):
                await send_mouse(pilot, events.MouseScrollRight, page, wheel)
            await until(pilot, shows="room of south")
            for _ in range(12):
                await send_mouse(pilot, events.MouseScrollUp, page, wheel, shift=True)
            await until(pilot, shows="city of south", holds=lambda: page.top == top)
            await pilot.resize_terminal(100, 20)
            await until(pilot, holds=lambda: page.size.height < 20)
            await send_mouse(pilot, events.MouseScrollDown, page, (4, 3))
            await until(pilot, holds=lambda: page.top == top + 3)
            await pilot.resize_terminal(100, 60)
            # links: a broken one shows a notice
            await click_text(pilot, "rules of old")
            await until(pilot, shows="broken link, not found in this space: gone.md")
            await click_text(pilot, "→ Afterwards", at=4)
            await until(pilot, shows="› Afterwards")
            # a picker: after a click, keys still go to the input
            await pilot.press("g", "s")
            await until(pilot, shows="Go to a space")
            picker = cast("Picker", pilot.app.screen)
            await click_text(pilot, "Release notes   ")
            assert picker.query_one(RowList).cursor > 0
            await pilot.press(*"han")
            await until(pilot, holds=lambda: [choice.label for choice in picker.matches][:1] == ["Handbook"])
            await click_text(pilot, "▌   Handbook", times=2)
            await until(pilot, shows="Tallowick › Handbook")
            # a form: fields and switches
            await pilot.press(".", "f")
            await until(pilot, shows="regular expression")
            await click_text(pilot, "the text to put in its place")
            await pilot.press(*"new")
            await click_text(pilot, "the text to find")
            await pilot.press(*"old")
            await click_text(pilot, "regular expression")
            form = cast("ReplaceForm", pilot.app.screen)
            query = form.typed()
            assert (query.find, query.replacement, query.is_regex) == ("old", "new", True)
            await click_text(pilot, "esc cancel")
            await until(pilot, holds=lambda: pilot.app.screen is browse)


@pytest.mark.slow
async def test_the_mouse_of_a_real_terminal(tmp_path: Path) -> None:
    """Send clicks, wheel and drag as the escape sequences of a terminal."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    terminal = Terminal([sys.executable, str(program), str(tmp_path)], size=(80, 24))
    try:
        terminal.wait("line 5")
        terminal.press("\x1b[<65;5;5M", "\x1b[<65;5;5M")
        terminal.gone("line 5\n")
        terminal.wait("line 6")
        terminal.press("\x1b[<0;1;2M", "\x1b[<32;4;2M", "\x1b[<32;6;2M", "\x1b[<0;6;2m")
        for _ in range(5):  # ctrl+c would overtake mouse events that are not handled yet
            terminal.read(0.2)
        terminal.press("ctrl+c")
        terminal.wait("copied the selected text")
        assert b"\x1b]52;c;bGluZSA2\x07" in terminal.raw, "line 6"
        terminal.press("j")
        terminal.wait("q close")
        close = terminal.text.split("\n")[-1].index("q close") + 2
        terminal.press(f"\x1b[<0;{close};24M", f"\x1b[<0;{close};24m")
        assert terminal.end() == 0
        assert terminal.left_on() == []
    finally:
        terminal.close()
