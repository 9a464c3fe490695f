"""The built-in editor on a page of 5,000 lines, with keys one by one and in one burst: finding, pasting, drafts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.private_names import key_event, send
from tests.running_service import RunningService
from tests.tui.app_driver import app_on, running, until
from tests.tui.change_request_factory import begun
from tests.tui.keyboard import burst
from tests.tui.markdown_editor import TEXT, editing, editor, is_editing
from textual import events
from textual.widgets import TextArea

from presscheck.documents.terminal.page_lines import PageLines
from presscheck.text.styled_text import plain
from presscheck.tui.places import Place
from presscheck.tui.screens.markdown_editor import area as area_module
from presscheck.tui.screens.markdown_editor.area import WrappedText, fence_below
from presscheck.tui.widgets.confirm_dialog import ConfirmDialog

pytestmark = pytest.mark.service(shared=True)
LONG = "A key lasts for ever.\n\n" + "".join(f"Line {number} of many.\n" for number in range(5_000))


async def typed(pilot: Any, keys: Sequence[str], *, is_burst: bool) -> None:
    """Type keys one by one, or all at once."""
    if is_burst:
        burst(pilot, *keys)
    else:
        await pilot.press(*keys)


@pytest.mark.slow
async def test_keys_after_a_find_are_for_the_text(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Find", LONG)
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        before = area.text
        for is_burst in (False, True):
            how = "in a burst" if is_burst else "slowly"
            # a find without a match selects nothing
            keys = ("ctrl+f", *"for ever", "enter", "ctrl+f", *"nowhere", "enter", "X")
            await typed(pilot, keys, is_burst=is_burst)
            await until(pilot, holds=lambda: area.text != before)
            assert area.text.replace("X", "") == before, f"nothing is overwritten {how}"
            await until(pilot, shows="no match")
            await reset(pilot, before)
            # escape ends the find first
            for words in ("Line 4321", "nowhere"):
                await typed(pilot, ("ctrl+f", *words, "enter", "escape", "end", "X"), is_burst=is_burst)
                await until(pilot, holds=lambda: area.search_text == "" and is_editing(pilot))
            await until(pilot, holds=lambda: "Line 4321 of many.XX" in area.text)
            await reset(pilot, before)
            # a letter replaces what was found
            await typed(pilot, ("ctrl+f", *"Line 4321", "enter", "X", "ctrl+s"), is_burst=is_burst)
            await until(pilot, holds=lambda: isinstance(pilot.app.screen, ConfirmDialog))
            assert "\nX of many.\n" in area.text, how
            assert area.text.count("\n") == 5004, how
            await until(pilot, shows="Save to the change request?")
            await pilot.press("n")
            await until(pilot, holds=lambda: is_editing(pilot))
            await reset(pilot, before)


async def reset(pilot: Any, text: str) -> None:
    """Put a text into the editor, with the cursor at its begin."""
    area = editor(pilot).area
    area.text = text
    area.move_cursor((0, 0))
    await pilot.pause()
    assert area.text == text


@pytest.mark.slow
async def test_lines_of_a_long_paste_are_counted(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Pasted", TEXT)
    async with editing(service, tmp_path, one) as pilot:
        before = editor(pilot).area.text
        for is_burst in (False, True):
            pasted = events.Paste("\n".join(f"Pasted {number % 7}.\n" for number in range(2_500)) + "\n")
            keys = ("ctrl+home", "down", "down", "down")
            if is_burst:
                send(pilot, *map(key_event, keys), pasted, key_event("ctrl+s"))
            else:
                await pilot.press(*keys)
                pilot.app.post_message(pasted)
                await until(pilot, holds=lambda: len(editor(pilot).area.text) > 5000)
                await pilot.press("ctrl+s")
            await until(pilot, shows="Lasting: +5,000 −0 lines")
            await pilot.press("d")
            await until(pilot, shows="lines 4 to 5003")
            await pilot.press("n")
            await until(pilot, shows="your draft is kept")
            await pilot.press("alt+d")
            await until(pilot, shows="+5,000 −0 lines are not in the page.")
            await pilot.press("escape")
            await until(pilot, holds=lambda: is_editing(pilot))
            await reset(pilot, before)


@pytest.mark.slow
async def test_a_draft_opens_where_it_was_written(service: RunningService, tmp_path: Path) -> None:
    one = await begun(service, "Written", LONG)
    for is_burst, line, word in ((False, "Line 4321", "Written"), (True, "Line 4567", "Burst")):
        async with running(app_on(service, tmp_path)) as pilot:
            await until(pilot, shows="Needs me")
            await pilot.app.go(Place.page(one.at["space_id"], one.page, one.at["change_request_id"]))
            await until(pilot, shows="A key lasts for ever.")
            await pilot.press("e")
            if is_burst:
                # the draft of the run before
                await until(pilot, shows="Written of many.")
                area = editor(pilot).area
                assert area.document.get_line(area.cursor_location[0]) == "Written of many."
            await until(pilot, holds=lambda: is_editing(pilot))
            find = ("ctrl+f", *line, "enter")
            await typed(pilot, (*find, *word, "escape") if is_burst else find, is_burst=is_burst)
            if not is_burst:
                await until(pilot, holds=lambda line=line: editor(pilot).area.selected_text == line)
                await pilot.press(*word, "escape")
            await until(pilot, shows="not saved: your text is kept as a draft")
            if is_burst:
                await pilot.press("e")
                await until(pilot, shows="Burst of many.")
                area = editor(pilot).area
                assert area.document.get_line(area.cursor_location[0]) == "Burst of many."


@pytest.mark.slow
@pytest.mark.parametrize("has_conflict", [False, True], ids=["without conflict", "with a conflict"])
async def test_a_key_reads_a_few_lines_of_a_long_page(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_conflict: bool
) -> None:
    """What a key costs does not grow with the page: only lines near the cursor are read and drawn."""
    conflict = "<<<<<<< change request\nmine\n=======\ntheirs\n>>>>>>> live\n\n" if has_conflict else ""
    sections = "".join(f"## Section {number}\n\nLine {number} of many.\n\n" for number in range(1_250))
    one = await begun(service, f"Read {has_conflict}", f"A key lasts for ever.\n\n{conflict}{sections}")
    read: list[str] = []

    def counted(fence: str, line: str) -> str:
        read.append(line)
        return fence_below(fence, line)

    monkeypatch.setattr(area_module, "fence_below", counted)
    async with editing(service, tmp_path, one) as pilot:
        await pilot.press("ctrl+f", *"Line 700 ", "enter", "right")
        await until(pilot, holds=lambda: editor(pilot)._split is not None and "Line 700 of" in shown_preview(pilot))
        before, page = editor(pilot)._split, editor(pilot)._preview.document
        read.clear()
        await pilot.press("X")
        await until(pilot, holds=lambda: "Line 700 Xof" in shown_preview(pilot))
        after, drawn = editor(pilot)._split, editor(pilot)._preview.document
        assert before is not None and after is not None and isinstance(drawn, PageLines) and drawn is not page
        assert len(read) < 200, "the colors of visible lines"
        assert len(drawn.blocks) < 200, "the preview"
        reused = {id(block) for block in before.blocks}
        assert sum(id(block) not in reused for block in after.blocks) < 40 < len(after.blocks) - 2_400


def shown_preview(pilot: Any) -> str:
    """The visible text of the preview."""
    preview = editor(pilot)._preview
    lines = preview.document.lines if preview.document else []
    return "\n".join(plain(line) for line in lines[preview.top : preview.top + preview.size.height])


@pytest.mark.slow
async def test_the_preview_of_a_long_page_shows_conflicts_whole(service: RunningService, tmp_path: Path) -> None:
    conflict = "<<<<<<< change request\n{0} mine\n=======\n{0} theirs\n>>>>>>> live\n"
    filler = "".join(f"Line {number} of many.\n\n" for number in range(1_000))
    text = (
        f"A key lasts for ever.\n\n{filler}{conflict.format('first')}\nBetween both.\n\n{conflict.format('second')}\n"
    )
    one = await begun(service, "Whole", text + filler)
    async with editing(service, tmp_path, one) as pilot:
        area = editor(pilot).area
        lines = area.text.split("\n")
        for wanted in ("first theirs", "second theirs", "Line 990 of many."):
            area.move_cursor((lines.index(wanted), 0), center=True)
            await until(pilot, holds=lambda wanted=wanted: wanted in shown_preview(pilot))
            document = editor(pilot)._preview.document
            assert isinstance(document, PageLines)
            texts = "\n".join(block.text for block in document.blocks)
            assert texts.count("<<<<<<<") == texts.count(">>>>>>>") == 2, wanted


@pytest.mark.parametrize("text", ["one two three", "öne two three"], ids=["ASCII", "other letters"])
@pytest.mark.parametrize("width", range(5, 9))
def test_no_wrapped_line_starts_with_a_blank(text: str, width: int) -> None:
    wrapped = WrappedText(TextArea(text).document, width)
    lines = wrapped.get_sections(0)
    assert len(lines) > 1
    assert not any(line.startswith(" ") for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= width
