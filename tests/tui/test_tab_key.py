"""Tab in the built-in editor: the next cell of a table, and the indentation of lists and selected lines."""

import pytest
from tests.tui.widget_harness import alone

from presscheck.tui.screens.markdown_editor.area import MarkdownArea
from presscheck.tui.screens.markdown_editor.tab_key import Place, tab_edit

TABLE = "| Plan | Days |\n| --- | --: |\n| Free | 30 |\n|  | a\\|b |"


def pressed(text: str, *, back: bool = False) -> str | None:
    """Return the text after the key, or None if tab has no special meaning there.

    `‹` marks the start of the selection, `‸` the cursor.
    """
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


async def test_the_key_edits_tables_and_lists_in_one_step_and_is_typed_elsewhere() -> None:
    area = MarkdownArea("- one\n- two\n\n|a|b|\n|-|-|", lambda _: False)
    async with alone(area) as pilot:
        await pilot.press("ctrl+end", "tab", "1", "tab", "2", "shift+tab", "backspace", "4")
        assert area.text.endswith("|a|b|\n|-|-|\n| 4 | 2 |")
        await pilot.press("ctrl+home", "down", "tab")
        assert area.text.startswith("- one\n  - two\n")
        await pilot.press("ctrl+z")
        assert area.text.startswith("- one\n- two\n")
        await pilot.press("ctrl+y", "shift+tab", "down", "tab", "x")
        assert area.text.startswith("- one\n- two\n  x\n")
