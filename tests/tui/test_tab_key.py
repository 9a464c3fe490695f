"""Tab in the built-in editor: the next cell of a table, and the indentation of lists and selected lines."""

from pathlib import Path

import pytest
from tests.running_service import RunningService
from tests.tui.app_driver import until
from tests.tui.change_request_factory import begun
from tests.tui.keyboard import burst
from tests.tui.markdown_editor import editing, editor

from presscheck.tui.screens.markdown_editor.tab_key import Place, tab_edit

TABLE = "| Plan | Days |\n| --- | --: |\n| Free | 30 |\n|  | a\\|b |"


def pressed(text: str, *, back: bool = False) -> str | None:
    """The text after the key; `‹` marks the start of the selection, `‸` the cursor. None for no special meaning."""
    anchor, cursor = place(text.replace("‸", ""), "‹"), place(text.replace("‹", ""), "‸")
    lines = text.replace("‹", "").replace("‸", "").split("\n")
    edit = tab_edit(lines, anchor or cursor or (0, 0), cursor or (0, 0), back=back)
    if edit is None:
        return None
    lines[edit.first : edit.end] = edit.lines
    marks = [(edit.cursor, "‸"), *([(edit.anchor, "‹")] if edit.anchor != edit.cursor else [])]
    for (row, column), mark in sorted(marks, reverse=True):
        lines[row] = lines[row][:column] + mark + lines[row][column:]
    return "\n".join(lines)


def place(text: str, mark: str) -> Place | None:
    before, found, _ = text.partition(mark)
    return (before.count("\n"), len(before.rpartition("\n")[2])) if found else None


def table(before: str, after: str) -> str:
    return TABLE.replace(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (table("Plan", "P‸lan"), table("Days", "Days‸")),
        (table("Days", "Days‸"), table("Free", "Free‸")),
        (table("---", "--‸-"), table("Free", "Free‸")),
        (table("30", "30‸"), table("|  |", "| ‸ |")),
        (table("|  |", "| ‸ |"), table("a\\|b", "a\\|b‸")),
        (table("a\\|b", "a\\|‸b"), f"{TABLE}\n| ‸ |  |"),
    ],
)
def test_tab_goes_to_the_next_cell(before: str, after: str) -> None:
    assert pressed(before) == after


def test_shift_tab_goes_back_and_stops_at_the_first_cell() -> None:
    assert pressed(table("Days", "‸Days"), back=True) == table("Plan", "Plan‸")
    assert pressed(table("Free", "F‸ree"), back=True) == table("Days", "Days‸")
    assert pressed(table("---", "‸---"), back=True) == table("Days", "Days‸")
    assert pressed(table("Plan", "Pl‸an"), back=True) == table("Plan", "Pl‸an")


@pytest.mark.parametrize("text", ["a | b‸", "| no table‸ |", "| no | rule‸ |\n| a | b |", "plain ‸text", "‸"])
def test_tab_elsewhere_has_no_special_meaning(text: str) -> None:
    assert pressed(text) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- one\n- tw‸o\n- three", "- one\n  - tw‸o\n- three"),
        ("1. one\n2. ‸two", "1. one\n   2. ‸two"),
        (
            "* one\n\n* two‸\n  * below\n\n  its text\n\n* three",
            "* one\n\n  * two‸\n    * below\n\n    its text\n\n* three",
        ),
        ("- [ ] one\n- [x] ‸two", "- [ ] one\n  - [x] ‸two"),
        ("- one\n‹- two\n- three‸\n- four", "- one\n  ‹- two\n  - three‸\n- four"),
        ("- on‸e\n- two", "- on‸e\n- two"),
        ("- one\n  - two‸", "- one\n  - two‸"),
        ("a‹b\n\ncd\ne‸f", "  a‹b\n\n  cd\n  e‸f"),
        ("‹ab\ncd\n‸ef", "  ‹ab\n  cd\n‸ef"),
    ],
)
def test_tab_indents_an_item_with_all_below_it_and_selected_lines(before: str, after: str) -> None:
    assert pressed(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("- one\n  - two\n    - thr‸ee", "- one\n  - two\n  - thr‸ee"),
        ("1. one\n   - tw‸o\n     text", "1. one\n- tw‸o\n  text"),
        ("  - tw‸o", "- tw‸o"),
        ("- on‸e", "- on‸e"),
        ("‹  a\n b‸", "‹a\nb‸"),
    ],
)
def test_shift_tab_moves_an_item_and_selected_lines_back(before: str, after: str) -> None:
    assert pressed(before, back=True) == after


@pytest.mark.slow
@pytest.mark.service(shared=True)
async def test_tables_and_lists_are_typed_in_a_burst(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Tabs", "A key lasts for ever.\n")
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        burst(pilot, "ctrl+end", "enter", *"|a|b|", "enter", *"|-|-|", "tab", *"1", "tab", *"2", "tab", *"3")
        await until(pilot, holds=lambda: area.text.endswith("|a|b|\n|-|-|\n| 1 | 2 |\n| 3 |  |"))
        burst(pilot, "shift+tab", "backspace", "4", "ctrl+end", "enter", "enter", *"- one", "enter", *"- two", "tab")
        await until(pilot, holds=lambda: area.text.endswith("| 1 | 4 |\n| 3 |  |\n\n- one\n  - two"))
        burst(pilot, "ctrl+z")
        await until(pilot, holds=lambda: area.text.endswith("- one\n- two"))
        burst(pilot, "ctrl+y", "shift+tab", "enter", "enter", "tab", *"```", "enter", *"| a |", "tab", "x")
        await until(pilot, holds=lambda: area.text.endswith("\n- two\n\n  ```\n| a | x"))
