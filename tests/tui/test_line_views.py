"""Row lists, trees and page views: contents, repainted lines, and speed."""

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import Any, ClassVar

import pytest
from tests.hostile_strings import ACTS, HOSTILE
from tests.private_names import lines_to_repaint, strips
from tests.tui.line_views import MANY, Slow, numbered
from tests.tui.widget_harness import alone, drawn, shown

from presscheck.documents.terminal.controls import Controls
from presscheck.documents.terminal.page_lines import PageLines
from presscheck.text.sanitize import sanitize
from presscheck.text.styled_text import Line, Span, plain
from presscheck.tui.terminal.bandwidth import Bandwidth
from presscheck.tui.widgets.line_view import TextView
from presscheck.tui.widgets.page_view import PageView
from presscheck.tui.widgets.row_list import RowList
from presscheck.tui.widgets.tree import Node, Tree


class TestRows:
    async def test_only_visible_rows_are_rendered(self) -> None:
        asked: list[int] = []
        rows = RowList(numbered(asked))
        async with alone(rows) as pilot:
            rows.show(MANY)
            await pilot.pause()
            assert set(asked) == set(range(10))
            assert shown(pilot.app)[:2] == ["▌row 0 of 39", " row 1 of 39"]

    async def test_a_moved_cursor_paints_two_lines(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(MANY)
            await pilot.pause()
            rows.move(1)
            assert lines_to_repaint(rows) == {0, 1}
            await pilot.pause()
            rows.move(3)
            assert lines_to_repaint(rows) == {1, 4}

    async def test_showing_the_same_rows_paints_nothing(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(MANY)
            await pilot.pause()
            rows.show(MANY)
            assert lines_to_repaint(rows) == set()

    async def test_moving_in_a_hundred_thousand_rows_is_fast(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows):
            begun = perf_counter()
            rows.show(MANY)
            for _ in range(100):
                rows.move(1)
            rows.move_to(MANY)
            assert rows.cursor == MANY - 1
            assert perf_counter() - begun < 1

    @pytest.mark.parametrize(("cursor", "top"), [(1, 0), (15, 9)])
    async def test_rows_that_are_shown_before_their_layout_scroll_only_as_far_as_the_cursor_needs(
        self, cursor: int, top: int
    ) -> None:
        rows = RowList(numbered([]))
        rows.display = False
        async with alone(rows) as pilot:
            rows.show(30, cursor=cursor)
            rows.display = True
            await pilot.pause()
            await pilot.pause()
            assert (rows.top, cursor in rows.visible_range) == (top, True)

    async def test_new_rows_keep_the_scroll_position_of_the_wheel(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(MANY)
            rows.scroll_lines(50)
            rows.show(MANY)
            await pilot.pause()
            assert (rows.cursor, rows.top) == (0, 50)
            rows.show(30)
            assert rows.top == 20, "not beyond the last row"
            rows.move(1)
            assert rows.cursor in rows.visible_range, "a key leads back to the cursor"
            rows.show(MANY)
            assert rows.cursor in rows.visible_range

    async def test_the_cursor_stays_visible(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(MANY)
            for step in (1, 9, 11, 500, -3, -400, MANY, -MANY):
                rows.move(step)
                assert rows.cursor in rows.visible_range
            rows.move_half_pages(1)
            assert rows.cursor == 5
            await pilot.pause()
            assert any(line.startswith("▌row 5 ") for line in shown(pilot.app))

    @pytest.mark.parametrize(
        ("setting", "column", "step", "top"),
        [("off", 0, 10, 4), ("on", 0, 10, 1), ("on", 0, 12, 3), ("on", 0, 13, 7), ("on", 1, 10, 4)],
    )
    async def test_a_cursor_that_leaves_the_view_scrolls_to_some_context_unless_the_terminal_scrolls(
        self, setting: str, column: int, step: int, top: int
    ) -> None:
        """On slow connections the terminal scrolls lists at its left edge, and each new line is sent."""
        rows = RowList(numbered([]))
        rows.styles.margin = (0, 0, 0, column)
        async with alone(rows) as pilot:
            pilot.app.bandwidth = Bandwidth(setting)  # pyrefly: ignore[missing-attribute]
            rows.show(MANY)
            rows.move(step)
            assert rows.top == top
            rows.move_to(9 + top)
            rows.move(-10)
            assert rows.cursor in rows.visible_range
            assert top - rows.top == (1 if setting == "on" and not column else 4)

    async def test_messages_are_posted_for_rows(self) -> None:
        rows, messages = RowList(numbered([])), list[Any]()
        async with alone(rows, messages=messages) as pilot:
            rows.show(3)
            rows.move(2)
            rows.move(1)
            rows.choose()
            await pilot.pause()
            assert [(type(message).__name__, message.index) for message in messages] == [
                ("RowHighlighted", 2),
                ("RowSelected", 2),
            ]

    async def test_a_busy_screen_receives_the_highlighted_row_before_the_selected_row(self) -> None:
        rows, messages, is_free = RowList(numbered([])), list[Any](), asyncio.Event()
        async with alone(rows, messages=messages) as pilot:
            rows.show(3)
            pilot.app.screen.call_next(is_free.wait)
            rows.move(1)
            rows.choose()
            for _ in range(10):  # the list can forward its messages while the screen handles none
                await asyncio.sleep(0)
            is_free.set()
            await pilot.pause()
            assert [type(message).__name__ for message in messages] == ["RowHighlighted", "RowSelected"]

    async def test_removed_rows_are_cleared(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(50, cursor=49)
            rows.show(1)
            await pilot.pause()
            assert shown(pilot.app)[:2] == ["▌row 0 of 39", ""]
            rows.show(0)
            await pilot.pause()
            assert shown(pilot.app)[0] == ""
            rows.move(1)
            rows.choose()

    async def test_rows_may_have_two_lines(self) -> None:
        rows = RowList(numbered([]), second_line=lambda index, _: (Span(f"  about {index}"),))
        async with alone(rows) as pilot:
            rows.show(20)
            rows.move(1)
            await pilot.pause()
            assert shown(pilot.app)[:4] == [" row 0 of 39", "   about 0", "▌row 1 of 39", "▌  about 1"]
            rows.move(10)
            assert rows.cursor in rows.visible_range

    async def test_marks_belong_to_keys_of_rows(self) -> None:
        names = ["ann", "bob", "cid", "dan"]
        rows = RowList(lambda at, _: (Span(names[at]),), key=lambda at: names[at])
        async with alone(rows) as pilot:
            rows.show(4)
            rows.marks.toggle()
            rows.marks.toggle()
            assert (rows.marks.keys, rows.cursor) == ({"ann", "bob"}, 2)
            names.insert(0, "new")
            rows.show(5)
            assert (rows.marks.keys, rows.cursor) == ({"ann", "bob"}, 3)
            await pilot.pause()
            assert shown(pilot.app)[:4] == ["  new", " •ann", " •bob", "▌ cid"]

    async def test_a_range_of_marks_starts_at_the_key_of_a_row(self) -> None:
        names = ["ann", "bob", "cid", "dan"]
        rows = RowList(lambda at, _: (Span(names[at]),), key=lambda at: names[at])
        async with alone(rows):
            rows.show(4)
            rows.move_to(1)
            assert rows.marks.toggle_range()
            names[:0] = ["new", "newer"]
            rows.show(6)
            rows.move(1)
            assert not rows.marks.toggle_range()
            assert rows.marks.keys == {"bob", "cid"}
            rows.marks.clear()
            assert rows.marks.toggle_range()
            names.remove("cid")
            rows.show(5)
            assert rows.marks.toggle_range(), "its row is gone: this starts a new one"
            assert not rows.marks.keys
            assert not rows.marks.toggle_range()
            assert rows.marks.keys == {"dan"}
            rows.marks.clear()
            rows.show(0)
            assert rows.marks.toggle_range(), "there is no row"
            assert not rows.marks.clear()

    async def test_the_cursor_is_never_on_a_heading(self) -> None:
        headings = {0, 3, 6}
        rows = RowList(numbered([]), is_heading=headings.__contains__)
        async with alone(rows) as pilot:
            rows.show(7)
            assert rows.cursor == 1, "the first row below the first heading"
            places = [rows.cursor]
            for by in (1, 1, 1, 1, -1, -1, -1, -1):
                rows.move(by)
                places.append(rows.cursor)
            assert places == [1, 2, 4, 5, 5, 4, 2, 1, 1], "over a heading, and back from one at an end"
            rows.show(7, cursor=3)
            assert rows.cursor == 4
            await pilot.pause()

    async def test_marking_a_range_and_all_visible_rows(self) -> None:
        rows = RowList(numbered([]), key=lambda at: at)
        async with alone(rows):
            rows.show(100)
            rows.move_to(2)
            rows.marks.toggle_range()
            rows.move_to(5)
            rows.marks.toggle_range()
            assert rows.marks.keys == {2, 3, 4, 5}
            rows.marks.toggle_visible()
            assert rows.marks.keys == set(range(10))
            rows.marks.toggle_visible()
            assert rows.marks.keys == set()
            rows.marks.toggle_range()
            assert rows.marks.clear()
            assert not rows.marks.clear()

    async def test_a_jump_shows_the_lines_around_its_target(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows):
            rows.show(300)
            rows.jump_to(5)
            assert (rows.cursor, rows.top) == (5, 0), "it is in the upper two thirds already"
            rows.jump_to(9)
            assert (rows.cursor, rows.top) == (9, 6), "the last visible line has nothing below it"
            rows.jump_to(200)
            assert (rows.cursor, rows.top) == (200, 197)
            rows.jump_to(299)
            assert (rows.cursor, rows.top) == (299, 290)

    async def test_search_wraps_and_highlights(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows):
            rows.show(300)
            assert await rows.search("ROW 123")
            assert rows.cursor == 123
            assert await rows.search("row 7 ", step=-1)
            assert rows.cursor == 7
            assert await rows.search("row 2 ")
            assert rows.cursor == 2
            assert not await rows.search("nowhere")

    async def test_a_resize_draws_rows_in_the_new_width(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(MANY, cursor=500)
            await pilot.resize_terminal(60, 5)
            await drawn(pilot, "of 59")
            assert rows.cursor in rows.visible_range
            assert len(shown(pilot.app)) == 5

    async def test_a_click_moves_the_cursor_and_the_wheel_scrolls(self) -> None:
        rows = RowList(numbered([]))
        async with alone(rows) as pilot:
            rows.show(MANY)
            await pilot.pause()
            await pilot.click(RowList, offset=(3, 4))
            assert rows.cursor == 4
            rows.scroll_lines(3)
            assert (rows.cursor, rows.top) == (4, 3)


class TestTree:
    tree: ClassVar = {None: ["a", "b"], "a": ["a1", "a2"], "a1": ["deep"], "b": ["b1"]}

    def children(self, key: str | None) -> Sequence[Node]:
        return [
            Node(one, (Span(one),), (Span(str(len(self.tree[one]))),) if one in self.tree else (), one in self.tree)
            for one in self.tree.get(key, ())
        ]

    async def test_expand_and_collapse(self) -> None:
        tree = Tree(self.children)
        async with alone(tree, size=(20, 8)) as pilot:
            tree.show()
            await pilot.pause()
            assert shown(pilot.app)[:2] == ["▌▸ a               2", " ▸ b               1"]
            assert tree.expand_node()
            assert tree.expand_node()
            assert tree.key == "a1"
            assert tree.expand_node()
            await pilot.pause()
            lines = [line[:12].rstrip() for line in shown(pilot.app)[:5]]
            assert lines == [" ▾ a", "▌  ▾ a1", "       deep", "     a2", " ▸ b"]
            tree.move(1)
            assert tree.key == "deep"
            assert not tree.expand_node()
            assert tree.collapse_node()
            assert tree.key == "a1"
            assert tree.collapse_node()
            assert tree.collapse_node()
            assert tree.key == "a"
            assert tree.collapse_node()
            assert not tree.collapse_node()
            assert tree.expanded == set()

    async def test_new_data_keeps_expanded_nodes_and_cursor(self) -> None:
        known: dict[str | None, list[str]] = {**self.tree}

        def children(key: str | None) -> Sequence[Node]:
            return [Node(one, (Span(one),), (), one in known) for one in known.get(key, ())]

        tree = Tree(children)
        async with alone(tree):
            tree.show()
            tree.expand_node()
            tree.move(2)
            assert tree.key == "a2"
            known[None] = ["0", "a", "b"]
            known["a"] = ["a0", "a1", "a2"]
            tree.show()
            assert tree.key == "a2"
            assert tree.expanded == {"a"}

    async def test_the_cursor_goes_to_a_node_once_it_is_loaded(self) -> None:
        known: dict[str | None, list[str]] = {None: ["a", "b"], "b": []}

        def children(key: str | None) -> Sequence[Node]:
            return [Node(one, (Span(one),), (), one in known) for one in known.get(key, ())]

        tree = Tree(children)
        async with alone(tree):
            tree.show()
            tree.move_to_key("b2", ancestors=["b"])
            assert tree.expanded == {"b"}
            known["b"] = ["b1", "b2"]
            tree.show()
            assert tree.key == "b2"

    async def test_an_empty_tree_accepts_every_command(self) -> None:
        tree = Tree(lambda _: ())
        async with alone(tree):
            tree.show()
            tree.move(1)
            tree.choose()
            assert not tree.collapse_node()
            assert not tree.expand_node()
            assert tree.key is None


async def laid_out(page: PageView) -> None:
    async with asyncio.timeout(20):
        while page.document and not page.document.done:  # noqa: ASYNC110  # pages are laid out while the app is idle
            await asyncio.sleep(0.005)


class TestPage:
    async def test_visible_lines_are_laid_out_first_and_the_rest_when_idle(self) -> None:
        page = PageView()
        async with alone(page) as pilot:
            page.show(Slow)
            assert page.count < 100
            assert "line 0 in 39" in shown(pilot.app)[0]
            await laid_out(page)
            assert page.count == 5000

    async def test_a_move_to_the_end_is_completed_once_the_end_is_laid_out(self) -> None:
        page = PageView()
        async with alone(page) as pilot:
            page.show(Slow)
            page.move(1 << 30)
            await laid_out(page)
            await pilot.pause()
            assert page.cursor == 4999
            assert "line 4999" in shown(pilot.app)[-1]

    async def test_the_cursor_moves_to_the_next_and_previous_heading(self) -> None:
        page = PageView()
        async with alone(page):
            page.show(lambda width: Slow(width, 300))
            await laid_out(page)
            page.next_heading()
            page.next_heading()
            assert page.cursor == 150
            page.next_heading(-1)
            assert page.cursor == 50

    async def test_links_are_followed_by_label(self) -> None:
        page, followed = PageView(), list[Any]()
        async with alone(page, messages=followed) as pilot:
            page.show(lambda width: Slow(width, 300))
            assert page.label_links()
            await pilot.pause()
            assert "[s]there" in shown(pilot.app)[3]
            await pilot.press("s")
            assert [message.target for message in followed] == ["https://x.example/3"]
            assert "[s]" not in "".join(shown(pilot.app))

    async def test_anchors_in_folded_parts_are_reached(self) -> None:
        markdown = (
            "## 1. Setup\n\ntext\n\n### Setup\n\ntext\n\n## Setup\n\n"
            '{% tabs %}\n{% tab title="A" %}\nFirst.\n{% endtab %}\n\n{% tab title="B" %}\n### In B\n\nSecond.\n'
            "{% endtab %}\n{% endtabs %}\n\n<details>\n\n<summary>Why?</summary>\n\n#### Inside\n\nSo.\n\n</details>\n"
        )
        page, controls = PageView(), Controls()
        async with alone(page):
            page.show(lambda width: PageLines(markdown, width, title="Page", controls=controls))
            await laid_out(page)
            assert page.document
            reached: dict[str, str] = {}
            for anchor in ("id-1.-setup", "setup-1", "why", "setup", "in-b", "inside"):
                if anchor == "setup":
                    page.toggle_sections()
                assert await page.go_to_anchor(anchor)
                reached[anchor] = plain(page.document.lines[page.cursor]).strip(" ▾▸▼▶│")
            assert reached == {
                "id-1.-setup": "1. Setup",
                "setup-1": "Setup",
                "why": "Why?",
                "setup": "Setup",
                "in-b": "In B",
                "inside": "Inside",
            }
            assert not await page.go_to_anchor("1-setup")

    async def test_a_key_without_a_label_removes_the_labels(self) -> None:
        page = PageView()
        async with alone(page) as pilot:
            page.show(Slow)
            page.label_links()
            await pilot.press("!")
            assert not page.is_labelled

    async def test_the_same_page_keeps_its_scroll_position(self) -> None:
        page = PageView()
        async with alone(page):
            page.show(Slow)
            page.move(40)
            page.show(Slow, line=None)
            assert page.cursor == 40
            page.show(Slow)
            assert page.cursor == 0

    async def test_a_resize_repeats_the_layout(self) -> None:
        page = PageView()
        async with alone(page) as pilot:
            page.show(Slow)
            page.move(40)
            await pilot.resize_terminal(70, 10)
            await drawn(pilot, "in 69")
            assert "in 69" in shown(pilot.app)[0]
            assert page.cursor in page.visible_range


async def test_a_text_view_scrolls() -> None:
    lines = TextView()
    async with alone(lines) as pilot:
        lines.show([(Span(str(number)),) for number in range(30)])
        lines.move(3)
        await pilot.pause()
        assert shown(pilot.app)[0] == "3"
        lines.move(1 << 30)
        await pilot.pause()
        assert shown(pilot.app)[-1] == "29"
        lines.show([(Span("only"),)])
        await pilot.pause()
        assert shown(pilot.app)[0] == "only"


@pytest.mark.parametrize("kind", ["rows", "tree", "page"])
async def test_hostile_text_never_acts(kind: str) -> None:
    lines: list[Line] = [(Span(sanitize(text)),) for text in HOSTILE]
    document = Slow(39, len(lines), lines)
    rows = RowList(lambda at, _: lines[at])
    tree = Tree(lambda key: [] if key else [Node(str(at), line) for at, line in enumerate(lines)])
    page = PageView()
    widget = {"rows": rows, "tree": tree, "page": page}[kind]
    async with alone(widget, size=(40, 50)) as pilot:
        rows.show(len(lines))
        tree.show()
        page.show(lambda _: document)
        for top in range(0, len(lines), 50):
            widget.scroll_lines(50 if top else 0)
            await pilot.pause()
            for strip in strips(pilot.app):
                assert strip.cell_length == 40
                assert not [segment.text for segment in strip if ACTS.search(segment.text)]
